"""The error tree. Every error has a stable code, what happened, the cause, and what to do.

OrchestraError
├── InputInvalid             INPUT_INVALID
├── DocumentUnreadable       DOCUMENT_UNREADABLE
├── PlanInvalid              PLAN_INVALID
├── PointersUnresolved       POINTERS_UNRESOLVED
├── SkillInvalid             SKILL_INVALID
├── SkillNotFound            SKILL_NOT_FOUND
├── AnswerInvalid            ANSWER_INVALID
├── DependencyFailed         DEPENDENCY_FAILED
├── CallDepthExceeded        CALL_DEPTH_EXCEEDED
├── CallCycleDetected        CALL_CYCLE_DETECTED
├── MissingParameters        MISSING_PARAMETERS
├── OutputInvalid            OUTPUT_INVALID
├── GateFailed               GATE_FAILED
├── PermissionDenied         PERMISSION_DENIED
├── PolicyInvalid            POLICY_INVALID
├── ToolFailed               TOOL_FAILED
├── ApprovalRejected         APPROVAL_REJECTED
├── RunWaiting               WAITING
├── RunNotFound              RUN_NOT_FOUND
├── RunBusy                  RUN_BUSY
├── StoreError               STORE_ERROR
│   ├── StoreUnavailable     STORE_UNAVAILABLE
│   ├── StoreReadOnly        STORE_READ_ONLY
│   ├── StoreFull            STORE_FULL
│   ├── StoreTooNew          STORE_TOO_NEW
│   └── StoreDamaged         STORE_DAMAGED
├── BudgetExceeded           BUDGET_EXCEEDED
├── NodeTimeout              TIMEOUT
├── RunCancelled             CANCELLED
├── UnexpectedFailure        UNEXPECTED
└── ModelError               MODEL_ERROR
    ├── ModelAuth            MODEL_AUTH
    ├── ModelNotFound        MODEL_NOT_FOUND
    ├── ModelRateLimited     MODEL_RATE_LIMITED
    ├── ModelOverloaded      MODEL_OVERLOADED
    ├── ModelUnreachable     MODEL_UNREACHABLE
    ├── ModelRefused         MODEL_REFUSED
    ├── ModelBadRequest      MODEL_BAD_REQUEST
    ├── ModelReplyInvalid    MODEL_REPLY_INVALID
    ├── ContextTooLong       CONTEXT_TOO_LONG
    ├── OutputTruncated      OUTPUT_TRUNCATED
    └── ModelTimeout         TIMEOUT

This module imports nothing of ours, so every room may raise from the one tree.
"""

from __future__ import annotations

from typing import Any, ClassVar


class OrchestraError(Exception):
    """Base of every error that this package raises on purpose.

    `what` says what happened to which thing, `cause` why, `suggestion` what to do next.
    `details` holds what a program may want: a raw reply, a status code, a path.
    """

    code: ClassVar[str] = "ORCHESTRA_ERROR"
    default_suggestion: ClassVar[str] = "Run again with --debug to see the traceback."

    def __init__(self, what: str, *, cause: str = "", suggestion: str = "", **details: Any) -> None:
        what, cause = _well_formed(what), _well_formed(cause)
        super().__init__(what)
        self.what = what
        self.cause = cause
        self.suggestion = suggestion or self.default_suggestion
        self.details = details

    def __str__(self) -> str:
        cause = f" ({self.cause})" if self.cause else ""
        return f"{self.code}: {self.what}{cause}. {self.suggestion}"

    def to_dict(self) -> dict[str, str]:
        """`{"code", "message", "cause", "suggestion"}`: what results and events carry."""
        return {"code": self.code, "message": self.what, "cause": self.cause, "suggestion": self.suggestion}


def _well_formed(text: str) -> str:
    """Without lone surrogates, which other libraries' errors may quote and JSON cannot hold."""
    return text.encode("utf-8", "replace").decode()


class InputInvalid(OrchestraError):
    code = "INPUT_INVALID"
    default_suggestion = "Correct the argument and call again."


class DocumentUnreadable(OrchestraError):
    code = "DOCUMENT_UNREADABLE"
    default_suggestion = "Check that the path names a readable text, markdown, PDF, DOCX or HTML file."


class PlanInvalid(OrchestraError):
    """The planner's reply is no plan, and could not be mended. `details["raw"]` keeps the reply."""

    code = "PLAN_INVALID"
    default_suggestion = "Run again, use a stronger planner_model, or pass a plan of your own with plan=."


class PointersUnresolved(OrchestraError):
    code = "POINTERS_UNRESOLVED"
    default_suggestion = (
        "Use on_unresolved='search' or 'full', or correct the pointers (`orchestra outline DOC` lists them)."
    )


class SkillInvalid(OrchestraError):
    code = "SKILL_INVALID"
    default_suggestion = "Correct the skill; `description` and `system_prompt` (or the body of SKILL.md) are required."


class SkillNotFound(OrchestraError):
    code = "SKILL_NOT_FOUND"
    default_suggestion = "`orchestra skills` lists the skills that exist."


class AnswerInvalid(OrchestraError):
    """The answer does not fit `answer_schema`, after one re-ask. `details["raw"]` keeps the reply."""

    code = "ANSWER_INVALID"
    default_suggestion = "Simplify answer_schema, or use a stronger synthesis_model."


class DependencyFailed(OrchestraError):
    code = "DEPENDENCY_FAILED"
    default_suggestion = "Mend what failed first; this subtask was not sent."


class CallDepthExceeded(OrchestraError):
    """A skill would be called deeper than the run allows. Found before anything is sent."""

    code = "CALL_DEPTH_EXCEEDED"
    default_suggestion = "Raise max_depth (2 to 8), or let the skills call one another less deeply."


class CallCycleDetected(OrchestraError):
    """A skill would call itself, directly or through others. The cause names the path."""

    code = "CALL_CYCLE_DETECTED"
    default_suggestion = "Break the cycle: a skill's sub-skills must not lead back to it."


class MissingParameters(OrchestraError):
    """A step lacks required parameters, and nobody could be asked for them. `details["missing"]` names them."""

    code = "MISSING_PARAMETERS"
    default_suggestion = "Give the values in the query, as JSON if need be, or run where somebody can be asked."


class OutputInvalid(OrchestraError):
    """What a skill gave does not fit its schema, after one re-ask where a model can be asked."""

    code = "OUTPUT_INVALID"
    default_suggestion = "Loosen the skill's output schema, mend its prompt, or use a stronger model."


class GateFailed(OrchestraError):
    """A guarantee that blocks did not hold; nothing was sent for the task itself."""

    code = "GATE_FAILED"
    default_suggestion = "Mend what the gate names; `orchestra compose` shows which gates a task has."


class PermissionDenied(OrchestraError):
    """Something was asked for that the node's permissions do not hold. The cause names who took it away."""

    code = "PERMISSION_DENIED"
    default_suggestion = "If it should be allowed, say so in orchestra.toml and in the skill's allowed-tools."


class PolicyInvalid(OrchestraError):
    code = "POLICY_INVALID"
    default_suggestion = "Correct orchestra.toml; `orchestra config` shows what is read from where."


class ToolFailed(OrchestraError):
    code = "TOOL_FAILED"
    default_suggestion = "Mend the tool, or what it needs; the run went on without its result."


class ApprovalRejected(OrchestraError):
    """A person said no, or nobody could be asked."""

    code = "APPROVAL_REJECTED"
    default_suggestion = "Run again and approve, or ask for something that needs no approval."


class RunWaiting(OrchestraError):
    """A person is asked something and has not answered; the run is saved and goes on when he has."""

    code = "WAITING"
    default_suggestion = "`orchestra approve RUN NODE` answers, then `orchestra resume RUN` goes on."


class RunNotFound(OrchestraError):
    code = "RUN_NOT_FOUND"
    default_suggestion = "`orchestra runs` lists the runs of the store."


class RunBusy(OrchestraError):
    """Another process is working on this run."""

    code = "RUN_BUSY"
    default_suggestion = "Wait until it ends; `orchestra runs show RUN` says how far it is."


class StoreError(OrchestraError):
    code = "STORE_ERROR"
    default_suggestion = "Check the store's URL, or run with --no-store."


class StoreUnavailable(StoreError):
    code = "STORE_UNAVAILABLE"
    default_suggestion = "Check that the database runs and can be reached, or run with --no-store."


class StoreReadOnly(StoreError):
    code = "STORE_READ_ONLY"
    default_suggestion = "Give the store's file and folder write permission, or name another store."


class StoreFull(StoreError):
    code = "STORE_FULL"
    default_suggestion = "Free some disk space; `orchestra runs rm` removes runs."


class StoreTooNew(StoreError):
    """The store was written by a later version of Orchestra. Nothing in it was touched."""

    code = "STORE_TOO_NEW"
    default_suggestion = "Update Orchestra, or name another store."


class StoreDamaged(StoreError):
    code = "STORE_DAMAGED"
    default_suggestion = "Restore the store from a copy, or name another store."


class BudgetExceeded(OrchestraError):
    """A call was not made, because it might have passed `max_tokens_total` or `max_cost_usd`."""

    code = "BUDGET_EXCEEDED"
    default_suggestion = "Raise the budget, or lower max_tokens; what had finished is in the result."


class NodeTimeout(OrchestraError):
    code = "TIMEOUT"
    default_suggestion = "Raise the timeout, ask for less per subtask, or use a faster model."


class RunCancelled(OrchestraError):
    code = "CANCELLED"
    default_suggestion = "Run again; if the run gave a result, what had finished is in it."


class UnexpectedFailure(OrchestraError):
    """A defect in code that the run called: a skill, a model object, or this package."""

    code = "UNEXPECTED"
    default_suggestion = "Run again with --debug to see the traceback; if it is ours, please report it."


class ModelError(OrchestraError):
    """A model call failed. `is_retryable` says whether the same request may succeed later."""

    code = "MODEL_ERROR"
    default_suggestion = "Check the model's name and its server."
    is_retryable: bool = False

    def __init__(
        self,
        what: str,
        *,
        cause: str = "",
        suggestion: str = "",
        retry_after_s: float | None = None,
        is_retryable: bool | None = None,
        **details: Any,
    ) -> None:
        super().__init__(what, cause=cause, suggestion=suggestion, **details)
        self.retry_after_s = retry_after_s
        if is_retryable is not None:
            self.is_retryable = is_retryable


class ModelAuth(ModelError):
    code = "MODEL_AUTH"
    default_suggestion = "Check the key in the environment (`orchestra models` says which is read) and its rights."


class ModelNotFound(ModelError):
    code = "MODEL_NOT_FOUND"
    default_suggestion = "Check the model's name; `orchestra models` shows how each provider is configured."


class ModelRateLimited(ModelError):
    code = "MODEL_RATE_LIMITED"
    default_suggestion = "Lower max_workers, or wait and run again."
    is_retryable = True


class ModelOverloaded(ModelError):
    code = "MODEL_OVERLOADED"
    default_suggestion = "Wait and run again, or use another model."
    is_retryable = True


class ModelUnreachable(ModelError):
    code = "MODEL_UNREACHABLE"
    default_suggestion = "Check the network and the base URL; `orchestra models` shows it."
    is_retryable = True


class ModelRefused(ModelError):
    code = "MODEL_REFUSED"
    default_suggestion = "Rephrase the task, or use another model."


class ModelBadRequest(ModelError):
    code = "MODEL_BAD_REQUEST"
    default_suggestion = "The provider's message names the field; correct the argument that sets it."


class ModelReplyInvalid(ModelError):
    """The server answered with something that is no reply: broken JSON, wrong type, a stream cut short."""

    code = "MODEL_REPLY_INVALID"
    default_suggestion = "Check that the base URL is that of an API server, and run again."
    is_retryable = True


class ContextTooLong(ModelError):
    code = "CONTEXT_TOO_LONG"
    default_suggestion = "Point at fewer sections, or use a model with a longer context window."


class OutputTruncated(ModelError):
    code = "OUTPUT_TRUNCATED"
    default_suggestion = "Raise max_tokens (or synthesis_max_tokens)."


class ModelTimeout(ModelError):
    code = "TIMEOUT"
    default_suggestion = "Raise the timeout, ask for less per subtask, or use a faster model."
    is_retryable = True

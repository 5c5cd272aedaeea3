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
├── AnsweredBefore           ANSWERED_BEFORE
├── PanelBusy                PANEL_BUSY
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

    A class's docstring, `causes` and `default_suggestion` are what `orchestra explain` prints.
    """

    code: ClassVar[str] = "ORCHESTRA_ERROR"
    causes: ClassVar[str] = ""
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
    """An argument, an option, a setting or a file of settings is not what it must be. Nothing was sent."""

    code = "INPUT_INVALID"
    causes = "a value out of its range, a misspelt name, an empty task, a file that is not there"
    default_suggestion = "Correct the argument and call again."


class DocumentUnreadable(OrchestraError):
    """A document could not be turned into text. Nothing was sent."""

    code = "DOCUMENT_UNREADABLE"
    causes = (
        "no such file, no permission, an encrypted or scanned PDF, a kind of file that is not read, the extra "
        "`documents` not installed"
    )
    default_suggestion = "Check that the path names a readable text, markdown, PDF, DOCX or HTML file."


class PlanInvalid(OrchestraError):
    """The planner's reply is no plan, and could not be mended. `details["raw"]` keeps the reply."""

    code = "PLAN_INVALID"
    causes = (
        "a small model, a planner's reply that was cut off, a plan= whose subtasks depend on one another in a circle"
    )
    default_suggestion = "Run again, use a stronger planner_model, or pass a plan of your own with plan=."


class PointersUnresolved(OrchestraError):
    """None of a subtask's pointers is in the document, and it was not to be shown anything else."""

    code = "POINTERS_UNRESOLVED"
    causes = "headings that the planner made up, on_unresolved='error'"
    default_suggestion = (
        "Use on_unresolved='search' or 'full', or correct the pointers (`orchestra outline DOC` lists them)."
    )


class SkillInvalid(OrchestraError):
    """A skill's text or manifest cannot be used."""

    code = "SKILL_INVALID"
    causes = "no description, no prompt, a value of the wrong type, YAML that cannot be read"
    default_suggestion = "Correct the skill; `description` and `system_prompt` (or the body of SKILL.md) are required."


class SkillNotFound(OrchestraError):
    """A skill was named that the library does not have."""

    code = "SKILL_NOT_FOUND"
    causes = "a misspelt name, a folder of skills that was not passed"
    default_suggestion = "`orchestra skills` lists the skills that exist."


class AnswerInvalid(OrchestraError):
    """The answer does not fit `answer_schema`, after one re-ask. `details["raw"]` keeps the reply."""

    code = "ANSWER_INVALID"
    causes = "a schema that asks for what the document does not say, a small model, an answer that was cut off"
    default_suggestion = "Simplify answer_schema, or use a stronger synthesis_model."


class DependencyFailed(OrchestraError):
    """A subtask was not sent, because one that it builds on failed."""

    code = "DEPENDENCY_FAILED"
    causes = "the error of the other subtask"
    default_suggestion = "Mend what failed first; this subtask was not sent."


class CallDepthExceeded(OrchestraError):
    """A skill would be called deeper than the run allows. Found before anything is sent."""

    code = "CALL_DEPTH_EXCEEDED"
    causes = "composites within composites, max_depth set too low"
    default_suggestion = "Raise max_depth (2 to 8), or let the skills call one another less deeply."


class CallCycleDetected(OrchestraError):
    """A skill would call itself, directly or through others. The cause names the path."""

    code = "CALL_CYCLE_DETECTED"
    causes = "a composite that lists itself, or one that contains it, among its sub-skills"
    default_suggestion = "Break the cycle: a skill's sub-skills must not lead back to it."


class MissingParameters(OrchestraError):
    """A step lacks required parameters, and nobody could be asked for them. `details["missing"]` names them."""

    code = "MISSING_PARAMETERS"
    causes = "a value that no step before it gives and the task does not say, and nobody at hand to be asked"
    default_suggestion = "Give the values in the query, as JSON if need be, or run where somebody can be asked."


class OutputInvalid(OrchestraError):
    """What a skill gave does not fit its schema, after one re-ask where a model can be asked."""

    code = "OUTPUT_INVALID"
    causes = "a schema that is too strict, a small model, a code skill that returns another shape"
    default_suggestion = "Loosen the skill's output schema, mend its prompt, or use a stronger model."


class GateFailed(OrchestraError):
    """A guarantee that blocks did not hold; nothing was sent for the task itself."""

    code = "GATE_FAILED"
    causes = "what the guarantee demands is missing; the cause names it"
    default_suggestion = "Mend what the gate names; `orchestra compose` shows which gates a task has."


class PermissionDenied(OrchestraError):
    """Something was asked for that the node's permissions do not hold. The cause names who took it away."""

    code = "PERMISSION_DENIED"
    causes = "a skill that does not declare the tool, a policy that denies it, a skill that is not trusted"
    default_suggestion = "If it should be allowed, say so in orchestra.toml and in the skill's allowed-tools."


class PolicyInvalid(OrchestraError):
    """The table of permissions cannot be read, and nothing is permitted by guesswork. Nothing was sent."""

    code = "POLICY_INVALID"
    causes = "a misspelt key, a pattern that cannot be read, a value of the wrong type"
    default_suggestion = "Correct orchestra.toml; `orchestra config` shows what is read from where."


class ToolFailed(OrchestraError):
    """A tool raised an error or gave nothing that can be used. The model was told."""

    code = "TOOL_FAILED"
    causes = "a defect of the tool, arguments that it cannot work with, its time limit"
    default_suggestion = "Mend the tool, or what it needs; the run went on without its result."


class ApprovalRejected(OrchestraError):
    """A person said no, or nobody could be asked."""

    code = "APPROVAL_REJECTED"
    causes = "the answer no, or a run without a terminal, callback or store"
    default_suggestion = "Run again and approve, or ask for something that needs no approval."


class RunWaiting(OrchestraError):
    """A person is asked something and has not answered; the run is saved and goes on when he has."""

    code = "WAITING"
    causes = "a skill marked `approval: required`, `request_approval`, `ask_user`, a permission to be asked for"
    default_suggestion = "`orchestra approve RUN NODE` answers, then `orchestra resume RUN` goes on."


class RunNotFound(OrchestraError):
    """No run of the store has this id."""

    code = "RUN_NOT_FOUND"
    causes = "a misspelt id, another store than the one that the run was kept in, a run that was removed"
    default_suggestion = "`orchestra runs` lists the runs of the store."


class RunBusy(OrchestraError):
    """Another process is working on this run."""

    code = "RUN_BUSY"
    causes = "`orchestra resume` of one run at two places"
    default_suggestion = "Wait until it ends; `orchestra runs show RUN` says how far it is."


class AnsweredBefore(OrchestraError):
    """Somebody else has answered this question; his answer is the one that counts."""

    code = "ANSWERED_BEFORE"
    causes = "two people at two places: another tab of the panel, `orchestra approve`, the terminal of the run"
    default_suggestion = "This answer is not used; the run goes on with the other one."


class PanelBusy(OrchestraError):
    """More pages watch the panel at once than it serves."""

    code = "PANEL_BUSY"
    causes = "many tabs of many browsers; a program that opens streams and does not close them"
    default_suggestion = "Close some of them: a page that waits gets its stream as soon as one is free."


class StoreError(OrchestraError):
    """The store did not do what it was asked to."""

    code = "STORE_ERROR"
    causes = "an error of the database; the cause quotes it"
    default_suggestion = "Check the store's URL, or run with --no-store."


class StoreUnavailable(StoreError):
    """The store could not be opened or reached, or was locked for too long."""

    code = "STORE_UNAVAILABLE"
    causes = "a database server that is down, a wrong URL, a file that another program holds"
    default_suggestion = "Check that the database runs and can be reached, or run with --no-store."


class StoreReadOnly(StoreError):
    """The store can be read and not written to."""

    code = "STORE_READ_ONLY"
    causes = "permissions of the file or its folder, a file system that is read-only, a database user without rights"
    default_suggestion = "Give the store's file and folder write permission, or name another store."


class StoreFull(StoreError):
    """There is no room for what is to be stored."""

    code = "STORE_FULL"
    causes = "a full disk, a quota"
    default_suggestion = "Free some disk space; `orchestra runs rm` removes runs."


class StoreTooNew(StoreError):
    """The store was written by a later version of Orchestra. Nothing in it was touched."""

    code = "STORE_TOO_NEW"
    causes = "a newer version of Orchestra that used the same store"
    default_suggestion = "Update Orchestra, or name another store."


class StoreDamaged(StoreError):
    """The store is no database of ours, or broken."""

    code = "STORE_DAMAGED"
    causes = "another program's file, a disk that failed"
    default_suggestion = "Restore the store from a copy, or name another store."


class BudgetExceeded(OrchestraError):
    """A call was not made, because it might have passed `max_tokens_total` or `max_cost_usd`."""

    code = "BUDGET_EXCEEDED"
    causes = "a limit that is too low for the documents, many retries, long replies"
    default_suggestion = "Raise the budget, or lower max_tokens; what had finished is in the result."


class NodeTimeout(OrchestraError):
    """A piece of work did not end within its time, and was left behind. The others went on."""

    code = "TIMEOUT"
    causes = "a slow or overloaded model, a long reply, a tool that hangs, a limit that is too short"
    default_suggestion = "Raise the timeout, ask for less per subtask, or use a faster model."


class RunCancelled(OrchestraError):
    """The run was ended from outside."""

    code = "CANCELLED"
    causes = "Ctrl-C, `cancellation`, the end of the asyncio task that awaits the run"
    default_suggestion = "Run again; if the run gave a result, what had finished is in it."


class UnexpectedFailure(OrchestraError):
    """A defect in code that the run called: a skill, a model object, or this package."""

    code = "UNEXPECTED"
    causes = "a defect"
    default_suggestion = "Run again with --debug to see the traceback; if it is ours, please report it."


class ModelError(OrchestraError):
    """A model call failed. `is_retryable` says whether the same request may succeed later."""

    code = "MODEL_ERROR"
    causes = "what the provider says in the cause"
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
    """The provider does not accept the key, or there is none."""

    code = "MODEL_AUTH"
    causes = (
        "a variable that is not set, a key that was revoked, an account without credit or without the right to this "
        "model"
    )
    default_suggestion = "Check the key in the environment (`orchestra models` says which is read) and its rights."


class ModelNotFound(ModelError):
    """The provider does not know the model, or the address."""

    code = "MODEL_NOT_FOUND"
    causes = "a misspelt or retired name, a base URL with a wrong path"
    default_suggestion = "Check the model's name; `orchestra models` shows how each provider is configured."


class ModelRateLimited(ModelError):
    """The provider takes no more calls for now, after all attempts."""

    code = "MODEL_RATE_LIMITED"
    causes = "too many calls or tokens in a minute, other programs with the same key"
    default_suggestion = "Lower max_workers, or wait and run again."
    is_retryable = True


class ModelOverloaded(ModelError):
    """The provider's servers are overloaded or broke down, after all attempts."""

    code = "MODEL_OVERLOADED"
    causes = "an outage, an hour of much traffic"
    default_suggestion = "Wait and run again, or use another model."
    is_retryable = True


class ModelUnreachable(ModelError):
    """There is no connection to the provider, after all attempts."""

    code = "MODEL_UNREACHABLE"
    causes = "no network, a proxy, a wrong base URL, a local server that is not running"
    default_suggestion = "Check the network and the base URL; `orchestra models` shows it."
    is_retryable = True


class ModelRefused(ModelError):
    """The model or the provider's filter declined to answer."""

    code = "MODEL_REFUSED"
    causes = "a text or a task that its rules forbid"
    default_suggestion = "Rephrase the task, or use another model."


class ModelBadRequest(ModelError):
    """The provider refused a request as malformed."""

    code = "MODEL_BAD_REQUEST"
    causes = "a parameter that this model does not take, a server that is not quite compatible"
    default_suggestion = "The provider's message names the field; correct the argument that sets it."


class ModelReplyInvalid(ModelError):
    """The server answered with something that is no reply: broken JSON, wrong type, a stream cut short."""

    code = "MODEL_REPLY_INVALID"
    causes = "a base URL that leads to a website or a proxy's page, a server that breaks off"
    default_suggestion = "Check that the base URL is that of an API server, and run again."
    is_retryable = True


class ContextTooLong(ModelError):
    """A request, with the room for its reply, is longer than the model can read."""

    code = "CONTEXT_TOO_LONG"
    causes = "strategy `direct` or `full` over a long document, on_unresolved='full', a wide pointer"
    default_suggestion = "Point at fewer sections, or use a model with a longer context window."


class OutputTruncated(ModelError):
    """A reply ended at its token limit. What had arrived is kept where it can be used."""

    code = "OUTPUT_TRUNCATED"
    causes = "a limit that is too low, a model that thinks at length"
    default_suggestion = "Raise max_tokens (or synthesis_max_tokens)."


class ModelTimeout(ModelError):
    """A call's reply did not arrive in time."""

    code = "TIMEOUT"
    causes = "a slow or overloaded model, a long reply, a limit that is too short"
    default_suggestion = "Raise the timeout, ask for less per subtask, or use a faster model."
    is_retryable = True

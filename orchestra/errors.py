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

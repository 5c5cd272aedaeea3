"""A tool: a name, what it is for, which arguments it takes, and the Python that does it."""

from __future__ import annotations

import functools
import inspect
import pickle
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, cast

from orchestra.errors import InputInvalid, ToolFailed
from orchestra.models.protocol import ToolSpec
from orchestra.runtime.tools.signature import Arguments, arguments_of, described

if TYPE_CHECKING:
    from pydantic import ValidationError

_NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")
MOST_PROBLEMS = 5  # that a model is told of at once


@dataclass(frozen=True, slots=True)
class Tool:
    """What a model may call. `Tool.of(function)` makes one; by hand, `parameters` is a JSON schema of an object.

    `function` gets the arguments by name and may be async. Declare it `is_idempotent` where doing it twice does no
    harm: a run that was killed while it ran then does it again unasked. `timeout_s` bounds one call (None: as long as a
    call of its node may take). One that `runs_apart` has a process of its own, which is ended with all that it started
    when its time is over; any other is left behind then, and may go on unseen.

    Raises `InputInvalid` for a name that providers do not take, and for what cannot be sent to a process.
    """

    name: str
    description: str
    parameters: Mapping[str, Any]
    function: Callable[..., Any]
    is_idempotent: bool = False
    timeout_s: float | None = None
    runs_apart: bool = False
    arguments: Arguments | None = field(default=None, repr=False, compare=False)

    def __post_init__(self) -> None:
        if not _NAME.fullmatch(self.name):
            raise InputInvalid(
                f"a tool cannot be called {self.name!r}",
                cause="a name is 1 to 64 letters, digits, _ and -",
                suggestion="Use Tool.of(function, name=...).",
            )
        if not callable(self.function):
            raise InputInvalid(
                f"the tool {self.name!r} is a {type(self.function).__name__}", cause="it is not callable"
            )
        if self.timeout_s is not None and not self.timeout_s > 0:
            raise InputInvalid(f"timeout_s of the tool {self.name!r} is {self.timeout_s!r}", cause="it is above 0")
        if self.runs_apart:
            _check_can_be_sent(self)

    @classmethod
    def of(
        cls,
        function: Callable[..., Any] | Tool,
        *,
        name: str = "",
        description: str = "",
        is_idempotent: bool = False,
        timeout_s: float | None = None,
        runs_apart: bool = False,
    ) -> Tool:
        """A tool from a callable: its schema from the type hints, its description from the docstring.

        Raises `InputInvalid` where a parameter has no type hint, or one that no JSON fits.
        """
        if isinstance(function, Tool):
            return function
        if not callable(function):
            raise InputInvalid(f"a tool is given as {type(function).__name__}", cause="expected a callable or a Tool")
        called = name or _name_of(function)
        arguments, parameters = arguments_of(function, called)
        return cls(
            name=called,
            description=description or described(function).text or called.replace("_", " "),
            parameters=parameters,
            function=function,
            is_idempotent=is_idempotent,
            timeout_s=timeout_s,
            runs_apart=runs_apart,
            arguments=arguments,
        )

    @property
    def spec(self) -> ToolSpec:
        """What a model is told of it."""
        return ToolSpec(self.name, self.description, self.parameters)

    def checked(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """The arguments as the function takes them. Raises `ToolFailed`, whose cause says what is wrong."""
        if self.arguments is None:
            return self._fitting(arguments)
        from pydantic import ValidationError

        try:
            return self.arguments.read(arguments)
        except ValidationError as error:
            raise self._misfit(_problems(error)) from None
        except (TypeError, ValueError, RecursionError) as error:
            raise self._misfit(str(error)) from None

    def _fitting(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """For a schema that was written by hand."""
        import jsonschema

        validator = cast("Any", jsonschema.Draft202012Validator({"type": "object", **self.parameters}))
        errors = [str(error.message)[:200] for error in validator.iter_errors(dict(arguments))]
        if errors:
            raise self._misfit("; ".join(errors[:MOST_PROBLEMS]))
        return dict(arguments)

    def _misfit(self, cause: str) -> ToolFailed:
        return ToolFailed(f"the arguments of {self.name} do not fit", cause=cause)


def _name_of(function: Callable[..., Any]) -> str:
    inner = function.func if isinstance(function, functools.partial) else function
    return str(getattr(inner, "__name__", "") or type(inner).__name__)


def _problems(error: ValidationError) -> str:
    problems = error.errors(include_url=False, include_input=False, include_context=False)
    said = [f"{'.'.join(map(str, problem['loc'])) or 'arguments'}: {problem['msg']}" for problem in problems]
    more = f"; and {len(said) - MOST_PROBLEMS} more" if len(said) > MOST_PROBLEMS else ""
    return "; ".join(said[:MOST_PROBLEMS]) + more


def _check_can_be_sent(tool: Tool) -> None:
    """A process of its own imports the function by its name, so it must have one there."""
    function = cast("object", tool.function)
    cause = ""
    try:
        pickle.dumps(function)
    except Exception as error:  # noqa: BLE001 - an object may refuse in any way
        cause = f"{type(error).__name__}: {error}"
    if inspect.isfunction(function) and function.__name__ == "<lambda>":
        cause = "it is a lambda"
    if cause:
        raise InputInvalid(
            f"the tool {tool.name!r} cannot run in a process of its own",
            cause=cause,
            suggestion="Define the function at the top of a module, or leave runs_apart out.",
        )

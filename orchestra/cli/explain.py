"""`orchestra explain`, and the table of all codes that the documentation holds."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from typing import Any

import click

from orchestra import errors
from orchestra.cli.group import EXIT_WORDS, debug_option, exit_code_of
from orchestra.cli.options import json_option
from orchestra.cli.terminal import as_json, print_answer
from orchestra.errors import InputInvalid, OrchestraError
from orchestra.notices import NOTICES

_HEAD = """# Codes

Every error and every notice has a stable code. This page is what `orchestra explain --markdown` prints.

An error says what happened, why, and what to do: an exception (`error.code`), an entry of `result.errors`, or two lines
of the command. What fails after the plan is made does not end a run: the result is partial, and holds what is finished.
"""


@dataclass(frozen=True, slots=True)
class Explanation:
    """One code. `exit_code` is the command's where the error ends it; None for a notice, which ends nothing."""

    code: str
    kind: str
    meaning: str
    causes: str
    suggestion: str
    exit_code: int | None


def explanations() -> list[Explanation]:
    """Every error in the order of the tree, then every notice; one entry for errors that share a code."""
    found: dict[str, Explanation] = {}
    for candidate in vars(errors).values():
        if isinstance(candidate, type) and issubclass(candidate, OrchestraError) and candidate is not OrchestraError:
            one = _of_error(candidate)
            known = found.get(one.code)
            found[one.code] = one if known is None else _together(known, one)
    notices = [Explanation(code, "notice", what, "", suggestion, None) for code, (what, suggestion) in NOTICES.items()]
    return [*found.values(), *notices]


def _of_error(error: type[OrchestraError]) -> Explanation:
    meaning = " ".join((error.__doc__ or "").split())
    return Explanation(error.code, "error", meaning, error.causes, error.default_suggestion, exit_code_of(error))


def _together(one: Explanation, other: Explanation) -> Explanation:
    causes = dict.fromkeys((*one.causes.split(", "), *other.causes.split(", ")))
    return replace(one, meaning=f"{one.meaning} {other.meaning}", causes=", ".join(causes))


@click.command(
    epilog="\b\nExamples:\n  orchestra explain MODEL_RATE_LIMITED\n  orchestra explain\n"
    "  orchestra explain --markdown > docs/errors.md"
)
@click.argument("code", required=False)
@click.option("--markdown", is_flag=True, help="Print the table of all codes, as the documentation holds it.")
@json_option
@debug_option
def explain(code: str | None, markdown: bool, is_json: bool) -> None:
    """Explain a code: what it means, its causes, what to do.

    Without CODE, every code is listed. Case does not matter.
    """
    known = explanations()
    chosen = known if code is None else _named(code, known)
    if markdown:
        print_answer(markdown_of(known), end="")
    elif is_json:
        print_answer(as_json([asdict(each) for each in chosen]))
    elif code is None:
        width = max(len(each.code) for each in known)
        print_answer("\n".join(f"{each.code:<{width}}  {each.kind:<6}  {_first(each.meaning)}" for each in known))
    else:
        print_answer("\n\n".join(_as_text(each) for each in chosen))


def _named(code: str, known: list[Explanation]) -> list[Explanation]:
    from difflib import get_close_matches

    asked = code.strip().upper().replace("-", "_")
    chosen = [each for each in known if each.code == asked]
    if chosen:
        return chosen
    near = get_close_matches(asked, [each.code for each in known], n=3, cutoff=0.6)
    near += [each.code for each in known if len(asked) > 2 and asked in each.code and each.code not in near]
    suggestion = f"Did you mean {' or '.join(dict.fromkeys(near[:4]))}?" if near else "`orchestra explain` lists all."
    raise InputInvalid(f"there is no code {code!r}", suggestion=suggestion)


def _first(text: str) -> str:
    return text.partition(". ")[0].rstrip(".")


def _as_text(one: Explanation) -> str:
    rows = [
        ("Means", one.meaning),
        ("Causes", one.causes),
        ("Do", one.suggestion),
        ("Exit code", "" if one.exit_code is None else _exit_words(one.exit_code)),
    ]
    formatter = click.HelpFormatter(width=80)
    formatter.write_dl([(name, text) for name, text in rows if text])
    return f"{one.code} ({one.kind})\n{formatter.getvalue().rstrip()}"


def _exit_words(exit_code: int) -> str:
    return f"{exit_code}; 3 where the run has an answer all the same" if exit_code == 1 else str(exit_code)


def markdown_of(known: list[Explanation]) -> str:
    """The documentation's page: errors, notices, exit codes."""
    of_errors = [
        (f"`{each.code}`", each.meaning, each.causes, each.suggestion, each.exit_code)
        for each in known
        if each.kind == "error"
    ]
    of_notices = [(f"`{each.code}`", each.meaning, each.suggestion) for each in known if each.kind == "notice"]
    blocks = (
        _HEAD.rstrip(),
        "## Errors",
        _table(("code", "means", "usual causes", "what to do", "exit code"), of_errors),
        "## Notices",
        "A notice tells what was mended, dropped or doubted while the run went on; it stands in `result.warnings`.",
        _table(("code", "means", "what to do"), of_notices),
        "## Exit codes",
        _table(("code", "means"), list(EXIT_WORDS.items())),
    )
    return "\n\n".join(blocks) + "\n"


def _table(heads: tuple[str, ...], rows: list[Any]) -> str:
    lines = [heads, ["---"] * len(heads), *rows]
    return "\n".join("| " + " | ".join(str(cell).replace("|", "\\|") for cell in line) + " |" for line in lines)

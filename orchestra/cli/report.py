"""A result as text: the answer with its sources, and what a run waits for."""

from __future__ import annotations

import json
from shlex import quote
from typing import TYPE_CHECKING

from orchestra.cli.terminal import one_line

if TYPE_CHECKING:
    from orchestra.document import Citation
    from orchestra.result import Result

QUOTE_LENGTH = 90
ASKED = {"approval": "approval", "permission": "permission", "ask_user": "words"}


def answer_text(result: Result) -> str:
    """The answer, the data if a schema was asked for, and one line per source."""
    from orchestra.result.words import enhancement_text

    blocks = [result.answer.strip()]
    if result.data is not None:
        data = result.model_dump(mode="json", include={"data"})["data"]
        blocks.append("Data\n" + json.dumps(data, ensure_ascii=False, indent=2))
    if result.citations:
        blocks.append("Sources\n" + "\n".join(source_line(citation) for citation in result.citations))
    blocks.extend(map(enhancement_text, result.layers))
    return "\n\n".join(block for block in blocks if block)


def source_line(citation: Citation) -> str:
    """`[1] report.md L120-L134, p. 12 verified "quote..."`."""
    mark = f"[{citation.number}{'?' if citation.status == 'unverified' else ''}]"
    last = f"-L{citation.last_line}" if citation.last_line != citation.first_line else ""
    page = f", p. {citation.page}" if citation.page is not None else ""
    quote = f' "{shortened(citation.quote)}"' if citation.quote else ""
    reason = f" ({citation.reason})" if citation.reason and citation.status != "verified" else ""
    return f"{mark} {citation.document} L{citation.first_line}{last}{page} {citation.status}{quote}{reason}"


def shortened(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= QUOTE_LENGTH else line[: QUOTE_LENGTH - 3].rstrip() + "..."


def waiting_text(result: Result, store: str | None = None) -> str:
    """What is asked, and the commands that answer it and go on. `store` is what `--store` said."""
    lines: list[str] = []
    where = store_words(store)
    for waiting in result.waiting:
        lines.append(f"waiting: {one_line(waiting.node_id)} asks for {ASKED[waiting.kind]}: {one_line(waiting.title)}")
        answer = ' --answer "..."' if waiting.kind == "ask_user" else ""
        lines.append(f"  orchestra approve {result.run_id} {quote(one_line(waiting.node_id))}{answer}{where}")
    return "\n".join([*lines, f"then: orchestra resume {result.run_id}{where}"])


def store_words(store: str | None) -> str:
    """`--store` as it stands in a command that is shown; a URL that holds a password is not repeated."""
    if store is None:
        return ""
    return f" --store {'URL' if '@' in store and '://' in store else quote(one_line(store))}"

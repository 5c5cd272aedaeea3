"""markdown-it-py's block parser, set to find headings: one rule of ours where the reference implementation differs.

The stock parser takes link reference definitions off before it knows where a paragraph ends, which misplaces setext
headings beside definitions. cmark (and the specification's two phases) reads the paragraph first and takes
definitions off its front when it closes or when an underline comes. `_paragraph` does that, and scans each
paragraph once where the stock rules `reference`, `lheading` and `paragraph` scan it three times.

Known to differ from cmark still, upstream: a lazy continuation line indented by four columns or more in a quote.
"""

from __future__ import annotations

from collections.abc import Iterator, MutableMapping
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.rules_block import StateBlock
    from markdown_it.token import Token

Environment = MutableMapping[str, Any]
_DEEPEST_NESTING = 100


class Block(NamedTuple):
    """A top-level block: its first line (from 0), where that begins, and whether the block runs to the end."""

    line: int
    offset: int
    reaches_end: bool
    tokens: list[Token]


def blocks(source: str, environment: Environment) -> Iterator[Block]:
    """The top-level blocks of `source`, one at a time: a block's tokens are gone at the next step.

    Link definitions are kept in `environment`.
    """
    from markdown_it.rules_block import StateBlock

    parser = block_parser()
    rules = parser.block.ruler.getRules("")
    # without a last line end the parser can read past the end of nested HTML
    state = StateBlock(source.removesuffix("\n") + "\n", parser, environment, [])
    line = state.skipEmptyLines(0)
    while line < state.lineMax:
        state.line = line
        for rule in rules:
            if rule(state, line, state.lineMax, False):
                break
        yield Block(line, state.bMarks[line], state.line >= state.lineMax, state.tokens)
        state.tokens.clear()
        line = state.skipEmptyLines(state.line)


def plain_text(content: str, environment: Environment) -> str:
    """Inline markdown without its markup: breaks become spaces, images their description, inline HTML nothing."""
    unindented = "\n".join(line.lstrip(" \t") for line in content.split("\n"))
    return _flat(block_parser().parseInline(unindented, environment)[0].children or [])


@lru_cache(maxsize=1)
def block_parser() -> MarkdownIt:
    """The parser, its rule tables compiled: doing so on first use is not thread-safe."""
    from markdown_it import MarkdownIt

    class AnyLink(MarkdownIt):
        def validateLink(self, url: str) -> bool:  # noqa: N802
            """Titles are read, never rendered, so no scheme is dangerous."""
            return True

    parser = AnyLink("commonmark", {"maxNesting": _DEEPEST_NESTING})
    parser.disable("reference")
    parser.block.ruler.at("lheading", _paragraph)
    parser.parse("# *warm*")
    return parser


@lru_cache(maxsize=1)
def _definition_parser() -> MarkdownIt:
    from markdown_it import MarkdownIt

    parser = MarkdownIt("zero").enable("reference")
    parser.parse("warm")
    return parser


def _paragraph(state: StateBlock, first: int, end: int, silent: bool) -> bool:
    """A paragraph, or the setext heading that an underline makes of it."""
    terminators = state.md.block.ruler.getRules("paragraph")
    outer, state.parentType = state.parentType, "paragraph"
    level, line = 0, first + 1
    while line < state.lineMax and not state.isEmpty(line):
        # deeper lines and lazy ones (indent -1) only continue
        if state.sCount[line] - state.blkIndent <= 3 and state.sCount[line] >= 0:
            level = _underline(state, line) if line < end else 0
            if level and _without_definitions(_content(state, first, line), {}):
                break
            level = 0
            if any(rule(state, line, end, True) for rule in terminators):
                break
        line += 1
    state.parentType = outer
    rest = _without_definitions(_content(state, first, line), state.env)
    state.line = line + 1 if level else line
    _push(state, f"h{level}" if level else "p", rest, (first, state.line))
    return True


def _underline(state: StateBlock, line: int) -> int:
    """1 for a line of `=`, 2 for one of `-`, 0 for any other."""
    if state.sCount[line] < state.blkIndent:
        return 0
    text = state.src[state.bMarks[line] + state.tShift[line] : state.eMarks[line]].rstrip(" \t")
    if text[:1] not in ("=", "-") or text.strip(text[0]):
        return 0
    return 1 if text[0] == "=" else 2


def _content(state: StateBlock, first: int, end: int) -> str:
    return state.getLines(first, end, state.blkIndent, False).strip(" \t\n")


def _without_definitions(content: str, environment: Environment) -> str:
    """A paragraph's text after the link reference definitions at its front, which go to `environment`."""
    if not content.startswith("["):
        return content
    from markdown_it.rules_block import StateBlock, reference

    unindented = "\n".join(line.lstrip(" \t") for line in content.split("\n"))
    state = StateBlock(unindented + "\n", _definition_parser(), environment, [])
    line = 0
    while line < state.lineMax and reference(state, line, state.lineMax, False):
        line = state.line
    return unindented[state.bMarks[line] :].strip(" \t\n")


def _push(state: StateBlock, tag: str, content: str, lines: tuple[int, int]) -> None:
    kind = "paragraph" if tag == "p" else "heading"
    opening = state.push(f"{kind}_open", tag, 1)
    opening.map = list(lines)
    inline = state.push("inline", "", 0)
    inline.content, inline.map, inline.children = content, list(lines), []
    state.push(f"{kind}_close", tag, -1)


def _flat(tokens: list[Token]) -> str:
    pieces: list[str] = []
    previous = ""
    for token in tokens:
        if token.type in ("text", "code_inline"):
            pieces.append(token.content)
        elif token.type in ("softbreak", "hardbreak"):
            if previous == "text" and token.type == "softbreak":
                pieces[-1] = pieces[-1].rstrip(" \t\f\v")
            pieces.append(" ")
        elif token.type == "image":
            pieces.append(_flat(token.children or []))
        previous = token.type
    return "".join(pieces)

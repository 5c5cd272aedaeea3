"""An answer's markdown as HTML that is safe to put into a page: the only text that templates do not escape.

markdown-it-py reads it with HTML off, nh3 cleans what comes out, and only then the citations become links: they are
made here, of numbers that the run is known to have.
"""

from __future__ import annotations

import re
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from html import escape
from typing import Any

import nh3
from markdown_it import MarkdownIt
from markdown_it.renderer import RendererProtocol
from markdown_it.rules_inline import StateInline
from markdown_it.token import Token
from markupsafe import Markup

LONGEST = 400_000  # characters of one answer that are rendered
_MARK = re.compile(r"\[(\d{1,6})\??\]")
_WEB = re.compile(r"https?://", re.IGNORECASE)

_INLINE = {"a", "br", "code", "em", "s", "strong"}
_BLOCKS = {"blockquote", "hr", "li", "ol", "p", "pre", "ul"}
_TABLES = {"table", "tbody", "td", "th", "thead", "tr"}
_TAGS = frozenset(_INLINE | _BLOCKS | _TABLES)
_SIGNS = {"verified": ("✓", "verified"), "derived": ("≈", "derived"), "unverified": ("?", "unverified")}


@dataclass(frozen=True, slots=True)
class CitationLink:
    """Where a citation leads: `href` is one of our own paths. `quote` is what bears it out, or why nothing does."""

    number: int
    status: str
    label: str
    href: str
    quote: str = ""

    @property
    def sign(self) -> str:
        return _SIGNS.get(self.status, _SIGNS["unverified"])[0]

    @property
    def word(self) -> str:
        return _SIGNS.get(self.status, _SIGNS["unverified"])[1]


def answer_html(text: str, citations: Sequence[CitationLink] = ()) -> Markup:
    """Markdown to clean HTML. Tables are on, images off; links lead to http and https only, and tell nobody where from.

    `[3]` and `[3?]` become links where there is a citation of that number, and stay as they are otherwise.
    """
    if len(text) > LONGEST:
        text = f"{text[:LONGEST]}\n\n(The answer is longer than what is shown here; the run's record has all of it.)"
    links = {citation.number: citation for citation in citations}
    place = f"cite{secrets.token_hex(16)}"  # stands for a citation until the rest is clean; no text can foresee it
    cleaned = nh3.clean(
        _parser().render(text, {"numbers": frozenset(links), "place": place}),
        tags=set(_TAGS),
        attributes={"a": {"href", "title"}, "ol": {"start"}},
        tag_attribute_values={"p": {"class": {"heading"}}},
        set_tag_attribute_values={"a": {"target": "_blank"}},
        url_schemes={"http", "https"},
        link_rel="noopener noreferrer",
        url_relative="deny",
    )
    return Markup(re.sub(rf"{place}-(\d+)-", lambda found: citation_html(links[int(found[1])]), cleaned))


def citation_html(citation: CitationLink) -> str:
    """A citation as a link that is told from another kind by its sign and its name, not only by colour."""
    shown = f'[{citation.number}<span class="cite-sign" aria-hidden="true">{citation.sign}</span>]'
    name = escape(f"Source {citation.number}, {citation.word}: {citation.label}")
    return (
        f'<a class="cite cite-{citation.word}" href="{escape(citation.href)}" hx-get="{escape(citation.href)}" '
        f'hx-target="#panel-body" hx-swap="innerHTML" title="{name}" aria-label="{name}">{shown}</a>'
    )


@cache
def _parser() -> MarkdownIt:
    parser = MarkdownIt("commonmark", {"html": False, "linkify": False}).enable(["table", "strikethrough"])
    parser.disable(["image", "html_block", "html_inline"])
    parser.validateLink = lambda url: _WEB.match(url) is not None
    parser.inline.ruler.before("link", "citation", _citation)
    parser.add_render_rule("citation", _placed)
    for end in ("open", "close"):
        parser.add_render_rule(f"heading_{end}", _heading)
    return parser


def _citation(state: StateInline, silent: bool) -> bool:
    """`[3]`, where the answer has a third citation. What would be a link around it is text: links do not nest."""
    found = _MARK.match(state.src, state.pos, state.posMax)
    if found is None or int(found[1]) not in state.env.get("numbers", ()):
        return False
    if not silent:
        token = state.push("citation", "", 0)
        token.content = str(int(found[1]))
    state.pos = found.end()
    return True


def _placed(
    renderer: RendererProtocol, tokens: Sequence[Token], index: int, options: Any, env: Mapping[str, Any]
) -> str:
    return f"{env['place']}-{tokens[index].content}-"


def _heading(
    renderer: RendererProtocol, tokens: Sequence[Token], index: int, options: Any, env: Mapping[str, Any]
) -> str:
    """A heading of an answer is none of the page's: it looks like one, and skips no level of the page's outline."""
    return '<p class="heading">' if tokens[index].nesting == 1 else "</p>\n"

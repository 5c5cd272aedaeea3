"""Pages as a browser reads them: tags with their attributes, and text."""

from __future__ import annotations

from html.parser import HTMLParser


class Read(HTMLParser):
    """The tags and attributes of some HTML, and its text."""

    def __init__(self, source: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self.feed(source)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.text += data

    @property
    def names(self) -> set[str]:
        return {tag for tag, _ in self.tags}

    @property
    def handlers(self) -> list[str]:
        """Attributes that a browser would run, or that a strict content security policy refuses."""
        return [name for _, attributes in self.tags for name in attributes if name.startswith("on") or name == "style"]

    def attributes(self, tag: str) -> list[dict[str, str | None]]:
        return [attributes for name, attributes in self.tags if name == tag]

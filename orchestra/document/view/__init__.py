"""The outline view: what a planner that never sees the document reads instead, within a token budget."""

from __future__ import annotations

from orchestra.document.view.outline_view import OutlineView, outline_view

__all__ = ["OutlineView", "outline_view"]

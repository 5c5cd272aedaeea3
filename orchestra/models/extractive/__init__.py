"""The built-in engine: a model that quotes and does not reason. No key, no network, no weights."""

from __future__ import annotations

from orchestra.models.extractive.engine import ExtractiveModel
from orchestra.models.extractive.notice import NOTICE

__all__ = ["NOTICE", "ExtractiveModel"]

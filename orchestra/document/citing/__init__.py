"""What an answer cites: marks, the claims they stand for, and the judgement of each by code."""

from __future__ import annotations

from orchestra.document.citing.citations import Citation, cite
from orchestra.document.citing.evidence import unsupported
from orchestra.document.citing.judging import Judgement, Status, judge
from orchestra.document.citing.locate import locate

__all__ = ["Citation", "Judgement", "Status", "cite", "judge", "locate", "unsupported"]

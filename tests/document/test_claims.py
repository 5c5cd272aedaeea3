"""Claims against lines: the cases of tests/data/claims.json, which people extend, and what must hold of all."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from orchestra.document.citing import judge

GROUPS = json.loads((Path(__file__).parent.parent / "data" / "claims.json").read_text(encoding="utf-8"))
ROWS = [pytest.param(*row, id=f"{group['about']}: {row[0]} | {row[1]}") for group in GROUPS for row in group["rows"]]


@pytest.mark.parametrize(("claim", "lines", "status"), ROWS)
def test_a_claim_is_judged_as_the_case_says(claim: str, lines: str, status: str) -> None:
    assert judge(claim, lines).status == status

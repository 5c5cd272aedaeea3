"""What follow-ups and a task about the whole send, byte for byte. A wanted change: ORCHESTRA_GOLDEN=write pytest tests/planning, then read the diff."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from orchestra.document import Document, DocumentSet
from orchestra.models.blocks import Finding
from orchestra.planning.assemble import assemble
from orchestra.planning.followups import followup_request, widened, with_heads
from orchestra.planning.insufficient import shortfall
from orchestra.planning.whole import join_request, map_reduce_plan

GOLDEN = Path(__file__).with_name("golden")
REPORT = """Report of Acme plc for 2018

Revenue and costs are told below.
\fConsolidated statement of cash flows
(in millions) 2018 2017
Net income 5,363 4,869
Depreciation 1,488 1,544
\fPurchases of property, plant and equipment (1,577) (1,373)
Dividends paid (3,193) (2,803)
\fCritical accounting estimates

Leases are capitalised over their term.
"""
FOUND = "Net income was $5,363 million in 2018 [L6].\nINSUFFICIENT: capital expenditures (purchases of property) 2018"


def golden(name, request):
    """The golden text; with ORCHESTRA_GOLDEN=write, what is sent becomes it."""
    file = GOLDEN / f"{name}.txt"
    if os.environ.get("ORCHESTRA_GOLDEN") == "write":
        file.write_text(request.prompt + "\n", encoding="utf-8")
    return file.read_text(encoding="utf-8")


@pytest.mark.parametrize(("name", "reply"), [("followup", FOUND), ("followup_of_nothing", FOUND.split("\n")[1])])
def test_the_follow_up_is_the_golden_one(name, reply):
    documents = DocumentSet.of(Document.from_text(REPORT, name="report.txt"))
    (assignment,) = assemble(
        [{"id": "1", "task": "What share of net income did capital expenditures take in 2018?", "sections": ["p2"]}],
        documents,
    )
    lack = shortfall(reply)
    further = with_heads(widened(assignment, lack.missing, documents, budget_tokens=150), documents)

    request = followup_request(assignment, further, lack.found)

    assert request.prompt + "\n" == golden(name, request)


def test_the_call_for_a_part_is_the_golden_one():
    documents = DocumentSet.of(Document.from_text(REPORT, name="report.txt"))
    plan = map_reduce_plan(documents, "Sum up the report.", "summarization", piece_tokens=90)

    request = assemble(plan, documents)[1].request()

    assert request.prompt + "\n" == golden("whole_part", request)


def test_the_joining_call_is_the_golden_one():
    findings = [
        Finding("1", "part 1 of 3", "- The report is Acme's for 2018 [L1]."),
        Finding("2", "part 2 of 3", "TIMEOUT: no reply", is_missing=True),
    ]

    request = join_request("Sum up the report.", findings, max_tokens=500)

    assert request.prompt + "\n" == golden("join", request)

"""A small annual report of seven pages, as it comes out of a PDF."""

from __future__ import annotations

import pytest

from orchestra.document import Document, DocumentSet

PAGES = (
    "Table of Contents\nConsolidated Balance Sheets 4\nConsolidated Statements of Income 5\nLegal Proceedings 3",
    "Management's Discussion and Analysis\nThe balance sheet stayed strong, total assets grew and total current assets"
    " covered\nwhat we owe. Selling, general and administrative (SG&A) costs fell because of a new warehouse in Leeds.",
    "Legal Proceedings\nA former supplier sued Acme Lamps in the court of Hull and claims damages of $12 million.\n"
    "The trial begins in May 2021.",
    "Acme Lamps Inc.\nConsolidated Balance Sheets\n(in thousands) 2020 2019\nCash and cash equivalents 1,200 1,100\n"
    "Accounts receivable 410 400\nInventories 300 280\nTotal current assets 1,910 1,780\nGoodwill 90 90\n"
    "Total assets 4,300 4,100\nAccounts payable 220 210\nTotal current liabilities 800 790\nRetained earnings 1,500 1,400\n"
    "Total equity 2,100 2,000",
    "Acme Lamps Inc.\nConsolidated Statements of Income\n(in thousands) 2020 2019\nNet sales 9,100 8,800\n"
    "Cost of sales 6,000 5,900\nGross profit 3,100 2,900\nSelling, general and administrative 1,200 1,250\n"
    "Operating income 1,900 1,650\nInterest expense 40 45\nNet income 1,400 1,200\nDiluted earnings per share 2.10 1.80",
    "Acme Lamps Inc.\nConsolidated Statements of Cash Flows\n(in thousands) 2020 2019\nDepreciation and amortization 310 305\n"
    "Net cash provided by operating activities 1,800 1,700\nPurchases of property and equipment (450) (430)\n"
    "Net cash used in investing activities (460) (440)\nDividends paid (300) (290)\n"
    "Net cash used in financing activities (900) (850)\nCash at end of year 1,200 1,100",
    "Note 7. People\nAt the end of the year Acme Lamps employed 312 people in Leeds and Hull.\nSee total assets of 4,300.",
)


@pytest.fixture(scope="session")
def report() -> DocumentSet:
    return Document.from_text("\f".join(f"{page}\n" for page in PAGES), name="Acme Lamps 2020").alone

"""Three texts for the outline's tests, each of one kind: pages, deep headings, neither. Written here, no real company."""

from __future__ import annotations

from textwrap import fill

WIDTH = 92
YARDS = ("Harwick", "Lindal", "Porto Sel", "Veltmoor")
GOODS = ("ferry hulls", "dredger pumps", "mooring winches", "hatch covers", "deck cranes", "ballast valves")
ACTS = ("delivered on time", "tested at sea", "priced again each spring", "built under licence", "kept in stock")
CAUSES = ("steel prices", "a dry dock that stood empty", "longer sea trials", "the weak krona", "two late suppliers")


def _filler(seed: int, sentences: int) -> str:
    """Sentences that say little, different for each seed."""
    parts = [
        f"At {YARDS[(seed + n) % 4]} the {GOODS[(seed * 5 + n) % 6]} were {ACTS[(seed * 3 + n) % 5]}, "
        f"and {CAUSES[(seed + 2 * n) % 5]} weighed on the {('first', 'second', 'third', 'last')[(seed + n) % 4]} quarter."
        for n in range(sentences)
    ]
    return " ".join(parts)


def _prose(*paragraphs: str) -> str:
    return "\n\n".join(fill(paragraph, WIDTH) for paragraph in paragraphs)


def _pages() -> list[str]:
    statement = "Calder Marine Holdings plc\n{title}\n{period}\n\n(In thousands of euros{more}) 2024 2023 2022\n{rows}"
    income = statement.format(
        title="Consolidated Statements of Income", period="Years ended December 31", more=", except per share",
        rows="""Revenue 412,806 389,174 371,460
Cost of sales (287,315) (274,902) (268,031)
Gross profit 125,491 114,272 103,429
Research and development (21,447) (19,880) (18,112)
Selling and administration (48,206) (46,931) (44,870)
Operating income 55,838 47,461 40,447
Interest expense (6,118) (5,402) (4,377)
Income before taxes 49,720 42,059 36,070
Income taxes (11,933) (10,304) (9,018)
Net income 37,787 31,755 27,052
Earnings per share:
Basic 2.36 1.97 1.66
Diluted 2.31 1.94 1.64""",
    )  # fmt: skip
    balance = """Calder Marine Holdings plc
Consolidated Balance Sheets
At December 31

(In thousands of euros) 2024 2023
Assets
Current assets:
Cash and cash equivalents 58,214 49,760
Trade receivables, net 71,932 66,405
Inventories 88,117 92,346
Total current assets 218,263 208,511
Property, plant and equipment, net 164,580 151,207
Goodwill 40,250 40,250
Total assets 423,093 399,968
Liabilities and equity
Current liabilities:
Trade payables 52,771 55,018
Advances from customers 31,420 27,663
Total current liabilities 104,917 101,840
Borrowings 96,400 104,300
Pension obligations 12,655 13,912
Total liabilities 213,972 220,052
Total equity 209,121 179,916
Total liabilities and equity 423,093 399,968"""
    cash = statement.format(
        title="Consolidated Statements of Cash Flows", period="Years ended December 31", more="",
        rows="""Cash flows from operating activities:
Net income 37,787 31,755 27,052
Depreciation and amortization 24,310 22,871 21,906
Net cash provided by operating activities 66,944 51,338 47,215
Cash flows from investing activities:
Purchases of property, plant and equipment (37,406) (29,115) (24,880)
Net cash used in investing activities (38,902) (30,447) (27,013)
Cash flows from financing activities:
Repayment of borrowings (7,900) (6,200) (5,600)
Dividends paid (11,688) (10,352) (9,640)
Net cash used in financing activities (19,588) (16,552) (15,240)""",
    )  # fmt: skip
    comprehensive = statement.format(
        title="Consolidated Statements of Comprehensive Income", period="Years ended December 31", more="",
        rows="Net income 37,787 31,755 27,052\nCurrency translation (1,204) 866 (2,310)\nComprehensive income 36,583 32,621 24,742",
    )  # fmt: skip
    notes = [
        ("Note 1. Basis of Preparation", _filler(31, 5)),
        ("Note 2. Revenue", "Revenue from ships is recognized over time, revenue from parts when they are handed over. "
         "Ferries brought 214,300 of revenue in 2024, dredgers 121,406 and parts and service 77,100."),
        ("Note 3. Segments", _filler(33, 5)),
        ("Note 4. Employees", "The group employed 2,914 people on average in 2024, after 2,806 in 2023. Wages and salaries "
         "were 118,240 thousand euros."),
        ("Note 5. Income Taxes", "The effective tax rate was 24.0% in 2024 and 24.5% in 2023. " + _filler(35, 4)),
        ("Note 6. Earnings per Share", "The weighted number of shares was 16,011,000 in 2024 and 16,120,000 in 2023."),
        ("Note 7. Inventories", "(In thousands of euros) 2024 2023\nSteel and materials 39,205 44,112\n"
         "Work in progress 41,870 40,991\nFinished parts 7,042 7,243\nTotal inventories 88,117 92,346"),
        ("Note 8. Property, Plant and Equipment", "Additions were 37,406 in 2024, of which the covered dry dock at "
         "Lindal took 22,150. No asset was impaired."),
        ("Note 9. Goodwill", "Goodwill of 40,250 belongs to the yard at Veltmoor, bought in 2016. The test at year-end "
         "used a discount rate of 8.4% and found no impairment."),
        ("Note 10. Borrowings", "The term loan of 80,000 falls due in June 2028 and bears Euribor plus 1.65%. Net debt may "
         "not exceed 2.75 times EBITDA; at year-end it was 0.48 times."),
        ("Note 11. Pensions", _filler(41, 6)),
        ("Note 12. Provisions", "Provisions for warranties were 9,318 at year-end, after 8,744. " + _filler(42, 3)),
        ("Note 13. Contingencies", "The owner of the ferry Sund claims 14,500 for late delivery; arbitration in London "
         "is set for May 2025. No provision was made."),
        ("Note 14. Events after the Year", "On February 3, 2025 the group agreed to buy Rask Propellers for 26,000."),
    ]  # fmt: skip
    return [
        "ANNUAL REPORT 2024\n\nCalder Marine Holdings plc",
        "Contents\n\nBusiness 5\nRisk Factors 9\nManagement's Discussion 15\nFinancial Statements 22\nNotes 27",
        "Letter from the Chief Executive\n\n" + _prose(_filler(1, 6), "Ingrid Halvorsen\nChief Executive"),
        _prose(_filler(2, 8)),
        "Item 1. Business\n\n" + _prose("Calder Marine builds ferries and dredgers at four yards.", _filler(3, 6)),
        "Markets and Customers\n\n" + _prose("The ten largest customers brought 61% of revenue.", _filler(4, 6)),
        "Order Backlog\n\n" + _prose("The backlog was 638 million euros at year-end, after 571 million.", _filler(5, 5)),
        "Competition\n\n" + _prose(_filler(6, 7)),
        "Item 1A. Risk Factors\n\n" + _prose("Steel is a third of our costs.", _filler(7, 7)),
        _prose(_filler(8, 9)),
        _prose("Cyber attacks could stop the yards.", _filler(9, 8)),
        _prose(_filler(10, 9)),
        "Item 2. Properties\n\n" + _prose("The yard at Harwick is leased until 2041; the other three are owned."),
        "Item 3. Legal Proceedings\n\n" + _prose("See Note 13.", _filler(11, 3)),
        "Item 7. Management's Discussion and Analysis\n\n" + _prose(_filler(12, 7)),
        "Results of Operations\n\n" + _prose(
            "Revenue rose 6.1% to 412.8 million euros, because two more ferries were handed over than in 2023.",
            "Gross margin rose to 30.4% from 29.4%, as steel became cheaper in the second half.", _filler(13, 3)),
        "Results by Segment\n\n(In thousands of euros) 2024 2023\nFerries 31,210 25,904\nDredgers 16,922 14,015\n"
        "Parts and service 7,706 7,542\nOperating income 55,838 47,461",
        "Liquidity and Capital Resources\n\n" + _prose(
            "Cash provided by operating activities rose by 15.6 million euros, mainly through advances from customers.",
            _filler(14, 4)),
        "Capital Expenditures\n\n" + _prose(
            "Capital expenditures were 37.4 million euros in 2024, after 29.1 million, as the covered dry dock at Lindal "
            "was built. We expect 20 to 25 million euros in 2025."),
        "Critical Accounting Estimates\n\n" + _prose(_filler(15, 7)),
        "Report of the Independent Auditor\n\n" + _prose(
            "In our opinion the statements give a true and fair view.", "Brandt & Moore LLP\nHarwick, March 6, 2025"),
        income,
        comprehensive,
        balance,
        cash,
        "Consolidated Statements of Changes in Equity\n\n" + _prose(_filler(16, 2)),
        *(f"{title}\n\n{text if 'euros) 2024' in text else _prose(text)}" for title, text in notes[:8]),
        f"{notes[8][0]}\n\n{_prose(notes[8][1])}\n\n{notes[9][0]}\n\n{_prose(notes[9][1])}",
        f"{notes[10][0]}\n\n{_prose(notes[10][1])}",
        f"{notes[11][0]}\n\n{_prose(notes[11][1])}\n\n{notes[12][0]}\n\n{_prose(notes[12][1])}",
        f"{notes[13][0]}\n\n{_prose(notes[13][1])}",
        "Exhibits\n\n3.1 Articles of Association\n10.4 Loan Agreement of June 2023\n21 Subsidiaries",
        "SIGNATURES\n\nIngrid Halvorsen\nTomas Rey",
    ]  # fmt: skip


def paged_report() -> str:
    """A report of 40 pages parted by form feeds, with running heads: what a converted PDF looks like."""
    pages = _pages()
    return "\f".join(
        f"Calder Marine Holdings plc | Annual Report 2024\n\n{text}\n\n{number}\n"
        for number, text in enumerate(pages, start=1)
    )


def handbook() -> str:
    """Markdown with five levels and 110 headings; titles recur, and some sections are empty."""
    facts = {
        ("Water", "Intake", "Screens", "Limits"): "Screens are cleaned when the head loss passes 150 mm.",
        ("Water", "Filters", "Backwash", "Schedule"): "Filters are washed every 36 hours, at 45 m/h for eight minutes.",
        ("Sewage", "Sludge", "Digesters", "Limits"): "Digesters are held at 37 °C; below 34 °C feeding stops.",
        ("Sewage", "Storm tanks", "Gates", "Records"): "The gates opened on 14 days in 2023 and on 9 days in 2024.",
        (
            "Energy",
            "Grid supply",
            "Contract",
            "Limits",
        ): "The contract allows 4.2 MW; each MW above it costs 9,800 euros.",
        ("Energy", "Turbines", "Biogas", "Schedule"): "The biogas engine is overhauled every 20,000 hours.",
        ("People", "Shifts", "Standby", "Schedule"): "Two engineers stand by from 18:00 on Friday to 07:00 on Monday.",
        ("People", "Safety", "Confined spaces", "Limits"): "Nobody enters below 19.5% oxygen; three people are needed.",
    }
    tree = {
        "Water": {"Intake": ("Screens", "Pumps"), "Filters": ("Backwash", "Media"), "Storage": ("Reservoirs", "Towers")},
        "Sewage": {"Sludge": ("Digesters", "Presses"), "Storm tanks": ("Gates", "Pumps"), "Outfall": ("Sampling",)},
        "Energy": {"Grid supply": ("Contract", "Switchgear"), "Turbines": ("Biogas", "Hydro")},
        "People": {"Shifts": ("Standby", "Handover"), "Safety": ("Confined spaces", "Chlorine")},
    }  # fmt: skip
    lines = ["# Works Handbook", "", "For those who run the works.", ""]
    seed = 0
    for part, chapters in tree.items():
        lines += [f"## {part}", "", f"How {part.lower()} is run.", ""]
        for chapter, topics in chapters.items():
            lines += [f"### {chapter}", ""]
            for topic in topics:
                lines += [f"#### {topic}", ""]
                for leaf in ("Duties", "Limits", "Schedule", "Records"):
                    seed += 1
                    lines += [f"##### {leaf}", ""]
                    fact = facts.get((part, chapter, topic, leaf))
                    if fact or seed % 11:
                        lines += [_prose(fact or f"{leaf} as agreed.", _filler(seed, 3)), ""]
    return "\n".join(lines)


def minutes() -> str:
    """Minutes of a meeting without a heading or a page: paragraphs only."""
    said = {
        12: "Mrs Okafor reported that the bridge over the Tarn is closed to lorries until October because of its bearings.",
        25: "Mr Lund put the cost of the new library at 3.4 million euros, of which the county pays a third.",
        38: "The council voted by nine to four for the cycle path along the canal.",
        51: "The treasurer said that the reserve fund stood at 812,000 euros at the end of March.",
    }
    return "\n\n".join(
        fill(f"{said.get(number, '')} {_filler(number, 5)}".strip(), WIDTH) for number in range(60)
    )  # fmt: skip

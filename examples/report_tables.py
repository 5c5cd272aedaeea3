"""The tables of the example report: each a function from the figures to markdown, found by name.

Rows that only list figures stand in `report_parts/statements.json` and `splits.json`. Amounts are dollars in
millions with one decimal unless a table's caption says otherwise; a negative amount stands in brackets. Every
total is the sum of the rows above it.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from report_figures import (
    COUNTRIES,
    LINES,
    QUARTERS,
    REGIONS,
    SEGMENTS,
    STATEMENT_YEARS,
    YEARS,
    Figures,
    apportion,
    margin_points,
)

PARTS = Path(__file__).parent / "report_parts"


def facts(name: str) -> Any:
    """What `report_parts/NAME.json` holds."""
    return json.loads((PARTS / f"{name}.json").read_text(encoding="utf-8"))


def amount(tenths: int) -> str:
    """`1,234.5`, `(12.0)` for a negative amount, a dash for none."""
    if tenths == 0:
        return "–"
    text = f"{abs(tenths) / 10:,.1f}"
    return f"({text})" if tenths < 0 else text


def percent(part: int, whole: int) -> str:
    return f"{part * 100 / whole:.1f}%"


def cents(value: int) -> str:
    return f"${value / 100:.2f}"


def table(head: Sequence[str], rows: Iterable[Sequence[str]], caption: str = "Dollars in millions") -> str:
    """A markdown table under its caption; the first column is text, the others are right-aligned."""
    lines = [f"*{caption}*", ""] if caption else []
    lines.append("| " + " | ".join(head) + " |")
    lines.append("| --- |" + " ---: |" * (len(head) - 1))
    lines += ["| " + " | ".join(row) + " |" for row in rows]
    return "\n".join(lines)


def cell(figures: Figures, source: str, year: int) -> str:
    """`revenue`, `-cost_of_sales` (sign turned), `share:gross_profit` (of revenue), `count:`, `cents:`, `ratio:a/b`."""
    kind, _, name = source.rpartition(":")
    if kind == "count":
        return f"{figures.count[name][year]:,}"
    if kind == "cents":
        return cents(figures.count[name][year])
    if kind == "ratio":
        part, whole = name.split("/")
        return f"{figures.money[part][year] / figures.money[whole][year]:.1f}x"
    if kind == "share":
        segment = name.rpartition(".")[0]
        whole = f"{segment}.revenue" if segment else "revenue"
        return percent(figures.money[name][year], figures.money[whole][year])
    sign = -1 if name.startswith("-") else 1
    return amount(sign * figures.money[name.lstrip("-")][year])


def statement(
    figures: Figures,
    rows: Iterable[tuple[str, str]],
    years: Sequence[int] = YEARS,
    first: str = "",
    head: Sequence[str] = (),
    caption: str = "Dollars in millions",
) -> str:
    """One row per (label, source) and one column per year."""
    cells = [[label, *(cell(figures, source, year) for year in years)] for label, source in rows]
    return table([first, *(head or map(str, years))], cells, caption)


def split(figures: Figures, of: str, years: Sequence[int], total: str, parts: Sequence[tuple[str, float]]) -> str:
    """An amount divided by fixed weights, with its total."""
    columns = [apportion(figures.money[of][year], [weight for _, weight in parts]) for year in years]
    rows = [[label, *(amount(column[number]) for column in columns)] for number, (label, _) in enumerate(parts)]
    rows.append([total, *(amount(figures.money[of][year]) for year in years)])
    return table(["", *map(str, years)], rows)


def by_segment(figures: Figures, name: str) -> str:
    rows = [(title, f"{segment}.{name}") for segment, title in SEGMENTS.items()]
    return statement(figures, [*rows, ("Total", name)], first="Segment")


def segment_margins(figures: Figures) -> str:
    rows = []
    for segment, title in SEGMENTS.items():
        rows.append((f"{title}, gross margin", f"share:{segment}.gross_profit"))
        rows.append((f"{title}, operating margin", f"share:{segment}.operating_income"))
    return statement(figures, rows, caption="Percent of segment revenue")


def segment_table(figures: Figures, segment: str) -> str:
    rows = (
        ("Orders received", f"{segment}.orders"),
        ("Revenue", f"{segment}.revenue"),
        ("Cost of sales", f"-{segment}.cost_of_sales"),
        ("Gross profit", f"{segment}.gross_profit"),
        ("Research and development", f"-{segment}.research"),
        ("Selling and administration", f"-{segment}.selling"),
        ("Segment operating income", f"{segment}.operating_income"),
        ("Order backlog at year-end", f"{segment}.backlog"),
        ("Gross margin", f"share:{segment}.gross_profit"),
        ("Operating margin", f"share:{segment}.operating_income"),
        ("Employees at year-end", f"count:{segment}.employees"),
    )
    return statement(figures, rows, first=SEGMENTS[segment], caption="Dollars in millions, except employees")


def product_lines(figures: Figures, segment: str) -> str:
    rows = [(line, f"{segment}.line.{line}") for line, *_ in LINES[segment]]
    return statement(figures, [*rows, ("Total", f"{segment}.revenue")], first="Product line")


def region_table(figures: Figures, region: str) -> str:
    rows = [(title, f"{segment}.{region}") for segment, title in SEGMENTS.items()]
    return statement(figures, [*rows, (f"Total {REGIONS[region]}", f"{region}.revenue")], first="Segment")


def countries(figures: Figures, region: str) -> str:
    rows = [(country, f"country.{country}") for country, _ in COUNTRIES[region]]
    return statement(figures, [*rows, (f"Total {REGIONS[region]}", f"{region}.revenue")], first="Country")


def regions(figures: Figures) -> str:
    rows = [(title, f"{region}.revenue") for region, title in REGIONS.items()]
    return statement(figures, [*rows, ("Total", "revenue")], first="Region")


def regions_by_segment(figures: Figures) -> str:
    rows = []
    for region, title in (*REGIONS.items(), ("revenue", "Total")):
        parts = [figures.money[f"{segment}.{region}"][2025] for segment in SEGMENTS]
        rows.append([title, *(amount(part) for part in (*parts, sum(parts)))])
    return table(["2025", *SEGMENTS.values(), "Total"], rows)


def equity(figures: Figures) -> str:
    rows = []
    for year in reversed(STATEMENT_YEARS):
        money = {name: by_year[year] for name, by_year in figures.money.items() if year in by_year}
        moves = (
            money["net_income"],
            money["translation"] + money["pension_remeasurement"],
            money["stock_compensation"],
            -money["dividends"],
            -money["buyback"],
        )
        opening = money["equity"] - sum(moves)
        rows.append([str(year), *(amount(move) for move in (opening, *moves, money["equity"]))])
    moves = ("Net income", "Other comprehensive income", "Share-based compensation", "Dividends", "Share repurchases")
    return table(("Year", "Opening equity", *moves, "Closing equity"), rows)


def growth(figures: Figures, year: int) -> str:
    rows = []
    for segment, title in (*SEGMENTS.items(), ("total", "Total")):
        before = figures.money["revenue" if segment == "total" else f"{segment}.revenue"][year - 1]
        parts = figures.growth[segment][year]
        rows.append([title, *(amount(part) for part in (before, *parts, before + sum(parts)))])
    causes = ("Volume", "Price", "Acquisitions", "Currency")
    return table(("Segment", f"Revenue {year - 1}", *causes, f"Revenue {year}"), rows)


def bridge(figures: Figures, year: int) -> str:
    rows = [[f"Gross margin in {year - 1}", f"{margin_points(figures, year - 1):,}"]]
    rows += [[label, f"+{points}" if points > 0 else f"({-points})"] for label, points in figures.bridge[year]]
    rows.append([f"Gross margin in {year}", f"{margin_points(figures, year):,}"])
    return table(["", "Basis points"], rows, "Basis points of revenue")


def quarters(figures: Figures, year: int) -> str:
    names = [(title, f"{segment}.revenue") for segment, title in SEGMENTS.items()]
    names += [("Revenue", "revenue"), ("Gross profit", "gross_profit")]
    names += [("Operating income", "operating_income"), ("Net income", "net_income")]
    rows = []
    for label, name in names:
        parts = [figures.quarter[name][year, number] for number in (1, 2, 3, 4)]
        rows.append([label, *(amount(part) for part in (*parts, sum(parts)))])
    return table([str(year), *QUARTERS, "Year"], rows)


def tax_rate(figures: Figures) -> str:
    labels = ("Statutory rate in the United States", "State and local taxes", "Foreign rates", "Research credits")
    fixed = (210, 24, 9, -17)
    rates = [round(figures.money["tax"][year] * 1000 / figures.money["pretax"][year]) for year in STATEMENT_YEARS]
    rows = [[label, *[f"{part / 10:.1f}%"] * len(rates)] for label, part in zip(labels, fixed, strict=True)]
    rows.append(["Other", *(f"{(rate - sum(fixed)) / 10:.1f}%" for rate in rates)])
    rows.append(["Effective tax rate", *(f"{rate / 10:.1f}%" for rate in rates)])
    return table(["", *map(str, STATEMENT_YEARS)], rows, "Percent of income before income taxes")


def goodwill(figures: Figures) -> str:
    balance = apportion(figures.money["goodwill"][2023], (36.0, 27.0, 24.0, 13.0))
    rows = [["Balance at December 31, 2023", *(amount(part) for part in (*balance, sum(balance)))]]
    for year in (2024, 2025):
        acquired = [0, 0, round(figures.money["acquisitions"][year] * 0.45), 0]
        impaired = [0, -figures.money["impairment"][year], 0, 0]
        moved = figures.money["goodwill"][year] - sum(balance) - sum(acquired) - sum(impaired)
        sign = -1 if moved < 0 else 1
        currency = [sign * part for part in apportion(abs(moved), balance)]
        for label, parts in (("Acquisitions", acquired), ("Impairment", impaired), ("Currency translation", currency)):
            if any(parts):
                rows.append([f"{label}, {year}", *(amount(part) for part in (*parts, sum(parts)))])
        balance = [sum(column) for column in zip(balance, acquired, impaired, currency, strict=True)]
        rows.append([f"Balance at December 31, {year}", *(amount(part) for part in (*balance, sum(balance)))])
    return table(["", *SEGMENTS.values(), "Total"], rows)


def earnings_per_share(figures: Figures) -> str:
    count, years = figures.count, STATEMENT_YEARS
    awards = [count["diluted_shares"][year] - count["shares"][year] for year in years]
    rows = [
        ["Net income", *(amount(figures.money["net_income"][year]) for year in years)],
        ["Weighted average shares, basic", *(f"{count['shares'][year] / 10:.1f}" for year in years)],
        ["Effect of share awards", *(f"{number / 10:.1f}" for number in awards)],
        ["Weighted average shares, diluted", *(f"{count['diluted_shares'][year] / 10:.1f}" for year in years)],
        ["Basic earnings per share", *(cents(count["eps_cents"][year]) for year in years)],
        ["Diluted earnings per share", *(cents(count["diluted_eps_cents"][year]) for year in years)],
    ]
    return table(["", *map(str, years)], rows, "Dollars and shares in millions, except per share")


TABLES: dict[str, Callable[[Figures], str]] = {
    "earnings_per_share": earnings_per_share,
    "equity": equity,
    "goodwill": goodwill,
    "regions": regions,
    "regions_by_segment": regions_by_segment,
    "segment_margins": segment_margins,
    "tax_rate": tax_rate,
    **{name: partial(statement, **facts("statements")[name]) for name in facts("statements")},
    **{name: partial(split, **facts("splits")[name]) for name in facts("splits")},
    **{f"{name}_by_segment": partial(by_segment, name=name) for name in ("revenue", "backlog", "orders", "research")},
    **{f"segment_{segment}": partial(segment_table, segment=segment) for segment in SEGMENTS},
    **{f"lines_{segment}": partial(product_lines, segment=segment) for segment in SEGMENTS},
    **{f"region_{region}": partial(region_table, region=region) for region in REGIONS},
    **{f"countries_{region}": partial(countries, region=region) for region in REGIONS},
    **{f"growth_{year}": partial(growth, year=year) for year in (2023, 2024, 2025)},
    **{f"bridge_{year}": partial(bridge, year=year) for year in (2024, 2025)},
    **{f"quarters_{year}": partial(quarters, year=year) for year in (2024, 2025)},
}

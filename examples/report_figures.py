"""The figures of the example report: one seeded set of accounts in which everything adds up.

Money is kept as whole tenths of a million dollars, so that sums are exact; counts are plain integers.
`Figures.money["flow.revenue"][2025]` is 9870 for $987.0 million. Totals are always computed from their parts.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, field

YEARS = (2021, 2022, 2023, 2024, 2025)
STATEMENT_YEARS = (2025, 2024, 2023)
QUARTERS = ("Q1", "Q2", "Q3", "Q4")

SEGMENTS = {
    "flow": "Flow Measurement",
    "pumps": "Pumps and Drives",
    "treatment": "Treatment Systems",
    "services": "Field Services",
}
REGIONS = {
    "north_america": "North America",
    "europe": "Europe",
    "asia_pacific": "Asia Pacific",
    "latin_america": "Latin America",
    "middle_east_africa": "Middle East and Africa",
}
COUNTRIES = {
    "north_america": (("United States", 86), ("Canada", 14)),
    "europe": (("Germany", 29), ("United Kingdom", 22), ("France", 15), ("Sweden", 13), ("Other Europe", 21)),
    "asia_pacific": (("Australia", 34), ("India", 27), ("Japan", 18), ("Other Asia Pacific", 21)),
    "latin_america": (("Brazil", 46), ("Mexico", 31), ("Other Latin America", 23)),
    "middle_east_africa": (("United Arab Emirates", 41), ("South Africa", 33), ("Other Middle East and Africa", 26)),
}
# Product lines with their share of the segment's revenue in the first and in the last year.
LINES = {
    "flow": (
        ("Municipal meters", 40.2, 41.0),
        ("Industrial flowmeters", 31.8, 27.0),
        ("Sensors and loggers", 16.2, 17.0),
        ("Software and subscriptions", 11.8, 15.0),
    ),
    "pumps": (
        ("Submersible pumps", 36.0, 38.0),
        ("Booster sets", 27.6, 24.0),
        ("Variable-speed drives", 19.8, 21.0),
        ("Spare parts", 16.6, 17.0),
    ),
    "treatment": (
        ("Membranes", 32.0, 33.0),
        ("Ultraviolet disinfection", 26.0, 26.5),
        ("Dosing and control", 21.0, 22.0),
        ("Packaged plants", 21.0, 18.5),
    ),
    "services": (
        ("Maintenance contracts", 48.0, 47.5),
        ("Network surveys and leak detection", 21.0, 25.0),
        ("Commissioning", 21.0, 17.5),
        ("Training and advice", 10.0, 10.0),
    ),
}
# What an acquisition, or a lost tender, adds to those shares in one year.
_LINE_SHIFT = {("treatment", 2025): (3.2, -0.9, -0.6, -1.7)}

_REVENUE = {
    "flow": (742, 798, 861, 902, 987),
    "pumps": (688, 731, 768, 749, 781),
    "treatment": (412, 455, 521, 588, 668),
    "services": (266, 289, 318, 352, 397),
}
_GROSS_MARGIN = {
    "flow": (0.417, 0.419, 0.421, 0.428, 0.446),
    "pumps": (0.326, 0.322, 0.319, 0.298, 0.322),
    "treatment": (0.331, 0.330, 0.334, 0.340, 0.347),
    "services": (0.284, 0.287, 0.290, 0.296, 0.309),
}
_RESEARCH_SHARE = {"flow": 0.082, "pumps": 0.044, "treatment": 0.051, "services": 0.012}
_SELLING_SHARE = {"flow": 0.178, "pumps": 0.149, "treatment": 0.156, "services": 0.127}
_REGION_WEIGHTS = {
    "flow": ((48, 25, 15, 7, 5), (46, 25, 17, 7, 5)),
    "pumps": ((41, 28, 16, 10, 5), (39, 27, 18, 10, 6)),
    "treatment": ((35, 27, 22, 7, 9), (31, 32, 22, 6, 9)),
    "services": ((58, 26, 9, 4, 3), (55, 27, 10, 4, 4)),
}
# Price, acquisitions and currency as shares of the year before; volume is what remains.
_GROWTH = {
    "flow": {2023: (0.034, 0.011, -0.004), 2024: (0.028, 0.012, 0.002), 2025: (0.031, 0.0, -0.004)},
    "pumps": {2023: (0.041, 0.0, -0.007), 2024: (0.019, 0.0, 0.001), 2025: (0.027, 0.0, -0.006)},
    "treatment": {2023: (0.022, 0.0, -0.006), 2024: (0.018, 0.0, 0.003), 2025: (0.021, 0.064, -0.007)},
    "services": {2023: (0.036, 0.0, -0.003), 2024: (0.033, 0.0, 0.001), 2025: (0.039, 0.0, -0.002)},
}
_QUARTER_WEIGHTS = {
    "flow": (22, 25, 25, 28),
    "pumps": (23, 27, 27, 23),
    "treatment": (20, 24, 25, 31),
    "services": (21, 25, 28, 26),
}
# Points of gross margin, in hundredths; "mix and other" is what remains.
_MARGIN_DRIVERS = {
    2024: (
        ("Selling prices above wage inflation", 42),
        ("Copper, brass and resin costs", 14),
        ("Freight", 11),
        ("Series 40 drive recall", -46),
        ("Under-used capacity at Toledo before its closing", -31),
    ),
    2025: (
        ("Selling prices above wage inflation", 74),
        ("Copper, brass and resin costs", 56),
        ("No repeat of the Series 40 drive recall", 46),
        ("Freight", 17),
        ("Start-up of the Ostrava plant", -40),
        ("Lindqvist inventory step-up", -9),
    ),
}


def apportion(total: int, weights: Sequence[float]) -> list[int]:
    """Split `total` into integers in the ratio of `weights`, by the largest remainder; the sum is exact."""
    whole = sum(weights)
    exact = [total * weight / whole for weight in weights]
    parts = [int(share) for share in exact]
    order = sorted(range(len(parts)), key=lambda index: (parts[index] - exact[index], index))
    for index in order[: total - sum(parts)]:
        parts[index] += 1
    return parts


@dataclass(slots=True)
class Figures:
    """All figures by name and year; `bridge` and `growth` hold the explanations of change."""

    money: dict[str, dict[int, int]] = field(default_factory=dict)
    count: dict[str, dict[int, int]] = field(default_factory=dict)
    quarter: dict[str, dict[tuple[int, int], int]] = field(default_factory=dict)
    bridge: dict[int, list[tuple[str, int]]] = field(default_factory=dict)
    growth: dict[str, dict[int, tuple[int, int, int, int]]] = field(default_factory=dict)

    def put(self, name: str, year: int, amount: int) -> int:
        self.money.setdefault(name, {})[year] = amount
        return amount

    def total(self, name: str, year: int, parts: Sequence[str]) -> int:
        return self.put(name, year, sum(self.money[part][year] for part in parts))


def make_figures(seed: int) -> Figures:
    """The accounts for 2021 to 2025. The same seed gives the same figures on every machine."""
    rng = random.Random(seed)
    figures = Figures()
    for year in YEARS:
        for segment in SEGMENTS:
            _add_segment(figures, rng, segment, year)
        _add_totals(figures, year)
    for year in (2023, 2024, 2025):
        _add_growth(figures, year)
    for year in (2024, 2025):
        _add_bridge(figures, year)
    _add_statements(figures)
    _add_quarters(figures, rng)
    _add_people(figures, rng)
    return figures


def _add_segment(figures: Figures, rng: random.Random, segment: str, year: int) -> None:
    position = YEARS.index(year)
    revenue = round(_REVENUE[segment][position] * 10 * (1 + (rng.random() - 0.5) * 0.008))
    gross = round(revenue * (_GROSS_MARGIN[segment][position] + (rng.random() - 0.5) * 0.001))
    research = round(revenue * _RESEARCH_SHARE[segment] * (1 + (rng.random() - 0.5) * 0.03))
    selling = round(revenue * _SELLING_SHARE[segment] * (1.01 - 0.006 * position))
    early, late = _REGION_WEIGHTS[segment]
    drift = position / (len(YEARS) - 1)
    weights = [first + (last - first) * drift + rng.random() * 0.4 for first, last in zip(early, late, strict=True)]
    figures.put(f"{segment}.revenue", year, revenue)
    figures.put(f"{segment}.gross_profit", year, gross)
    figures.put(f"{segment}.cost_of_sales", year, revenue - gross)
    figures.put(f"{segment}.research", year, research)
    figures.put(f"{segment}.selling", year, selling)
    figures.put(f"{segment}.operating_income", year, gross - research - selling)
    for region, amount in zip(REGIONS, apportion(revenue, weights), strict=True):
        figures.put(f"{segment}.{region}", year, amount)
    shift = _LINE_SHIFT.get((segment, year), (0.0, 0.0, 0.0, 0.0))
    shares = [
        first + (last - first) * drift + step + rng.random() * 0.1
        for (_, first, last), step in zip(LINES[segment], shift, strict=True)
    ]
    for (line, _, _), amount in zip(LINES[segment], apportion(revenue, shares), strict=True):
        figures.put(f"{segment}.line.{line}", year, amount)
    cover = {"flow": 0.24, "pumps": 0.28, "treatment": 0.61, "services": 0.83}[segment]
    figures.put(f"{segment}.backlog", year, round(revenue * cover * (1 + (rng.random() - 0.4) * 0.06)))
    figures.put(f"{segment}.orders", year, round(revenue * (1.01 + rng.random() * 0.05)))


def _add_totals(figures: Figures, year: int) -> None:
    for name in ("revenue", "cost_of_sales", "gross_profit", "research", "backlog", "orders"):
        figures.total(name, year, [f"{segment}.{name}" for segment in SEGMENTS])
    figures.total("segment_selling", year, [f"{segment}.selling" for segment in SEGMENTS])
    figures.total("segment_income", year, [f"{segment}.operating_income" for segment in SEGMENTS])
    for region in REGIONS:
        figures.total(f"{region}.revenue", year, [f"{segment}.{region}" for segment in SEGMENTS])
        weights = [weight for _, weight in COUNTRIES[region]]
        amounts = apportion(figures.money[f"{region}.revenue"][year], weights)
        for (country, _), amount in zip(COUNTRIES[region], amounts, strict=True):
            figures.put(f"country.{country}", year, amount)
    natures = ("materials", "labour", "other_production", "freight", "energy")
    weights = {2024: (46.4, 27.9, 15.8, 6.6, 3.3), 2025: (45.4, 28.6, 16.6, 6.2, 3.2)}.get(
        year, (47.1, 27.2, 15.4, 7.0, 3.3)
    )
    for nature, amount in zip(natures, apportion(figures.money["cost_of_sales"][year], weights), strict=True):
        figures.put(f"cost.{nature}", year, amount)


def _add_growth(figures: Figures, year: int) -> None:
    for segment in SEGMENTS:
        before, now = (figures.money[f"{segment}.revenue"][each] for each in (year - 1, year))
        price, bought, currency = (round(before * share) for share in _GROWTH[segment][year])
        volume = now - before - price - bought - currency
        figures.growth.setdefault(segment, {})[year] = (volume, price, bought, currency)
    columns = zip(*(figures.growth[segment][year] for segment in SEGMENTS), strict=True)
    volume, price, bought, currency = (sum(column) for column in columns)
    figures.growth.setdefault("total", {})[year] = (volume, price, bought, currency)


def margin_points(figures: Figures, year: int) -> int:
    """Gross margin in hundredths of a point: 3709 for 37.09 %."""
    return round(figures.money["gross_profit"][year] * 10_000 / figures.money["revenue"][year])


def _add_bridge(figures: Figures, year: int) -> None:
    drivers = list(_MARGIN_DRIVERS[year])
    change = margin_points(figures, year) - margin_points(figures, year - 1)
    remainder = change - sum(points for _, points in drivers)
    figures.bridge[year] = [*drivers, ("Mix and other", remainder)]


_CORPORATE = {2021: 452, 2022: 471, 2023: 503, 2024: 518, 2025: 547}
_RESTRUCTURING = {2021: 31, 2022: 48, 2023: 62, 2024: 149, 2025: 93}
_IMPAIRMENT = {2021: 0, 2022: 0, 2023: 0, 2024: 64, 2025: 0}
_AMORTIZATION = {2021: 262, 2022: 258, 2023: 271, 2024: 284, 2025: 327}
_DEPRECIATION = {2021: 711, 2022: 738, 2023: 764, 2024: 792, 2025: 853}
_CAPEX = {2021: 834, 2022: 907, 2023: 1126, 2024: 1438, 2025: 1207}
_INTEREST = {2021: 371, 2022: 368, 2023: 381, 2024: 372, 2025: 416}
_INTEREST_INCOME = {2021: 14, 2022: 27, 2023: 58, 2024: 71, 2025: 63}
_OTHER_INCOME = {2021: -9, 2022: 6, 2023: -14, 2024: 42, 2025: -18}
_TAX_RATE = {2021: 0.238, 2022: 0.235, 2023: 0.231, 2024: 0.234, 2025: 0.226}
_DIVIDEND_CENTS = {2021: 92, 2022: 98, 2023: 104, 2024: 110, 2025: 120}
_SHARES = {2021: 947, 2022: 941, 2023: 936, 2024: 929, 2025: 921}
_BUYBACK = {2021: 300, 2022: 400, 2023: 350, 2024: 600, 2025: 750}
_STOCK_COMPENSATION = {2021: 187, 2022: 204, 2023: 226, 2024: 241, 2025: 268}
_ACQUISITIONS = {2021: 0, 2022: 0, 2023: 625, 2024: 0, 2025: 1840}
_DISPOSALS = {2021: 12, 2022: 9, 2023: 14, 2024: 224, 2025: 31}
_BORROWED = {2021: 0, 2022: 0, 2023: 0, 2024: 0, 2025: 1500}
_REPAID = {2021: 400, 2022: 400, 2023: 400, 2024: 400, 2025: 475}
_TRANSLATION = {2021: -61, 2022: -118, 2023: 47, 2024: -83, 2025: 96}
_PENSION_REMEASUREMENT = {2021: 74, 2022: 91, 2023: -22, 2024: 18, 2025: 27}


def _add_statements(figures: Figures) -> None:
    """Income statement, cash flows and balance sheet; the balance sheet balances by double entry."""
    opening = {
        "property": 6480, "goodwill": 5930, "intangibles": 2410, "other_assets": 1385,
        "debt": 8600, "deferred_revenue": 745, "accrued": 2210, "pension": 980, "deferred_tax": 640, "cash": 2745,
    }  # fmt: skip
    state = dict(opening)
    state |= {"receivables": 3205, "inventories": 3410, "payables": 2260}
    assets = ("cash", "receivables", "inventories", "property", "goodwill", "intangibles", "other_assets")
    debts = ("debt", "deferred_revenue", "accrued", "pension", "deferred_tax", "payables")
    equity = sum(state[name] for name in assets) - sum(state[name] for name in debts)
    for year in YEARS:
        income = _add_income(figures, year)
        equity = _add_balance(figures, year, state, equity, income)


def _add_income(figures: Figures, year: int) -> int:
    money = figures.money
    selling = figures.put("selling", year, money["segment_selling"][year] + _CORPORATE[year])
    special = {"amortization": _AMORTIZATION, "restructuring": _RESTRUCTURING, "impairment": _IMPAIRMENT}
    costs = sum(figures.put(name, year, amounts[year]) for name, amounts in special.items())
    figures.put("corporate", year, _CORPORATE[year])
    operating = money["gross_profit"][year] - money["research"][year] - selling - costs
    figures.put("operating_income", year, operating)
    for name, amounts in (
        ("interest", _INTEREST),
        ("interest_income", _INTEREST_INCOME),
        ("other_income", _OTHER_INCOME),
    ):
        figures.put(name, year, amounts[year])
    pretax = operating - _INTEREST[year] + _INTEREST_INCOME[year] + _OTHER_INCOME[year]
    tax = round(pretax * _TAX_RATE[year])
    figures.put("pretax", year, pretax)
    figures.put("tax", year, tax)
    figures.put("net_income", year, pretax - tax)
    figures.put("depreciation", year, _DEPRECIATION[year])
    figures.put("ebitda", year, operating + _DEPRECIATION[year] + _AMORTIZATION[year])
    figures.count.setdefault("shares", {})[year] = _SHARES[year]
    figures.count.setdefault("diluted_shares", {})[year] = _SHARES[year] + 9
    figures.count.setdefault("dividend_cents", {})[year] = _DIVIDEND_CENTS[year]
    figures.count.setdefault("eps_cents", {})[year] = round((pretax - tax) * 100 / _SHARES[year])
    figures.count.setdefault("diluted_eps_cents", {})[year] = round((pretax - tax) * 100 / (_SHARES[year] + 9))
    return pretax - tax


def _add_balance(figures: Figures, year: int, state: dict[str, int], equity: int, income: int) -> int:
    before = dict(state)
    revenue, cost = figures.money["revenue"][year], figures.money["cost_of_sales"][year]
    inventory_days = {2021: 98, 2022: 101, 2023: 99, 2024: 94, 2025: 97}[year]
    bought = _ACQUISITIONS[year]
    state["receivables"] = round(revenue * {2025: 57}.get(year, 58) / 365)
    state["inventories"] = round(cost * inventory_days / 365)
    state["payables"] = round(cost * 63 / 365)
    state["deferred_revenue"] = round(figures.money["flow.line.Software and subscriptions"][year] * 0.74)
    state["accrued"] += round((revenue - 20_000) * 0.004) + (118 if year == 2024 else 0) - (64 if year == 2025 else 0)
    state["pension"] -= 37 + _PENSION_REMEASUREMENT[year]
    state["deferred_tax"] += 11
    disposal_book = _DISPOSALS[year] - (42 if year == 2024 else 0)
    translation_cash = round(_TRANSLATION[year] * 0.25)
    state["property"] += _CAPEX[year] - _DEPRECIATION[year] - disposal_book + round(bought * 0.2)
    state["goodwill"] += round(bought * 0.45) - _IMPAIRMENT[year] + (_TRANSLATION[year] - translation_cash)
    state["intangibles"] += bought - round(bought * 0.2) - round(bought * 0.45) - _AMORTIZATION[year]
    state["other_assets"] += 24
    state["debt"] += _BORROWED[year] - _REPAID[year]
    dividends = round(_DIVIDEND_CENTS[year] * _SHARES[year] / 100)
    working = {
        "change.receivables": before["receivables"] - state["receivables"],
        "change.inventories": before["inventories"] - state["inventories"],
        "change.payables": state["payables"] - before["payables"],
        "change.deferred_revenue": state["deferred_revenue"] - before["deferred_revenue"],
        "change.other": (state["accrued"] - before["accrued"]) + (state["pension"] - before["pension"])
        + _PENSION_REMEASUREMENT[year] + (state["deferred_tax"] - before["deferred_tax"]) - 24,
    }  # fmt: skip
    gain = 42 if year == 2024 else 0
    operating = (
        income + _DEPRECIATION[year] + _AMORTIZATION[year] + _IMPAIRMENT[year] + _STOCK_COMPENSATION[year] - gain
        + sum(working.values())
    )  # fmt: skip
    investing = -_CAPEX[year] - bought + _DISPOSALS[year]
    financing = _BORROWED[year] - _REPAID[year] - dividends - _BUYBACK[year]
    state["cash"] += operating + investing + financing + translation_cash
    equity += income + _STOCK_COMPENSATION[year] - dividends - _BUYBACK[year]
    equity += _TRANSLATION[year] + _PENSION_REMEASUREMENT[year]
    for name, amount in (state | working).items():
        figures.put(name, year, amount)
    flows = {
        "cash_opening": before["cash"], "operating_cash": operating, "investing_cash": investing,
        "financing_cash": financing, "translation_cash": translation_cash, "capex": _CAPEX[year],
        "acquisitions": bought, "disposals": _DISPOSALS[year], "disposal_gain": gain, "borrowed": _BORROWED[year],
        "repaid": _REPAID[year], "dividends": dividends, "buyback": _BUYBACK[year],
        "stock_compensation": _STOCK_COMPENSATION[year], "translation": _TRANSLATION[year],
        "pension_remeasurement": _PENSION_REMEASUREMENT[year], "free_cash": operating - _CAPEX[year], "equity": equity,
        "comprehensive_income": income + _TRANSLATION[year] + _PENSION_REMEASUREMENT[year],
        "net_debt": state["debt"] - state["cash"],
    }  # fmt: skip
    for name, amount in flows.items():
        figures.put(name, year, amount)
    current = figures.total("current_assets", year, ("cash", "receivables", "inventories"))
    figures.put(
        "assets", year, current + sum(state[name] for name in ("property", "goodwill", "intangibles", "other_assets"))
    )
    debts = ("payables", "accrued", "deferred_revenue", "debt", "pension", "deferred_tax")
    figures.total("liabilities", year, debts)
    if figures.money["assets"][year] != figures.money["liabilities"][year] + equity:
        raise ArithmeticError(f"the balance sheet of {year} does not balance")
    return equity


def _add_quarters(figures: Figures, rng: random.Random) -> None:
    for year in (2024, 2025):
        for segment in SEGMENTS:
            weights = [weight * (0.96 + 0.08 * rng.random()) for weight in _QUARTER_WEIGHTS[segment]]
            amounts = apportion(figures.money[f"{segment}.revenue"][year], weights)
            figures.quarter.setdefault(f"{segment}.revenue", {}).update(
                {(year, number + 1): amount for number, amount in enumerate(amounts)}
            )
        revenue = [sum(figures.quarter[f"{s}.revenue"][year, q] for s in SEGMENTS) for q in (1, 2, 3, 4)]
        figures.quarter.setdefault("revenue", {}).update({(year, q + 1): amount for q, amount in enumerate(revenue)})
        tilt = {2024: (0.99, 1.01, 0.97, 1.02), 2025: (0.97, 0.98, 1.02, 1.02)}[year]
        for name, lift in (("gross_profit", 1.0), ("operating_income", 3.0), ("net_income", 3.2)):
            weights = [amount * (1 + (shift - 1) * lift) for amount, shift in zip(revenue, tilt, strict=True)]
            amounts = apportion(figures.money[name][year], weights)
            figures.quarter.setdefault(name, {}).update({(year, q + 1): amount for q, amount in enumerate(amounts)})


def _add_people(figures: Figures, rng: random.Random) -> None:
    heads = {"flow": (2710, 2790, 2905, 2960, 3085), "pumps": (2840, 2915, 2960, 2790, 2865),
             "treatment": (1480, 1560, 1690, 1820, 2160), "services": (2050, 2190, 2350, 2560, 2815),
             "head_office": (395, 402, 411, 416, 424)}  # fmt: skip
    for group, numbers in heads.items():
        for year, number in zip(YEARS, numbers, strict=True):
            figures.count.setdefault(f"{group}.employees", {})[year] = number + rng.randrange(-9, 10)
    for year in YEARS:
        figures.count.setdefault("employees", {})[year] = sum(
            figures.count[f"{group}.employees"][year] for group in heads
        )
        weights = (44.0, 29.0, 17.0, 6.5, 3.5)
        for region, number in zip(REGIONS, apportion(figures.count["employees"][year], weights), strict=True):
            figures.count.setdefault(f"{region}.employees", {})[year] = number

"""The generated prose of the example report: sentences around the figures, varied by the seeded order of patterns.

What is particular about a product line, a country, a site, a contract or a quarter is written by hand in
`report_parts/*.json`; the functions here put the figures to it. One sentence stands on one line.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from functools import partial

from report_figures import COUNTRIES, LINES, QUARTERS, REGIONS, SEGMENTS, Figures
from report_tables import amount, facts, percent, table


def money(tenths: int) -> str:
    return f"${abs(tenths) / 10:,.1f} million"


def change(figures: Figures, name: str, year: int) -> tuple[str, str]:
    """`("rose", "8.4%")`: the direction and the size of a change from the year before."""
    before, now = figures.money[name][year - 1], figures.money[name][year]
    return ("rose" if now > before else "fell"), f"{abs(now - before) * 100 / before:.1f}%"


class Patterns:
    """Sentence patterns in a shuffled cycle, so that no two neighbours are built alike."""

    def __init__(self, rng: random.Random, patterns: tuple[str, ...]) -> None:
        self._patterns = rng.sample(patterns, len(patterns))
        self._next = 0

    def fill(self, **values: object) -> str:
        pattern = self._patterns[self._next % len(self._patterns)]
        self._next += 1
        return pattern.format(**values)


def lines(figures: Figures, rng: random.Random, segment: str) -> str:
    patterns = Patterns(rng, (
        "Revenue {verb} by {size} to {now} in 2025, which is {share} of the segment's.",
        "The line brought {now} in 2025, after {before} in 2024, or {share} of what the segment sold.",
        "With {now} in 2025 it accounts for {share} of the segment; a year earlier it had brought {before}.",
        "In 2025 its revenue {verb} from {before} to {now}, a change of {size}.",
    ))  # fmt: skip
    texts, paragraphs = facts("lines"), []
    for line, *_ in LINES[segment]:
        name = f"{segment}.line.{line}"
        verb, size = change(figures, name, 2025)
        now, before = figures.money[name][2025], figures.money[name][2024]
        share = percent(now, figures.money[f"{segment}.revenue"][2025])
        figure = patterns.fill(verb=verb, size=size, now=money(now), before=money(before), share=share)
        first, *rest = texts[line]
        paragraphs.append("\n".join((f"**{line}.** {first}", *rest, figure)))
    return "\n\n".join(paragraphs)


def countries(figures: Figures, rng: random.Random, region: str) -> str:
    patterns = Patterns(rng, (
        "{country}: revenue {verb} by {size} to {now}.",
        "In {country} we earned {now}, {size} {more} than the year before.",
        "{country} brought {now} of revenue, after {before} in 2024.",
    ))  # fmt: skip
    texts, paragraphs = facts("countries"), []
    for country, _ in COUNTRIES[region]:
        name = f"country.{country}"
        verb, size = change(figures, name, 2025)
        figure = patterns.fill(
            country="the " + country if country.startswith("United") else country, verb=verb, size=size,
            more="more" if verb == "rose" else "less",
            now=money(figures.money[name][2025]), before=money(figures.money[name][2024]),
        )  # fmt: skip
        paragraphs.append("\n".join((figure[0].upper() + figure[1:], *texts[country])))
    return "\n\n".join(paragraphs)


def region(figures: Figures, rng: random.Random, name: str) -> str:
    """How each segment did in a region, largest first."""
    patterns = Patterns(rng, (
        "{title} grew by {size} there, to {now}, and remains at {share} of the region's revenue.",
        "The revenue of {title} {verb} by {size} to {now}, or {share} of the region's total.",
        "{title} sold for {now}, after {before} in 2024, and accounts for {share} of the region.",
        "{title} reached {now}; in 2021 it had been {first}.",
    ))  # fmt: skip
    order = sorted(SEGMENTS, key=lambda segment: -figures.money[f"{segment}.{name}"][2025])
    sentences = []
    for segment in order:
        series = figures.money[f"{segment}.{name}"]
        verb, size = change(figures, f"{segment}.{name}", 2025)
        share = percent(series[2025], figures.money[f"{name}.revenue"][2025])
        sentences.append(patterns.fill(
            title=SEGMENTS[segment], verb=verb, size=size, share=share,
            now=money(series[2025]), before=money(series[2024]), first=money(series[2021]),
        ))  # fmt: skip
    return "\n".join(sentences)


def sites_table(figures: Figures, rng: random.Random) -> str:
    rows = [
        [city, country, segment, f"{area:,}", tenure] for city, country, segment, _, area, tenure, *_ in facts("sites")
    ]
    head = ("Site", "Country", "Segment", "Floor area", "Owned or leased")
    return table(head, rows, "Floor area in square meters")


def sites(figures: Figures, rng: random.Random) -> str:
    patterns = Patterns(rng, (
        "The site opened in {year}, has {area} square meters and employs {people} people.",
        "{people} people work on {area} square meters, in buildings {held} since {year}.",
        "It has belonged to our network since {year} and had {people} employees at year-end, on {area} square meters.",
        "Opened in {year}, it offers {area} square meters to {people} employees.",
    ))  # fmt: skip
    paragraphs = []
    for city, country, segment, use, area, tenure, year, people, note in facts("sites"):
        figure = patterns.fill(year=year, area=f"{area:,}", people=f"{people:,}", held="used")
        paragraphs.append("\n".join((f"**{city} ({country}).** {use}, for {segment}; {tenure}.", figure, note)))
    return "\n\n".join(paragraphs)


def contracts_table(figures: Figures, rng: random.Random) -> str:
    rows = [[name, segment, f"{value:.1f}", str(end)] for name, _, segment, value, end, _ in facts("contracts")]
    total = sum(round(row[3] * 10) for row in facts("contracts"))
    return table(("Customer or project", "Segment", "Value", "Last year"), [*rows, ["Total", "", amount(total), ""]])


def contracts(figures: Figures, rng: random.Random) -> str:
    patterns = Patterns(rng, (
        "The order, worth ${value:.1f} million, is for {what}, and runs until {end}.",
        "It covers {what}, at a price of ${value:.1f} million, and will be finished in {end}.",
        "For ${value:.1f} million {segment} will supply {what} by {end}.",
    ))  # fmt: skip
    paragraphs = []
    for name, what, segment, value, end, note in facts("contracts"):
        paragraphs.append(
            f"**{name}.** " + patterns.fill(what=what, segment=segment, value=value, end=end) + f"\n{note}"
        )
    return "\n\n".join(paragraphs)


def plants_table(figures: Figures, rng: random.Random) -> str:
    rows = [
        [city, f"{energy:.1f}", str(water), f"{emissions:.1f}"] for city, energy, water, emissions, _ in facts("plants")
    ]
    head = ("Plant", "Energy, gigawatt hours", "Water, thousand cubic meters", "Emissions, thousand tonnes")
    return table(head, rows, "2025, scopes 1 and 2")


def plants(figures: Figures, rng: random.Random) -> str:
    patterns = Patterns(rng, (
        "{city} used {energy:.1f} gigawatt hours of energy and caused {emissions:.1f} thousand tonnes of emissions.",
        "At {city}, {water} thousand cubic meters of water and {energy:.1f} gigawatt hours of energy were used.",
        "The emissions of {city} came to {emissions:.1f} thousand tonnes, for {energy:.1f} gigawatt hours of energy.",
    ))  # fmt: skip
    return "\n".join(
        patterns.fill(city=city, energy=energy, water=water, emissions=emissions) + f"\n{note}"
        for city, energy, water, emissions, note in facts("plants")
    )


def year_review(figures: Figures, rng: random.Random, year: int) -> str:
    """One line on each segment's figures in a past year, and one on what lay behind them."""
    patterns = Patterns(rng, (
        "{title} earned {income} on revenue of {revenue}, a margin of {margin}.",
        "In {title}, revenue of {revenue} left an operating income of {income}, or {margin}.",
        "{title}: revenue {revenue}, operating income {income}, orders {orders}.",
        "The revenue of {title} was {revenue}, and its backlog at the end of the year {backlog}.",
    ))  # fmt: skip
    sentences = []
    for segment, title in SEGMENTS.items():
        names = ("revenue", "operating_income", "orders", "backlog")
        revenue, income, orders, backlog = (figures.money[f"{segment}.{name}"][year] for name in names)
        sentences.append(patterns.fill(
            title=title, revenue=money(revenue), income=money(income), orders=money(orders), backlog=money(backlog),
            margin=percent(income, revenue),
        ))  # fmt: skip
        sentences.append(facts("years")[str(year)][segment])
    return "\n".join(sentences)


def quarters(figures: Figures, rng: random.Random) -> str:
    patterns = Patterns(rng, (
        "Revenue was {revenue} and operating income {income}, a margin of {margin}.",
        "With revenue of {revenue}, operating income came to {income}, or {margin} of revenue.",
        "Operating income of {income} was earned on revenue of {revenue}, which is {margin}.",
    ))  # fmt: skip
    leaders = Patterns(rng, (
        "{title} was the strongest segment in relation to its year, with {share} of its annual revenue.",
        "No segment earned a larger part of its annual revenue in this quarter than {title}, with {share}.",
    ))  # fmt: skip
    texts, sections = facts("quarters"), []
    for year in (2025, 2024):
        for number, quarter in enumerate(QUARTERS, start=1):
            revenue, income = (figures.quarter[name][year, number] for name in ("revenue", "operating_income"))
            shares = {
                s: figures.quarter[f"{s}.revenue"][year, number] / figures.money[f"{s}.revenue"][year] for s in SEGMENTS
            }
            best = max(shares, key=lambda segment: shares[segment])
            sentences = [
                patterns.fill(revenue=money(revenue), income=money(income), margin=percent(income, revenue)),
                f"The gross margin was {percent(figures.quarter['gross_profit'][year, number], revenue)}, "
                f"and net income {money(figures.quarter['net_income'][year, number])}.",
                leaders.fill(title=SEGMENTS[best], share=f"{shares[best]:.1%}"),
                *texts[str(year)][number - 1],
            ]
            sections.append(f"#### {quarter} {year}\n\n" + "\n".join(sentences))
    return "\n\n".join(sections)


def segment_quarters(figures: Figures, rng: random.Random, segment: str) -> str:
    """The four quarters of a segment in 2025, against those of the year before."""
    patterns = Patterns(rng, (
        "In the {ordinal} quarter revenue was {now}, after {before} a year earlier.",
        "Revenue of the {ordinal} quarter {verb} by {size} to {now}.",
        "The {ordinal} quarter brought {now}, {size} {more} than in 2024.",
    ))  # fmt: skip
    sentences = []
    for number, ordinal in enumerate(("first", "second", "third", "fourth"), start=1):
        now, before = (figures.quarter[f"{segment}.revenue"][year, number] for year in (2025, 2024))
        sentences.append(patterns.fill(
            ordinal=ordinal, now=money(now), before=money(before), verb="rose" if now > before else "fell",
            more="more" if now > before else "less", size=percent(abs(now - before), before),
        ))  # fmt: skip
        sentences.append(facts("quarters_by_segment")[segment][number - 1])
    return "\n".join(sentences)


def subsidiaries(figures: Figures, rng: random.Random) -> str:
    rows = [[name, place, segment, f"{share}%"] for name, place, segment, share in facts("subsidiaries")]
    return table(("Company", "Place of incorporation", "Segment", "Share"), rows, "")


PROSE: dict[str, Callable[[Figures, random.Random], str]] = {
    "contracts": contracts,
    "contracts_table": contracts_table,
    "plants": plants,
    "plants_table": plants_table,
    "quarters": quarters,
    "sites": sites,
    "sites_table": sites_table,
    "subsidiaries": subsidiaries,
    **{f"quarters_{segment}": partial(segment_quarters, segment=segment) for segment in SEGMENTS},
    **{f"year_{year}": partial(year_review, year=year) for year in (2021, 2022, 2023, 2024)},
    **{f"lines_{segment}": partial(lines, segment=segment) for segment in SEGMENTS},
    **{f"countries_{name}": partial(countries, region=name) for name in REGIONS},
    **{f"region_{name}": partial(region, name=name) for name in REGIONS},
}

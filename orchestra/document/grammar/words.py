"""The words that the fact rules know. Lists only: extend them here, and add a row to the cases in the tests."""

from __future__ import annotations


def words_of(text: str) -> frozenset[str]:
    """The words of a text, as a set."""
    return frozenset(text.split())


def _groups(text: str) -> list[str]:
    return text.split("|")


_MONTHS = (
    "january jan|february feb|march mar|april apr|may|june jun|july jul|august aug|september sept sep|october oct"
    "|november nov|december dec"
)
MONTHS = {name: number for number, names in enumerate(_groups(_MONTHS), start=1) for name in names.split()}

# Powers of ten. Letters count only glued to their number: see numbers.py.
SCALE_WORDS = {
    "hundred": 2, "thousand": 3, "thousands": 3, "million": 6, "millions": 6, "mn": 6, "mio": 6, "mm": 6,
    "billion": 9, "billions": 9, "bn": 9, "trillion": 12, "trillions": 12, "tn": 12, "lakh": 5, "crore": 7,
}  # fmt: skip
SCALE_LETTERS = {"k": 3, "m": 6, "mm": 6, "mn": 6, "bn": 9, "b": 9, "tn": 12, "t": 12}

# What stands before or after an amount, and the unit it gives. "$" is any dollar.
CURRENCIES = {
    "us$": "USD", "usd": "USD", "a$": "AUD", "au$": "AUD", "aud": "AUD", "c$": "CAD", "ca$": "CAD", "cad": "CAD",
    "hk$": "HKD", "hkd": "HKD", "nt$": "TWD", "s$": "SGD", "sgd": "SGD", "r$": "BRL", "$": "$", "dollar": "$",
    "dollars": "$", "€": "EUR", "eur": "EUR", "euro": "EUR", "euros": "EUR", "£": "GBP", "gbp": "GBP",
    "pounds": "GBP", "sterling": "GBP", "¥": "JPY", "jpy": "JPY", "yen": "JPY", "chf": "CHF", "cny": "CNY",
    "rmb": "CNY", "₩": "KRW", "krw": "KRW", "₹": "INR", "inr": "INR", "sek": "SEK", "nok": "NOK", "dkk": "DKK",
}  # fmt: skip
DOLLARS = frozenset({"$", "USD", "AUD", "CAD", "HKD", "TWD", "SGD", "BRL"})
CURRENCY_UNITS = frozenset(CURRENCIES.values())

# Units that a claim may not exchange for one another: unit word -> unit.
_MEASURES = (
    "second seconds sec secs|minute minutes min mins|hour hours hr hrs|day days|week weeks|month months|"
    "year years yr yrs|cent cents|kg kilogram kilograms|gram grams|mg milligrams|lb lbs|ton tons tonnes tonne|"
    "km kilometre kilometres kilometer kilometers|mile miles|metre metres meter meters|foot feet|cm|"
    "litre litres liter liters|gallon gallons|barrel barrels|acre acres|hectare hectares|"
    "kw|mw|gw|kwh|mwh|gwh|twh|kb|mb|gb|tb|°c|°f"
)
MEASURES = {word: words.split()[0] for words in _groups(_MEASURES) for word in words.split()}

_TO_NINETEEN = (
    "two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|thirteen|fourteen|fifteen|sixteen|seventeen|eighteen"
    "|nineteen"
)
_TENS = "twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety"
NUMBER_WORDS = {
    **{word: value for value, word in enumerate(_groups(_TO_NINETEEN), start=2)},
    **{word: 10 * value for value, word in enumerate(_groups(_TENS), start=2)},
}
UNIT_WORDS = {"one": 1, **{word: value for word, value in NUMBER_WORDS.items() if value < 10}}
ORDINALS = {"first": 1, "1st": 1, "second": 2, "2nd": 2, "third": 3, "3rd": 3, "fourth": 4, "4th": 4}

# After a spelt-out number these count the words of the answer ("two reasons"), not things in the document.
DISCOURSE_NOUNS = words_of(
    "reasons reason factors factor drivers driver points ways aspects themes parts sides things causes elements items"
    " examples key main major primary principal distinct different of"
)
# Before a bare number these name a place in the document, which the cited lines need not repeat.
PLACE_WORDS = words_of(
    "note notes item items table tables figure figures fig chapter chapters section sections part parts exhibit"
    " exhibits appendix page pages p pp line lines footnote footnotes row rows column columns step steps question"
    " subtask finding no nos"
)

ROUND_ABOUT = words_of("about approximately approx around roughly circa ca some nearly almost ~ ≈")
ROUND_DOWN = ("more than", "greater than", "in excess of", "at least", "over", "above", "exceeding", "exceeded", ">")
ROUND_UP = ("less than", "fewer than", "at most", "up to", "under", "below", "<")

INCREASE = words_of(
    "increase increased increases increasing grew grow grows growing growth grown rose rise rises rising risen up gain"
    " gained gains higher climbed climb climbs expanded expansion improved improvement jumped surged accelerated upward"
)
DECREASE = words_of(
    "decrease decreased decreases decreasing decline declined declines declining fell fall falls falling fallen down"
    " drop dropped drops dropping lower reduced reduction reduces shrank shrunk contracted contraction slipped slid"
    " worsened downward"
)
# A sum that is shown in brackets, or with a minus, may be told without its sign beside one of these.
NEGATIVE = words_of(
    "loss losses lost deficit negative shortfall outflow outflows decrease decreased decline declined fell reduction"
    " reduced lower down unfavorable unfavourable adverse"
)
OUTFLOW = words_of(
    "purchase purchases purchased repurchase repurchases repurchased buyback buybacks payment payments paid pay spent"
    " spend spending expenditure expenditures capex capital-expenditure repayment repayments repaid dividend dividends"
    " expense expenses cost costs charge charges used outlay outlays investment investments invested invest acquisition"
    " acquisitions acquired tax taxes depreciation amortization impairment interest contributions contribution"
    " restructuring write-down write-off treasury settlement"
)

# Short forms that an answer uses for what documents spell out; folded.
ABBREVIATIONS = {
    "capex": ("capital expenditure", "purchases of property", "additions to property"),
    "opex": ("operating expense",),
    "ceo": ("chief executive",),
    "cfo": ("chief financial officer",),
    "coo": ("chief operating officer",),
    "cto": ("chief technology officer",),
    "cogs": ("cost of goods sold", "cost of sales", "cost of products sold"),
    "ppe": ("property, plant and equipment", "property and equipment"),
    "pp&e": ("property, plant and equipment", "property and equipment"),
    "r&d": ("research and development",),
    "sg&a": ("selling, general and administrative",),
    "m&a": ("mergers and acquisitions", "acquisitions"),
    "eps": ("earnings per share", "per share"),
    "fcf": ("free cash flow",),
    "roa": ("return on assets",),
    "roe": ("return on equity",),
    "it": ("information technology",),
    "hr": ("human resources",),
}

NEGATIONS = words_of(
    "not no never neither nor without none cannot can't won't doesn't don't didn't isn't aren't wasn't weren't hasn't"
)

# Words that begin sentences, and words that every company writes with a capital: no part of a name.
_OPENERS = """
    a about above according across additionally after again all almost also although among an and another any are as at
    average based because before being below besides between both but by can compared consequently conversely could
    currently despite did do does due during each either especially even every except few finally first following for
    former from further furthermore generally given had has have he hence her here his how however i if in include
    included includes including indeed initially instead into is it its just key last later latter least less like
    likewise main many may meanwhile might more moreover most much must my nearly neither nevertheless next no none nor
    not note notably now of off on once one only or other others otherwise our out over overall part per perhaps
    primarily rather recently regarding respectively same second several she should similarly since so some specifically
    still strong subsequently such than that the their them then there thereby therefore these they third this those
    though three through throughout thus to together total toward towards two under unless unlike until up upon us use
    using various versus very via was we were what when where whereas whether which while who whole whom whose why will
    with within without would yes yet you your answer conclusion finding findings result results summary source sources
    higher lower increased decreased net gross adjusted reported
    company companies corporation group management board registrant issuer
    mr mrs ms dr prof sir dame
    monday tuesday wednesday thursday friday saturday sunday
    fiscal fy year years quarter quarters half months million billion thousand trillion percent
    insufficient adj approx avg dept div est govt intl mgmt natl ops rev seg yoy qoq mom ytd cagr
"""
COMMON_CAPITALISED = words_of(_OPENERS) | PLACE_WORDS | frozenset(MONTHS)

# What a company is by law: often left out of its name.
LEGAL_FORMS = words_of("inc corp co ltd limited plc llc llp lp gmbh ag sa nv se kg oyj asa ab spa bv")

# Between the words of one name.
CONNECTORS = words_of("of and & for de van von der den la le du del di da dos y e")

# Too common to tell one line from another.
FUNCTION_WORDS = words_of(_OPENERS.split("company companies")[0])

"""The words that the engine treats apart. Lists only: what they are for is said where they are used."""

from __future__ import annotations


def _list(text: str) -> tuple[str, ...]:
    return tuple(text.split())


# Too common to tell one statement from another, or said only to ask.
STOP_WORDS = frozenset(
    _list("""
    a about above after again against all also am among an and any are as at be because been before being below between
    both but by can cannot could did do does doing down during each either else ever every few for from further had has
    have having he her here hers him his how however i if in into is it its itself just may me might more most much
    must my no nor not of off on once only onto or other our ours out over own per please same shall she should since
    so some such tell than that the their theirs them then there these they this those through thus to too toward
    under until up upon us very via was we were what when where whether which while who whom whose why will with within
    without would you your yours many give show list name find state say says said describe explain whats according
    s t d ll re ve vs done there
    """)
)

# Forms that no ending gives away.
IRREGULAR = dict(
    pair.split("=")
    for pair in _list("""
    paid=pay bought=buy sold=sell held=hold grew=grow grown=grow rose=rise risen=rise fell=fall fallen=fall led=lead
    made=make built=build spent=spend lost=lose won=win began=begin begun=begin took=take taken=take gave=give
    given=give drove=drive driven=drive wrote=write written=write chose=choose chosen=choose kept=keep met=meet
    sent=send left=leave ran=run shown=show withdrew=withdraw withdrawn=withdraw men=man women=woman
    children=child people=person ageing=age aged=age
    """)
)

# They say what is to be done with the answer, not what it is about.
ASKING = _list("""
    compare comparison versus difference differ contrast similarity summarize summary overview outline evaluate
    assess classify critique describe discuss main key important kind type sort mean define value definition happen
    number amount much happened due take place ago high see face say long far two three four both fy usd using based
    basing
    """)
ASKING_BY_SKILL = {
    "causal-reasoning": _list("explain reason cause drive drove driven driver led lead result effect impact affect"),
    "gap-analysis": _list("missing gap lack omit omitted disclose disclosure cover covered mention unanswered open"),
    "critique": _list("argument weakness strength convincing credible plausible sound good reliable realistic"),
    "structured-synthesis": _list("combine integrate synthesize overall picture together fit"),
}

# They count for less: many statements have them.
MOVEMENTS = _list("""
    change increase decrease rise fall grow decline drop higher lower move movement develop end
    """)
GENERIC = _list("""
    company firm corporation group organization business registrant annual report document text year fiscal quarter
    first second third fourth
""")

# Capitalised, but no answer to "who".
ROLES = frozenset(
    _list("""
    the a an chief executive financial operating technology officer committee board directors company corporation
    general counsel audit president vice chair secretary court authority we our in on at for note item section
    """)
)

# An order of nothing else speaks of the answer: "Answer in USD millions", "Round to one decimal place".
FORM = _list("""
    answer question response respond reply give provide state use using rely relying base basing based round decimal
    place unit percent percentage usd dollar million billion thousand assume assuming perspective standpoint analyst
    investor detail details information data show shown statement income sheet balance cash flow operation earning
    primarily only within clearly plainly outlined line item items judgment judgments judgement follow following
    calculate compute metric financial utilize utilizing sentence word bullet point list table english brief briefly
    short format form number quote cite source page
""")

# A task that says nothing else is about the document as a whole.
ABOUT_THE_WHOLE = _list("""
    this it document annual report text paper book article contract agreement manual filing letter file page whole
    entire full content contents information recap gist brief briefly short concise detailed executive abstract
    condense translate
    point finding message idea theme takeaway topic conclusion content statement weak strong weakness strength review
    assessment evaluation analysis analyze sentence word paragraph bullet line general reader overall critical
    criticize important central principal major say read cover deal want need help useful good bad one
    author work writing written material narrative study story thesis english plain simple term
""")

NUMBERS_IN_WORDS = _list("""
    two three four five six seven eight nine ten eleven twelve half twice hundred thousand thirty forty fifty sixty
    """)
MONTHS = _list("January February March April May June July August September October November December")
WEEKDAYS = _list("Monday Tuesday Wednesday Thursday Friday Saturday Sunday")

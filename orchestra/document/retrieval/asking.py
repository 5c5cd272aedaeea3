"""Words of tasks that say little about where the answer stands."""

from __future__ import annotations


def _list(text: str) -> frozenset[str]:
    return frozenset(text.split())


# They say how to answer, not what about.
ASKING = _list("""
    answer question respond response reply give show shown state stated list name named tell provide provided please
    describe explain report filing document information data detail plainly clearly outlined mentioned mention using
    use utilize utilizing based base basing according accordance agreement relying rely primarily solely judgment
    judgement conclusion drawing consider considering following need want like help compute calculate calculated
    calculation define defined definition assume assuming round rounded decimal place unit percent percentage usd
    dollar million billion thousand amount number value figure metric reasonable approximation exact possible best
    ability many much asked analyst investor perspective standpoint account taking whether 10k 10q 8k company
    corporation firm fiscal year fy quarter due main major two three four five
""")

# They count for less: they occur wherever figures are talked about.
MOVEMENTS = _list("""
    change changed increase increased decrease decreased rise rose fall fell grow grew growth decline declined drop
    dropped reduction drive drove driven driver improve improved higher lower average total compare compared
    significant significantly substantial substantially material materially roughly historical historically consistent
    consistently fluctuate fluctuated fluctuating stable trend positive negative strong weak healthy good bad perform
    performed performance end
""")

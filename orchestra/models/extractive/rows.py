"""Rows of figures that are set with spaces: a label, then the figures at the end of the line."""

from __future__ import annotations

import re

MAX_ROW_CHARACTERS, MAX_LABEL_CHARACTERS = 400, 160
_NOTE = re.compile(r"\s*\((?:see\s+)?notes?\s[^()]*\)", re.IGNORECASE)
_FIGURE = re.compile(r"\(?[$€£]?\(?[-–—]?(?:(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?|\.\d+)%?\)?[%x]?|[$€£]?[-–—]+[%]?")
_BETWEEN = frozenset(["$", "€", "£", "|", ")", "(", "%)", "·", "."])
_CURRENCIES = frozenset("$€£")
_YEAR = re.compile(r"(?:19|20)\d\d")
_MONTH_DAY = re.compile(r"[A-Z][a-z]{2,8}\.?\s\d{1,2},$")
_LEADERS = re.compile(r"[.·_…]{2,}|(?<=\()\s+|\s+(?=%?\))")
_ROW_ENDS = frozenset("0123456789)%x–—-|")


def row_of(line: str) -> tuple[str, ...]:
    """Label and figures of a line such as "Total revenue   $ 2,839.5   2,593.9"; empty when it is none."""
    if len(line) > MAX_ROW_CHARACTERS or line.rstrip()[-1:] not in _ROW_ENDS:
        return ()
    tokens = _LEADERS.sub(lambda match: "" if match[0].isspace() else " ", _NOTE.sub("", line)).split()
    cells: list[str] = []
    percent = ""
    while tokens and (tokens[-1] == "%" or tokens[-1] in _BETWEEN or _FIGURE.fullmatch(tokens[-1])):
        token = tokens.pop()
        if token == "%":
            percent = "%"
        elif token in _CURRENCIES and cells:
            cells[-1] = f"{token}{cells[-1]}"
        elif token not in _BETWEEN:
            cells.append(token + percent)
            percent = ""
    if cells and _YEAR.fullmatch(cells[-1]) and _MONTH_DAY.search(" ".join(tokens[-2:])):
        tokens.append(cells.pop())  # "Balance at June 30, 2022"
    label = " ".join(tokens).strip(" .$:|")
    is_label = len(label) <= MAX_LABEL_CHARACTERS and re.search(r"[^\W\d_]", label)
    return (label, *reversed(cells)) if is_label and len(cells) > 1 else ()


def fitted_to(row: tuple[str, ...], columns: int) -> tuple[str, ...]:
    """A row with as many cells as its head: figures that end the label ("of $40 and $42") go back into it."""
    surplus = len(row) - 1 - columns
    is_within = re.search(r"(?:\b(?:and|of|to|at|note|notes|than|less)|[,;–—-])$", row[0], re.IGNORECASE)
    if surplus <= 0 or columns < 2 or not is_within:
        return row
    return (" ".join((row[0], *row[1 : 1 + surplus])), *row[1 + surplus :])

"""Sorts mails by rules. Each rule that speaks leaves its points and its reason, so that a person can check it."""

from __future__ import annotations

import re
from calendar import month_name
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import date, timedelta
from email.utils import parsedate_to_datetime
from typing import Any

from orchestra.document import Document
from orchestra.errors import InputInvalid
from orchestra.skills.code import CodeContext

THRESHOLDS = {"low": 2, "normal": 4, "high": 6}
SOON = timedelta(days=2)  # a deadline within it, counted from the newest mail, is close
LONGEST_TEXT = 4000  # characters of a mail that go on to the next step

FIELDS = {
    "from": ("from", "von", "de", "da", "van"),
    "date": ("date", "sent", "datum", "gesendet", "fecha", "data"),
    "subject": ("subject", "betreff", "objet", "asunto", "oggetto", "onderwerp"),
    "to": ("to", "an", "à", "para", "a", "aan"),
    "cc": ("cc", "kopie", "copie"),
}
_NAMES = {name: known for known, names in FIELDS.items() for name in names}
_FIELD = re.compile(r"[ \t]*(?:[-*+>][ \t]+)?\**([^\W\d_]+)\**[ \t]*:\**[ \t]*(.*)")
_HEADING = re.compile(r"#{1,6}[ \t]+\S")

_MONTHS = tuple(name.lower() for name in month_name[1:])
_MONTH = "|".join(f"{name}|{name[:3]}" for name in _MONTHS)
_ISO_DAY = re.compile(r"\b(\d{4})-(\d{2})-(\d{2})")
_NAMED_DAY = re.compile(rf"\b(?:({_MONTH})\.? (\d{{1,2}})|(\d{{1,2}})\.? ({_MONTH}))\b(?:,? (\d{{4}}))?", re.IGNORECASE)

AUTOMATIC = re.compile(r"no-?reply|do-?not-?reply|notifications?@|mailer-daemon|generated automatically", re.IGNORECASE)
BULK = re.compile(r"newsletter|marketing|promotions?@|unsubscribe|abmelden|désabonner", re.IGNORECASE)
CREDENTIALS = re.compile(r"\b(?:verify|confirm|update) your (?:account|password|mailbox|identity|bank)", re.IGNORECASE)
LINK = re.compile(r"https?://\S+", re.IGNORECASE)
PRESSING = re.compile(
    r"\b(?:urgent(?:ly)?|asap|immediately|emergency|critical|dringend|sofort|urgente)\b", re.IGNORECASE
)
TROUBLE = re.compile(
    r"\b(?:outage|is down|are down|burst|breach|overdue|final (?:notice|reminder)|complaint|disappointed|injur\w+"
    r"|leak\w*|on fire|legal action)\b",
    re.IGNORECASE,
)
AT_ONCE = re.compile(r"\b(?:today|tonight|tomorrow|within 24 hours|end of day|right away)\b", re.IGNORECASE)
DEADLINE = re.compile(r"\b(?:by|before|until|no later than) (?=\w)", re.IGNORECASE)
REQUEST = re.compile(
    r"\b(?:can|could|would|will) you\b|\bplease\b|\blet (?:us|me) know\b|\bi expect\b|\?(?=\s|$)", re.IGNORECASE
)
NO_HURRY = re.compile(
    r"\b(?:for your information|fyi|no rush|when you have time|nothing needs to be done)\b", re.IGNORECASE
)


@dataclass(slots=True)
class Mail:
    """One mail as it stands in a document. `first` and `last` are its lines, from 1, inclusive; `mark` cites them."""

    mark: str
    first: int
    last: int
    fields: dict[str, str]
    text: str
    day: date | None = None
    points: int = 0
    reasons: list[str] = field(default_factory=list[str])
    category: str = ""

    def count(self, points: int, reason: str) -> None:
        self.points += points
        self.reasons.append(f"{points:+d} {reason}")


def classify(context: CodeContext, priority_threshold: str = "normal") -> dict[str, Any]:
    """`{"urgent": [...], "other": [...], "counts": {...}, "user_message": ...}`, the most pressing mail first.

    Raises `InputInvalid` where there is no mailbox, or no mail in it.
    """
    mails = mails_of(context)
    newest = max((mail.day for mail in mails if mail.day), default=None)
    for mail in mails:
        judge(mail, newest)
        mail.category = category_of(mail, THRESHOLDS[priority_threshold])
    mails.sort(key=lambda mail: -mail.points)
    urgent = [mail for mail in mails if mail.category == "urgent"]
    other = [mail for mail in mails if mail.category != "urgent"]
    kinds = Counter(mail.category for mail in mails)
    return {
        "urgent": [{**told(mail), "text": mail.text[:LONGEST_TEXT]} for mail in urgent],
        "other": [told(mail) for mail in other],
        "counts": {**kinds, "total": len(mails), "urgent": len(urgent), "other": len(other)},
        "user_message": message(urgent, other),
    }


def mails_of(context: CodeContext) -> list[Mail]:
    """The mails of all documents, in their order."""
    documents = context.documents
    if not documents:
        raise InputInvalid("there is no mailbox to go through", suggestion="Name a document that holds the mails.")
    found = [mail for key, _, document in documents.items() for mail in _mails(document, f"{key}:" if key else "")]
    if not found:
        raise InputInvalid(
            f"there is no mail in {', '.join(documents.names)}",
            cause="a mail begins with lines such as `From:`, `Date:` and `Subject:`, one below the other",
            suggestion="Export the mailbox as text or markdown, and name that file.",
        )
    return found


def _mails(document: Document, prefix: str) -> Iterator[Mail]:
    heads = list(_heads(document))
    for number, (start, after, fields) in enumerate(heads):
        last = heads[number + 1][0] - 1 if number + 1 < len(heads) else document.line_count
        while last > after and _is_between(document.line(last)):
            last -= 1
        mark = f"[{prefix}L{start}-L{last}]"
        text = document.lines(after, last).strip() if after <= last else ""
        yield Mail(mark, start, last, fields, text, day_of(fields.get("date", "")))


def _heads(document: Document) -> Iterator[tuple[int, int, dict[str, str]]]:
    """(first line, first line of the text, fields) of each block of lines that names a sender and more."""
    number, title = 1, 0
    while number <= document.line_count:
        fields, start = dict[str, str](), number
        while number <= document.line_count and (found := _field(document.line(number))):
            fields.setdefault(*found)
            number += 1
        if "from" in fields and len(fields) > 1:
            yield title or start, number, fields
        line = document.line(number) if number <= document.line_count else ""
        title = number if _HEADING.match(line) else title if not line.strip() else 0
        number += 1


def _field(line: str) -> tuple[str, str] | None:
    found = _FIELD.fullmatch(line.rstrip())
    name = _NAMES.get(found[1].lower()) if found else None
    return (name, found[2].strip()) if found and name else None


def _is_between(line: str) -> bool:
    """Whether a line only parts mails: blank, a rule, or the heading of the next one."""
    return not line.strip(" \t-_=*")


def day_of(text: str, year: int = 0) -> date | None:
    """The first day that a text names. One without a year is of `year`; None where nothing is a day."""
    try:
        if found := _ISO_DAY.search(text):
            return date(int(found[1]), int(found[2]), int(found[3]))
        if found := _NAMED_DAY.search(text):
            month = next(at for at, name in enumerate(_MONTHS, 1) if name[:3] == (found[1] or found[4])[:3].lower())
            return date(int(found[5] or year), month, int(found[2] or found[3]))
        return parsedate_to_datetime(text).date()
    except (ValueError, TypeError, OverflowError):
        return None


def judge(mail: Mail, newest: date | None) -> None:
    """Let every rule speak. `newest` is the day of the newest mail, from which deadlines are counted."""
    subject, sender = mail.fields.get("subject", ""), mail.fields.get("from", "")
    if found := PRESSING.search(subject):
        mail.count(3, f'the subject says "{found[0]}"')
    elif found := PRESSING.search(mail.text):
        mail.count(1, f'the text says "{found[0]}"')
    if found := TROUBLE.search(f"{subject}\n{mail.text}"):
        mail.count(2, f'it tells of trouble: "{found[0]}"')
    if reason := close_deadline(f"{subject}\n{mail.text}", mail.day, newest):
        mail.count(3 if AT_ONCE.search(subject) else 2, reason)
    if found := REQUEST.search(mail.text):
        mail.count(1, "it asks for something")
    if found := NO_HURRY.search(mail.text):
        mail.count(-2, f'it says "{found[0]}"')
    if found := AUTOMATIC.search(f"{sender}\n{mail.text}"):
        mail.count(-4, f'nobody wrote it: "{found[0]}"')
    if found := BULK.search(f"{sender}\n{mail.text}"):
        mail.count(-6, f'it went to many: "{found[0]}"')
    if (found := CREDENTIALS.search(f"{subject}\n{mail.text}")) and LINK.search(mail.text):
        mail.count(-8, f'it asks to "{found[0]}" behind a link')


def close_deadline(text: str, day: date | None, newest: date | None) -> str:
    """Why a mail cannot wait, as its words and its day tell; empty when they do not."""
    today = newest or day
    if day is None or today is None:
        found = AT_ONCE.search(text)
        return f'it says "{found[0]}"' if found else ""
    for found in DEADLINE.finditer(text):
        written = _ISO_DAY.match(text, found.end()) or _NAMED_DAY.match(text, found.end())
        named = day_of(written[0], day.year) if written else None
        if written and named and timedelta(0) <= named - today <= SOON:
            return f'it is due "{found[0]}{written[0]}"'
    found = AT_ONCE.search(text)
    return f'it says "{found[0]}"' if found and today - day < SOON else ""


def category_of(mail: Mail, threshold: int) -> str:
    reasons = " ".join(mail.reasons)
    if "behind a link" in reasons:
        return "suspicious"
    if "it went to many" in reasons:
        return "newsletter"
    if "nobody wrote it" in reasons:
        return "notification"
    if mail.points >= threshold:
        return "urgent"
    return "to-answer" if "it asks for something" in reasons else "to-read"


def told(mail: Mail) -> dict[str, Any]:
    return {
        "id": mail.mark.strip("[]"),
        "sender": mail.fields["from"],
        "subject": mail.fields.get("subject", ""),
        "date": mail.fields.get("date", ""),
        "category": mail.category,
        "points": mail.points,
        "reasons": mail.reasons,
        "lines": mail.mark,
    }


def message(urgent: list[Mail], other: list[Mail]) -> str:
    """The mails in an order to work through, each with its lines and its reasons."""
    parts = ["## Urgent", *(_line(mail) for mail in urgent)] if urgent else ["## Urgent", "No mail is."]
    for category, title in (
        ("to-answer", "To answer"),
        ("to-read", "To read"),
        ("suspicious", "Suspicious: answer nothing, open no link"),
        ("notification", "Notifications"),
        ("newsletter", "Newsletters"),
    ):
        lines = [_line(mail) for mail in other if mail.category == category]
        parts += [f"\n## {title}", *lines] if lines else []
    return "\n".join(parts)


def _line(mail: Mail) -> str:
    name = mail.fields["from"].partition("<")[0].strip(' "') or mail.fields["from"].strip("<>")
    subject = mail.fields.get("subject") or "(no subject)"
    reasons = "; ".join(mail.reasons) or "no rule speaks"
    day = mail.fields.get("date") or "no date"
    return f"- {subject} ({name}, {day}) {mail.mark}. Points: {mail.points} ({reasons})."

"""The tone of mails, by the words that show it."""

from __future__ import annotations

import re
from typing import Any

CUES = {
    "upset": r"disappointed|unacceptable|complain\w*|for nothing|second time|expect an explanation|fed up|angry",
    "alarmed": r"urgent|emergency|burst|is down|asap|immediately|help!",
    "formal": r"dear (?:mr|ms|mrs|dr|sir|madam)\b|to whom it may concern|kind regards|sincerely|regards",
    "friendly": r"\bhi\b|\bhey\b|:\)|cheers|thanks|great",
}
REPLIES = {"upset": "apologetic", "alarmed": "brief", "formal": "formal", "friendly": "friendly", "neutral": "neutral"}
LEAST = 2  # cues of a kind that stands before one with more of them


def tones(email_list: list[dict[str, Any]]) -> dict[str, Any]:
    """`{"tones": {mail's id: {"tone", "reply", "because"}}}`."""
    return {
        "tones": {str(mail["id"]): tone_of(f"{mail.get('subject', '')}\n{mail.get('text', '')}") for mail in email_list}
    }


def tone_of(text: str) -> dict[str, Any]:
    """One mail's tone: anger before alarm, alarm before manners, if there are two signs of it; else the most signs."""
    found = {tone: _words(pattern, text) for tone, pattern in CUES.items()}
    strong = next((tone for tone in ("upset", "alarmed") if len(found[tone]) >= LEAST), "")
    tone = strong or max(found, key=lambda each: len(found[each]))
    if not found[tone]:
        tone = "neutral"
    return {"tone": tone, "reply": REPLIES[tone], "because": found.get(tone, [])}


def _words(pattern: str, text: str) -> list[str]:
    return list(dict.fromkeys(match.lower() for match in re.findall(pattern, text, re.IGNORECASE)))

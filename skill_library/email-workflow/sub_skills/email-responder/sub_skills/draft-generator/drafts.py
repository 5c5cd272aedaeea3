"""Replies to mails: a model's where one is in use, else templates that say what they are."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from orchestra.skills.code import Asking, CallSkill, CodeContext

TEMPLATE = "template"
LONGEST_QUOTE = 200  # characters

OPENINGS = {
    "apologetic": "I am sorry about what you describe.",
    "brief": "I have read your mail and am on it.",
    "formal": "Thank you for your message.",
    "friendly": "Thanks for your mail!",
    "neutral": "Thank you for your mail.",
}
_SENTENCE_END = re.compile(r"(?<=[.?!])\s+|\n+")
_ASKS = re.compile(
    r"\b(?:can|could|would|will) you\b|\bplease\b|\blet (?:us|me) know\b|\bi expect\b|\?$", re.IGNORECASE
)
_TITLES = frozenset({"dr", "prof", "mr", "mrs", "ms"})


def drafts(context: CodeContext, email_list: list[dict[str, Any]], tones: dict[str, Any], preface: str = "") -> Asking:
    """`{"drafts": [...], "user_message": ...}`, one draft for each mail; `preface` opens the message."""
    written: Mapping[str, str] = {}
    if context.model and email_list:
        reply = yield CallSkill("draft-writer", {"email_list": email_list, "tones": tones})
        written = {str(draft["id"]): str(draft["body"]).strip() for draft in reply["drafts"]}
    made = [
        _draft(mail, tones.get(str(mail["id"]), {}), written.get(str(mail["id"]), ""), context.model)
        for mail in email_list
    ]
    return {"drafts": made, "user_message": message(made, email_list, preface)}


def _draft(mail: Mapping[str, Any], tone: Mapping[str, Any], written: str, model: str) -> dict[str, str]:
    subject = str(mail["subject"])
    return {
        "id": str(mail["id"]),
        "to": str(mail["sender"]),
        "subject": subject if subject.lower().startswith("re:") else f"Re: {subject}",
        "body": written or template(mail, str(tone.get("reply", "neutral"))),
        "written_by": model if written else TEMPLATE,
    }


def template(mail: Mapping[str, Any], tone: str) -> str:
    """A reply that quotes what the mail asks, and leaves every decision in brackets."""
    asked = [sentence for sentence in _sentences(str(mail.get("text", ""))) if _ASKS.search(sentence)]
    quoted = " ".join(f'"{_shortened(sentence)}"' for sentence in asked[:2])
    request = f"You wrote: {quoted}" if quoted else f'Your mail was about "{mail["subject"]}".'
    return "\n\n".join(
        (
            f"{_greeting(tone)} {_name(str(mail['sender']), tone)},",
            OPENINGS.get(tone, OPENINGS["neutral"]),
            request,
            "[Your answer. Who does what, and by when?]",
        )
    )


def _greeting(tone: str) -> str:
    return "Hi" if tone == "friendly" else "Hello" if tone in ("brief", "neutral") else "Dear"


def _name(sender: str, tone: str) -> str:
    """How the sender is greeted: by the first name among colleagues, else by the whole one."""
    name = sender.partition("<")[0].strip(' "') or sender.strip("<> ")
    words = [word for word in name.split() if word.rstrip(".").lower() not in _TITLES]
    return words[0] if tone in ("friendly", "brief") and words else name


def _sentences(text: str) -> list[str]:
    return [" ".join(sentence.split()) for sentence in _SENTENCE_END.split(text) if sentence.strip()]


def _shortened(sentence: str) -> str:
    if len(sentence) <= LONGEST_QUOTE:
        return sentence
    return sentence[: LONGEST_QUOTE - 1].rsplit(" ", 1)[0] + "…"


def message(made: list[dict[str, str]], mails: list[dict[str, Any]], preface: str) -> str:
    """The drafts as markdown, below the preface, each with the lines of the mail that it answers."""
    parts = [preface, ""] if preface else []
    if not made:
        return "\n".join([*parts, "There is no mail to reply to."])
    parts += ["## Drafts", "", _label(made)]
    for draft, mail in zip(made, mails, strict=True):
        body = "\n".join(f"> {line}".rstrip() for line in draft["body"].splitlines())
        parts += ["", f"To {draft['to']}, about {mail['subject']} {mail['lines']}", "", body]
    return "\n".join(parts)


def _label(made: list[dict[str, str]]) -> str:
    templates = sum(draft["written_by"] == TEMPLATE for draft in made)
    if templates == len(made):
        return "Templates, which no model wrote: fill in what stands in brackets. Nothing has been sent."
    model = next(draft["written_by"] for draft in made if draft["written_by"] != TEMPLATE)
    some = f" {templates} of them are templates, which it left out." if templates else ""
    return f"Written by {model}: read them before you send them.{some} Nothing has been sent."

"""How an exam went: counted, never guessed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

LEVELS = ("easy", "medium", "hard")


def analytics(answers: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """`{"score", "headline", "user_message"}` of answers with `is_right`, `difficulty`, `section`, `sentence`."""
    right = sum(bool(answer["is_right"]) for answer in answers)
    score = {
        "answered": len(answers),
        "right": right,
        "rate": round(right / len(answers), 4) if answers else 0.0,
        "by_difficulty": {level: tally for level in LEVELS if (tally := _tally(answers, "difficulty", level))},
        "by_section": {
            name: _tally(answers, "section", name) for name in dict.fromkeys(each["section"] for each in answers)
        },
    }
    headline = f"{right} of {len(answers)} right." if answers else "No question was answered."
    return {"score": score, "headline": headline, "user_message": _message(answers, score, headline)}


def _tally(answers: Sequence[Mapping[str, Any]], field: str, value: str) -> str:
    """ "2 of 3"; empty where there were none."""
    of_these = [answer for answer in answers if answer[field] == value]
    return f"{sum(bool(each['is_right']) for each in of_these)} of {len(of_these)}" if of_these else ""


def _message(answers: Sequence[Mapping[str, Any]], score: Mapping[str, Any], headline: str) -> str:
    levels = ", ".join(f"{level}: {tally}" for level, tally in score["by_difficulty"].items())
    parts = [f"# Practice exam: {headline}", *([f"\n{levels}."] if levels else [])]
    missed = [answer for answer in answers if not answer["is_right"]]
    known = [answer for answer in answers if answer["is_right"]]
    if missed:
        parts += ["\n## Read again", *(f"{_sentence(each)} Your answer: {each['given']}" for each in missed)]
    if known:
        parts += ["\n## Known", *(_sentence(each) for each in known)]
    return "\n".join(parts)


def _sentence(answer: Mapping[str, Any]) -> str:
    return f"- {str(answer['sentence']).rstrip('.!')} {answer['lines']}. ({answer['section']})"

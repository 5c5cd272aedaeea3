"""A practice exam: approved before it begins, asked question by question, and as hard as the answers allow."""

from __future__ import annotations

import re
from collections.abc import Generator, Mapping, Sequence
from decimal import Decimal, InvalidOperation
from difflib import SequenceMatcher
from typing import Any, TypeAlias

from orchestra.errors import InputInvalid
from orchestra.skills.code import AskUser, CallSkill, CodeContext, RequestApproval, Wish

LEVELS = ("easy", "medium", "hard")
FEWEST, MOST = 1, 20  # questions of a round
USUAL = 5
TRIES = 3  # of the parameters, before the exam is given up
MOST_ROUNDS = 5
ALIKE = 0.85  # of a term's letters: a slip of the keys is no mistake
STOP = "stop"
FINISH, MISSED, MORE = "finish", "ask again what I missed", "another round"

Record: TypeAlias = dict[str, Any]
Asked: TypeAlias = Generator[Wish, Any, Any]

_COUNT = re.compile(r"\b(\d{1,4})(?:[ -](?:\w+[ -])?)questions?\b", re.IGNORECASE)
_LEVEL = re.compile(rf"\b({'|'.join(LEVELS)})\b", re.IGNORECASE)
_ARTICLES = frozenset({"a", "an", "the"})
_NUMBER = re.compile(r"\d(?:[\d.,'’\u00a0\u202f ]*\d)?")


def exam(context: CodeContext) -> Asked:
    """`{"score", "answers", "user_message"}`. Raises `InputInvalid` where there is nothing to ask about."""
    if not context.documents:
        raise InputInvalid("there is no document to be examined on", suggestion="Name a document.")
    parameters = yield from _approved(context)
    made = yield CallSkill("question-generation", {"sections": parameters["sections"]})
    left: list[Record] = list(made["questions"])
    answers: list[Record] = []
    wanted, level = left, str(parameters["difficulty"])
    report: Record = {}
    for _ in range(MOST_ROUNDS):
        level = yield from _round(wanted, int(parameters["questions"]), level, answers)
        left = [question for question in left if question["id"] not in {answer["id"] for answer in answers}]
        report = yield CallSkill("performance-analytics", {"answers": answers})
        missed = _missed(answers, made["questions"])
        choices = (FINISH, *([MISSED] if missed else []), *([MORE] if left else []))
        choice = (yield from _next_step(report["headline"], choices)) if len(choices) > 1 else FINISH
        if choice == FINISH:
            break
        wanted = missed if choice == MISSED else left
    return {"score": report["score"], "answers": answers, "user_message": report["user_message"]}


def _approved(context: CodeContext) -> Asked:
    """Checkpoint A: what the exam is like, as a person leaves it."""
    shown = _wished(context.query)
    title = f"Begin a practice exam over {', '.join(context.documents.names if context.documents else ())}?"
    problem = ""
    for _ in range(TRIES):
        parameters = yield RequestApproval(f"{title} {problem}".strip(), shown)
        problem = _problem_of(parameters)
        if not problem:
            return parameters
    raise InputInvalid("the exam cannot begin", cause=problem)


def _wished(query: str) -> Record:
    """The parameters as far as the words of the call name them."""
    count, level = _COUNT.search(query), _LEVEL.search(query)
    return {
        "questions": min(max(int(count[1]), FEWEST), MOST) if count else USUAL,
        "difficulty": level[1].lower() if level else "medium",
        "sections": "all",
    }


def _problem_of(parameters: Mapping[str, Any]) -> str:
    count = parameters["questions"]
    if count != int(count) or not FEWEST <= count <= MOST:
        return f"`questions` is {count}; it is a whole number from {FEWEST} to {MOST}."
    if parameters["difficulty"] not in LEVELS:
        return f"`difficulty` is {parameters['difficulty']!r}; it is one of {', '.join(LEVELS)}."
    return ""


def _round(questions: Sequence[Record], count: int, level: str, answers: list[Record]) -> Asked:
    """Ask `count` of the questions, each as hard as the answers before it allow; the level that it ends with."""
    left, at_level, remark = list(questions), list[Record](), ""
    count = min(count, len(left))
    for number in range(1, count + 1):
        question = _nearest(left, level)
        left.remove(question)
        text = str((yield AskUser(_words(question, number, count, remark), tuple(question["options"])))).strip()
        if text.casefold() == STOP:
            break
        given = _option(text, question["options"])
        is_right = grade(question, given)
        answers.append({**_kept(question), "given": given, "is_right": is_right})
        at_level.append({"difficulty": question["difficulty"], "is_right": is_right})
        remark = "Right." if is_right else f"No: it is {question['answer']} {question['lines']}."
        adapted = yield CallSkill("adaptive-difficulty", {"difficulty": level, "answers": at_level})
        if adapted["difficulty"] != level:
            level, at_level = adapted["difficulty"], []
    return level


def _nearest(questions: Sequence[Record], level: str) -> Record:
    """The first question of the level, else of the nearest one, the easier of two."""
    wanted = LEVELS.index(level)
    return min(questions, key=lambda each: abs(LEVELS.index(each["difficulty"]) - wanted))


def _words(question: Record, number: int, count: int, remark: str) -> str:
    asked = f"Question {number} of {count} ({question['difficulty']}; {question['section']}): {question['question']}"
    lines = [*([remark] if remark else []), asked]
    if number == 1:
        lines.append(f'(Fill in the blank. "{STOP}" ends the exam.)')
    return "\n".join(lines)


def _option(text: str, options: Sequence[str]) -> str:
    """What was answered; the number of an option is as good as its words."""
    if text not in options and text.isdecimal() and 1 <= int(text) <= len(options):
        return options[int(text) - 1]
    return text


def _kept(question: Record) -> Record:
    return {name: question[name] for name in ("id", "question", "answer", "difficulty", "section", "sentence", "lines")}


def _missed(answers: Sequence[Record], questions: Sequence[Record]) -> list[Record]:
    """The questions whose last answer was wrong."""
    last = {answer["id"]: answer["is_right"] for answer in answers}
    return [question for question in questions if last.get(question["id"]) is False]


def _next_step(headline: str, choices: tuple[str, ...]) -> Asked:
    """Checkpoint B. What is none of the choices ends the exam."""
    text = str((yield AskUser(f"The exam is over: {headline} What next?", choices))).strip()
    given = _option(text, choices).casefold()
    return next((choice for choice in choices if given and choice.casefold().startswith(given)), FINISH)


def grade(question: Mapping[str, Any], given: str) -> bool:
    """Whether an answer is right: a number by its value, a term by its letters, small slips forgiven."""
    answer = str(question["answer"])
    if question["kind"] == "number":
        return bool(_values(answer) & _values(given)) if _NUMBER.search(given) else False
    folded, wanted = _folded(given), _folded(answer)
    return folded == wanted or (len(wanted) > 4 and SequenceMatcher(None, folded, wanted).ratio() >= ALIKE)


def _values(text: str) -> set[Decimal]:
    """The first number of a text, as both ways of writing thousands and decimals read it."""
    found = _NUMBER.search(text)
    digits = re.sub(r"['’\s\u00a0\u202f]", "", found[0]) if found else ""
    readings = (digits.replace(",", ""), digits.replace(".", "").replace(",", "."))
    values = set[Decimal]()
    for reading in readings if digits else ():
        try:
            values.add(Decimal(reading))
        except InvalidOperation:
            continue
    return values


def _folded(text: str) -> str:
    words = re.sub(r"[^\w\s]", " ", text.casefold()).split()
    return " ".join(words[1:] if words[:1] and words[0] in _ARTICLES else words)

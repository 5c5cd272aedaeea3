"""A skill of your own, used beside the eight that ship: `python examples/custom_skills.py`.

The planner sees the skill's name and description in its catalogue and assigns it where it fits. Without a key the
built-in engine answers, which follows no skill's prompt but picks skills by their words; with
`ANTHROPIC_API_KEY` or `OPENAI_API_KEY` set, a real model reads the prompt.
"""

from __future__ import annotations

from pathlib import Path

from orchestra import orchestrate

SKILLS = {
    "legal_risk": {
        "description": "Lists legal claims against the company with claimant, amount, provision and status.",
        "system_prompt": (
            "For each claim in the excerpts give one line: claimant, amount claimed, amount provided, next date. "
            "Write 'not stated' where the text is silent. Cite the lines of every figure."
        ),
        "output_hint": "one line per claim, largest amount first",
    }
}


def main() -> None:
    result = orchestrate(
        context=Path(__file__).parent / "annual-report.md",
        task="Which legal claims does the company face, and when does the revolving credit facility expire?",
        skills=SKILLS,
    )
    print(result.answer)
    print()
    for subtask in result.subtasks:
        print(f"{subtask.skill}: {subtask.task}")


if __name__ == "__main__":
    main()

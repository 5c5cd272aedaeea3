"""The codes of notices: what was mended, dropped or doubted while a run went on.

They stand in `result.warnings` and go out as `Warned` events. A notice that carries an error's code means the same as
the error. Codes are stable; every one that is used stands here.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple


class Meaning(NamedTuple):
    """What a notice says, and what to do about it."""

    what: str
    suggestion: str = "Nothing need be done."


NOTICES: Mapping[str, Meaning] = {
    "ANSWER_ASKED_AGAIN": Meaning(
        "The answer did not fit `answer_schema`, and was asked for once more.",
        "Where it happens often, simplify the schema or use a stronger synthesis_model.",
    ),
    "APPROVAL_ANSWERED": Meaning("Somebody else had answered a question first; the first answer holds."),
    "APPROVAL_STALE": Meaning(
        "An answer was not used: what it was given for is not what is asked now.",
        "Look at what is asked now, and answer again.",
    ),
    "APPROVAL_UNANSWERED": Meaning(
        "Nobody answered a question in time, so what it was for was not done.", "Run again, and answer it."
    ),
    "ASKED_ALONE": Meaning("One call for several subtasks failed for what it asked; each was asked for by itself."),
    "CACHE_MISSED": Meaning(
        "A call was expected to find its beginning in the provider's prompt cache, and paid for it again.",
        "Where it happens often, leave less time between tasks over one document.",
    ),
    "CALL_REPEATED": Meaning(
        "A call was under way when the run was interrupted; nobody knows its reply, so it was sent again."
    ),
    "CITATIONS_UNJUDGED": Meaning(
        "The answer's citations could not be held to the document.", "Check them yourself, and please report it."
    ),
    "CONDITION_UNDECIDED": Meaning(
        "A composite skill's condition could not be decided, and did not hold.",
        "Correct the condition, or what the step before it gives.",
    ),
    "DATA_FLOW_IGNORED": Meaning(
        "A line of a composite skill's data flow names nothing that exists.", "Correct the line in the manifest."
    ),
    "DATA_NOT_REVISED": Meaning(
        "A skill revised the text of an answer that has data as well; these are still those of the draft.",
        "Hold the data to the text, or ask without a mode that revises.",
    ),
    "DOCUMENT_MENDED": Meaning(
        "Something in a document had to be replaced to read it, such as bytes that are no text.",
        "Look whether the document is whole.",
    ),
    "ENHANCEMENT_FAILED": Meaning("A skill that works beside the task failed; the answer does without it."),
    "ENHANCEMENT_LATE": Meaning(
        "A skill that works beside the task had not ended when the answer was there; the answer does without it."
    ),
    "FOLLOWUP_FAILED": Meaning("A subtask was asked again over more lines, and that failed; its first reply stands."),
    "GATE_DEGRADED": Meaning(
        "A guarantee that does not block was not held, and the run went on.", "Mend what the message names."
    ),
    "LESSONS_NOT_KEPT": Meaning(
        "What a skill wanted to keep for later runs over the same documents was not kept.",
        "Let it keep less, or see to the store.",
    ),
    "MODEL_FELL_BACK": Meaning(
        "A model was overloaded or out of reach, and the next one of `models` took over.",
        "Expect its price and its quality; nothing need be done.",
    ),
    "OUTLINE_OVER_BUDGET": Meaning(
        "The task alone leaves the outline less than `outline_tokens`, so more was sent.", "Raise outline_tokens."
    ),
    "OUTPUT_ASKED_AGAIN": Meaning(
        "What a skill gave did not fit its schema, and was asked for once more.",
        "Where it happens often, loosen the skill's output schema or mend its prompt.",
    ),
    "PARAMETERS_UNSURE": Meaning(
        "Values that a step can do without were found and were doubtful; nobody could be asked, so they were not used.",
        "Give them in the query, as JSON if need be.",
    ),
    "PLAN_ASKED_AGAIN": Meaning(
        "The planner's reply was no valid plan, and was asked for once more.",
        "Where it happens often, use a stronger planner_model.",
    ),
    "PLAN_MADE_OF_LOOK": Meaning(
        "The planner looked closer and made no plan; what it looked at was sent with the task as it stands.",
        "Where it happens often, use a stronger planner_model.",
    ),
    "PLAN_MENDED": Meaning("Something in the plan was corrected or left out; the message says what."),
    "POINTERS_UNRESOLVED": Meaning(
        "None of a subtask's pointers is in the document; the best parts for its words, or everything, was sent.",
        "`on_unresolved` chooses what is sent; `orchestra outline DOC` lists what there is to point at.",
    ),
    "POINTER_NOTE": Meaning("A pointer was found in another way than it was written; the message says how."),
    "READ_IN_PARTS": Meaning(
        "The task is about the whole of a document that no call can hold: every part is read, and the rest joined.",
        "Expect a call for each part; use a model with a longer context window for fewer.",
    ),
    "REQUEST_CHANGED": Meaning(
        "A resumed run sends something else than before the interruption, so the old reply was not used.",
        "Resume with the documents, skills and version that the run began with.",
    ),
    "RUN_TAKEN": Meaning(
        "Another process took the run over, because this one had not been heard of, and this one stopped.",
        "Take the result of the other process.",
    ),
    "SELF_ANSWER_UNSUPPORTED": Meaning(
        "The planner's own answer to a subtask is not in the document, so the subtask was delegated."
    ),
    "SETTING_UNUSED": Meaning(
        "A setting by skill names a skill that this run does not have.",
        "Correct the name; `orchestra skills` lists them.",
    ),
    "SKILL_CHANGED": Meaning(
        "A skill's files have changed since it was trusted, so it is not trusted any more.",
        "Look at what changed; `orchestra skills trust` trusts it anew.",
    ),
    "SKILL_UNKNOWN": Meaning(
        "The plan names a skill that does not exist; a generic one did the work.",
        "Pass the folder of the skill, or list it in the plan by its right name.",
    ),
    "SLICE_NARROWED": Meaning(
        "A subtask's pointers hold more than the model can read; the best parts were sent.",
        "Use a model with a longer context window.",
    ),
    "STEPS_NOT_DONE": Meaning("Some steps of a composite skill were not done; the message names them."),
    "STORE_LOST": Meaning(
        "The store failed, and the run went on without it: it cannot be resumed from here on.",
        "See to the store; the message says what is wrong with it.",
    ),
    "SUBTASK_INSUFFICIENT": Meaning(
        "What a subtask was shown does not hold all that it asks for; the answer may lack it.",
        "Look whether the document says it at all; raise max_followups, or use strategy='full'.",
    ),
    "TASK_EDITED": Meaning("A person changed a subtask's task before it was sent."),
    "TEXT_IS_A_PATH": Meaning(
        "The text to be read is the path of a file, and was taken as text.", "Pass Path(...) to read the file."
    ),
    "TOOLS_NOT_TAKEN": Meaning(
        "A model's server takes no tools, so its subtask was asked without them.", "Use a model that takes tools."
    ),
    "VERSION_CHANGED": Meaning(
        "Another version of Orchestra began the run that is resumed; what this one asks otherwise is asked anew.",
    ),
}

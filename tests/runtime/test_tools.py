"""Tools: the schema that a model sees, the check of what it sends, and the text that it gets back."""

from __future__ import annotations

import functools
import inspect
import json
from dataclasses import dataclass
from datetime import date
from enum import Enum
from typing import Annotated, Any, Literal

import jsonschema
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import BaseModel, Field

from orchestra.document import count_tokens
from orchestra.errors import InputInvalid, ToolFailed
from orchestra.runtime.tools.results import bounded, result_text
from orchestra.runtime.tools.signature import arguments_of
from orchestra.runtime.tools.tool import Tool


class Unit(Enum):
    METRE = "m"
    FOOT = "ft"


class Place(BaseModel):
    """A place on a map."""

    title: str
    at: tuple[float, float] = (0.0, 0.0)


@dataclass
class Row:
    name: str
    when: date


def look_up(
    city: str,
    day: date,
    unit: Unit = Unit.METRE,
    near: list[Place] | None = None,
    most: Annotated[int, "how many at most"] = 5,
    depth: Annotated[int, Field(ge=1, le=9)] = 1,
) -> str:
    """Look a city up in the gazetteer,
    with what is near.

    More about it.

    Args:
        city: its name,
            as it is written there
        day (date): of the census

    Returns:
        text: what is known
    """
    return f"{city} {day:%Y} {unit.value} {len(near or ())} {most} {depth}"


TOOL = Tool.of(look_up)


def test_a_schema_comes_from_type_hints_and_docstring():
    properties = TOOL.parameters["properties"]

    assert (TOOL.name, TOOL.description) == (
        "look_up",
        "Look a city up in the gazetteer, with what is near. More about it.",
    )
    assert properties["city"] == {"type": "string", "description": "its name, as it is written there"}
    assert properties["day"] == {"type": "string", "format": "date", "description": "of the census"}
    assert properties["most"] == {"type": "integer", "description": "how many at most", "default": 5}
    assert (properties["depth"]["minimum"], properties["depth"]["maximum"]) == (1, 9)
    assert TOOL.parameters["required"] == ["city", "day"]


def test_a_schema_holds_no_titles_but_keeps_a_property_of_that_name():
    place = TOOL.parameters["$defs"]["Place"]

    assert set(place["properties"]) == {"title", "at"}
    assert '"title": "' not in json.dumps(TOOL.parameters)


def test_arguments_are_read_as_their_hints_say_and_defaults_are_left_to_the_function():
    arguments = TOOL.checked({"city": "Brno", "day": "2025-03-01", "unit": "ft", "near": [{"title": "Olomouc"}]})

    assert arguments == {"city": "Brno", "day": date(2025, 3, 1), "unit": Unit.FOOT, "near": [Place(title="Olomouc")]}
    assert TOOL.function(**arguments) == "Brno 2025 ft 1 5 1"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"day": "2025-03-01"}, "city: Field required"),
        ({"city": "Brno", "day": "yesterday"}, "day: Input should be a valid date"),
        ({"city": "Brno", "day": "2025-03-01", "depth": 10}, "depth: Input should be less than or equal to 9"),
        ({"city": "Brno", "day": "2025-03-01", "zip": 1}, "zip: Extra inputs are not permitted"),
        ({"city": "Brno", "day": "2025-03-01", "near": [{"at": [1, 2]}]}, "near.0.title: Field required"),
    ],
)
def test_what_is_wrong_with_arguments_is_said_in_words(arguments, said):
    with pytest.raises(ToolFailed) as caught:
        TOOL.checked(arguments)

    assert said in caught.value.cause
    assert "look_up" in caught.value.what


def test_half_a_character_is_replaced():
    assert TOOL.checked({"city": "Br\ud800no", "day": "2025-03-01"})["city"] == "Br?no"


def test_only_the_first_problems_are_told():
    with pytest.raises(ToolFailed) as caught:
        TOOL.checked({"city": "Brno", "day": "2025-03-01", **{f"x{n}": n for n in range(9)}})

    assert caught.value.cause.endswith("and 4 more")


def numpy_style(name: str, count: int = 1) -> None:
    """Count a name.

    Parameters
    ----------
    name : str
        the name,
        whole
    count : int, optional
        how often

    Returns
    -------
    None
    """


def sphinx_style(name: str, count: int = 1) -> None:
    """Count a name.

    :param name: the name,
        whole
    :param int count: how often
    :returns: nothing
    """


@pytest.mark.parametrize("function", [numpy_style, sphinx_style])
def test_docstrings_of_other_styles_are_read(function):
    tool = Tool.of(function)

    assert tool.description == "Count a name."
    properties = tool.parameters["properties"]
    assert [properties[name]["description"] for name in ("name", "count")] == ["the name, whole", "how often"]


class Scale:
    """Scales numbers."""

    def __init__(self, factor: int) -> None:
        self.factor = factor

    def __call__(self, number: int) -> int:
        return self.factor * number

    def half(self, number: int) -> float:
        """Half of it."""
        return number / 2


def test_methods_objects_and_partials_are_tools_too():
    called, method = Tool.of(Scale(3), name="scale"), Tool.of(Scale(3).half)
    bound = Tool.of(functools.partial(look_up, day=date(2025, 1, 1)), name="look_up_2025")

    assert called.function(**called.checked({"number": 2})) == 6
    assert (called.description, method.description) == ("Scales numbers.", "Half of it.")
    assert method.function(**method.checked({"number": 3})) == 1.5
    assert bound.parameters["required"] == ["city"]


def test_a_function_without_docstring_is_described_by_its_name():
    def look_around(far: bool) -> None: ...

    assert Tool.of(look_around).description == "look around"


def unhinted(city) -> None: ...
def starred(*cities: str) -> None: ...
def keyed(**cities: str) -> None: ...
def positional(city: str, /) -> None: ...
def strange(city: Scale) -> None: ...
def unknown(city: Nowhere) -> None: ...  # noqa: F821


@pytest.mark.parametrize(
    ("function", "said"),
    [
        (unhinted, "without type hint: city"),
        (starred, "*cities"),
        (keyed, "**cities"),
        (positional, "city"),
        (strange, "cannot be told to a model"),
        (unknown, "cannot be read"),
        (lambda: None, "<lambda>"),
        (42, "given as int"),
        (min, "does not say which arguments"),
    ],
)
def test_what_makes_no_tool_is_refused_with_the_reason(function, said):
    with pytest.raises(InputInvalid) as caught:
        Tool.of(function)

    assert said in f"{caught.value.what} {caught.value.cause}"


def test_a_tool_made_by_hand_is_checked_against_its_own_schema():
    tool = Tool("pick", "Pick one.", {"properties": {"n": {"type": "integer"}}, "required": ["n"]}, lambda n: n)

    assert tool.checked({"n": 3}) == {"n": 3}
    with pytest.raises(ToolFailed) as caught:
        tool.checked({"n": "three"})
    assert "'three' is not of type 'integer'" in caught.value.cause


@pytest.mark.parametrize("fields", [{"timeout_s": 0}, {"timeout_s": -1.0}, {"name": "two words"}, {"name": "x" * 65}])
def test_a_tool_that_no_provider_takes_is_refused(fields):
    with pytest.raises(InputInvalid):
        Tool.of(look_up, **fields)


HINTS: dict[Any, st.SearchStrategy[Any]] = {
    int: st.integers(-(2**53), 2**53),
    float: st.floats(allow_nan=False, allow_infinity=False),
    bool: st.booleans(),
    str: st.text(st.characters(codec="utf-8")),
    list[int]: st.lists(st.integers(-(2**53), 2**53), max_size=4),
    dict[str, bool]: st.dictionaries(st.text(st.characters(codec="utf-8")), st.booleans(), max_size=3),
    Literal["a", "b"]: st.sampled_from(["a", "b"]),
    str | None: st.none() | st.text(st.characters(codec="utf-8")),
}


@settings(deadline=None)
@given(st.data())
def test_whatever_fits_the_hints_fits_the_schema_and_comes_back_the_same(data):
    names = data.draw(
        st.lists(st.sampled_from(["x", "model_config", "schema", "self_", "_y", "json"]), unique=True, max_size=4)
    )
    hints = {name: data.draw(st.sampled_from(list(HINTS))) for name in names}
    values = {name: data.draw(HINTS[hint]) for name, hint in hints.items()}

    def function(**_: Any) -> None: ...

    function.__signature__ = inspect.Signature(
        [inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, annotation=hint) for name, hint in hints.items()]
    )
    function.__annotations__ = hints
    arguments, schema = arguments_of(function, "function")

    jsonschema.Draft202012Validator.check_schema(schema)
    jsonschema.validate(json.loads(json.dumps(values)), schema)
    assert arguments.read(json.loads(json.dumps(values))) == values


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("as it is", "as it is"),
        ("", "(empty)"),
        (None, "done"),
        (True, "true"),
        (1.5, "1.5"),
        ({"a": [1, "ž"]}, '{"a":[1,"ž"]}'),
        (Place(title="Brno"), '{"title":"Brno","at":[0.0,0.0]}'),
        (Row("x", date(2025, 1, 2)), '{"name":"x","when":"2025-01-02"}'),
        (b"caf\xc3\xa9 \xff", "café \ufffd"),
        ({"a": Unit.FOOT, "b": {1}}, '{"a":"ft","b":[1]}'),
        (float("inf"), "Infinity"),
        ("half \ud800", "half \ufffd"),
    ],
)
def test_results_become_text(value, text):
    assert result_text(value) == text


def test_what_no_json_holds_is_shown_as_python_shows_it():
    assert "Scale object" in result_text({"a": Scale(1)})
    assert result_text(object).startswith('"')


@settings(deadline=None)
@given(st.text(st.characters(codec="utf-8"), max_size=600), st.integers(10, 60))
def test_a_long_result_is_cut_and_says_by_how_much(text, most):
    shown = bounded(text, most)

    if shown != text:
        kept, _, note = shown.rpartition("\n[cut: ")
        assert text.startswith(kept)
        assert count_tokens(kept) <= most
        assert note == f"the first {len(kept):,} of {len(text):,} characters are shown]"
    else:
        assert count_tokens(text) <= most or len(text) <= most

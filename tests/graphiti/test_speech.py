"""Bodies taken apart and put together again; no database."""

from __future__ import annotations

import json

import pytest
from graphiti_core.nodes import EpisodeType

from memgate_core import MemoryGate
from memgate_core.errors import InvalidTurnError
from memgate_core.model import Role, Span
from memgate_graphiti.speech import Speakers, speech_in
from tests.graphiti.talk import START

MESSAGE, TEXT, JSON = EpisodeType.message, EpisodeType.text, EpisodeType.json


def said(body: str, speakers: Speakers | None = None) -> list[tuple[Role, str | None, str]]:
    speech = speech_in(body, MESSAGE, speakers or Speakers(), "user")
    return [(turn.role, turn.actor, turn.text) for turn in speech.said]


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("user: hi", [(Role.USER, None, "hi")]),
        ("just words", [(Role.USER, None, "just words")]),
        ("Assistant: hi", [(Role.ASSISTANT, None, "hi")]),
        ("tool: {}", [(Role.TOOL, None, "{}")]),
        ("Ben: hi", [(Role.USER, "Ben", "hi")]),
        ("Ben Okri: hi\nuser: ho", [(Role.USER, "Ben Okri", "hi"), (Role.USER, None, "ho")]),
        ("Ana(user): hi", [(Role.USER, None, "hi")]),
        ("Max (assistant): hi", [(Role.ASSISTANT, None, "hi")]),
        ("user: one\ntwo\n\nthree", [(Role.USER, None, "one\ntwo\n\nthree")]),
        ("user: note: buy milk", [(Role.USER, None, "note: buy milk")]),
        ("user: so\nNote: buy milk", [(Role.USER, None, "so\nNote: buy milk")]),
        ("user: see\nhttps://example.org: it", [(Role.USER, None, "see\nhttps://example.org: it")]),
        ("user: at 9:40", [(Role.USER, None, "at 9:40")]),
        ("user:\nassistant: hi", [(Role.ASSISTANT, None, "hi")]),
    ],
)
def test_lines_are_turns_of_their_speakers(
    body: str, expected: list[tuple[Role, str | None, str]]
) -> None:
    assert said(body) == expected


def test_names_can_be_set() -> None:
    names = Speakers(subject=("Ana", "user"), assistant=("Max",), tools=("crm",))
    body = "ana: a\nMax: b\nCRM: c\nBen(user): d"
    assert said(body, names) == [
        (Role.USER, None, "a"),
        (Role.ASSISTANT, None, "b"),
        (Role.TOOL, None, "c"),
        (Role.USER, "Ben", "d"),
    ]


def test_where_nobody_else_speaks_a_name_is_text() -> None:
    assert said("user: so\nLeeds: lovely", Speakers(others=False)) == [
        (Role.USER, None, "so\nLeeds: lovely")
    ]


def test_nothing_withheld_is_the_very_same_body() -> None:
    for body, source in (("user: a\n\nBen: b\n", MESSAGE), (" a ", TEXT), ('{"a": "b"}', JSON)):
        speech = speech_in(body, source, Speakers(), "user")
        assert speech.without([() for _ in speech.said]) is body


def test_a_line_without_words_left_goes_with_its_name() -> None:
    speech = speech_in("user: a b\nBen: c", MESSAGE, Speakers(), "user")
    assert speech.without([[Span(start=0, end=3)], ()]) == "Ben: c"
    assert speech.without([[Span(start=0, end=1)], [Span(start=0, end=1)]]) == "user: b"
    assert speech.without([[Span(start=0, end=3)], [Span(start=0, end=1)]]) is None


def test_json_loses_the_strings_that_are_held() -> None:
    body = json.dumps({"a": "one", "b": [2, "two", {"c": "three"}], "d": None})
    speech = speech_in(body, JSON, Speakers(), "user")
    (turn,) = speech.said
    at = turn.text.index("two")
    rest = speech.without([[Span(start=at, end=at + 3)]])
    assert rest is not None
    assert json.loads(rest) == {"a": "one", "b": [2, {"c": "three"}], "d": None}
    assert speech.without([[Span(start=0, end=len(turn.text))]]) is None


def test_json_that_is_none_is_judged_as_text() -> None:
    (turn,) = speech_in("{broken", JSON, Speakers(), "user").said
    assert turn.text == "{broken"


def test_a_body_that_is_no_string_and_an_unknown_role_are_refused() -> None:
    with pytest.raises(InvalidTurnError):
        speech_in(3, TEXT, Speakers(), "user")  # type: ignore[arg-type]
    with pytest.raises(InvalidTurnError):
        speech_in("a", TEXT, Speakers(), "narrator")


def test_a_string_under_a_key_that_calls_it_a_plan_is_judged_as_one() -> None:
    body = json.dumps({"city": "Leeds", "possibleCity": "Seattle", "plans": ["sell the piano"]})
    with MemoryGate.open("sqlite://") as gate:
        (turn,) = speech_in(body, JSON, Speakers(), "user").said
        assert turn.text.startswith("Leeds\n\n")
        receipt = gate.observe(gate.turn(turn.text, user_id="ana", occurred_at=START), carried=True)
        rest = speech_in(body, JSON, Speakers(), "user").without([receipt.withheld])
    assert rest is not None
    assert json.loads(rest) == {"city": "Leeds", "plans": []}

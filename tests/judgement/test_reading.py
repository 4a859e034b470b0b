"""Values are read with the words they rest on, and only from people who may say them."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from memgate_core.judgement.reading import LocalFieldReader, sentence_around
from memgate_core.model import FieldSpec, HistoryTurn, Role, Subject, Turn

CITY = FieldSpec(attribute="home_city", description="the town or city where the user lives")


def said(text: str, role: Role = Role.USER, history: tuple[HistoryTurn, ...] = ()) -> Turn:
    return Turn(
        subject=Subject(user_id="maud"),
        message_id="m1",
        role=role,
        text=text,
        occurred_at=datetime(2025, 3, 2, tzinfo=UTC),
        history=history,
    )


@pytest.fixture(scope="module")
def reader() -> LocalFieldReader:
    return LocalFieldReader()


def test_what_is_read_rests_on_words_of_the_turn(reader: LocalFieldReader) -> None:
    turns = [
        said("I live in Whitby now, which bin goes out on Thursday?"),
        said("We moved to Whitby last week. Need a plumber."),
    ]
    for turn in turns:
        for found in reader.read(turn, [CITY], {"home_city": "Derby"}):
            assert found.attribute == "home_city"
            assert found.words == found.evidence.span.of(turn.text)
            assert found.value is not None
            assert found.value in turn.text


def test_a_tool_says_nothing_of_the_user(reader: LocalFieldReader) -> None:
    assert reader.read(said("home city: Whitby", Role.TOOL), [CITY], {}) == []


def test_small_talk_has_no_value(reader: LocalFieldReader) -> None:
    assert reader.read(said("thanks, that's kind"), [CITY], {"home_city": None}) == []
    assert reader.read(said("   "), [CITY], {}) == []


@pytest.mark.parametrize(
    ("text", "inside", "expected"),
    [
        ("One. Two is here! Three?", "is", "Two is here!"),
        ("no stop at all", "stop", "no stop at all"),
        ("first line\nsecond line", "second", "second line"),
        ("A b. C d.", "C", "C d."),
    ],
)
def test_the_sentence_around(text: str, inside: str, expected: str) -> None:
    at = text.index(inside)
    assert sentence_around(text, at, at + len(inside)).of(text) == expected

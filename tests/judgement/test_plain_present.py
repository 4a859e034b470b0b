"""The plainest sentences are read without an extractor; what only looks like them is not."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from memgate_core import MemoryGate
from memgate_core.judgement.plain import is_plain_present
from memgate_core.model import FieldSpec
from tests.support.talk import Talk

CITY = FieldSpec(attribute="home_city", description="the city the user lives in")
EMPLOYER = FieldSpec(attribute="employer", description="the organisation the user works for")
SHOP = FieldSpec(attribute="grocery_shop", description="where the user buys food")
CAR = FieldSpec(attribute="car", description="the car the user drives")
START = datetime(2025, 3, 1, 9, tzinfo=UTC)


def told(text: str, field: FieldSpec) -> str | None:
    with MemoryGate.open("sqlite:///:memory:", fields=[field]) as gate:
        talk = Talk(gate, "ana", START)
        talk.says(text)
        fact = talk.profile.current(field.attribute)
        return fact.value if fact else None


@pytest.mark.parametrize(
    ("text", "field", "value"),
    [
        ("I live in Halifax.", CITY, "Halifax"),
        ("I work at Acme.", EMPLOYER, "Acme"),
        ("We shop at Spar now.", SHOP, "Spar"),
        ("I drive a Golf", CAR, "Golf"),
    ],
)
def test_the_plainest_sentence_is_read(text: str, field: FieldSpec, value: str) -> None:
    assert told(text, field) == value


@pytest.mark.parametrize(
    ("text", "field"),
    [
        ("My brother lives in Halifax.", CITY),
        ("I want to live in Halifax.", CITY),
        ("I hate Halifax.", CITY),
        ("I applied to Acme.", EMPLOYER),
        ("I have an interview at Acme.", EMPLOYER),
        ("I washed a Golf.", CAR),
        ("I play golf.", CAR),
    ],
)
def test_what_only_looks_like_it_is_not(text: str, field: FieldSpec) -> None:
    assert told(text, field) is None


def test_nothing_else_may_stand_in_the_message() -> None:
    with MemoryGate.open("sqlite:///:memory:") as gate:
        talk = Talk(gate, "ana", START)
        said = [
            "I have a cat",
            "I have a cat to feed for my neighbour",
            "I had a cat",
            "If I have a cat",
            "I never have a cat",
        ]
        found = [
            is_plain_present(talk.turn(text), at := text.index("cat"), at + 3) for text in said
        ]
    assert found == [True, False, False, False, False]

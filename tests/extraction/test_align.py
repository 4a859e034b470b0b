"""Proposals of an extractor laid on the words they rest on."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memgate_core.errors import InvalidInputError
from memgate_core.extraction.align import align
from memgate_core.extraction.local import LocalExtractor
from memgate_core.model import Evidence, sha256_of
from tests.support.build import make_turn

MESSAGE = (
    "I've been thinking about maybe moving to Porto, my aunt lives there."
    " I prefer window seats, can you book the 7:15?"
)


def test_an_exact_span_is_taken_as_it_is() -> None:
    turn = make_turn(MESSAGE)
    (found,) = align(
        turn,
        [{"entity": "user", "attribute": "home_city", "value": "Porto", "span": "moving to Porto"}],
    )
    assert found.words == "moving to Porto"
    assert found.aligned
    assert found.evidence == Evidence.of(turn, found.evidence.span)
    assert found.evidence.sha256 == sha256_of("moving to Porto")
    assert (found.entity, found.attribute, found.value) == ("user", "home_city", "Porto")


def test_case_spacing_and_marks_of_a_span_do_not_matter() -> None:
    (found,) = align(make_turn(MESSAGE), [{"value": "Porto", "span": "MAYBE  moving to porto!"}])
    assert found.words == "maybe moving to Porto"
    assert found.aligned


def test_a_repeated_phrase_is_found_in_its_own_place() -> None:
    text = "Anna has a kiln. I want a kiln of my own for the shed."
    (found,) = align(
        make_turn(text), [{"text": "User wants a kiln for the shed", "span": "a kiln"}]
    )
    assert found.evidence.start == text.rindex("a kiln")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("User is considering a move to Porto", "I've been thinking about maybe moving to Porto"),
        ("User prefers window seats", "I prefer window seats"),
        ("Prefers windw seats", "I prefer window seats"),
    ],
)
def test_a_paraphrase_finds_the_statement_it_rests_on(text: str, words: str) -> None:
    (found,) = align(make_turn(MESSAGE), [{"text": text}])
    assert found.words == words
    assert found.aligned


def test_a_claim_without_support_is_only_a_guess() -> None:
    (found,) = align(make_turn(MESSAGE), [{"text": "User collects stamps"}])
    assert not found.aligned


@pytest.mark.parametrize(
    ("proposal", "entity", "attribute"),
    [
        ({"entity": "the user", "attribute": "car", "value": "Golf"}, "user", "car"),
        (
            {"entity": "user's cat", "attribute": "medication", "value": "pill"},
            "user",
            "cat_medication",
        ),
        ({"entity": "user's mum", "attribute": "city", "value": "Porto"}, "mum", "city"),
        ({"entity": "Denise", "attribute": "car", "value": "Golf"}, "Denise", "car"),
        ({"text": "User's cousin Wren dislikes olives"}, "cousin Wren", None),
        ({"text": "User moved to Porto"}, "user", None),
    ],
)
def test_whose_a_proposal_is(proposal: dict[str, str], entity: str, attribute: str | None) -> None:
    (found,) = align(make_turn(MESSAGE), [proposal])
    assert (found.entity, found.attribute) == (entity, attribute)


def test_an_unknown_name_with_a_pets_slot_is_the_users_pet() -> None:
    turn = make_turn("Happy Paws take over the walks on Monday")
    (found,) = align(
        turn, [{"entity": "Biscuit", "attribute": "dog_walker", "value": "Happy Paws"}]
    )
    assert found.entity == "user"


def test_ordinals_depend_on_neither_the_order_nor_the_values() -> None:
    proposals = [
        {"entity": "user", "attribute": "seat", "value": "window", "span": "window seats"},
        {"entity": "user", "attribute": "city", "value": "Porto", "span": "moving to Porto"},
    ]
    turn = make_turn(MESSAGE)
    forward = {c.attribute: c.ordinal for c in align(turn, proposals)}
    backward = {c.attribute: c.ordinal for c in align(turn, proposals[::-1])}
    assert forward == backward
    changed = [dict(p, value="x") for p in proposals]
    assert {c.attribute: c.ordinal for c in align(turn, changed)} == forward


def test_two_values_of_one_slot_on_one_clause_stay_apart() -> None:
    turn = make_turn("I have a dog and a parrot")
    proposals = [
        {"attribute": "pet", "value": value, "span": "a dog and a parrot"}
        for value in ("a parrot", "a dog")
    ]
    parrot, dog = align(turn, proposals)
    assert dog.ordinal < parrot.ordinal


def test_objects_serve_as_proposals_and_numbers_as_values() -> None:
    (found,) = align(make_turn("I'm 43"), [SimpleNamespace(attribute="age", value=43)])
    assert found.value == "43"


@pytest.mark.parametrize(
    ("proposal", "named"),
    [
        ({"entity": "user", "attribute": "city"}, r"proposals\[0\]"),
        ({"value": ["Porto"]}, r"proposals\[0\]\.value"),
        ({"text": {"a": 1}}, r"proposals\[0\]\.text"),
    ],
)
def test_a_malformed_proposal_is_named(proposal: dict[str, object], named: str) -> None:
    with pytest.raises(InvalidInputError, match=named):
        align(make_turn(MESSAGE), [proposal])


def test_a_message_without_words_gives_nothing() -> None:
    assert align(make_turn("👍"), [{"text": "User agrees"}]) == []


@settings(max_examples=80)
@given(st.text(min_size=1, max_size=80), st.text(min_size=1, max_size=40))
def test_evidence_is_always_true(message: str, claim: str) -> None:
    turn = make_turn(message)
    for candidate in align(turn, [{"text": claim}, {"value": claim, "span": claim}]):
        assert candidate.words == candidate.evidence.span.of(message)
        assert candidate.words


def test_the_local_extractor_keeps_the_speakers_words() -> None:
    turn = make_turn(MESSAGE)
    found = LocalExtractor().extract(turn)
    assert [c.words for c in found] == [
        "I've been thinking about maybe moving to Porto",
        "my aunt lives there.",
        "I prefer window seats",
        "can you book the 7:15?",
    ]
    assert [c.entity for c in found] == ["user", "aunt", "user", "user"]
    assert [c.ordinal for c in found] == [0, 100, 200, 300]
    assert all(c.attribute is None and c.value is None and c.text == c.words for c in found)
    assert all(c.evidence == Evidence.of(turn, c.evidence.span) for c in found)

"""What would be true, in the third person."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memgate_core.extraction.local import LocalExtractor
from memgate_core.fields.catalogue import FieldCatalogue
from memgate_core.model import Candidate, FieldSpec
from memgate_core.resolution.realise import LocalRealiser
from tests.support.build import make_candidate, make_turn

REALISER = LocalRealiser()


def stated(text: str) -> Candidate:
    return LocalExtractor().extract(make_turn(text))[0]


@pytest.mark.parametrize(
    ("words", "realised"),
    [
        ("I might sell the piano", "sold the piano"),
        ("I've been thinking about maybe moving to Seattle", "moved to Seattle"),
        ("I'm considering a move to Porto next year", "moved to Porto"),
        ("might switch to oat milk", "switched to oat milk"),
        ("I want a dog", "got a dog"),
        ("I ought to renew the allotment lease next week.", "renewed the allotment lease"),
        ("Please remember that my exam may move to Friday", "their exam moved to Friday"),
        ("the plan is to sell the van", "sold the van"),
        (
            "we're getting a stair lift for my dad in June, I think",
            "got a stair lift for their dad",
        ),
        ("hoping to work from home on Fridays", "works from home on Fridays"),
        ("Going to quit smoking next month", "quit smoking"),
        ("I'll probably end up living with my sister", "lives with their sister"),
        ("Unless they fix the damp I'm giving notice on Fisher Row", "gave notice on Fisher Row"),
        (
            "I'm torn between staying with the Ghost and switching to the Pegasus",
            "switched to the Pegasus",
        ),
        ("that Monday is when I start carpooling with Denise", "started carpooling with Denise"),
        ("Happy Paws take over the walks Monday 2 June", "Happy Paws take over the walks"),
        ("my cousin Wren might move to Leeds", "cousin Wren moved to Leeds"),
        ("my lease might be renewed", "their lease was renewed"),
        ("I might not renew the lease", "did not renew the lease"),
        ("we plan on having kids in a few years", "has kids"),
        ("I think I'll sell the van", "sold the van"),
        ("planning a trip to Japan in May", "took a trip to Japan"),
    ],
)
def test_a_plan_comes_true(words: str, realised: str) -> None:
    assert REALISER.realise(stated(words), None) == realised


@pytest.mark.parametrize(
    ("words", "realised"),
    [
        ("I prefer aisle seats", "prefers aisle seats"),
        ("I own a narrowboat", "owns a narrowboat"),
        ("I finally sold it last week", "sold it last week"),
        ("I used to play the piano", "used to play the piano"),
        ("I'm vegan", "is vegan"),
        ("Lease is renewed.", "lease was renewed"),
    ],
)
def test_what_is_no_plan_is_only_turned_to_the_third_person(words: str, realised: str) -> None:
    assert REALISER.realise(stated(words), None) == realised


@pytest.mark.parametrize(
    ("attribute", "value", "realised"),
    [
        ("home_city", "Seattle", "lives in Seattle"),
        ("home_city", "possibly moving to Seattle next year", "lives in Seattle"),
        ("commute_mode", "carpooling with Denise", "gets to work by carpooling with Denise"),
        ("relationship_status", "engaged to Noor", "is engaged to Noor"),
        ("smoking_status", "ex-smoker", "is an ex-smoker"),
        ("milk", "Oat milk", "drinks Oat milk"),
    ],
)
def test_a_fields_phrase_is_used(attribute: str, value: str, realised: str) -> None:
    candidate = make_candidate(attribute=attribute, value=value)
    assert REALISER.realise(candidate, FieldCatalogue.default()[attribute]) == realised


def test_a_field_without_a_phrase_reads_all_the_same() -> None:
    field = FieldSpec(attribute="night_nurse", description="who sits with the user at night")
    candidate = make_candidate(attribute="night_nurse", value="Mrs Diop")
    assert REALISER.realise(candidate, field) == "has Mrs Diop as night nurse"


def test_an_extractors_text_is_preferred_to_the_words() -> None:
    text = "User intends to swap Netflix for MUBI on 28 May 2025"
    candidate = stated("that's the plan anyway").model_copy(update={"text": text})
    assert REALISER.realise(candidate, None) == "swapped Netflix for MUBI"


def test_the_conditions_say_what_is_enough_and_what_is_not() -> None:
    promote, discard = REALISER.conditions("sold the piano", stated("I might sell the piano"))
    assert '"sold the piano"' in promote
    assert '"sold the piano"' in discard
    assert "Not enough" in promote
    assert "Not enough" in discard
    other, _ = REALISER.conditions("cousin Wren moved", stated("my cousin Wren might move"))
    assert "of cousin Wren" in other


@settings(max_examples=100)
@given(st.text(min_size=1, max_size=80).filter(lambda text: any(ch.isalnum() for ch in text)))
def test_any_statement_can_be_realised(text: str) -> None:
    for candidate in LocalExtractor().extract(make_turn(text)):
        assert len(REALISER.realise(candidate, None)) <= 240

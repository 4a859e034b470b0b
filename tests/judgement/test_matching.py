"""Slots are found by name where names say enough, and by meaning where they do not."""

from __future__ import annotations

import pytest

from memgate_core.judgement.matching import LocalMatcher, owned
from memgate_core.model import Candidate, Evidence, FieldSpec, sha256_of

FIELDS = [
    FieldSpec(attribute="home_city", description="the town or city where the user lives"),
    FieldSpec(attribute="employer", description="the organisation the user works for"),
    FieldSpec(attribute="work_bag", description="the bag the user mainly takes to work"),
    FieldSpec(attribute="streaming_service", description="the video service the user pays for"),
    FieldSpec(attribute="dog_walker", description="who walks the user's dog"),
    FieldSpec(attribute="blood_type", description="the user's blood group"),
]


def candidate(attribute: str, value: str, text: str, entity: str = "user") -> Candidate:
    return Candidate(
        entity=entity,
        attribute=attribute,
        value=value,
        text=text,
        words=text,
        evidence=Evidence(message_id="m", start=0, end=len(text), sha256=sha256_of(text)),
        ordinal=0,
        extractor="test",
    )


@pytest.fixture(scope="module")
def matcher() -> LocalMatcher:
    return LocalMatcher()


def test_a_name_needs_no_model(matcher: LocalMatcher) -> None:
    [match] = matcher.match([candidate("employer", "Ocado", "User works for Ocado")], FIELDS)
    assert match.field is not None
    assert (match.field.attribute, match.via) == ("employer", "exact")


def test_a_side_fact_matches_nothing(matcher: LocalMatcher) -> None:
    [match] = matcher.match(
        [candidate("mood", "lost appetite", "User is nervous and has lost their appetite")], FIELDS
    )
    assert match.field is None


def test_one_match_a_candidate_in_order(matcher: LocalMatcher) -> None:
    given = [
        candidate("employer", "Ocado", "User works for Ocado"),
        candidate("favourite_film", "Aftersun", "User loved Aftersun"),
        candidate("home_city", "Leeds", "User lives in Leeds"),
    ]
    matches = matcher.match(given, FIELDS)
    assert [m.field.attribute if m.field else None for m in matches] == [
        "employer",
        None,
        "home_city",
    ]


def test_no_fields_no_match(matcher: LocalMatcher) -> None:
    assert matcher.match([], FIELDS) == []
    [match] = matcher.match([candidate("employer", "Ocado", "User works for Ocado")], [])
    assert match.field is None


def test_another_s_attribute_says_whose_it_is() -> None:
    assert owned("user", "employer") == "employer"
    assert owned("Shona", "employer") == "Shona's employer"
    assert owned("Shona", None) is None

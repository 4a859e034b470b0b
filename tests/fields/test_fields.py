"""Catalogue, names, values and validators."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memgate_core.errors import ConfigurationError
from memgate_core.fields import validators
from memgate_core.fields.catalogue import FieldCatalogue
from memgate_core.fields.lexical import LexicalMatcher
from memgate_core.fields.normalise import without_plan_frame
from memgate_core.fields.values import same_value
from memgate_core.model import Candidate, Evidence, FieldSpec

BUILTIN = FieldCatalogue.builtin()


def proposed(attribute: str, entity: str = "user") -> Candidate:
    evidence = Evidence(message_id="m", start=0, end=1, sha256="0")
    return Candidate(
        entity=entity, attribute=attribute, value="x", text="x", words="x", evidence=evidence,
        ordinal=0, extractor="test",
    )  # fmt: skip


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("MUBI", "Mubi"),
        ("the Environment Agency", "Environment Agency"),
        ("GO train", "the GO train from Oakville"),
        ("Škoda Fabia", "skoda fabia"),
        ("two whippets", "2 whippets"),
        ("Hargreaves Lansdown", "Hargreaves Lansdown, since about 2009"),
        ("Dr. Pruitt", "Dr Pruitt"),
        ("O negative", "O Negative"),
        ("a 43 and a half", "43 and a half"),
    ],
)
def test_the_same_value_said_otherwise(one: str, other: str) -> None:
    assert same_value(one, other)
    assert same_value(other, one)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("40 trees", "46 trees"),
        ("engaged to Imani", "dating Imani"),
        ("O negative", "O positive"),
        ("coffee", "no coffee"),
        ("smoker", "ex-smoker"),
        ("Leeds", "Seattle"),
        ("bank", "the bank on Mill Street"),
        ("1987", "1997"),
        ("", "Leeds"),
    ],
)
def test_different_values_stay_different(one: str, other: str) -> None:
    assert not same_value(one, other)
    assert not same_value(other, one)


@given(st.text(min_size=1, max_size=40))
def test_a_value_is_the_same_as_itself(value: str) -> None:
    assert same_value(value, value)


@given(st.text(max_size=30), st.text(max_size=30))
def test_sameness_has_no_direction(one: str, other: str) -> None:
    assert same_value(one, other) == same_value(other, one)


@pytest.mark.parametrize(
    ("framed", "slot"),
    [
        ("grocery_plan", "grocery"),
        ("vet_change_consideration", "vet"),
        ("conditional_bag_interest", "bag"),
        ("prospective_new_owner", "owner"),
        ("streaming_switch_plan", "streaming"),
        ("home_city", None),
        ("plan", None),
    ],
)
def test_the_plan_frame_comes_off(framed: str, slot: str | None) -> None:
    assert without_plan_frame(framed) == slot


@pytest.mark.parametrize(
    ("attribute", "field", "via"),
    [
        ("employer", "employer", "exact"),
        ("company", "employer", "synonym"),
        ("current_employer", "employer", "synonym"),
        ("vet_change_consideration", "vet", "plan_frame"),
        ("streaming_switch_plan", "streaming_service", "plan_frame"),
        ("runningShoes", "running_shoe", "exact"),
        ("sourdough_starter_name", None, "none"),
    ],
)
def test_names_find_their_field(attribute: str, field: str | None, via: str) -> None:
    (match,) = LexicalMatcher().match([proposed(attribute)], list(BUILTIN))
    assert (match.field.attribute if match.field else None, match.via) == (field, via)


def test_another_persons_attribute_is_not_the_users() -> None:
    (match,) = LexicalMatcher().match([proposed("employer", entity="Denise")], list(BUILTIN))
    assert match.field is None


def test_without_the_retry_a_framed_name_finds_nothing() -> None:
    matcher = LexicalMatcher(retry=False)
    (match,) = matcher.match([proposed("vet_change_consideration")], list(BUILTIN))
    assert match.field is None


def test_the_builtin_catalogue_is_sound() -> None:
    assert len(BUILTIN) >= 80
    for field in BUILTIN:
        assert field.phrase
        assert "{value}" in field.phrase
        assert field.description[0].islower()


def test_a_users_file_is_added_and_a_bad_one_is_named(tmp_path: Path) -> None:
    good = tmp_path / "mine.toml"
    good.write_text('[kiln]\ndescription = "the kiln the user fires with"\n')
    assert "kiln" in BUILTIN.with_fields(FieldCatalogue.from_toml(good))
    bad = tmp_path / "bad.toml"
    bad.write_text('[kiln]\ndescription = "x"\nsensitivity = "secretive"\n')
    with pytest.raises(ConfigurationError, match=r"bad\.toml: kiln\.sensitivity"):
        FieldCatalogue.from_toml(bad)
    bad.write_text('[kiln]\ndescription = "x"\nvalidator = "shiny"\n')
    with pytest.raises(ConfigurationError, match="validator 'shiny' is unknown"):
        FieldCatalogue.from_toml(bad)
    with pytest.raises(ConfigurationError, match=r"none\.toml"):
        FieldCatalogue.from_toml(tmp_path / "none.toml")


@pytest.mark.parametrize(
    ("validator", "value", "fine"),
    [
        ("email", "ana@example.org", True),
        ("email", "ana at example", False),
        ("phone", "+44 7911 123456", True),
        ("phone", "call me", False),
        ("timezone", "Europe/Paris", True),
        ("timezone", "half past nine", False),
        ("blood_type", "O negative", True),
        ("blood_type", "banker", False),
        ("number", "size 43", True),
        ("number", "large", False),
        ("words", "Leeds", True),
        ("words", "???", False),
        ("year", "a 1997 Golf", True),
        ("year", "soon", False),
    ],
)
def test_validators(validator: str, value: str, fine: bool) -> None:
    spec = FieldSpec(attribute="x", description="x", validator=validator)
    assert (validators.refusal(spec, value) is None) is fine


def test_a_text_is_not_a_value() -> None:
    spec = FieldSpec(attribute="x", description="x")
    assert "characters" in (validators.refusal(spec, "x" * 400) or "")

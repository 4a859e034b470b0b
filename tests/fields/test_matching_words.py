"""The lexical matcher among all packaged fields, plan-worded values, and registering fields."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memgate_core.errors import ConfigurationError
from memgate_core.fields import validators
from memgate_core.fields.catalogue import FieldCatalogue, completed
from memgate_core.fields.lexical import LexicalMatcher
from memgate_core.fields.normalise import normalise
from memgate_core.fields.plain_value import plain_value
from memgate_core.fields.values import refines, same_value
from memgate_core.model import FieldSpec, Sensitivity
from tests.support.build import make_candidate

FIELDS = FieldCatalogue.default()


def found(attribute: str, fields: list[FieldSpec] | None = None) -> str | None:
    candidate = make_candidate(attribute=attribute)
    (match,) = LexicalMatcher().match([candidate], fields or list(FIELDS))
    return match.field.attribute if match.field else None


@pytest.mark.parametrize(
    ("attribute", "field"),
    [
        ("grocery_plan", "grocery_store"),
        ("conditional_bag_interest", "bag"),
        ("next_e_reader_plan", "e_reader"),
        ("piano_replacement_plan", "instrument"),
        ("commute_change_scheduled", "commute_mode"),
        ("job_change_consideration", "employer"),
        ("prospective_running_shoes", "running_shoe"),
        ("User's Home City", "home_city"),
        ("favoriteColor", "favourite_colour"),
        ("main work bag", "bag"),
    ],
)
def test_framed_and_misspelt_names_find_their_field(attribute: str, field: str) -> None:
    assert found(attribute) == field


@pytest.mark.parametrize(
    "attribute",
    [
        "vet_complaint", "past_running_shoes", "running_days", "music_preference_reason", "dog_age",
        "view_of_vet", "laptop_price", "reason_for_leaving_bank", "mood", "plan",
    ],
)  # fmt: skip
def test_another_aspect_of_a_thing_is_not_the_thing(attribute: str) -> None:
    assert found(attribute) is None


def test_a_field_of_the_users_own_is_found_by_what_its_description_calls_it() -> None:
    field = FieldSpec(
        attribute="practice_instrument", description="the piano the user practises on at home"
    )
    assert found("piano", [field]) == "practice_instrument"
    assert found("instrument", [field]) == "practice_instrument"
    assert found("piano_teacher", [field]) is None


def test_a_common_name_brings_its_synonyms_along() -> None:
    bare = FieldSpec(attribute="e_reader", description="what the user reads on")
    assert found("reading_device", [bare]) == "e_reader"
    assert completed(bare).phrase == "reads on {value}"
    own = bare.model_copy(update={"phrase": "pores over {value}"})
    assert completed(own).phrase == "pores over {value}"


def test_the_match_returns_the_field_as_registered() -> None:
    bare = FieldSpec(attribute="e_reader", description="what the user reads on")
    (match,) = LexicalMatcher().match([make_candidate(attribute="e_reader")], [bare])
    assert match.field == bare


def test_the_loose_step_can_be_left_out() -> None:
    candidate = make_candidate(attribute="work_monitor")
    (loose,) = LexicalMatcher().match([candidate], list(FIELDS))
    (strict,) = LexicalMatcher(overlap=False).match([candidate], list(FIELDS))
    assert loose.via == "overlap"
    assert strict.field is None


def test_no_two_fields_answer_to_one_name() -> None:
    names = Counter(
        name
        for field in FIELDS
        for name in {normalise(n) for n in (field.attribute, *field.synonyms)}
    )
    assert [name for name, count in names.items() if count > 1] == []


@pytest.mark.parametrize(
    "attribute",
    [
        "religion",
        "political_affiliation",
        "sexual_orientation",
        "medical_condition",
        "income",
        "bank",
    ],
)
def test_what_is_nobodys_business_is_sensitive(attribute: str) -> None:
    assert FIELDS[attribute].sensitivity is Sensitivity.HIGH


# --- registering ----------------------------------------------------------------------------


def test_registering_in_code() -> None:
    fields = FieldCatalogue.default()
    fields.register(attribute="kiln", description="the kiln the user fires with")
    assert "kiln" in fields
    assert fields["Kiln"].attribute == "kiln"
    assert "kiln" not in FieldCatalogue.default()
    with pytest.raises(ConfigurationError, match=r"field Kiln Two\.attribute"):
        fields.register(attribute="Kiln Two", description="x")
    with pytest.raises(ConfigurationError, match="phrase has no"):
        fields.register(attribute="kiln", description="x", phrase="fires")
    with pytest.raises(ConfigurationError, match="no field 'loom'"):
        fields["loom"]


def test_a_file_replaces_and_adds(tmp_path: Path) -> None:
    file = tmp_path / "mine.toml"
    file.write_text(
        '[kiln]\ndescription = "the kiln"\n\n[vet]\ndescription = "whoever sees the hens"\n'
    )
    fields = FieldCatalogue.default().load(file)
    assert len(fields) == len(FIELDS) + 1
    assert fields["vet"].description == "whoever sees the hens"
    assert len(fields.without("kiln", "vet")) == len(FIELDS) - 1
    assert [f.attribute for f in fields.only(["kiln"])] == ["kiln"]
    file.write_text("kiln = 3\n")
    with pytest.raises(ConfigurationError, match=r"mine\.toml: kiln: a table is expected"):
        fields.load(file)
    file.write_text("[kiln\n")
    with pytest.raises(ConfigurationError, match=r"mine\.toml: not valid TOML"):
        fields.load(file)


@pytest.mark.parametrize(
    ("validator", "value", "fine"),
    [
        ("max_length:5", "Leeds", True),
        ("max_length:5", "Leeds!", False),
        ("one_of:metric,imperial", "Metric", True),
        ("one_of:metric,imperial", "cubits", False),
        ("number:1,60", "43.5", True),
        ("number:1,60", "430", False),
        ("number:0,130", "43 and a half", True),
        ("date", "3 May", True),
        ("date", "1990-05-03", True),
        ("date", "May 1990", True),
        ("date", "soon", False),
        ("date", "3 Foo", False),
        ("language", "Brazilian Portuguese", True),
        ("language", "English, Deutsch and Mandarin", True),
        ("language", "de", True),
        ("language", "Klingonish", False),
        ("currency", "GBP", True),
        ("currency", "US dollars", True),
        ("currency", "seashells", False),
        ("timezone", "Berlin", True),
        ("timezone", "UTC+2", True),
        ("pronouns", "they/them", True),
        ("pronouns", "call me maybe, at six!", False),
        ("blood_type", "AB−", True),
        ("phone:GB", "020 7946 0018", True),
        ("phone:GB", "020 7946 0018 99999", False),
        ("non_empty", "…", False),
    ],
)  # fmt: skip
def test_more_validators(validator: str, value: str, fine: bool) -> None:
    assert (validators.validate(validator, value) is None) is fine


def test_a_validator_of_your_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(validators, "_OWN", {})
    validators.register("odd", lambda value: None if len(value) % 2 else "even")
    spec = FieldSpec(attribute="x", description="x", validator="odd")
    assert validators.refusal(spec, "ab") == "even"
    assert validators.refusal(spec, "abc") is None
    with pytest.raises(ConfigurationError, match="registered already"):
        validators.register("odd", lambda value: None)
    with pytest.raises(ConfigurationError, match="letters and underscores"):
        validators.register("odd:1", lambda value: None)
    with pytest.raises(ConfigurationError, match="validator 'even' is unknown"):
        validators.validate("even", "x")


# --- values ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("New York", "York"),
        ("Underwriter", "Senior Underwriter"),
        ("iPhone 15", "iPhone 16"),
        ("Netflix", "swap Netflix for MUBI"),
        ("Dr. Pruitt", "undecided between Dr. Pruitt and a clinic"),
        ("dairy", "non-dairy"),
        ("vegan", "not vegan"),
        ("Leeds", "from Leeds to Hull"),
    ],
)
def test_a_word_beside_a_value_may_make_another_of_it(one: str, other: str) -> None:
    assert not same_value(one, other)
    assert not same_value(other, one)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("e-reader", "ereader"),
        ("FP-30X", "fp30x"),
        ("10,000", "10000"),
        ("43.5", "43 and a half"),
        ("MUBI", "swap Netflix for MUBI"),
        ("carpool with Denise", "carpooling with Denise from accounts"),
        ("LG 40-inch ultrawide", "40-inch LG ultrawide"),
        ("Trader Joe’s", "trader joes"),
    ],
)
def test_one_value_in_other_dress(one: str, other: str) -> None:
    assert same_value(one, other)
    assert same_value(other, one)


def test_a_closer_value_refines() -> None:
    assert refines("Leeds, Headingley", "Leeds")
    assert not refines("Leeds", "Leeds, Headingley")
    assert not refines("Hull, Avenues", "Leeds")


@pytest.mark.parametrize(
    ("worded", "value"),
    [
        ("to start carpooling with Denise on Monday 8 September 2025", "carpooling with Denise"),
        ("swap Netflix for MUBI on 28 May 2025", "MUBI"),
        ("considering Trader Joe's", "Trader Joe's"),
        ("Kobo Libra once the Kindle dies", "Kobo Libra"),
        ("Reservoir, eventually", "Reservoir"),
        ("Happy Paws to take over from Monday 2 June 2025", "Happy Paws"),
        ("possibly moving to Seattle next year", "Seattle"),
        ("might switch to industrial design after this semester, unsure", "industrial design"),
        ("to leave Brightmoor for the Environment Agency", "the Environment Agency"),
        ("undecided between A and B", "undecided between A and B"),
        ("Leeds", "Leeds"),
        ("oat milk", "oat milk"),
        ("May", "May"),
    ],
)
def test_plan_wording_comes_off_a_value(worded: str, value: str) -> None:
    assert plain_value(worded) == value


@given(st.text(min_size=1, max_size=60))
def test_a_plain_value_is_never_lost(value: str) -> None:
    assert bool(plain_value(value)) or not value.strip().rstrip(".")

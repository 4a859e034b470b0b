"""Proposal identity: what takes part in it, and what must not."""

from __future__ import annotations

import hashlib
import json
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path

import pytest
from pydantic import ValidationError

from evaluation import proposal_schema as published
from memgate_core.errors import InvalidInputError
from memgate_core.ledger.identity import (
    MemoryProposal,
    canonical_hash,
    fact_id_of,
    identity_of,
    key_id_of,
    payload_hash_of,
    proposal_id_of,
    proposal_schema,
    staged_id_of,
)
from memgate_core.model import Kind, Scope, Subject
from tests.support.build import ANA, BEN, make_candidate, make_evidence, make_key


def test_the_identity_has_the_articles_keys_and_nothing_else() -> None:
    identity = identity_of(make_key(), make_evidence(), 2, "local/1")
    assert list(identity) == [
        "schema",
        "tenantId",
        "subjectId",
        "scope",
        "kind",
        "normalizedKey",
        "messageId",
        "start",
        "end",
        "stableCandidateOrdinal",
        "extractorVersion",
    ]
    assert identity["schema"] == 1
    assert identity["scope"] == {"kind": "global", "key": ""}


def test_the_id_is_the_hash_of_the_canonical_form() -> None:
    # by hand: RFC 8785 sorts keys and writes no blanks; all keys and strings here are ASCII
    candidate = make_candidate()
    identity = identity_of(make_key(), candidate.evidence, 0, "test/1")
    canonical = json.dumps(identity, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    expected = hashlib.sha256(canonical.encode()).hexdigest()
    assert proposal_id_of(ANA, make_key(), candidate) == expected


def test_keys_are_sorted_as_rfc_8785_says() -> None:
    # by UTF-16 code units: the surrogate pair of an emoji sorts before U+FB33
    value = {"\ufb33": 1, "\U0001f600": 2, "a": 1.0}
    canonical = '{"a":1,"\U0001f600":2,"\ufb33":1}'
    assert canonical_hash(value) == hashlib.sha256(canonical.encode()).hexdigest()


def test_value_and_confidence_do_not_change_the_id_but_the_payload() -> None:
    one = make_candidate()
    for change in ({"value": "Lyon"}, {"confidence": 0.5}):
        other = one.model_copy(update=change)
        assert proposal_id_of(ANA, make_key(), one) == proposal_id_of(ANA, make_key(), other)
        assert payload_hash_of(one) != payload_hash_of(other)


def test_an_expiry_changes_the_payload_and_its_time_zone_does_not() -> None:
    candidate = make_candidate()
    utc = datetime(2026, 5, 3, 12, tzinfo=UTC)
    paris = utc.astimezone(timezone(timedelta(hours=2)))
    assert payload_hash_of(candidate) != payload_hash_of(candidate, utc)
    assert payload_hash_of(candidate, utc) == payload_hash_of(candidate, paris)


def test_place_extractor_and_key_change_the_id() -> None:
    one = make_candidate()
    base = proposal_id_of(ANA, make_key(), one)
    moved = one.evidence.model_copy(update={"start": 1})
    others = [
        proposal_id_of(ANA, make_key(), one.model_copy(update={"ordinal": 1})),
        proposal_id_of(ANA, make_key(), one.model_copy(update={"extractor": "test/2"})),
        proposal_id_of(ANA, make_key(), one.model_copy(update={"evidence": moved})),
        proposal_id_of(ANA, make_key("employer"), one),
        proposal_id_of(ANA, make_key(scope=Scope(kind="project", key="x")), one),
        proposal_id_of(ANA, make_key(kind=Kind.PREFERENCE), one),
        proposal_id_of(BEN, make_key(subject=BEN), one),
    ]
    assert len({base, *others}) == len(others) + 1


def test_a_key_of_somebody_else_is_refused() -> None:
    with pytest.raises(InvalidInputError):
        proposal_id_of(BEN, make_key(subject=ANA), make_candidate())


def test_an_open_statement_hashes_its_text() -> None:
    one = make_candidate().model_copy(update={"attribute": None, "value": None})
    assert payload_hash_of(one) != payload_hash_of(one.model_copy(update={"text": "another"}))


def test_derived_ids_are_stable_and_apart() -> None:
    proposal_id = proposal_id_of(ANA, make_key(), make_candidate())
    assert staged_id_of(proposal_id) == staged_id_of(proposal_id)
    assert staged_id_of(proposal_id).removeprefix("held_") != fact_id_of(proposal_id).removeprefix(
        "fact_"
    )


def test_key_ids_do_not_run_into_each_other() -> None:
    one = make_key("bc", subject=Subject(tenant="t", user_id="a"))
    other = make_key("c", subject=Subject(tenant="t", user_id="a"), scope=Scope(key="b"))
    assert key_id_of(one) != key_id_of(other)
    assert key_id_of(one) == key_id_of(one.model_copy())


def test_a_proposal_travels_as_json_and_comes_back() -> None:
    proposal = MemoryProposal.of(make_key(), make_candidate(), datetime(2026, 5, 3, tzinfo=UTC))
    sent = proposal.model_dump_json(by_alias=True)
    assert json.loads(sent)["stableCandidateOrdinal"] == 0
    assert MemoryProposal.model_validate_json(sent) == proposal
    assert proposal.payload_hash() == payload_hash_of(make_candidate(), proposal.expires_at)
    assert proposal.proposal_id == proposal_id_of(ANA, make_key(), make_candidate())


@pytest.mark.parametrize(
    "forgery",
    [
        {"tenantId": "acme"},
        {"stableCandidateOrdinal": 1},
        {"proposalId": "0" * 64},
        {"kind": "secret"},
        {"confidence": 2},
        {"explicit": True},
    ],
    ids=lambda forgery: next(iter(forgery)),
)
def test_a_forged_or_unknown_part_is_refused(forgery: dict[str, object]) -> None:
    sent = json.loads(
        MemoryProposal.of(make_key(), make_candidate()).model_dump_json(by_alias=True)
    )
    with pytest.raises(ValidationError):
        MemoryProposal.model_validate({**sent, **forgery})


def test_a_changed_value_shows_as_another_payload() -> None:
    sent = json.loads(
        MemoryProposal.of(make_key(), make_candidate()).model_dump_json(by_alias=True)
    )
    tampered = MemoryProposal.model_validate({**sent, "value": "Lyon"})
    assert tampered.payload_hash() != payload_hash_of(make_candidate())


def test_the_schema_names_what_the_article_names() -> None:
    schema = proposal_schema()
    assert set(schema["properties"]) == {
        "proposalId",
        "tenantId",
        "subjectId",
        "scope",
        "kind",
        "normalizedKey",
        "stableCandidateOrdinal",
        "value",
        "evidence",
        "extractorVersion",
        "confidence",
        "expiresAt",
    }
    assert schema["additionalProperties"] is False
    assert schema["$defs"]["Kind"]["enum"] == ["preference", "profile", "decision", "task_fact"]


def test_the_published_schema_is_the_models() -> None:
    file = Path(__file__).parents[2] / "docs" / published.NAME
    assert file.read_text(encoding="utf-8") == published.text(), "run `make docs`"


def test_the_published_schema_is_written_from_the_model(tmp_path: Path) -> None:
    assert json.loads(published.write(tmp_path).read_text(encoding="utf-8")) == proposal_schema()


@pytest.mark.parametrize("value", [float("nan"), 2**60, "\ud800"])
def test_what_has_no_canonical_form_is_refused(value: object) -> None:
    with pytest.raises(InvalidInputError):
        canonical_hash({"value": value})

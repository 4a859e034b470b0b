"""Who a proposal is: identity and payload, hashed apart (article, "candidates, not facts").

The identity holds no value and nothing of a model's output order, so a retry of the same candidate
has the same id, and a changed value or expiry shows as the same id with another payload. Both are
hashed over the canonical JSON of RFC 8785.
"""

from __future__ import annotations

import hashlib
from datetime import UTC, datetime
from typing import Annotated, Any, Self

import rfc8785
from pydantic import ConfigDict, Field, JsonValue, StringConstraints, model_validator
from pydantic.alias_generators import to_camel

from memgate_core.errors import InvalidInputError
from memgate_core.model import (
    Candidate,
    Evidence,
    FieldKey,
    Instant,
    JsonObject,
    Kind,
    Model,
    Scope,
    Subject,
)

IDENTITY_SCHEMA = 1
"""Version of the identity's own form; a change of the form changes every id."""

Sha256 = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{64}$")]


def canonical_hash(value: Any) -> str:
    """Hex SHA-256 of the RFC 8785 form of a JSON value.

    Raises:
        InvalidInputError: the value has no canonical form (a lone surrogate, NaN, an integer
            beyond 2^53).
    """
    try:
        return hashlib.sha256(rfc8785.dumps(value)).hexdigest()
    except (rfc8785.CanonicalizationError, UnicodeEncodeError) as fault:
        raise InvalidInputError(f"no canonical JSON: {type(fault).__name__}") from fault


def identity_of(key: FieldKey, evidence: Evidence, ordinal: int, extractor: str) -> JsonObject:
    """The identity that a proposal id is the hash of: who, where, which slot, which words."""
    return {
        "schema": IDENTITY_SCHEMA,
        "tenantId": key.subject.tenant,
        "subjectId": key.subject.subject_id,
        "scope": {"kind": key.scope.kind, "key": key.scope.key},
        "kind": key.kind.value,
        "normalizedKey": key.normalized_key,
        "messageId": evidence.message_id,
        "start": evidence.start,
        "end": evidence.end,
        "stableCandidateOrdinal": ordinal,
        "extractorVersion": extractor,
    }


def proposal_id_of(subject: Subject, key: FieldKey, candidate: Candidate) -> str:
    """The candidate's id under a key.

    Raises:
        InvalidInputError: the key belongs to another subject.
    """
    if key.subject != subject:
        raise InvalidInputError("a proposal's key belongs to another subject than its turn")
    identity = identity_of(key, candidate.evidence, candidate.ordinal, candidate.extractor)
    return canonical_hash(identity)


def payload_hash_of(candidate: Candidate, expires_at: datetime | None = None) -> str:
    """Hash of what an approval binds to; an open statement's payload is its text."""
    return _payload_hash(
        candidate.value if candidate.value is not None else candidate.text,
        candidate.confidence,
        expires_at,
        candidate.evidence.sha256,
    )


def staged_id_of(proposal_id: str) -> str:
    """The id of the held item that a proposal becomes: the same again on every retry."""
    return f"held_{_derived('staged', proposal_id)}"


def fact_id_of(proposal_id: str) -> str:
    """The id of the fact that a proposal becomes, at once or by promotion."""
    return f"fact_{_derived('fact', proposal_id)}"


def key_id_of(key: FieldKey) -> str:
    """A fixed-length id of a key, equal for equal keys only."""
    parts = [
        key.subject.tenant,
        key.subject.subject_id,
        key.scope.kind,
        key.scope.key,
        key.kind.value,
        key.normalized_key,
    ]
    joined = "".join(f"{len(part)}:{part}" for part in parts)
    return hashlib.sha256(joined.encode("utf-8", "surrogatepass")).hexdigest()[:40]


class ProposalEvidence(Model):
    """The words a proposal rests on: half-open character offsets of a message, and their hash."""

    model_config = ConfigDict(
        frozen=True, extra="forbid", alias_generator=to_camel, populate_by_name=True
    )

    message_id: str = Field(min_length=1)
    start: int = Field(ge=0)
    end: int = Field(ge=0)
    sha256: Sha256


class MemoryProposal(Model):
    """A proposal as it travels between programs (article: MemoryProposal); keys in camelCase.

    The id is checked against the identity, never believed. `expiresAt` is an aware UTC instant.
    """

    model_config = ConfigDict(
        frozen=True, extra="forbid", alias_generator=to_camel, populate_by_name=True
    )

    proposal_id: Sha256
    tenant_id: str = Field(min_length=1)
    subject_id: str = Field(min_length=1)
    scope: Scope
    kind: Kind
    normalized_key: str = Field(min_length=1)
    stable_candidate_ordinal: int = Field(ge=0)
    """Clause position, then field order: neither the value nor a model's order takes part."""
    value: JsonValue
    evidence: ProposalEvidence
    extractor_version: str = Field(min_length=1)
    confidence: float = Field(ge=0.0, le=1.0)
    """Ranks only; it never overrides source, consent or sensitivity."""
    expires_at: Instant | None = None

    @classmethod
    def of(cls, key: FieldKey, candidate: Candidate, expires_at: datetime | None = None) -> Self:
        """The proposal that a candidate is under a key."""
        evidence = candidate.evidence
        return cls(
            proposal_id=proposal_id_of(key.subject, key, candidate),
            tenant_id=key.subject.tenant,
            subject_id=key.subject.subject_id,
            scope=key.scope,
            kind=key.kind,
            normalized_key=key.normalized_key,
            stable_candidate_ordinal=candidate.ordinal,
            value=candidate.value if candidate.value is not None else candidate.text,
            evidence=ProposalEvidence(**evidence.model_dump()),
            extractor_version=candidate.extractor,
            confidence=candidate.confidence,
            expires_at=expires_at,
        )

    def identity(self) -> JsonObject:
        """What the proposal id is the hash of."""
        return {
            "schema": IDENTITY_SCHEMA,
            "tenantId": self.tenant_id,
            "subjectId": self.subject_id,
            "scope": {"kind": self.scope.kind, "key": self.scope.key},
            "kind": self.kind.value,
            "normalizedKey": self.normalized_key,
            "messageId": self.evidence.message_id,
            "start": self.evidence.start,
            "end": self.evidence.end,
            "stableCandidateOrdinal": self.stable_candidate_ordinal,
            "extractorVersion": self.extractor_version,
        }

    def payload_hash(self) -> str:
        """What an approval binds to, beside the id."""
        return _payload_hash(self.value, self.confidence, self.expires_at, self.evidence.sha256)

    @model_validator(mode="after")
    def _id_is_the_identitys(self) -> Self:
        if self.proposal_id != canonical_hash(self.identity()):
            raise ValueError("proposalId is not the hash of the proposal's identity")
        return self


def proposal_schema() -> JsonObject:
    """The JSON Schema that extractors are held to (2020-12, camelCase keys)."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        **MemoryProposal.model_json_schema(by_alias=True),
    }


def _payload_hash(
    value: JsonValue, confidence: float, expires_at: datetime | None, evidence_hash: str
) -> str:
    expiry = None
    if expires_at is not None:
        expiry = expires_at.astimezone(UTC).isoformat().replace("+00:00", "Z")
    return canonical_hash(
        {
            "value": value,
            "confidence": confidence,
            "expiresAt": expiry,
            "evidenceHash": evidence_hash,
        }
    )


def _derived(what: str, proposal_id: str) -> str:
    return hashlib.sha256(f"memgate:{what}:{proposal_id}".encode()).hexdigest()[:32]

"""The orders in which the heads' outputs stand. Weights depend on them: append, never reorder."""

from __future__ import annotations

from memgate_core.model import EvidenceType, ResolutionType

EVIDENCE_ORDER = (
    EvidenceType.SPECULATION,
    EvidenceType.COMPLETED_EVENT,
    EvidenceType.CORRECTION,
    EvidenceType.OTHER,
)

RESOLUTION_ORDER = (ResolutionType.CONFIRM, ResolutionType.ABANDON, ResolutionType.NOTHING)

CLAIM_VERDICTS = (
    "commit",
    "correct",
    "hold",
    "other_person",
    "temporary",
    "quoted",
    "non_literal",
    "past",
    "negated",
    "retraction",
    "unsupported",
)
"""What a turn says of a field's value: three ways in which it may stand, eight in which not."""

"""The domain words of the gate, as frozen pydantic models.

Everything that a person may want to see has `.model_dump_json()`. Times are aware UTC datetimes.
`occurred_at`, `valid_from` and `valid_to` are time of the world (the turn's own clock);
`recorded_at` and `closed_at` are record time (when the ledger learned of it).
"""

from __future__ import annotations

from memgate_core.model.base import (
    USER_ENTITY,
    Instant,
    Model,
    sha256_of,
)
from memgate_core.model.events import (
    Event,
    EventType,
    JsonObject,
    NativeLink,
)
from memgate_core.model.judgements import (
    EvidenceJudgement,
    EvidenceType,
    FieldMatch,
    FieldSpec,
    ResolutionJudgement,
    ResolutionType,
    Sensitivity,
    Standing,
    StandingJudgement,
)
from memgate_core.model.kept import (
    Decision,
    DecisionType,
    Fact,
    FactStatus,
    StagedItem,
    StagedStatus,
)
from memgate_core.model.receipt import (
    Judged,
    Receipt,
    Resolved,
)
from memgate_core.model.turn import (
    Candidate,
    Evidence,
    FieldKey,
    HistoryTurn,
    Kind,
    Role,
    Scope,
    Source,
    Span,
    Statement,
    Subject,
    Turn,
)

__all__ = [
    "USER_ENTITY",
    "Candidate",
    "Decision",
    "DecisionType",
    "Event",
    "EventType",
    "Evidence",
    "EvidenceJudgement",
    "EvidenceType",
    "Fact",
    "FactStatus",
    "FieldKey",
    "FieldMatch",
    "FieldSpec",
    "HistoryTurn",
    "Instant",
    "JsonObject",
    "Judged",
    "Kind",
    "Model",
    "NativeLink",
    "Receipt",
    "ResolutionJudgement",
    "ResolutionType",
    "Resolved",
    "Role",
    "Scope",
    "Sensitivity",
    "Source",
    "Span",
    "StagedItem",
    "StagedStatus",
    "Standing",
    "StandingJudgement",
    "Statement",
    "Subject",
    "Turn",
    "sha256_of",
]

"""What the judges say: kind of evidence, field, standing, and what a turn does to a held item."""

from __future__ import annotations

from enum import StrEnum

from pydantic import Field

from memgate_core.model.base import USER_ENTITY, Model
from memgate_core.model.turn import Kind, Span


class EvidenceType(StrEnum):
    """The paper's four classes (section 3, appendix A.6)."""

    SPECULATION = "speculation"
    COMPLETED_EVENT = "completed_event"
    CORRECTION = "correction"
    OTHER = "other"


class EvidenceJudgement(Model):
    """What kind of evidence a statement is, how sure, and by which words."""

    evidence_type: EvidenceType
    probabilities: dict[EvidenceType, float]
    cues: tuple[str, ...] = ()
    backend: str = "local"
    model_calls: int = 0
    fault: str | None = None
    """Set when the backend failed and the statement is held for that reason (fail closed)."""

    @property
    def runner_up(self) -> EvidenceType:
        """The second most probable class."""
        rest = (item for item in self.probabilities.items() if item[0] != self.evidence_type)
        return max(rest, key=lambda item: item[1])[0]

    @property
    def hold_probability(self) -> float:
        """Probability of speculation: the mass that argues against writing now."""
        return self.probabilities[EvidenceType.SPECULATION]


class Sensitivity(StrEnum):
    """How much care a field needs. HIGH: only on the user's explicit words."""

    LOW = "low"
    NORMAL = "normal"
    HIGH = "high"


class FieldSpec(Model):
    """A registered single-valued slot of a profile. The description never names a value."""

    attribute: str = Field(pattern=r"^[a-z][a-z0-9_]*$")
    description: str
    entity: str = USER_ENTITY
    kind: Kind = Kind.PROFILE
    sensitivity: Sensitivity = Sensitivity.NORMAL
    synonyms: tuple[str, ...] = ()
    validator: str | None = None
    """Name of a registered validator (see memgate_core.fields.validators), or None."""
    said: tuple[str, ...] = ()
    """How people say it of themselves, verb first: "move to {value}". Read without a model."""
    phrase: str | None = None
    """How a value reads in a sentence: "lives in {value}"; None lets the gate choose."""


class FieldMatch(Model):
    """Which slot a candidate belongs to, if any."""

    field: FieldSpec | None
    confidence: float = 1.0
    via: str = "none"
    """How it matched: exact, synonym, plan_frame (paper section 4), model, recognised, none."""


class Standing(StrEnum):
    """How a statement stands to the subject's own lasting profile."""

    OWN = "own"
    """The speaker's own lasting state or event."""
    OTHER_PERSON = "other_person"
    TEMPORARY = "temporary"
    QUOTED = "quoted"
    NON_LITERAL = "non_literal"
    """Sarcasm, jokes, fiction."""
    PAST = "past"
    """A state that is over."""
    NEGATED = "negated"
    """Denies the value."""
    RETRACTION = "retraction"
    """Takes back what was said just before."""
    UNSUPPORTED = "unsupported"
    """The words do not say that the value holds."""


class StandingJudgement(Model):
    """Whether (attribute, value) is asserted, by these words, of the user's own lasting state."""

    standing: Standing
    confidence: float = 1.0
    cues: tuple[str, ...] = ()
    evidence_type: EvidenceType | None = None
    """What the words are for this very value, where that differs from the class of the statement
    they stand in ("I'm B negative, not B positive; might donate again" corrects the blood type)."""
    fault: str | None = None
    """Set when the backend failed and the claim is held for that reason (fail closed)."""


# --- decisions -----------------------------------------------------------------------------


class ResolutionType(StrEnum):
    """What a later turn does to a staged item."""

    CONFIRM = "confirm"
    ABANDON = "abandon"
    NOTHING = "nothing"


class ResolutionJudgement(Model):
    """The checker's word on one staged item and one turn."""

    staged_id: str
    resolution: ResolutionType
    confidence: float
    reason: str
    span: Span | None = None
    """The words of the turn that settle it."""
    model_calls: int = 0
    fault: str | None = None

"""The receipt of a turn: everything the gate thought and did, in one answer."""

from __future__ import annotations

from memgate_core.model.base import Model
from memgate_core.model.judgements import (
    EvidenceJudgement,
    FieldMatch,
    ResolutionType,
    StandingJudgement,
)
from memgate_core.model.kept import Decision, DecisionType
from memgate_core.model.turn import Candidate, FieldKey, Span, Subject


class Judged(Model):
    """A candidate with everything the gate thought and did about it."""

    candidate: Candidate
    judgement: EvidenceJudgement
    standing: StandingJudgement
    match: FieldMatch
    key: FieldKey
    decision: Decision
    proposal_id: str
    staged_id: str | None = None
    fact_id: str | None = None
    recorded_only: bool = False
    """True where the rollout does not reach the key: recorded, and nothing followed."""


class Resolved(Model):
    """A staged item that this turn settled."""

    staged_id: str
    attribute: str | None
    value: str | None
    text: str
    resolution: ResolutionType
    reason: str
    span: Span | None = None
    fact_id: str | None = None


class Receipt(Model):
    """What the gate did with a turn; the same turn again returns the same receipt."""

    subject: Subject
    message_id: str
    minted: bool = False
    replayed: bool = False
    judged: tuple[Judged, ...] = ()
    resolved: tuple[Resolved, ...] = ()
    withdrawn: tuple[str, ...] = ()
    """Ids of facts and held items that this turn took back ("ignore my last message")."""
    forward: str | None
    """The text that may go on to the framework; None when nothing may."""
    withheld: tuple[Span, ...] = ()
    """Spans of the message that were taken out of `forward`."""
    shadow: bool = False
    """True in shadow mode or after a rollback: `forward` is the whole text all the same."""
    faults: tuple[str, ...] = ()
    model_calls: int = 0
    model_tokens: int = 0
    """Tokens read and written by models for this turn, as far as they report them."""
    model_ms: float = 0.0
    """Of `gate_ms`, the time spent waiting for models."""
    gate_ms: float = 0.0

    @property
    def unchanged(self) -> bool:
        """True when the framework's own call goes through exactly as the caller made it."""
        effects = self.withheld or self.resolved or self.closings or self.withdrawn
        return self.shadow or not effects

    @property
    def closings(self) -> tuple[Judged, ...]:
        """Commits that close or correct an earlier value."""
        return tuple(j for j in self.judged if j.decision.closes or j.decision.corrects)

    def say(self) -> str:
        """A truthful sentence an assistant may voice: never "saved" for what is held."""
        if self.shadow:
            return "the gate only watches: it holds and notes nothing"
        held = [j.candidate.text for j in self.judged if j.decision.decision.holds]
        kept = [j for j in self.judged if j.decision.decision is DecisionType.COMMIT]
        parts = [f"held, not yet a fact: {text}" for text in held]
        parts += [f"now a fact: {r.text}" for r in self.resolved if r.fact_id]
        parts += [f"dropped: {r.text}" for r in self.resolved if not r.fact_id]
        parts += [f"noted: {j.candidate.text}" for j in kept if j.fact_id]
        parts += ["taken back: what was said just before"] if self.withdrawn else []
        return "; ".join(parts) if parts else "nothing to remember"


# --- events --------------------------------------------------------------------------------

"""What every judging backend is: `local`, `decision`, `llm`, `cascade` have the same shape."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from memgate_core.model import (
    Candidate,
    EvidenceJudgement,
    FieldMatch,
    FieldSpec,
    Instant,
    Model,
    ResolutionJudgement,
    StagedItem,
    StandingJudgement,
    Statement,
    Turn,
)


class EvidenceClassifier(Protocol):
    """Says what kind of evidence each statement is (paper section 3)."""

    name: str
    """Name and version, recorded with each judgement."""

    def classify(self, statements: Sequence[Statement]) -> list[EvidenceJudgement]:
        """One judgement a statement, in order; one batch, at most one model call.

        Raises:
            ModelFaultError: the backend failed as a whole; the gate then holds what looks
                speculative and reports the fault.
        """
        ...


class StandingClaim(Model):
    """One (field, value) that a turn is said to assert, for the standing judge."""

    candidate: Candidate
    field: FieldSpec | None
    known: str | None
    """The field's current value, if any."""
    evidence: EvidenceJudgement


class StandingJudge(Protocol):
    """Says whether the words assert the value of the user's own lasting state, or e.g. another
    person's, a temporary one, a quotation, a joke."""

    name: str

    def stand(self, turn: Turn, claims: Sequence[StandingClaim]) -> list[StandingJudgement]:
        """One judgement a claim, in order."""
        ...


class FieldMatcher(Protocol):
    """Finds the registered slot a candidate belongs to (paper section 3, with the plan-frame
    retry of section 4)."""

    name: str

    def match(
        self, candidates: Sequence[Candidate], fields: Sequence[FieldSpec]
    ) -> list[FieldMatch]:
        """One match a candidate, in order; `field=None` where none holds the same slot."""
        ...


class FieldReader(Protocol):
    """Reads field values straight out of a turn where no extractor proposed any."""

    name: str

    def read(
        self, turn: Turn, fields: Sequence[FieldSpec], known: Mapping[str, str | None]
    ) -> list[Candidate]:
        """Candidates with attribute, value and evidence; `known`: attribute -> current value."""
        ...


class OwnWords(Protocol):
    """Finds what the user called a value that an extractor wrote down in words of its own."""

    def said(
        self, turn: Turn, fields: Sequence[FieldSpec], known: Mapping[str, str | None]
    ) -> Mapping[str, str]:
        """By attribute, the words of the turn that name the field's value."""
        ...


class ResolutionChecker(Protocol):
    """Says what a turn does to held items: precision first, a wrong promotion is contamination."""

    name: str

    def check(
        self, turn: Turn, items: Sequence[StagedItem], offered: str | None = None
    ) -> list[ResolutionJudgement]:
        """One judgement an item, in order; one model call at most for all of them.

        `offered` is the staged_id of the one item that was put to the user in the turn before,
        if exactly one was: only then may a bare yes or no settle it.
        """
        ...


class Realiser(Protocol):
    """Writes what would be true, and the two conditions of a held item."""

    def realise(self, candidate: Candidate, field: FieldSpec | None) -> str:
        """ "might move to Seattle" / home_city=Seattle -> "lives in Seattle"."""
        ...

    def conditions(self, realised: str, candidate: Candidate) -> tuple[str, str]:
        """(promote_when, discard_when) in plain words (paper A.6)."""
        ...

    def review_at(self, turn: Turn, candidate: Candidate) -> Instant | None:
        """The day the words themselves name ("on 3 May"), from the turn's own clock."""
        ...

    def event_time(self, turn: Turn, words: str) -> Instant:
        """When what the words report happened; the turn's time if they are silent."""
        ...


class Foresight(Protocol):
    """A backend that can put everything about a turn to its model in one request, beforehand.

    The judges and the checker are asked afterwards as ever, and find the answers in the sitting
    (memgate_core/judgement/sitting.py).
    """

    def consider(
        self,
        turn: Turn,
        candidates: Sequence[Candidate],
        fields: Sequence[FieldSpec],
        known: Mapping[str, str | None],
        items: Sequence[StagedItem],
        offered: str | None = None,
    ) -> None:
        """Asks ahead. Never raises for a model's fault: the judges will meet it."""
        ...


class Proposer(Protocol):
    """An extractor that works where the caller brings no proposals. It never decides."""

    name: str

    def propose(self, turn: Turn) -> Sequence[Mapping[str, Any]]:
        """Proposals with keys entity, attribute, value, text, span, as `MemoryGate.observe` takes
        them; none where its model fails, which it notes in the sitting."""
        ...

"""The local extractor: every statement of a turn as an open candidate, in the speaker's words."""

from __future__ import annotations

from memgate_core.extraction.clauses import split
from memgate_core.extraction.subject import SubjectTracker
from memgate_core.model import Candidate, Evidence, Turn

ORDINALS_PER_CLAUSE = 100
"""Ordinals leave room for several fields read out of one clause."""


class LocalExtractor:
    """Clauses with their subject and evidence; proposes no attribute and no value.

    No model, no network. The same message gives the same candidates in the same order.
    """

    name = "local-clauses/1"
    """Name and version, part of each proposal's identity."""

    def extract(self, turn: Turn) -> list[Candidate]:
        """One candidate a statement, in the order of the message."""
        tracker = SubjectTracker(turn.role)
        return [
            Candidate(
                entity=tracker.entity_of(clause.text),
                text=clause.text,
                words=clause.text,
                evidence=Evidence.of(turn, clause.span),
                ordinal=clause.ordinal * ORDINALS_PER_CLAUSE,
                extractor=self.name,
            )
            for clause in split(turn.text)
        ]

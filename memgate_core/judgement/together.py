"""Everything that a turn asks of a model, in one request, before the judges sit.

The judges find the answers in the sitting. So a turn costs one request for its statements and held
items together, up to forty of its statements (the paper: one call a matched fact and one a held
item).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from memgate_core.judgement.asked import (
    AskedClassifier,
    AskedMatcher,
    AskedStandingJudge,
    claim_row,
)
from memgate_core.judgement.counsel import Counsel
from memgate_core.judgement.inquiry import HeldRow, Inquiry, Row
from memgate_core.judgement.protocol import StandingClaim
from memgate_core.judgement.sitting import sitting
from memgate_core.model import (
    Candidate,
    FieldMatch,
    FieldSpec,
    Role,
    StagedItem,
    Statement,
    Turn,
)

HeldRows = Callable[[Turn, Sequence[StagedItem], str | None], Sequence[HeldRow]]
"""What a resolution checker wants to ask about held items."""


class AskedTogether:
    """Asks ahead for three judges and a checker. Implements `Foresight`; thread-safe."""

    def __init__(
        self,
        classifier: AskedClassifier,
        matcher: AskedMatcher,
        standing: AskedStandingJudge,
        held_rows: HeldRows,
        counsel: Counsel,
        *,
        asks_all: bool,
    ) -> None:
        """`asks_all`: nothing is left to the local judges."""
        self._asks_all = asks_all
        self._classifier, self._matcher, self._standing = classifier, matcher, standing
        self._held_rows, self._counsel = held_rows, counsel

    def consider(
        self,
        turn: Turn,
        candidates: Sequence[Candidate],
        fields: Sequence[FieldSpec],
        known: Mapping[str, str | None],
        items: Sequence[StagedItem],
        offered: str | None = None,
    ) -> None:
        """Asks what the judges will want to know of this turn. A failure waits in the sitting like
        an answer, so that nothing is asked twice. Never raises for a model's fault."""
        if turn.role is not Role.USER:
            return
        with sitting() as account:
            matches = self._matches(candidates, fields)
            unplaced = self._unplaced(candidates, matches)
            doubtful = self._doubtful(turn, candidates, matches, known)
            rows = {n: claim_row(turn, candidates[n]) for n in sorted({*doubtful, *unplaced})}
            homeless = tuple(dict.fromkeys(rows[n] for n in unplaced))
            found = self._counsel.ask(
                Inquiry(
                    rows=tuple(dict.fromkeys(rows.values())),
                    held=tuple(self._held_rows(turn, items, offered)),
                    unplaced=homeless,
                    fields=tuple(fields) if homeless else (),
                    said_on=turn.occurred_at.date(),
                )
            )
            for n in unplaced:
                account.keep(("slot", candidates[n]), found.rows[rows[n]])
            self._keep_conditions(candidates, rows)

    def _matches(
        self, candidates: Sequence[Candidate], fields: Sequence[FieldSpec]
    ) -> list[FieldMatch]:
        nowhere = FieldMatch(field=None)
        named = [c for c in candidates if c.attribute is not None]
        found = iter(self._matcher.local(named, fields) if named else ())
        return [next(found) if c.attribute is not None else nowhere for c in candidates]

    def _unplaced(
        self, candidates: Sequence[Candidate], matches: Sequence[FieldMatch]
    ) -> list[int]:
        return [n for n in self._matcher.doubtful(matches) if candidates[n].attribute is not None]

    def _doubtful(
        self,
        turn: Turn,
        candidates: Sequence[Candidate],
        matches: Sequence[FieldMatch],
        known: Mapping[str, str | None],
    ) -> set[int]:
        statements = [_statement(turn, candidate) for candidate in candidates]
        if self._asks_all:
            return set(range(len(candidates)))
        claims = [
            StandingClaim(
                candidate=candidate,
                field=match.field,
                known=known[match.field.attribute] if match.field else None,
                evidence=judgement,
            )
            for candidate, match, judgement in zip(
                candidates, matches, self._classifier.local(statements), strict=True
            )
        ]
        return {
            *self._classifier.doubtful(statements),
            *self._standing.doubtful(turn, claims),
        }

    def _keep_conditions(self, candidates: Sequence[Candidate], rows: Mapping[int, Row]) -> None:
        with sitting() as account:
            for n, row in rows.items():
                if (conditions := account.kept(("conditions", row))) is not None:
                    account.keep(("conditions", candidates[n]), conditions)


def _statement(turn: Turn, candidate: Candidate) -> Statement:
    """The candidate's words in their place, as the gate shows them to the classifier."""
    return Statement(
        text=candidate.evidence.span.of(turn.text),
        message=turn.text,
        role=turn.role,
        history=turn.history,
        start=candidate.evidence.start,
    )

"""A realiser that takes a plan's two conditions from the model that judged it (paper A.6)."""

from __future__ import annotations

from memgate_core.judgement.inquiry import Conditions
from memgate_core.judgement.protocol import Realiser
from memgate_core.judgement.sitting import sitting
from memgate_core.model import Candidate, FieldSpec, Instant, Turn


class AskedRealiser:
    """Conditions in the model's words where it wrote some in this turn, else the local ones.

    Implements `Realiser`. It asks nothing itself: it is used while the ledger's locks are held.
    """

    def __init__(self, local: Realiser) -> None:
        self._local = local

    def realise(self, candidate: Candidate, field: FieldSpec | None) -> str:
        """See `Realiser.realise`."""
        return self._local.realise(candidate, field)

    def conditions(self, realised: str, candidate: Candidate) -> tuple[str, str]:
        """See `Realiser.conditions`."""
        with sitting() as account:
            written = account.kept(("conditions", candidate))
        if isinstance(written, Conditions):
            return written.true_when, written.off_when
        return self._local.conditions(realised, candidate)

    def review_at(self, turn: Turn, candidate: Candidate) -> Instant | None:
        """See `Realiser.review_at`."""
        return self._local.review_at(turn, candidate)

    def event_time(self, turn: Turn, words: str) -> Instant:
        """See `Realiser.event_time`."""
        return self._local.event_time(turn, words)

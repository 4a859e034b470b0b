"""What held on a key never overlaps, also where words reach back behind something taken back."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from evaluation.soak.invariants import always
from memgate_core import MemoryGate, Subject
from memgate_core.fields.catalogue import FieldCatalogue
from tests.support.ledgers import EVERY_BACKEND, fresh_url

ANA = Subject(user_id="ana")
MONDAY = datetime(2026, 1, 5, 9, tzinfo=UTC)


@pytest.mark.parametrize("backend", EVERY_BACKEND)
def test_words_that_reach_back_begin_where_the_last_value_ended(
    backend: str, tmp_path: Path
) -> None:
    fields = FieldCatalogue.default().only(("home_city",))
    with MemoryGate.open(fresh_url(backend, tmp_path), fields=fields) as gate:
        said = ("I live in Leeds.", "I live in York.", None, "I moved to Bath last week.")
        for number, words in enumerate(said):
            if words is None:
                (york,) = gate.ledger.facts(ANA)
                gate.revocation.revoke(york.fact_id, by="rita")
                continue
            at = MONDAY + timedelta(days=number)
            gate.observe(gate.turn(words, user_id="ana", message_id=f"m{number}", occurred_at=at))
        leeds, bath = (
            next(f for f in gate.ledger.facts(ANA, include_closed=True) if f.value == value)
            for value in ("Leeds", "Bath")
        )
        assert leeds.valid_to == MONDAY + timedelta(days=1)
        assert bath.valid_from == leeds.valid_to
        assert list(always(gate.ledger, ANA)) == []

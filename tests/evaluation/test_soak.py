"""Mixed traffic from several processes with faults, on SQLite and PostgreSQL (scaled for CI)."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest

from evaluation.soak import invariants
from evaluation.soak.run import Least, soak
from evaluation.soak.store import FailingStore, StoreFaultError
from memgate_core.model import EventType
from memgate_core.projection import deliver
from tests.support.build import ANA, day, make_fact, make_staged
from tests.support.ledgers import SHARED_BACKENDS, commit, fresh_url, opened

LEAST = Least(turns=60, killed=3, held_up=3)
"""A slow machine soaks longer, not less."""


@pytest.mark.slow
@pytest.mark.parametrize("backend", SHARED_BACKENDS)
def test_a_soak_breaches_nothing(backend: str, tmp_path: Path) -> None:
    url = fresh_url(backend, tmp_path)
    report = soak(url, tmp_path, seconds=60, workers=3, failing=0.2, seed=7, least=LEAST)
    assert report.breaches == []
    assert report.undelivered == 0
    assert report.turns >= LEAST.turns
    assert (report.killed >= LEAST.killed, report.held_up >= LEAST.held_up) == (True, True)


def test_the_invariants_see_an_overlap_and_a_store_that_fell_behind(tmp_path: Path) -> None:
    with opened(f"sqlite:///{tmp_path}/ledger.db") as ledger:
        store = FailingStore(tmp_path / "store.db", failing=0.0, seed=1)
        ledger.register(store.name)
        first = commit(ledger, make_fact("Leeds"))
        assert list(invariants.delivered(ledger, [ANA], store.contents())) == [
            f"{first.fact_id} is current but not in the store"
        ]
        deliver(ledger, store)
        assert list(invariants.delivered(ledger, [ANA], store.contents())) == []
        assert list(invariants.always(ledger, ANA)) == []
    overlapping = [
        first.model_copy(update={"valid_to": day(9)}),
        first.model_copy(
            update={
                "fact_id": "f2",
                "version": 2,
                "valid_from": first.valid_from + timedelta(days=1),
            }
        ),
    ]
    assert any("overlap" in breach for breach in invariants._no_overlap(overlapping))
    assert any("2 current" in b for b in invariants._one_current_value(overlapping))


def test_a_held_value_that_can_be_read_is_seen() -> None:
    item = make_staged("Seattle")
    open_fact = make_fact("Leeds")
    resting = make_fact("Seattle", derived_from=(item.staged_id,))
    said = make_fact("Seattle").model_copy(update={"evidence": item.evidence})
    assert list(invariants._held_value_readable(item, [open_fact])) == []
    for fact in (resting, said):
        (breach,) = invariants._held_value_readable(item, [open_fact, fact])
        assert breach == f"{item.staged_id} is held and readable as {fact.fact_id}"


def test_a_turn_that_was_acknowledged_and_is_gone_is_seen(tmp_path: Path) -> None:
    (tmp_path / "acknowledged-w1.txt").write_text("user-1\tw1-1\n", encoding="utf-8")
    with opened(f"sqlite:///{tmp_path}/ledger.db") as ledger:
        (breach,) = invariants.nothing_lost(ledger, tmp_path, "soak")
    assert "w1-1 was acknowledged and is not recorded" in breach


def test_the_store_fails_as_often_as_it_is_told(tmp_path: Path) -> None:
    with opened(f"sqlite:///{tmp_path}/ledger.db") as ledger:
        ledger.register("soak:store")
        commit(ledger, make_fact("Leeds"))
        (event,) = [e for e in ledger.events() if e.event_type is EventType.COMMITTED]
    broken = FailingStore(tmp_path / "store.db", failing=1.0, seed=1)
    for _ in range(5):
        with pytest.raises(StoreFaultError):
            broken.apply(event)

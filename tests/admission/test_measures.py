"""The figures: by policy version, with their counts, and nothing made up where nothing was seen."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from weakref import WeakSet

import pytest
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import InMemoryMetricReader
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from memgate_core import MemoryGate, telemetry
from memgate_core.errors import InvalidInputError, NotFoundError, ProtocolConflictError
from memgate_core.measures import Label, PolicyMeasures, Share, false_commit_rate, measure
from memgate_core.model import Event, EventType, NativeLink
from memgate_core.tripwires import count_duplicates
from tests.admission.conftest import START, OpenGate
from tests.support.scripted import SCRIPT, scripted_gate, state
from tests.support.shelf import Shelf
from tests.support.talk import Talk

GUESSED = {**SCRIPT, "you live in Oslo": state("home_city", "Oslo")}


def figures(gate: MemoryGate) -> PolicyMeasures:
    (only,) = measure(gate.ledger, START + timedelta(days=10)).by_policy
    return only


def test_an_empty_ledger_has_no_rates(gate: MemoryGate) -> None:
    found = measure(gate.ledger, START)
    assert found.by_policy == ()
    assert (found.oldest_held_days, found.open_approvals, found.parked) == (None, 0, 0)
    assert Share(count=0, of=0).rate is None
    with pytest.raises(InvalidInputError, match="time zone"):
        measure(gate.ledger, datetime(2026, 3, 2))  # noqa: DTZ001


def test_turns_decisions_holds_and_outcomes_are_counted(gate: MemoryGate, ana: Talk) -> None:
    ana.says("I live in Leeds")
    ana.says("I might move to Seattle")
    ana.says("I might join Initech")
    ana.says("I have moved to Seattle")
    turn = ana.turn("I work at Acme", message_id="m5")
    assert gate.observe(turn).judged == gate.observe(turn).judged
    found = figures(gate)
    assert found.turns == 5
    assert found.replays == 1
    assert found.decisions == {"COMMIT": 2, "REAFFIRM": 1, "STAGE": 2}
    assert found.auto_commits == 2
    assert found.hold_rate == Share(count=2, of=5)
    assert found.plans_confirmed == Share(count=1, of=1)
    assert found.taken_back_soon == Share(count=0, of=2)


def test_a_commit_that_is_soon_taken_back_counts_as_false(gate: MemoryGate, ana: Talk) -> None:
    ana.says("I live in Leeds")
    ana.says("it was Hull all along")
    ana.says("ignore my last message")
    ana.says("I work at Acme")
    acme = ana.profile.current("employer")
    assert acme is not None
    gate.revocation.revoke(acme.fact_id, by="Mia")
    found = figures(gate)
    assert found.auto_commits == 3
    assert found.taken_back_soon == Share(count=3, of=3)
    assert found.revocations == 1


def test_what_is_only_recorded_is_counted_apart(gate: MemoryGate, ana: Talk) -> None:
    gate.rollout.set("shadow", by="Mia")
    ana.says("I live in Leeds")
    found = figures(gate)
    assert (found.turns, found.decisions, found.isolated) == (1, {}, {"COMMIT": 1})
    assert found.auto_commits == 0


def test_confirmation_acceptance(scripted: OpenGate) -> None:
    cities = ("Oslo", "Bergen", "Turin")
    guesses = {f"you live in {name}": state("home_city", name) for name in cities}
    gate = scripted(script={**SCRIPT, **guesses})
    for name in cities:
        talk = Talk(gate, name, START)
        said = {"attribute": "home_city", "value": name, "span": f"you live in {name}"}
        gate.observe(talk.turn(f"So you live in {name}", role="assistant"), [said])
    yes, also, no = gate.review.approvals.list()
    gate.review.approvals.approve(yes.approval_id, yes.payload_hash, by="Mia")
    gate.review.approvals.approve(also.approval_id, also.payload_hash, by="Mia")
    gate.review.approvals.decline(no.approval_id, no.payload_hash, by="Mia")
    found = figures(gate)
    assert found.confirmation_acceptance == Share(count=2, of=3)
    assert found.auto_commits == 0


def test_the_oldest_held_item_and_what_is_due(gate: MemoryGate, ana: Talk, tmp_path: Path) -> None:
    gate.attach(Shelf(tmp_path / "shelf.db", gate.ledger))
    ana.says("I might move to Seattle")
    found = measure(gate.ledger, ana.now + timedelta(days=4))
    assert found.oldest_held_days == pytest.approx(4.0)
    assert found.due == {"shelf": 1}


def test_false_commit_rate_on_a_labelled_sample(gate: MemoryGate, ana: Talk) -> None:
    ids = [ana.says(text).judged[0] for text in ("I live in Leeds", "I work at Acme")]
    held = ana.says("I might move to Seattle").judged[0]
    labels = [
        Label(id=ids[0].fact_id or "", right=False),
        Label(id=ids[1].proposal_id, right=True),
        Label(id=held.proposal_id, right=True),
    ]
    found = false_commit_rate(gate.ledger, labels)
    assert found.overall == Share(count=1, of=2)
    assert found.overall.rate == 0.5
    assert found.by_policy == {"1": Share(count=1, of=2)}
    assert found.passed_over == (held.proposal_id,)
    with pytest.raises(NotFoundError):
        false_commit_rate(gate.ledger, [Label(id="nothing", right=True)])


def test_shadow_commits_can_be_labelled(gate: MemoryGate, ana: Talk) -> None:
    gate.rollout.set("shadow", by="Mia")
    judged = ana.says("I live in Leeds").judged[0]
    found = false_commit_rate(gate.ledger, [Label(id=judged.proposal_id, right=False)])
    assert found.overall == Share(count=1, of=1)


def test_a_second_native_object_for_one_version_is_a_duplicate_effect(
    gate: MemoryGate, ana: Talk
) -> None:
    receipt = ana.says("I live in Leeds", message_id="m1")
    fact = gate.ledger.fact(receipt.judged[0].fact_id or "")
    assert fact is not None

    def link(native_id: str) -> NativeLink:
        ids = (fact.fact_id,) if fact else ()
        return NativeLink(projection="shelf", native_id=native_id, fact_ids=ids, message_id="m1")

    told = Event(
        seq=1,
        event_type=EventType.COMMITTED,
        subject=ana.subject,
        occurred_at=START,
        recorded_at=START,
        fact=fact,
        policy_version="1",
    )
    assert count_duplicates(gate.ledger, told, [link("row 1")]) == 0
    gate.answered(ana.subject, "m1", {}, [link("row 1")])
    assert count_duplicates(gate.ledger, told, [link("row 1")]) == 0
    assert count_duplicates(gate.ledger, told, [link("row 2")]) == 1
    assert figures(gate).duplicate_effects == 1


@pytest.fixture
def opentelemetry(monkeypatch: pytest.MonkeyPatch) -> tuple[InMemoryMetricReader, Any]:
    """OpenTelemetry's own SDK behind the gate, read in memory."""
    reader, spans = InMemoryMetricReader(), InMemorySpanExporter()
    meters = MeterProvider(metric_readers=[reader])
    tracers = TracerProvider()
    tracers.add_span_processor(SimpleSpanProcessor(spans))

    class Metrics:
        get_meter = staticmethod(meters.get_meter)

    class Trace:
        get_tracer = staticmethod(tracers.get_tracer)

    instruments = telemetry._Instruments(Metrics, Trace)
    monkeypatch.setattr(telemetry, "_instruments", lambda: instruments)
    monkeypatch.setattr(telemetry, "_watched", WeakSet())
    return reader, spans


def points(reader: InMemoryMetricReader) -> dict[str, list[Any]]:
    data = reader.get_metrics_data()
    assert data is not None
    return {
        metric.name: list(metric.data.data_points)
        for metric in data.resource_metrics[0].scope_metrics[0].metrics
    }


def test_opentelemetry_gets_counts_and_spans_without_a_word(opentelemetry: Any) -> None:
    reader, spans = opentelemetry
    with scripted_gate("sqlite://") as gate:
        ana = Talk(gate, "ana", START)
        ana.says("I live in Leeds")
        ana.says("I might move to Seattle")
        gate.deliver()
        found = points(reader)
    decided = {p.attributes["decision"]: p.value for p in found["memgate.decisions"]}
    assert decided == {"COMMIT": 1, "STAGE": 1}
    assert sum(p.count for p in found["memgate.turn.duration"]) == 2
    assert [span.name for span in spans.get_finished_spans()] == ["memgate.observe"] * 2
    shown = f"{found}{[dict(span.attributes or {}) for span in spans.get_finished_spans()]}"
    assert not any(word in shown for word in ("Leeds", "Seattle", "ana"))


def test_opentelemetry_gets_what_an_operator_watches(opentelemetry: Any, tmp_path: Path) -> None:
    reader, spans = opentelemetry
    with scripted_gate("sqlite://", script=GUESSED) as gate:
        shelf = Shelf(tmp_path / "shelf.db", gate.ledger)
        gate.attach(shelf)
        ana = Talk(gate, "ana", datetime.now(UTC) - timedelta(days=3))
        turn = ana.turn("I live in Leeds", message_id="m1")
        leeds = {"attribute": "home_city", "value": "Leeds", "span": "I live in Leeds"}
        for _ in range(2):
            gate.observe(turn, [leeds], carried=False)
        with pytest.raises(ProtocolConflictError):
            gate.observe(turn, [{**leeds, "value": "York"}])
        gate.deliver()
        said = {"attribute": "home_city", "value": "Oslo", "span": "you live in Oslo"}
        gate.observe(ana.turn("So you live in Oslo", role="assistant"), [said])
        (asked,) = gate.review.approvals.list()
        gate.review.approvals.decline(asked.approval_id, asked.payload_hash, by="Mia")
        ana.says("I might move to Seattle")
        (fact,) = ana.facts()
        shelf.leaves_residue = True
        gate.revocation.revoke(fact.fact_id, by="Mia")
        found = points(reader)
    total = {name: sum(p.value for p in of) for name, of in found.items() if "duration" not in name}
    assert total["memgate.replays"] == 1
    assert total["memgate.protocol_conflicts"] == 1
    assert total["memgate.approvals.declined"] == 1
    assert total["memgate.revocations"] == 1
    assert total["memgate.revocation_residue"] == 1
    assert total["memgate.rollbacks"] == 1
    assert total["memgate.auto_commits.taken_back"] == 1
    assert total["memgate.oldest_held_age"] == pytest.approx(3, abs=0.5)
    assert {p.attributes["projection"] for p in found["memgate.undelivered"]} == {"shelf"}
    assert {"memgate.observe", "memgate.deliver"} == {s.name for s in spans.get_finished_spans()}


def test_a_closed_ledger_is_not_asked(opentelemetry: Any) -> None:
    reader, _spans = opentelemetry
    gate = scripted_gate("sqlite://")
    Talk(gate, "ana", START).says("I might move to Seattle")
    assert "memgate.oldest_held_age" in points(reader)
    gate.close()
    assert "memgate.oldest_held_age" not in points(reader)


def test_without_the_api_nothing_happens(monkeypatch: pytest.MonkeyPatch, ana: Talk) -> None:
    monkeypatch.setattr(telemetry, "_instruments", lambda: None)
    assert ana.says("I live in Leeds").judged
    ana.gate.deliver()

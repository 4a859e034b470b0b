"""OpenTelemetry metrics and spans, where its API is installed; nothing at all otherwise.

No attribute carries a user's words, value or id: decisions, rules, policy versions and counts only.
"""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from functools import cache
from typing import TYPE_CHECKING, Any

from memgate_core.model import Receipt

if TYPE_CHECKING:
    from memgate_core.projection import DeliveryReport

SCOPE = "agentmemgate"


def span(name: str) -> AbstractContextManager[Any]:
    """A span around a stretch of work, as the application's tracer provider wants it."""
    instruments = _instruments()
    return nullcontext() if instruments is None else instruments.span(name)


def observed(receipt: Receipt, policy_version: str) -> None:
    """Counts one turn that was taken for the first time."""
    if (to := _instruments()) is None:
        return
    policy = {"policy_version": policy_version}
    to.turns.add(1, {**policy, "shadow": receipt.shadow})
    to.duration.record(receipt.gate_ms, policy)
    to.model_calls.add(receipt.model_calls, policy)
    to.faults.add(len(receipt.faults), policy)
    for judged in receipt.judged:
        decision = judged.decision
        what = {"decision": decision.decision.value, "rule": decision.rule}
        to.decisions.add(1, {**policy, **what, "isolated": judged.recorded_only})
    for resolved in receipt.resolved:
        to.resolutions.add(1, {**policy, "resolution": resolved.resolution.value})


def delivered(report: DeliveryReport) -> None:
    """Counts one delivery run."""
    if (to := _instruments()) is None:
        return
    to.delivered.add(report.delivered, {"projection": report.projection})
    to.failed.add(report.failed, {"projection": report.projection})


class _Instruments:
    """The instruments, made once a process on the application's own providers."""

    def __init__(self, metrics: Any, trace: Any) -> None:
        meter = metrics.get_meter(SCOPE)
        self._tracer = trace.get_tracer(SCOPE)
        self.turns = meter.create_counter("memgate.turns", unit="{turn}")
        self.decisions = meter.create_counter("memgate.decisions", unit="{decision}")
        self.resolutions = meter.create_counter("memgate.resolutions", unit="{item}")
        self.model_calls = meter.create_counter("memgate.model_calls", unit="{call}")
        self.faults = meter.create_counter("memgate.faults", unit="{fault}")
        self.delivered = meter.create_counter("memgate.delivered", unit="{event}")
        self.failed = meter.create_counter("memgate.delivery_failures", unit="{event}")
        self.duration = meter.create_histogram("memgate.turn.duration", unit="ms")

    def span(self, name: str) -> AbstractContextManager[Any]:
        """A span that is current while it lasts."""
        started: AbstractContextManager[Any] = self._tracer.start_as_current_span(name)
        return started


@cache
def _instruments() -> _Instruments | None:
    try:
        from opentelemetry import metrics, trace
    except ImportError:
        return None
    return _Instruments(metrics, trace)

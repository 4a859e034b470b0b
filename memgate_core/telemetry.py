"""OpenTelemetry metrics and spans, where its API is installed; nothing at all otherwise.

No attribute carries a user's words, value or id: decisions, rules, policy versions and counts only.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, nullcontext, suppress
from datetime import UTC, datetime
from functools import cache
from typing import TYPE_CHECKING, Any
from weakref import WeakSet

from memgate_core.errors import LedgerError
from memgate_core.model import Receipt

if TYPE_CHECKING:
    from memgate_core.ledger.protocol import Ledger
    from memgate_core.projection import DeliveryReport

SCOPE = "agentmemgate"
_DAY_S = 86_400

_watched: WeakSet[Ledger] = WeakSet()


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
    to.model_tokens.add(receipt.model_tokens, policy)
    if receipt.model_calls:
        to.model_duration.record(receipt.model_ms, policy)
    to.faults.add(len(receipt.faults), policy)
    for judged in receipt.judged:
        decision = judged.decision
        what = {"decision": decision.decision.value, "rule": decision.rule}
        to.decisions.add(1, {**policy, **what, "isolated": judged.recorded_only})
    for resolved in receipt.resolved:
        to.resolutions.add(1, {**policy, "resolution": resolved.resolution.value})


def spent(receipt: Receipt) -> None:
    """Notes on the current span what a turn cost in model calls, tokens and milliseconds."""
    if (to := _instruments()) is not None:
        to.note(
            {
                "memgate.model_calls": receipt.model_calls,
                "memgate.model_tokens": receipt.model_tokens,
                "memgate.model_ms": receipt.model_ms,
            }
        )


def delivered(report: DeliveryReport) -> None:
    """Counts one delivery run."""
    if (to := _instruments()) is None:
        return
    to.delivered.add(report.delivered, {"projection": report.projection})
    to.failed.add(report.failed, {"projection": report.projection})


def counted(name: str, policy_version: str, by: int = 1) -> None:
    """Counts what happens outside turns, under its name among the tallies: `memgate.revocations`,
    `memgate.approvals.approved`, `memgate.duplicate_effects` and so on."""
    if (to := _instruments()) is not None:
        to.counter(name).add(by, {"policy_version": policy_version})


def watch(ledger: Ledger) -> None:
    """From now on, the application's metric reader sees how long the oldest held item waits, and
    how many events wait for delivery, as this ledger has them when it looks."""
    _watched.add(ledger)
    _instruments()


class _Instruments:
    """The instruments, made once a process on the application's own providers."""

    def __init__(self, metrics: Any, trace: Any) -> None:
        self._meter = meter = metrics.get_meter(SCOPE)
        self._counters: dict[str, Any] = {}
        self._tracer = trace.get_tracer(SCOPE)
        self.turns = meter.create_counter("memgate.turns", unit="{turn}")
        self.decisions = meter.create_counter("memgate.decisions", unit="{decision}")
        self.resolutions = meter.create_counter("memgate.resolutions", unit="{item}")
        self.model_calls = meter.create_counter("memgate.model_calls", unit="{call}")
        self.model_tokens = meter.create_counter("memgate.model_tokens", unit="{token}")
        self.model_duration = meter.create_histogram("memgate.model.duration", unit="ms")
        self.faults = meter.create_counter("memgate.faults", unit="{fault}")
        self.delivered = meter.create_counter("memgate.delivered", unit="{event}")
        self.failed = meter.create_counter("memgate.delivery_failures", unit="{event}")
        self.duration = meter.create_histogram("memgate.turn.duration", unit="ms")
        meter.create_observable_gauge("memgate.oldest_held_age", [_oldest_held], unit="d")
        meter.create_observable_gauge("memgate.undelivered", [_undelivered], unit="{event}")

    def counter(self, name: str) -> Any:
        """The counter of that name, made on first use."""
        if name not in self._counters:
            self._counters[name] = self._meter.create_counter(f"memgate.{name.lower()}")
        return self._counters[name]

    def span(self, name: str) -> AbstractContextManager[Any]:
        """A span that is current while it lasts."""
        started: AbstractContextManager[Any] = self._tracer.start_as_current_span(name)
        return started

    def note(self, attributes: dict[str, int | float]) -> None:
        """Puts numbers on the span that is current."""
        from opentelemetry.trace import get_current_span

        get_current_span().set_attributes(attributes)


def _oldest_held(_options: object) -> Iterator[Any]:
    """Days since the longest pending item was first voiced; nothing where none waits."""
    from opentelemetry.metrics import Observation

    found = []
    for ledger in list(_watched):
        with suppress(LedgerError):  # closed, or not to be reached now
            found.append(ledger.oldest_pending())
    if waiting := [oldest for oldest in found if oldest is not None]:
        yield Observation((datetime.now(UTC) - min(waiting)).total_seconds() / _DAY_S)


def _undelivered(_options: object) -> Iterator[Any]:
    """Events that each projection still has to take."""
    from opentelemetry.metrics import Observation

    for ledger in list(_watched):
        with suppress(LedgerError):
            for name, count in ledger.projections().items():
                yield Observation(count, {"projection": name})


@cache
def _instruments() -> _Instruments | None:
    try:
        from opentelemetry import metrics, trace
    except ImportError:
        return None
    return _Instruments(metrics, trace)

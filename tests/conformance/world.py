"""A gate on a real framework's store, and one person who talks: what the suites run on."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from memgate_core import Fact, MemoryGate, Receipt, Subject
from memgate_core.model import Event, EventType
from memgate_core.projection import DeliveryReport
from tests.conformance.stores import StoreUnderTest

START = datetime(2026, 3, 2, 9, tzinfo=UTC)
QUERY = "where does the user live"


class World:
    """A gate, a store, and one person who talks, a day apart."""

    def __init__(self, gate: MemoryGate, store: StoreUnderTest) -> None:
        self.gate, self.store = gate, store
        self.ana = Subject(user_id="ana")
        self.today, self.turns = START, 0

    def says(self, text: str, *, who: str = "ana", deliver: bool = True) -> Receipt:
        self.today += timedelta(days=1)
        self.turns += 1
        turn = self.gate.turn(
            text, user_id=who, occurred_at=self.today, message_id=f"m{self.turns}"
        )
        receipt = self.gate.observe(turn, carried=False)
        if deliver:
            self.delivered()
        return receipt

    def delivered(self) -> DeliveryReport:
        self.gate.ledger.retry_now(self.store.projection.name)
        (report,) = self.gate.deliver()
        return report

    def recall(self, word: str, who: str = "ana") -> list[str]:
        """What the framework shows of a subject that names `word`."""
        shown = self.store.recall(Subject(user_id=who), QUERY)
        return [text for text in shown if word.lower() in text.lower()]

    def held(self, word: str) -> list[str]:
        return [text for text in self.store.held(self.ana) if word.lower() in text.lower()]

    def events(self, kind: EventType) -> list[Event]:
        return [event for event in self.gate.ledger.events() if event.event_type is kind]

    def current(self) -> str | None:
        fact = self.gate.profile("ana").current("home_city")
        return fact.value if fact is not None else None

    def fact(self, value: str) -> Fact:
        found = self.gate.ledger.facts(self.ana, include_closed=True, include_pending_native=True)
        return next(fact for fact in found if fact.value == value)

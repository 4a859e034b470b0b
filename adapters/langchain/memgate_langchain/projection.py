"""`LangGraphProjection`: carries ledger events into a LangGraph store.

A store has no walls: a search with an empty prefix sees everything in it. So nothing that is held,
superseded, corrected or revoked lies in the store at all; plans and past values are read from the
ledger. Each event is applied towards what the ledger says *now*, so that a second or late delivery
changes nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from langgraph.store.base import BaseStore, PutOp

from memgate_core.ledger.protocol import Ledger
from memgate_core.model import (
    Event,
    EventType,
    Fact,
    FactStatus,
    FieldSpec,
    NativeLink,
    StagedItem,
    Subject,
)
from memgate_langchain.carriers import Carriers
from memgate_langchain.namespaces import Namespaces
from memgate_langchain.natives import Place, fact_key, fact_value, memory_text
from memgate_langchain.statements import with_text

_PAGE = 100


class LangGraphProjection:
    """One LangGraph store as the ledger sees it. Implements `memgate_core.projection.Projection`.

    `store` is the bare store, never a gated one.
    """

    def __init__(
        self,
        store: BaseStore,
        ledger: Ledger,
        *,
        namespaces: Namespaces | None = None,
        fields: Sequence[FieldSpec] = (),
        text_field: str = "text",
        name: str = "langgraph:store",
    ) -> None:
        """`fields`: how facts of registered fields are worded. `text_field`: the key that holds the
        text of what the gate writes by itself. `name`: stable; the delivery cursor hangs on it."""
        self.name = name
        self.namespaces = namespaces or Namespaces()
        self.carriers = Carriers(store, ledger, name)
        self._store, self._ledger, self._text_field = store, ledger, text_field
        self._phrases = {f.attribute: f.phrase for f in fields if f.phrase is not None}

    def apply(self, event: Event) -> Sequence[NativeLink]:
        """Carries one event natively and returns what it wrote. Idempotent.

        Raises:
            Exception: whatever the store raises; the event stays due.
        """
        if event.event_type is EventType.ERASED:
            self._erase(event.subject)
            return ()
        if event.fact is None:
            return ()
        if event.event_type in (EventType.PROMOTED, EventType.COMMITTED):
            return self._write(event, event.fact)
        return self._take_out(event, event.fact)

    def residue(self, needle: Event) -> Sequence[str]:
        """Where traces of what was taken away are still found; empty when clean."""
        home = self.namespaces.namespace_of(needle.subject)
        if needle.event_type is EventType.ERASED:
            return [f"item {_name(item)}" for item in _every_item(self._store, home)]
        if needle.fact is None:
            return []
        fact = self._ledger.fact(needle.fact.fact_id) or needle.fact
        if fact.status is FactStatus.CURRENT:
            return []
        return [f"item {place.native_id}" for place in self.carriers.live(fact, home)]

    def write_fact(self, fact: Fact, staged: StagedItem | None = None) -> NativeLink:
        """Puts a fact into the store: where its held put was to go, else under its own key."""
        subject = fact.key.subject
        held = self._held_put(subject, staged)
        place = self._place(fact, held)
        text = memory_text(fact, self._phrases)
        value = _shaped(held, text) if held is not None else {self._text_field: text}
        index, ttl = (held.get("index"), held.get("ttl")) if held is not None else (None, None)
        op = PutOp(place.namespace, place.key, fact_value(fact, value), index=index, ttl=ttl)
        self._store.batch([op])
        return NativeLink(
            projection=self.name,
            native_id=place.native_id,
            fact_ids=(fact.fact_id,),
            message_id=fact.evidence.message_id,
            text=text,
        )

    def _write(self, event: Event, told: Fact) -> Sequence[NativeLink]:
        fact = self._ledger.fact(told.fact_id) or told
        if fact.status is not FactStatus.CURRENT or fact.version != told.version:
            return ()
        if told.native and event.event_type is EventType.COMMITTED:
            return ()  # the application's own put carries it
        place = self._place(fact, self._held_put(event.subject, event.staged))
        carried = self.carriers.live(fact, self.namespaces.namespace_of(event.subject))
        if carried and place not in carried:
            return ()
        return [self.write_fact(fact, event.staged)]

    def _take_out(self, event: Event, told: Fact) -> Sequence[NativeLink]:
        fact = self._ledger.fact(told.fact_id) or told
        if fact.status is FactStatus.CURRENT and fact.version == told.version:
            return ()
        return self.carriers.take_out(told, self.namespaces.namespace_of(event.subject))

    def _held_put(self, subject: Subject, staged: StagedItem | None) -> Mapping[str, Any] | None:
        """The application's put that was held, if the item came from one."""
        if staged is None:
            return None
        record = self._ledger.turn(subject, staged.evidence.message_id)
        answer = record.answer if record is not None else None
        found = (answer or {}).get("langgraph")
        return found if isinstance(found, Mapping) else None

    def _place(self, fact: Fact, held: Mapping[str, Any] | None) -> Place:
        home = self.namespaces.namespace_of(fact.key.subject)
        if held is None:
            return Place(home, fact_key(fact))
        wanted = Place(tuple(held["namespace"]), str(held["key"]))
        # a place that carries other current facts keeps them
        return Place(wanted.namespace, fact_key(fact)) if self._taken(wanted, fact) else wanted

    def _taken(self, place: Place, fact: Fact) -> bool:
        return bool(self.carriers.others(place, fact))

    def _erase(self, subject: Subject) -> None:
        places = {
            Place.of(link.native_id) for link in self._ledger.links(self.name, subject=subject)
        }
        places |= {
            Place(tuple(item.namespace), item.key)
            for item in _every_item(self._store, self.namespaces.namespace_of(subject))
        }
        self._store.batch([PutOp(place.namespace, place.key, None) for place in places])


def _every_item(store: BaseStore, namespace: tuple[str, ...]) -> Iterator[Any]:
    offset = 0
    while page := store.search(namespace, limit=_PAGE, offset=offset, refresh_ttl=False):
        yield from page
        offset += len(page)


def _shaped(held: Mapping[str, Any], text: str) -> dict[str, Any]:
    """The value of a held put, saying what has come true where it said what was planned."""
    return dict(with_text(held["value"], tuple(held["path"]), text))


def _name(item: Any) -> str:
    return Place(tuple(item.namespace), item.key).native_id

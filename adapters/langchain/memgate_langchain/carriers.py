"""The items of a store that carry a fact, and what becomes of them when it ends."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from langgraph.store.base import BaseStore, PutOp

from memgate_core.forwarding import forwardable
from memgate_core.ledger.protocol import Ledger
from memgate_core.model import Fact, FactStatus, NativeLink, Span
from memgate_langchain.natives import Place, fact_key
from memgate_langchain.statements import leaves, with_text


class Carriers:
    """Finds, rewords and deletes items by the facts they carry. `store` is the bare one."""

    def __init__(self, store: BaseStore, ledger: Ledger, projection: str) -> None:
        self._store, self._ledger, self._projection = store, ledger, projection

    def places(self, fact: Fact, home: tuple[str, ...]) -> list[Place]:
        """Every place that carries the fact, or did: its own key in `home` too, since a write may
        have been made and never acknowledged."""
        linked = [
            Place.of(link.native_id)
            for link in self._ledger.links(self._projection, fact_id=fact.fact_id)
        ]
        own = Place(home, fact_key(fact))
        return linked if own in linked or self._links(own) else [*linked, own]

    def live(self, fact: Fact, home: tuple[str, ...]) -> list[Place]:
        """Those of the places where an item lies."""
        return [place for place in self.places(fact, home) if self.item(place) is not None]

    def item(self, place: Place) -> Any | None:
        """The item at a place."""
        return self._store.get(place.namespace, place.key, refresh_ttl=False)

    def others(self, place: Place, fact: Fact) -> list[Fact]:
        """Current facts besides this one that the item at a place carries."""
        ids = {fact_id for link in self._links(place) for fact_id in link.fact_ids}
        facts = [self._ledger.fact(fact_id) for fact_id in sorted(ids - {fact.fact_id})]
        return [f for f in facts if f is not None and f.status is FactStatus.CURRENT]

    def take_out(self, fact: Fact, home: tuple[str, ...]) -> list[NativeLink]:
        """Removes an ended fact: its item goes, or keeps only the words of its current facts."""
        return [link for place in self.live(fact, home) for link in self._take_out_of(place, fact)]

    def _take_out_of(self, place: Place, fact: Fact) -> list[NativeLink]:
        others = self.others(place, fact)
        if not others:
            self._store.batch([PutOp(place.namespace, place.key, None)])
            return []
        item = self.item(place)
        value = _without(item.value if item is not None else {}, fact, others)
        self._store.batch([PutOp(place.namespace, place.key, value)])
        return [
            NativeLink(
                projection=self._projection,
                native_id=place.native_id,
                fact_ids=tuple(other.fact_id for other in others),
                message_id=others[0].evidence.message_id,
            )
        ]

    def _links(self, place: Place) -> Sequence[NativeLink]:
        return self._ledger.links(self._projection, native_id=place.native_id)


def _without(value: dict[str, Any], fact: Fact, others: Sequence[Fact]) -> dict[str, Any]:
    """The value without an ended fact's words; where they do not stand in it letter for letter,
    with the words of the current facts instead."""
    stated = [leaf for leaf in leaves(value) if leaf.states]
    for leaf in stated:
        at = leaf.text.find(fact.words)
        if at >= 0:
            kept = forwardable(leaf.text, [Span(start=at, end=at + len(fact.words))])
            return dict(with_text(value, leaf.path, kept))
    if not stated:
        return value
    return dict(with_text(value, stated[0].path, ". ".join(o.words for o in others)))

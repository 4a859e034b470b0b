"""The Mem0 memories that carry a fact, and what becomes of them when it ends.

A memory may carry several facts, and a fact may be carried by several memories. A memory that
carries only ended facts leaves the main collection; one that also carries current facts keeps the
words of those.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from memgate_core.forwarding import forwardable
from memgate_core.ledger.protocol import Ledger
from memgate_core.model import Fact, FactStatus, NativeLink, Span
from memgate_mem0.natives import Natives, Vector
from memgate_mem0.payloads import closed_payload, part_id, promoted_id, worded
from memgate_mem0.scope import MemoryScope


class Carriers:
    """Finds, closes and deletes the memories that carry a fact."""

    def __init__(
        self, natives: Natives, ledger: Ledger, name: str, text_of: Callable[[Fact], str]
    ) -> None:
        """`text_of`: how a fact reads as a memory of its own."""
        self._natives, self._ledger, self._name = natives, ledger, name
        self._text_of = text_of

    def links(self, fact: Fact) -> list[NativeLink]:
        """Every memory that carries the fact, or did: its own write too, acknowledged or not."""
        found = list(self._ledger.links(self._name, fact_id=fact.fact_id))
        own = promoted_id(self._name, fact)
        if not self._ledger.links(self._name, native_id=own):
            ids = (fact.fact_id,)
            found.append(NativeLink(projection=self._name, native_id=own, fact_ids=ids))
        return found

    def live(self, fact: Fact, *, told_by: str | None = None) -> list[str]:
        """Ids of memories in the main collection that carry the fact. `told_by`: a message id;
        what is known to come from another message is left out."""
        main = self._natives.main
        of_it = (None, told_by) if told_by is not None else None
        ids = [
            link.native_id for link in self.links(fact) if of_it is None or link.message_id in of_it
        ]
        return [native_id for native_id in ids if self._natives.get(main, native_id) is not None]

    def known(self, fact: Fact) -> bool:
        """True when some memory, current or closed, carries the fact or did."""
        stores = (self._natives.main, self._natives.closed)
        carriers = [link.native_id for link in self.links(fact)]
        ids = [*carriers, *(part_id(carrier, fact.fact_id) for carrier in carriers)]
        return any(self._natives.get(store, i) is not None for store in stores for i in ids)

    def close(self, fact: Fact) -> list[NativeLink]:
        """Moves what carried a superseded fact to the closed collection, with its validity."""
        return [new for link in self.links(fact) for new in self._close_one(link, fact)]

    def reopen(self, fact: Fact) -> None:
        """Brings back into the main collection what carried a fact that holds again."""
        for link in self.links(fact):
            for native_id in (link.native_id, part_id(link.native_id, fact.fact_id)):
                payload = self._natives.get(self._natives.closed, native_id)
                if payload is None:
                    continue
                again = {k: v for k, v in payload.items() if k != "valid_to"}
                words = str(again.get("data", ""))
                at, vector = _when(fact), self._natives.vector_of(self._natives.closed, native_id)
                self._natives.note_history(native_id, "ADD", old=None, new=words, at=at)
                main = self._natives.main
                self._natives.put(main, native_id, again, words=words, vector=vector)
                self._natives.remove(self._natives.closed, native_id)

    def delete(self, fact: Fact) -> list[NativeLink]:
        """Takes what carried a corrected or revoked fact out of every collection."""
        for link in self.links(fact):
            kept = self._others(link, fact, FactStatus.CURRENT)
            payload = self._natives.get(self._natives.main, link.native_id) if kept else None
            if payload is not None and self._only_repeats(link, payload, fact, kept):
                kept = []
            self._delete_from(self._natives.main, link, fact, kept)
            ended = self._others(link, fact, FactStatus.SUPERSEDED)
            self._delete_from(self._natives.closed, link, fact, ended)
            self._natives.remove(self._natives.closed, part_id(link.native_id, fact.fact_id))
        return []

    def take_from_main(self, native_id: str, payload: dict[str, Any], at: str) -> None:
        """Takes a memory out of the main collection, with its entity links and a line of history
        that repeats no words."""
        self._natives.note_history(native_id, "DELETE", old=None, new=None, at=at)
        self._natives.remove(self._natives.main, native_id)
        scope = MemoryScope.of_payload(payload)
        if scope is not None:
            self._natives.unlink_entities(native_id, scope.owner)

    def move_to_closed(
        self, native_id: str, payload: dict[str, Any], ended: dict[str, Any], at: str
    ) -> None:
        """Moves a whole memory, as `ended`; the copy is there before the original goes. Its words
        stay, so that its vector goes with it."""
        words, natives = str(ended.get("data", "")), self._natives
        vector = natives.vector_of(natives.main, native_id)
        natives.put(natives.closed, native_id, ended, words=words, vector=vector)
        self.take_from_main(native_id, payload, at)

    def _close_one(self, link: NativeLink, fact: Fact) -> list[NativeLink]:
        payload = self._natives.get(self._natives.main, link.native_id)
        if payload is None:
            return []
        others = self._others(link, fact, FactStatus.CURRENT)
        if not others or self._only_repeats(link, payload, fact, others):
            ended = closed_payload(payload, fact)
            self.move_to_closed(link.native_id, payload, ended, _when(fact))
            return [link.model_copy(update={"fact_ids": _with(link.fact_ids, fact.fact_id)})]
        return [self._close_part(link, payload, fact, others)]

    def _close_part(
        self, link: NativeLink, payload: dict[str, Any], fact: Fact, others: Sequence[Fact]
    ) -> NativeLink:
        part, natives = part_id(link.native_id, fact.fact_id), self._natives
        text, rest = self._text_of(fact), self._rest(payload, fact, others)
        of_text, *of_rest = natives.vectors([text] if rest is None else [text, rest])
        ended = closed_payload({**payload, **worded(text)}, fact)
        natives.put(natives.closed, part, ended, words=text, vector=of_text)
        if rest is not None:
            self._reword(natives.main, link.native_id, payload, rest, of_rest[0], _when(fact))
        return NativeLink(
            projection=self._name,
            native_id=part,
            fact_ids=(fact.fact_id,),
            message_id=link.message_id,
            text=text,
        )

    def _delete_from(
        self, store: Any, link: NativeLink, fact: Fact, others: Sequence[Fact]
    ) -> None:
        payload = self._natives.get(store, link.native_id)
        if payload is None:
            return
        if others:
            rest = self._rest(payload, fact, others)
            if rest is not None:
                vector = self._natives.vectors([rest])[0]
                self._reword(store, link.native_id, payload, rest, vector, _when(fact))
        elif store is self._natives.main:
            self.take_from_main(link.native_id, payload, _when(fact))
        else:
            self._natives.remove(store, link.native_id)

    def _only_repeats(
        self, link: NativeLink, payload: dict[str, Any], fact: Fact, others: Sequence[Fact]
    ) -> bool:
        """True for a paraphrase that, without the fact, would say what other memories say."""
        if fact.words in str(payload.get("data", "")) or self._rest(payload, fact, others) is None:
            return False
        return all(set(self.live(other)) - {link.native_id} for other in others)

    def _rest(self, payload: dict[str, Any], fact: Fact, others: Sequence[Fact]) -> str | None:
        """The memory's text without the fact; None where it does not tell of it (any more)."""
        before = str(payload.get("data", ""))
        after = without(before, fact, others, self._text_of)
        return None if after == before else after

    def _reword(
        self,
        store: Any,
        native_id: str,
        payload: dict[str, Any],
        rest: str,
        vector: Vector,
        at: str,
    ) -> None:
        changed = {**payload, **worded(rest), "updated_at": at}
        if store is self._natives.main:
            self._natives.note_history(native_id, "UPDATE", old=None, new=rest, at=at)
            scope = MemoryScope.of_payload(payload)
            if scope is not None:
                self._natives.unlink_entities(native_id, scope.owner)
        self._natives.rewrite(store, native_id, changed, vector)

    def _others(self, link: NativeLink, fact: Fact, status: FactStatus) -> list[Fact]:
        ids = [fact_id for fact_id in link.fact_ids if fact_id != fact.fact_id]
        found = [self._ledger.fact(fact_id) for fact_id in ids]
        return [other for other in found if other is not None and other.status is status]


def without(text: str, fact: Fact, others: Sequence[Fact], text_of: Callable[[Fact], str]) -> str:
    """A memory's text without what it said of `fact`: the rest of its own words where the fact's
    words stand in it, else the other facts' words."""
    at = text.find(fact.words) if fact.words else -1
    if at >= 0:
        rest = forwardable(text, [Span(start=at, end=at + len(fact.words))])
        if rest is not None:
            return rest
    elif any(other.words in text for other in others if other.words):
        return text  # its words are out already
    return ". ".join(text_of(other) for other in others)


def _with(fact_ids: Sequence[str], fact_id: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys((*fact_ids, fact_id)))


def _when(fact: Fact) -> str:
    return (fact.closed_at or fact.recorded_at).isoformat()

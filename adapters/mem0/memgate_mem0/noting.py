"""Native ids are noted in the ledger before Mem0 writes them.

Mem0 mints its ids inside `add` and tells them only at the end. Should the process die in between,
the retry finds the noted ids, takes those memories out, and makes the call anew: it ends as if it
had run once.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import nullcontext
from typing import Any

from memgate_core.ledger.protocol import Ledger
from memgate_core.model import NativeLink
from memgate_mem0.calls import ActiveCall
from memgate_mem0.strangers import NoStrangers


class NotingStore:
    """The wrapped vector store during one add call. Every other attribute is the wrapped one's."""

    def __init__(
        self, store: Any, call: ActiveCall, ledger: Ledger, name: str, strangers: NoStrangers
    ) -> None:
        self._store, self._call, self._ledger, self._name = store, call, ledger, name
        self._strangers = strangers

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)

    def insert(
        self,
        vectors: Sequence[Any],
        payloads: Sequence[Any] | None = None,
        ids: Sequence[Any] | None = None,
    ) -> Any:
        """As the wrapped store's, with the ids noted first."""
        self._note([str(native_id) for native_id in ids or ()])
        linked = bool(self._call.message_ids)  # a call without turns leaves memories unlinked
        with self._strangers.own_write(len(vectors)) if linked else nullcontext():
            return self._store.insert(vectors=vectors, payloads=payloads, ids=ids)

    def _note(self, native_ids: Iterable[str]) -> None:
        fresh = [native_id for native_id in native_ids if native_id not in self._call.noted]
        if not fresh or not self._call.notes:
            return
        with self._ledger.write(self._call.subject) as tx:
            for native_id in fresh:
                tx.link(
                    NativeLink(
                        projection=self._name,
                        native_id=native_id,
                        message_id=self._call.message_ids[0],
                    )
                )
        self._call.noted += fresh

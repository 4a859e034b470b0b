"""What the gate reads and writes in Mem0's stores: three collections, history, raw messages, links.

All calls are sync and go to the wrapped objects themselves, for either colour of memory. Writes
are such that doing one again changes nothing.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any

from memgate_mem0.siblings import has_entity_store, open_sibling
from memgate_mem0.strangers import Contents, NoStrangers

STAGED, CLOSED = "staged", "closed"

Vector = Sequence[float]

_PAGE = 10_000
_MESSAGES = (
    "SELECT id, session_scope, role, content FROM messages {where} ORDER BY created_at, rowid"
)
_OF_SESSION = "WHERE session_scope = ?"


class Natives:
    """The stores of one memory, as the gate's projection needs them."""

    def __init__(self, memory: Any) -> None:
        self._memory = memory
        self._opened: dict[str, tuple[int, Any]] = {}
        self._lock = threading.RLock()
        self.strangers = NoStrangers(self._contents)
        """Who has no memory in the main collection but those that the gate knows."""

    # --- collections -----------------------------------------------------------------------

    @property
    def main(self) -> Any:
        """Current memories: what ungated readers see too."""
        return self._memory.vector_store

    @property
    def staged(self) -> Any:
        """Held items, invisible to every read of the main collection."""
        return self._sibling(STAGED)

    @property
    def closed(self) -> Any:
        """Superseded memories with valid_from and valid_to."""
        return self._sibling(CLOSED)

    def _sibling(self, suffix: str) -> Any:
        """The further collection; opened again after a reset gave the memory another client."""
        main = self.main
        token = id(getattr(main, "client", main))
        with self._lock:
            known = self._opened.get(suffix)
            if known is None or known[0] != token:
                known = self._opened[suffix] = (token, open_sibling(self._memory, suffix))
            return known[1]

    def forget_siblings(self) -> None:
        """The next use opens the further collections again."""
        with self._lock:
            self._opened.clear()

    def drop(self, suffix: str) -> None:
        """Empties a further collection."""
        store = self._sibling(suffix)
        store.delete_col()
        self.forget_siblings()
        self._sibling(suffix)

    # --- points ----------------------------------------------------------------------------

    def put(
        self,
        store: Any,
        native_id: str,
        payload: Mapping[str, Any],
        *,
        words: str,
        vector: Vector | None = None,
    ) -> None:
        """Writes a point under its id, over what is there; `words` are what it is found by.

        `vector`: that of the words, where it is known already.
        """
        found_by = self.vectors([words])[0] if vector is None else vector
        if self.get(store, native_id) is None:
            with self._own_write(store, 1):
                store.insert(vectors=[found_by], ids=[native_id], payloads=[dict(payload)])
        else:
            self.rewrite(store, native_id, payload, found_by)

    def rewrite(
        self, store: Any, native_id: str, payload: Mapping[str, Any], vector: Vector
    ) -> None:
        """Gives a point that is there another payload and another vector."""
        store.update(vector_id=native_id, vector=list(vector), payload=dict(payload))

    def vectors(self, texts: Sequence[str]) -> list[Vector]:
        """The vectors of texts that are stored, in one call of the embedder."""
        if len(texts) == 1:
            return [self._memory.embedding_model.embed(texts[0], "add")]
        return list(self._memory.embedding_model.embed_batch(list(texts), "add"))

    def vector_of(self, store: Any, native_id: str) -> Vector | None:
        """The vector that a point has; None where the provider does not tell it (any but Qdrant),
        or there is no such point."""
        if self._memory.config.vector_store.provider != "qdrant":
            return None
        found = store.client.retrieve(
            collection_name=store.collection_name,
            ids=[native_id],
            with_payload=False,
            with_vectors=True,
        )
        vector = found[0].vector if found else None
        dense = vector.get("") if isinstance(vector, Mapping) else vector
        return [float(part) for part in dense] if dense else None

    def get(self, store: Any, native_id: str) -> dict[str, Any] | None:
        """The payload of a point, if it is there."""
        found = store.get(vector_id=native_id)
        return dict(found.payload or {}) if found is not None else None

    def remove(self, store: Any, native_id: str) -> bool:
        """Takes a point out; False when it is not there."""
        if self.get(store, native_id) is None:
            return False
        with self._own_write(store, -1):
            store.delete(vector_id=native_id)
        return True

    def _own_write(self, store: Any, change: int) -> AbstractContextManager[None]:
        return self.strangers.own_write(change) if store is self.main else nullcontext()

    def _contents(self) -> Contents | None:
        """What the main collection tells of itself, where it is Qdrant within this process: its
        table of ids keeps those of deleted points (test_economy)."""
        store = self.main
        local = getattr(getattr(store, "client", None), "_client", None)
        collections = getattr(local, "collections", None)
        found = collections.get(store.collection_name) if isinstance(collections, dict) else None
        ids, deleted = getattr(found, "ids", None), getattr(found, "deleted", None)
        if not isinstance(ids, dict) or deleted is None:
            return None
        ever = len(ids)
        return Contents(found, ever, ever - int(deleted[:ever].sum()))

    def rows(
        self, store: Any, filters: Mapping[str, Any] | None = None, limit: int = _PAGE
    ) -> list[tuple[str, dict[str, Any]]]:
        """Ids and payloads of up to `limit` points that meet Mem0's plain filters."""
        listed = store.list(filters=dict(filters) if filters else None, top_k=limit)
        return [(str(row.id), dict(row.payload or {})) for row in _rows(listed)]

    def near(
        self, store: Any, query: str, filters: Mapping[str, Any], limit: int
    ) -> list[tuple[str, float, dict[str, Any]]]:
        """Ids, scores and payloads of the points nearest in meaning."""
        vector = self._memory.embedding_model.embed(query, "search")
        hits = store.search(query=query, vectors=vector, top_k=limit, filters=dict(filters))
        return [(str(hit.id), float(hit.score or 0.0), dict(hit.payload or {})) for hit in hits]

    # --- entity links ----------------------------------------------------------------------

    def entity_rows(self, owner: Mapping[str, str]) -> list[tuple[str, dict[str, Any]]]:
        """Entities that Mem0 linked to memories of this owner."""
        if not has_entity_store(self._memory):
            return []
        return self.rows(self._memory.entity_store, owner)

    def unlink_entities(self, native_id: str, owner: Mapping[str, str]) -> None:
        """Takes a memory out of every entity's links; an entity without links goes."""
        for row_id, payload in self.entity_rows(owner):
            linked = payload.get("linked_memory_ids") or []
            if native_id not in linked:
                continue
            rest = [other for other in linked if other != native_id]
            if not rest:
                self._memory.entity_store.delete(vector_id=row_id)
                continue
            text = str(payload.get("data", ""))
            vector = self._memory.embedding_model.embed(text, "update")
            changed = {**payload, "linked_memory_ids": rest}
            self._memory.entity_store.update(vector_id=row_id, vector=vector, payload=changed)

    def drop_entity(self, row_id: str) -> None:
        """Takes an entity out."""
        self._memory.entity_store.delete(vector_id=row_id)

    # --- history ---------------------------------------------------------------------------

    def note_history(
        self, native_id: str, event: str, *, old: str | None, new: str | None, at: str
    ) -> None:
        """Adds a row to Mem0's history, unless the same row is there."""
        known = self._memory.db.get_history(native_id)
        row = (event, old, new)
        if any((r["event"], r["old_memory"], r["new_memory"]) == row for r in known):
            return
        self._memory.db.add_history(
            native_id, old, new, event, created_at=at, updated_at=at, is_deleted=int(new is None)
        )

    def history_words(self, native_id: str) -> list[str]:
        """Texts that Mem0's history still holds of a memory."""
        rows = self._memory.db.get_history(native_id)
        return [text for r in rows for text in (r["old_memory"], r["new_memory"]) if text]

    def purge_history(self, native_ids: Sequence[str]) -> int:
        """Deletes every history row of these memories. Returns how many."""
        ids = [(native_id,) for native_id in native_ids]
        return self._execute_many("DELETE FROM history WHERE memory_id = ?", ids)

    # --- raw messages ----------------------------------------------------------------------

    def messages(self, session_key: str | None = None) -> list[tuple[str, str, str, str]]:
        """Row id, session key, role and content of the raw messages that Mem0 keeps, oldest first:
        of one session key, or of all."""
        where, params = ("", ()) if session_key is None else (_OF_SESSION, (session_key,))
        db = self._memory.db
        with db._lock:
            rows = db.connection.execute(_MESSAGES.format(where=where), params).fetchall()
        return [(str(a), str(b), str(c), str(d or "")) for a, b, c, d in rows]

    def replace_message(self, row_id: str, content: str | None) -> None:
        """Gives a raw message other words; None deletes it."""
        if content is None:
            self._execute_many("DELETE FROM messages WHERE id = ?", [(row_id,)])
        else:
            change = "UPDATE messages SET content = ? WHERE id = ?"
            self._execute_many(change, [(content, row_id)])

    def _execute_many(self, sql: str, rows: Sequence[tuple[Any, ...]]) -> int:
        db = self._memory.db
        with db._lock, db.connection:
            return int(db.connection.executemany(sql, rows).rowcount)


def _rows(listed: Any) -> list[Any]:
    """Providers answer a list call with rows, or with a pair that begins with them."""
    if isinstance(listed, list | tuple) and listed and isinstance(listed[0], list):
        return list(listed[0])
    return list(listed or [])

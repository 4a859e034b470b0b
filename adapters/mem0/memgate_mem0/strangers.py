"""Remembers of which people no memory is stored that the gate does not know.

To look for one means to list a person's memories, for which an embedded Qdrant goes through the
whole collection. While the collection is what our own last write left, the answer of last time
holds (docs/decisions/0005-listing-once.md); a store that does not tell is looked at each time.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from memgate_core.model import Subject


@dataclass(frozen=True, eq=False)
class Contents:
    """What can be told of a collection without going through it."""

    collection: Any
    """The object itself: another one is another collection, whatever it holds."""
    ever: int
    """Points that were ever stored; one that comes again under its id counts once."""
    there: int
    """Points that are there now."""

    def same(self, other: Contents | None) -> bool:
        """True where nothing was added or taken out in between, as far as numbers tell."""
        return other is not None and self.after(other, 0)

    def after(self, before: Contents, change: int) -> bool:
        """True where just so many points came (or, below zero, went) since `before`."""
        return (
            self.collection is before.collection
            and self.there - before.there == change
            and 0 <= self.ever - before.ever <= max(0, change)
        )


class NoStrangers:
    """Who is known whole in one collection, and what it was like when that was found."""

    def __init__(self, contents: Callable[[], Contents | None]) -> None:
        """`contents`: those of the collection now; None where it does not tell."""
        self._now = contents
        self._lock = threading.Lock()
        self._known: set[Subject] = set()
        self._left: Contents | None = None
        self._writes = self._under_way = 0

    @contextmanager
    def own_write(self, change: int) -> Iterator[None]:
        """Around a write of ours that adds so many points, or takes them out (below zero)."""
        with self._lock:
            self._compare()
            self._under_way += 1
            self._writes += 1
            alone = self._writes if self._under_way == 1 else None
        done = False
        try:
            yield
            done = True
        finally:
            with self._lock:
                self._under_way -= 1
                self._settle(change, alone=done and alone == self._writes)

    def has_none(self, subject: Subject) -> bool:
        """True where the last look found none, and only we have written since."""
        with self._lock:
            if self._under_way:
                return False
            self._compare()
            return subject in self._known

    def forget(self) -> None:
        """Something was added that may have stayed unknown: look again."""
        with self._lock:
            self._known.clear()

    @contextmanager
    def looking(self, subject: Subject) -> Iterator[Callable[[], None]]:
        """Around a search; to be called where it found none. It counts only where nothing was
        written meanwhile."""
        with self._lock:
            writes = None if self._under_way else self._writes
            before = self._now()

        def found_none() -> None:
            with self._lock:
                now = self._now()
                if now is None or writes != self._writes or not now.same(before):
                    return
                self._compare()
                self._left = now
                self._known.add(subject)

        yield found_none

    def _compare(self) -> None:
        """Forgets everybody where somebody else has written."""
        if self._known and not self._under_way:
            now = self._now()
            if now is None or not now.same(self._left):
                self._known.clear()

    def _settle(self, change: int, *, alone: bool) -> None:
        """Takes what our write left as what is to be found next time, where it is what we meant."""
        now = self._now() if self._known else None
        if now is not None and self._left is not None and alone and now.after(self._left, change):
            self._left = now
        else:
            self._known.clear()

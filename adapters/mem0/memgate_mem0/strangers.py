"""Remembers of which people no memory is stored that the gate does not know.

To look for one means to list a person's memories, for which an embedded Qdrant goes through the
whole collection. While nobody but the gate has put anything into the collection, the answer of
last time holds. That shows in how many points it ever had, which an embedded collection tells;
any other store is looked at each time.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import NamedTuple

from memgate_core.model import Subject


class Look(NamedTuple):
    """How things stood when a search for unknown memories began."""

    writes: int
    points: int | None


class NoStrangers:
    """One collection: how many points it had by our own count, and who is known whole."""

    def __init__(self, count: Callable[[], int | None]) -> None:
        """`count`: how many points the collection ever had, those deleted since among them; None
        where it does not tell."""
        self._count_now = count
        self._lock = threading.Lock()
        self._known: set[Subject] = set()
        self._count: int | None = None
        self._writes = self._under_way = 0

    @contextmanager
    def own_write(self, points: int) -> Iterator[None]:
        """Around a write of ours that adds so many points."""
        with self._lock:
            self._under_way += 1
            self._writes += 1
        try:
            yield
        finally:
            with self._lock:
                self._under_way -= 1
                if self._count is not None:
                    self._count += points
            self._compare()

    def has_none(self, subject: Subject) -> bool:
        """True where the last look found none, and only we have added anything since."""
        with self._lock:
            if self._under_way or subject not in self._known:
                return False
            writes = self._writes
        self._compare()
        with self._lock:
            return writes == self._writes and subject in self._known

    def forget(self) -> None:
        """Something was added that may have stayed unknown: look again."""
        with self._lock:
            self._known.clear()

    def look(self) -> Look:
        """To be taken before a search begins."""
        with self._lock:
            writes = -1 if self._under_way else self._writes
        return Look(writes, self._count_now())

    def found_none(self, subject: Subject, look: Look) -> None:
        """Remembers that a search since `look` found none."""
        with self._lock:
            if look.points is None or self._under_way or look.writes != self._writes:
                return
            if look.points != self._count:
                self._known.clear()
            self._count = look.points
            self._known.add(subject)

    def _compare(self) -> None:
        """Forgets everybody where the count shows that somebody else has added something."""
        with self._lock:
            if self._known and not self._under_way and self._count_now() != self._count:
                self._known.clear()

"""Answers that a model gave before, so that the same question is not paid for twice.

Keys are hashes and findings hold labels, numbers and offsets: nothing of a user's words stays here
(erasure has nothing to look for).
"""

from __future__ import annotations

import threading
from collections import OrderedDict

from memgate_core.errors import ConfigurationError
from memgate_core.judgement.inquiry import HeldFinding, HeldRow, Row, RowFinding
from memgate_core.model import sha256_of

Finding = RowFinding | HeldFinding


class AnswerCache:
    """The most recently used findings, in memory. Safe between threads."""

    def __init__(self, size: int = 4096) -> None:
        if size < 0:
            raise ConfigurationError(f"cache size is {size}", hint="0 turns it off")
        self.size = size
        self.hits = self.misses = 0
        self._findings: OrderedDict[str, Finding] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, key: str) -> Finding | None:
        """The finding under a key, which then counts as just used."""
        with self._lock:
            found = self._findings.get(key)
            if found is None:
                self.misses += 1
                return None
            self.hits += 1
            self._findings.move_to_end(key)
            return found

    def put(self, key: str, finding: Finding) -> None:
        """Keeps a finding; the least recently used one makes room."""
        with self._lock:
            self._findings[key] = finding
            self._findings.move_to_end(key)
            while len(self._findings) > self.size:
                self._findings.popitem(last=False)

    def clear(self) -> None:
        """Forgets everything."""
        with self._lock:
            self._findings.clear()


def key_of(backend: str, row: Row | HeldRow, context: str = "") -> str:
    """A hash of the question, of who is asked, and of what else the answer depends on."""
    return sha256_of("\x00".join((backend, type(row).__name__, context, row.model_dump_json())))

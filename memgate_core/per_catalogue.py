"""What is made of a whole set of fields, made once for it.

A gate hands the same tuple of fields to its judges on every turn. It is known again by being the
same object: hashing a hundred fields takes longer than most of what is looked up by them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import TypeVar

from memgate_core.model import FieldSpec

T = TypeVar("T")
Fields = tuple[FieldSpec, ...]

_KEPT = 64
"""Sets of fields that are remembered."""


def per_catalogue(make: Callable[[Fields], T]) -> Callable[[Sequence[FieldSpec]], T]:
    """`make` with its results kept, for equal sets of fields and at once for the same tuple.

    Results are shared, so nobody may change them. Thread-safe.
    """
    of_equal = lru_cache(maxsize=_KEPT)(make)
    of_same: dict[int, tuple[Fields, T]] = {}

    def made(fields: Sequence[FieldSpec]) -> T:
        given = tuple(fields)
        found = of_same.get(id(given))
        if found is not None and found[0] is given:  # the entry keeps its tuple, so ids stay apart
            return found[1]
        result = of_equal(given)
        if given is fields:
            if len(of_same) >= _KEPT:
                of_same.clear()
            of_same[id(given)] = (given, result)
        return result

    return made

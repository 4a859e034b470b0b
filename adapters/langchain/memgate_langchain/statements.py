"""The sentences inside a stored value: what a store's dictionary says about somebody."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

OWN_KEYS = frozenset({"memgate", "valid_from", "valid_to"})
"""Keys that the gate writes itself."""

_WITHOUT_SPACES = re.compile(r"[぀-ヿ㐀-鿿가-힯฀-๿]{4,}")

Path = tuple[str | int, ...]


@dataclass(frozen=True)
class Leaf:
    """A string somewhere in a value."""

    path: Path
    text: str

    @property
    def states(self) -> bool:
        """True for sentences and phrases; a lone word, a number or an id states nothing."""
        words = self.text.split()
        return len(words) > 1 or bool(_WITHOUT_SPACES.search(self.text))


def leaves(value: Mapping[str, Any]) -> list[Leaf]:
    """Every string in a value, in order, but for what the gate wrote."""
    return list(_leaves({k: v for k, v in value.items() if k not in OWN_KEYS}, ()))


def with_text(value: Any, path: Path, text: str | None) -> Any:
    """A copy of `value` with the string at `path` replaced, or taken out."""
    if not path:
        return text
    step, rest = path[0], path[1:]
    copy: Any = dict(value) if isinstance(value, Mapping) else list(value)
    inner = with_text(value[step], rest, text)
    if inner is None and not rest:
        del copy[step]
    else:
        copy[step] = inner
    return copy


def _leaves(value: Any, path: Path) -> Iterator[Leaf]:
    if isinstance(value, str):
        if value.strip():
            yield Leaf(path, value)
    elif isinstance(value, Mapping):
        for key, inner in value.items():
            yield from _leaves(inner, (*path, key))
    elif isinstance(value, Sequence) and not isinstance(value, bytes | bytearray):
        for index, inner in enumerate(value):
            yield from _leaves(inner, (*path, index))

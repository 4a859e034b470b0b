"""Held items with later turns, and what each turn does to the item.

# <id> | <attribute> | <description> | now: <value or -> | plan: <value> | text: <what would hold>
P: <the words the plan was voiced in>
A: <assistant's line before the next turn, optional>
v|p|o|t <confirms: verbatim, paraphrase, oblique, situational>
a|b <abandons, plainly or obliquely>    n|m|u <nothing: open, tempting, unrelated>
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from evaluation.training.source import DATA, Line, header_of, lines_of
from memgate_core.model import ResolutionType

_KINDS = {
    **dict.fromkeys("vpot", ResolutionType.CONFIRM),
    **dict.fromkeys("ab", ResolutionType.ABANDON),
    **dict.fromkeys("nmu", ResolutionType.NOTHING),
}
_TURN = re.compile(r"([vpotabnmu])[ \t:]+(.+)")


@dataclass(frozen=True)
class HeldItem:
    """A plan as the gate would hold it."""

    unit: str
    attribute: str
    description: str
    known: str | None
    value: str
    text: str
    words: str


@dataclass(frozen=True)
class LaterTurn:
    """A later turn of the user against a held item."""

    item: HeldItem
    kind: str
    """Letter of the grammar."""
    resolution: ResolutionType
    turn: str
    asked: str | None
    """The assistant's line just before it."""


def later_turns(folder: Path = DATA / "resolutions") -> Iterator[LaterTurn]:
    """Every (held item, later turn) of the hand-written files.

    Raises:
        InvalidRecordError: a line outside the grammar.
    """
    for path in sorted(folder.glob("*.txt")):
        yield from _of_file(path)


def _of_file(path: Path) -> Iterator[LaterTurn]:
    item: HeldItem | None = None
    asked: str | None = None
    for line in lines_of(path):
        if line.text.startswith("#"):
            item, asked = _item_of(line, path), None
        elif item is None:
            raise line.wrong("header", "a turn before any item")
        elif line.text.startswith("P:"):
            item = replace(item, words=f"{item.words} {line.text[2:].strip()}".strip())
        elif line.text.startswith("A:"):
            asked = line.text[2:].strip()
        else:
            kind, text = _turn_of(line)
            yield LaterTurn(item, kind, _KINDS[kind], text, asked)
            asked = None


def _turn_of(line: Line) -> tuple[str, str]:
    match = _TURN.fullmatch(line.text)
    if match is None:
        raise line.wrong("turn", f"starts with none of {' '.join(_KINDS)}: {line.text[:30]!r}")
    kind, text = match.groups()
    return kind, text.removeprefix(f"{kind} ").strip() if text.startswith(f"{kind} ") else text


def _item_of(line: Line, path: Path) -> HeldItem:
    unit, attribute, description, *rest = header_of(line, 6)
    named = dict(_named(line, column) for column in rest)
    for key in ("now", "plan", "text"):
        if not named.get(key):
            raise line.wrong(key, "is missing")
    known = named["now"]
    return HeldItem(
        unit=f"{path.stem}/{unit}",
        attribute=attribute,
        description=description,
        known=None if known in ("-", "–", "none") else known,
        value=named["plan"],
        text=named["text"],
        words="",
    )


def _named(line: Line, column: str) -> tuple[str, str]:
    key, colon, value = column.partition(":")
    if not colon:
        raise line.wrong("header", f"needs 'name: value', has {column[:40]!r}")
    return key.strip(), value.strip()

"""Turns against one field: what must happen to the field's value, and why.

# <id> | <attribute> | <description> | known: <value or ->
C <category> => <value> | <turn>        commit
X <category> => <value> | <turn>        correct
H <category> => <value> | <turn>        hold
N <category> ! <value> | <turn>         nothing: <value> must never become current
R <category> ! <value> | <turn>         reject: another person's, a tool's, a secret
History stands first in the turn as [U: ...] [A: ...]; a turn of the assistant or a tool starts
A: or T:.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from evaluation.training.source import DATA, Line, header_of, lines_of
from memgate_core.model import FieldSpec, HistoryTurn, Role

DECISIONS = {"C": "commit", "X": "correct", "H": "hold", "N": "none", "R": "reject"}
_ROLES = {"U": Role.USER, "A": Role.ASSISTANT, "T": Role.TOOL}
_LINE = re.compile(r"([CXHNR])\s+(\w+)\s*(?:=>|!)\s*(.*?)\s*\|\s*(.+)")
_PAST = re.compile(r"\[\s*([UAT])\s*:\s*((?:[^\[\]]|\[[^\]]*\])*)\]\s*")
_ROLE = re.compile(r"([UAT])\s*:\s*")


@dataclass(frozen=True)
class Admission:
    """A turn against a field."""

    unit: str
    field: FieldSpec
    known: str | None
    decision: str
    category: str
    value: str | None
    text: str
    role: Role
    history: tuple[HistoryTurn, ...]


def admissions(folder: Path = DATA / "admission") -> Iterator[Admission]:
    """Every turn of the hand-written files.

    Raises:
        InvalidRecordError: a line outside the grammar.
    """
    for path in sorted(folder.glob("*.txt")):
        yield from _of_file(path)


def _of_file(path: Path) -> Iterator[Admission]:
    head: tuple[str, FieldSpec, str | None] | None = None
    for line in lines_of(path):
        if line.text.startswith("#"):
            head = _head_of(line, path)
        elif head is None:
            raise line.wrong("header", "a turn before any field")
        else:
            yield _turn_of(line, *head)


def _head_of(line: Line, path: Path) -> tuple[str, FieldSpec, str | None]:
    unit, attribute, description, known, *_ = header_of(line, 4)
    value = known.removeprefix("known:").strip()
    try:
        field = FieldSpec(attribute=attribute, description=description)
    except ValueError as fault:
        raise line.wrong("attribute", str(fault)) from fault
    return f"{path.stem}/{unit}", field, None if value in ("-", "–", "") else value


def _turn_of(line: Line, unit: str, field: FieldSpec, known: str | None) -> Admission:
    match = _LINE.fullmatch(line.text)
    if match is None:
        raise line.wrong("turn", f"is not 'C category => value | turn': {line.text[:50]!r}")
    letter, category, value, rest = match.groups()
    history, rest = _history_of(rest)
    role = _ROLE.match(rest)
    return Admission(
        unit=unit,
        field=field,
        known=known,
        decision=DECISIONS[letter],
        category=category,
        value=None if value in ("-", "–", "") else value,
        text=rest[role.end() :] if role else rest,
        role=_ROLES[role.group(1)] if role else Role.USER,
        history=history,
    )


def _history_of(text: str) -> tuple[tuple[HistoryTurn, ...], str]:
    history = []
    while match := _PAST.match(text):
        history.append(HistoryTurn(role=_ROLES[match.group(1)], content=match.group(2).strip()))
        text = text[match.end() :]
    return tuple(history), text

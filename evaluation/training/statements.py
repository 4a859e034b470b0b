"""Labelled statements: conversations in the text grammar, and JSON lines.

# <conversation id> | <kind> | <who is U> | <who is A>
U: {o} hey {e} just finished volleyball
A: {s} might come next week
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from evaluation.training.source import DATA, Line, header_of, lines_of
from memgate_core.errors import InvalidRecordError
from memgate_core.model import EvidenceType, HistoryTurn, Role, Statement

LABELS = {
    "s": EvidenceType.SPECULATION,
    "e": EvidenceType.COMPLETED_EVENT,
    "c": EvidenceType.CORRECTION,
    "o": EvidenceType.OTHER,
}
_ROLES = {"U:": Role.USER, "A:": Role.ASSISTANT}
_MARK = re.compile(r"\{(\w*)\}")


@dataclass(frozen=True)
class Labelled:
    """A statement with its class. `unit` is the conversation it must stay together with."""

    unit: str
    statement: Statement
    label: EvidenceType
    source: str
    """natural, hard, chat or plan."""


UNSEEN = DATA / "unseen"
"""Hand-written conversations that are never taught, whatever their id: for testing alone."""


def natural(folder: Path = DATA / "statements") -> Iterator[Labelled]:
    """Every statement of the hand-written conversations of a folder.

    Raises:
        InvalidRecordError: a line outside the grammar.
    """
    for path in sorted(folder.glob("*.txt")):
        yield from _conversations(path)


def from_jsonl(path: Path, source: str) -> Iterator[Labelled]:
    """Statements in the form of evaluation/statements/format.py, with labels.

    Raises:
        InvalidRecordError: a line that is no such record.
    """
    for line in lines_of(path):
        try:
            yield _from_record(json.loads(line.text), source)
        except (ValueError, KeyError, TypeError) as fault:
            raise line.wrong("record", f"{type(fault).__name__}: {fault}") from fault


def _from_record(record: dict[str, object], source: str) -> Labelled:
    text = str(record["text"])
    message = str(record.get("message") or text)
    history = record.get("history") or []
    statement = Statement(
        text=text,
        message=message,
        role=Role(str(record.get("role", "user"))),
        history=tuple(HistoryTurn.model_validate(turn) for turn in history),  # type: ignore[attr-defined]
        start=max(message.find(text), 0),
    )
    return Labelled(str(record["id"]), statement, EvidenceType(str(record["label"])), source)


def _conversations(path: Path) -> Iterator[Labelled]:
    unit, history = "", list[HistoryTurn]()
    for line in lines_of(path):
        if line.text.startswith("#"):
            unit, history = f"{path.stem}/{header_of(line, 2)[0]}", []
            continue
        if not unit:
            raise line.wrong("header", "a message before any conversation")
        role = _ROLES.get(line.text[:2])
        if role is None:
            raise line.wrong("speaker", "a message starts with U: or A:")
        parts = _parts(line)
        message = " ".join(text for _, text in parts)
        yield from _of_message(unit, parts, message, role, tuple(history[-2:]))
        history.append(HistoryTurn(role=role, content=message))


def _of_message(
    unit: str,
    parts: list[tuple[EvidenceType, str]],
    message: str,
    role: Role,
    history: tuple[HistoryTurn, ...],
) -> Iterator[Labelled]:
    start = 0
    for label, text in parts:
        statement = Statement(text=text, message=message, role=role, history=history, start=start)
        yield Labelled(unit, statement, label, "natural")
        start += len(text) + 1


def _parts(line: Line) -> list[tuple[EvidenceType, str]]:
    pieces = _MARK.split(line.text[2:])
    if pieces[0].strip():
        raise line.wrong("label", f"words before the first label: {pieces[0].strip()[:40]!r}")
    parts = []
    for letter, text in zip(pieces[1::2], pieces[2::2], strict=True):
        if letter not in LABELS:
            raise line.wrong("label", f"{{{letter}}} is none of {', '.join(LABELS)}")
        if text.strip():
            parts.append((LABELS[letter], text.strip()))
    if not parts:
        raise line.wrong("label", "a message without a labelled statement")
    return parts


__all__ = ["InvalidRecordError", "Labelled", "from_jsonl", "natural"]

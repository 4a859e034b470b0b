"""LongMemEval: a user and an assistant, one question a record, marked by its type.

[{"question_id", "question_type": "knowledge-update", "question", "answer", "haystack_dates":
  ["2023/04/10 (Mon) 17:50"], "haystack_sessions": [[{"role", "content", "has_answer"}]]}]
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from evaluation.importers.chat import Asked, Chat, Said, Sitting, date_of, need, records
from memgate_core.errors import InvalidRecordError

_FORMS = ("%Y/%m/%d (%a) %H:%M", "%Y/%m/%d %H:%M", "%Y-%m-%d", "%Y/%m/%d")


def longmemeval(path: Path) -> Iterator[Chat]:
    """Chats of a LongMemEval file, each with its one question.

    Raises:
        InvalidInputError, InvalidRecordError: names the record and the key.
    """
    for number, record in records(path):
        name = str(need(path, number, record, "question_id", str))
        yield Chat(
            id=name,
            speakers=("user", "assistant"),
            sittings=_sittings(path, number, record),
            asked=[_asked(path, number, name, record)],
        )


def _sittings(path: Path, number: int, record: Mapping[str, Any]) -> list[Sitting]:
    dates = need(path, number, record, "haystack_dates", list)
    sessions = need(path, number, record, "haystack_sessions", list)
    if len(dates) != len(sessions):
        raise InvalidRecordError(path, number, "haystack_dates", "has another length than sessions")
    found = [
        Sitting(
            date=date_of(path, number, "haystack_dates", str(date), *_FORMS),
            said=[_said(path, number, line) for line in session if _words(line)],
        )
        for date, session in zip(dates, sessions, strict=True)
    ]
    return sorted((one for one in found if one.said), key=lambda one: one.date)


def _said(path: Path, number: int, line: Mapping[str, Any]) -> Said:
    role = str(need(path, number, line, "role", str))
    return Said(speaker=role, text=_words(line), place="answer" if line.get("has_answer") else "")


def _words(line: Any) -> str:
    return str(line.get("content") or "").strip() if isinstance(line, dict) else ""


def _asked(path: Path, number: int, name: str, record: Mapping[str, Any]) -> Asked:
    update = record.get("question_type") == "knowledge-update" and not name.endswith("_abs")
    return Asked(
        id=name,
        question=str(need(path, number, record, "question", str)),
        answer=str(record.get("answer", "")),
        evidence=("answer",),
        changes=update,
    )

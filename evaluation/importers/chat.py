"""A chat of a public data set that the user has, in one shape, whatever file it came from."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from pydantic import AwareDatetime, BaseModel

from memgate_core.errors import InvalidInputError, InvalidRecordError


class Said(BaseModel):
    """One message. `place` is the data set's own name for it."""

    speaker: str
    text: str
    place: str = ""


class Sitting(BaseModel):
    """Messages of one date."""

    date: AwareDatetime
    said: list[Said]


class Asked(BaseModel):
    """A question with its answer, and the places that it rests on."""

    id: str
    question: str
    answer: str
    evidence: tuple[str, ...] = ()
    changes: bool = False
    """True when the answer depends on something that changed during the chat."""


class Chat(BaseModel):
    """A conversation over several sittings, with questions about it."""

    id: str
    speakers: tuple[str, ...]
    sittings: list[Sitting]
    asked: list[Asked]

    def speaker_of(self, question: Asked) -> str:
        """Whom a question is about: who is named in it, else who said what it rests on."""
        named = [name for name in self.speakers if name.split()[0] in question.question]
        if len(named) == 1:
            return named[0]
        for sitting in self.sittings:
            for said in sitting.said:
                if said.place in question.evidence:
                    return said.speaker
        return self.speakers[0]


def records(path: Path) -> Iterator[tuple[int, Mapping[str, Any]]]:
    """The objects of a JSON file that holds one, a list of them, or one a line.

    Raises:
        InvalidInputError: no such file. InvalidRecordError: not JSON, or not objects.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as fault:
        raise InvalidInputError(f"{path}: {fault}") from fault
    try:
        found = json.loads(text)
    except ValueError:
        found = [_line(path, number, line) for number, line in enumerate(text.splitlines(), 1)]
    for number, record in enumerate(found if isinstance(found, list) else [found], 1):
        if not isinstance(record, dict):
            raise InvalidRecordError(path, number, "record", "is not a JSON object")
        yield number, record


def _line(path: Path, number: int, line: str) -> Any:
    try:
        return json.loads(line)
    except ValueError as fault:
        raise InvalidRecordError(path, number, "json", str(fault)) from None


def need(path: Path, number: int, record: Mapping[str, Any], key: str, kind: type) -> Any:
    """A key of a record.

    Raises:
        InvalidRecordError: it is missing or of another kind.
    """
    value = record.get(key)
    if not isinstance(value, kind):
        problem = "is missing" if key not in record else f"is not a {kind.__name__}"
        raise InvalidRecordError(path, number, key, problem)
    return value


def date_of(path: Path, number: int, key: str, text: str, *forms: str) -> datetime:
    """A date in one of a data set's forms, taken as UTC: the sets name no zone.

    Raises:
        InvalidRecordError: none of the forms fits.
    """
    for form in forms:
        try:
            return datetime.strptime(text.strip(), form).replace(tzinfo=UTC)
        except ValueError:
            continue
    raise InvalidRecordError(path, number, key, f"{text!r} is not a date of the form {forms[0]!r}")

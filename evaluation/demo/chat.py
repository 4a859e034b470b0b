"""A chat file for the demonstration: messages of several people, and questions between them.

One JSON object a line:

    {"at": "2026-03-02T08:40:00Z", "user": "maya", "content": "I live in Leeds."}
    {"at": "…", "user": "maya", "role": "assistant", "content": "Noted."}
    {"user": "maya", "ask": "Which city does Maya live in?", "true": "Leeds",
     "false": "Maya lives in Seattle"}

`user` may be missing where there is one person only, `at` where the day does not matter (a day
passes between messages). `extracted` holds what an extractor wrote for a message, beforehand.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Literal, Self

from pydantic import AwareDatetime, Field, model_validator

from evaluation.jsonl import Record, read
from evaluation.plans.format import Extraction
from evaluation.words import Words

OWN = Path(__file__).with_name("chat.jsonl")
_FIRST_DAY = datetime(2026, 1, 5, 9, tzinfo=UTC)


class ChatLine(Record):
    """A message, or a question put to both memories at this moment."""

    user: str = Field(default="you", min_length=1)
    at: AwareDatetime | None = None
    role: Literal["user", "assistant"] = "user"
    content: Words | None = None
    extracted: tuple[Extraction, ...] | None = None
    ask: Words | None = None
    true: str | None = None
    false: str | None = None
    """What is not true at this moment, though somebody spoke of it."""

    @model_validator(mode="after")
    def _one_of_two(self) -> Self:
        if (self.content is None) == (self.ask is None):
            raise ValueError("needs either content or ask")
        return self


class Message(Record):
    """A message with its time and its place in the file."""

    id: str
    user: str
    at: AwareDatetime
    role: Literal["user", "assistant"]
    content: str
    extracted: tuple[Extraction, ...] | None


class Question(Record):
    """Something to ask both memories."""

    user: str
    text: str
    true: str | None
    false: str | None


def chat(path: Path) -> Iterator[Message | Question]:
    """Messages and questions in the order of the file.

    Raises:
        InvalidInputError: no such file. InvalidRecordError: names file, line and key.
    """
    now = _FIRST_DAY
    for number, line in read(path, ChatLine):
        if line.ask is not None:
            yield Question(user=line.user, text=line.ask, true=line.true, false=line.false)
            continue
        now = line.at or now + timedelta(days=1)
        yield Message(
            id=f"chat-{number}",
            user=line.user,
            at=now,
            role=line.role,
            content=line.content or "",
            extracted=line.extracted,
        )

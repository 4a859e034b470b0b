"""Real chats, read and labelled by hand: labels in this repository, words in the package.

`evaluation/data/chats/*.tsv`: conversation, message, sentence, hash of the sentence, label letter.
The words are those of the MIT-licensed `chitchat-dataset` package (a training dependency only).
"""

from __future__ import annotations

import hashlib
import random
import re
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from evaluation.training.source import DATA, Line, lines_of
from evaluation.training.statements import LABELS, Labelled
from memgate_core.errors import ConfigurationError
from memgate_core.model import EvidenceType, HistoryTurn, Role, Statement

_SENTENCE_END = re.compile(r"(?<=[.!?…])\s+(?=\S)")


def chat_labels(folder: Path = DATA / "chats") -> Iterator[tuple[str, EvidenceType]]:
    """(conversation, label) of every labelled sentence: for counting, without its words.

    Raises:
        InvalidRecordError: a line outside the form.
    """
    for path in sorted(folder.glob("*.tsv")):
        for line in lines_of(path):
            columns = _columns(line)
            yield columns[0], LABELS[columns[4]]


def chats(folder: Path = DATA / "chats") -> Iterator[Labelled]:
    """Every labelled sentence of the real chats.

    Raises:
        InvalidRecordError: a line outside the form, or words that are not those labelled.
        ConfigurationError: the package with the chats is not installed.
    """
    for path in sorted(folder.glob("*.tsv")):
        for line in lines_of(path):
            yield _labelled(line)


def thinned(items: Sequence[Labelled]) -> list[Labelled]:
    """What of real chats is taught: every sentence in which something happens or may happen, the
    sentences beside one, and a third of the rest. Small talk is nine tenths `other`, where what
    people tell an assistant or a friend is not; whole, it would teach to look away."""
    telling = [item.label is not EvidenceType.OTHER for item in items]
    return [
        item
        for at, item in enumerate(items)
        if any(telling[max(0, at - 1) : at + 2]) or at % 3 == 0
    ]


def _labelled(line: Line) -> Labelled:
    unit, message, sentence, digest, letter = _columns(line)
    statement = statement_at(unit, int(message), int(sentence))
    if hashlib.sha256(statement.text.encode("utf-8")).hexdigest()[:16] != digest:
        raise line.wrong("hash", "the sentence there is not the one that was labelled")
    return Labelled(unit, statement, LABELS[letter], "chat")


def _columns(line: Line) -> list[str]:
    columns = line.text.split("\t")
    if len(columns) != 5 or columns[4] not in LABELS:
        raise line.wrong("columns", "needs conversation, message, sentence, hash, label")
    return columns


def unlabelled(count: int, seed: int) -> list[Statement]:
    """Sentences of chats that nobody labelled, one a message; the same for the same seed."""
    rng = random.Random(seed)
    taken = {item.unit for item in chats()}
    names = sorted(name for name in _all_chats() if name not in taken)
    places = [
        (name, number) for name in names for number in range(len(_all_chats()[name]["messages"]))
    ]
    rng.shuffle(places)
    found = []
    for name, number in places:
        parts = sentences(_all_chats()[name]["messages"][number])
        if parts:
            found.append(statement_at(name, number, rng.randrange(len(parts))))
        if len(found) == count:
            break
    return found


def statement_at(conversation: str, message: int, sentence: int) -> Statement:
    """A sentence of a chat in its place."""
    turns = _all_chats()[conversation]["messages"]
    parts = sentences(turns[message])
    speaker = turns[message][0]["sender"]
    history = tuple(
        HistoryTurn(
            role=Role.USER if turn[0]["sender"] == speaker else Role.ASSISTANT,
            content=" ".join(sentences(turn)) or "-",
        )
        for turn in turns[max(0, message - 2) : message]
    )
    return Statement(
        text=parts[sentence],
        message=" ".join(parts),
        history=history,
        start=sum(len(part) + 1 for part in parts[:sentence]),
    )


def sentences(turn: list[dict[str, str]]) -> list[str]:
    """The sentences of one message (a message may have been sent in several lines)."""
    return [s for sent in turn for s in _SENTENCE_END.split(sent["text"].strip()) if s.strip()]


@cache
def _all_chats() -> dict[str, Any]:
    try:
        import chitchat_dataset  # type: ignore[import-untyped]
    except ImportError as fault:
        raise ConfigurationError(
            "the real chats need the package chitchat-dataset", hint="install the dev group"
        ) from fault
    return dict(chitchat_dataset.Dataset())

"""Who says what in an episode's body, and the body again from what may go on.

Three forms, as Graphiti has them: `message` (each "name: text" line is a turn of that speaker, and
lines without a name go on with the one before), `text` (one turn), `json` (the strings in it are
judged, those under a key such as "plan" as a plan; the rest passes).
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from graphiti_core.nodes import EpisodeType

from memgate_core.errors import InvalidTurnError
from memgate_core.fields.normalise import is_frame_alone, is_plan_framed, tokens
from memgate_core.forwarding import forwardable
from memgate_core.model import Role, Span


def _set(words: str) -> frozenset[str]:
    return frozenset(words.split())


_SPEAKER = re.compile(
    r"^[ \t]*(?:(?P<name>[^\W\d_][\w.'’-]*(?:[ ][\w.'’-]+){0,3})[ \t]*)?"
    r"(?:\((?P<role>user|assistant|system|tool)\)[ \t]*)?:(?:[ \t]+|$)",
    re.IGNORECASE,
)
_NOT_NAMES = _set(
    "i we you he she it they my our your this that these those there here what when where which"
    " who why how if so but and or because actually note ps edit update reminder todo well ok"
    " okay yes no plan idea question answer warning http https re fw fwd subject"
)
_ASSISTANTS = _set("assistant ai agent bot chatbot model")
_TOOLS = _set("tool function system")


@dataclass(frozen=True)
class Speakers:
    """Which names in a message are the subject's, the assistant's and a tool's.

    Anybody else is a person of his or her own: what they plan is theirs, and they settle nothing
    of the subject's. Names are compared without case.
    """

    subject: tuple[str, ...] = ("user",)
    """The first is also what the subject is called in facts that the gate writes."""
    assistant: tuple[str, ...] = ()
    """Beside "assistant", "ai", "agent", "bot", "chatbot" and "model"."""
    tools: tuple[str, ...] = ()
    """Beside "tool", "function" and "system": their words never become facts of a person."""
    others: bool = True
    """False where nobody else ever speaks: then "Leeds: lovely" at the start of a line is text."""

    def role_of(self, name: str | None, declared: str | None) -> tuple[Role, str | None]:
        """The role of a speaker, and the actor's name where it is another person."""
        plain = (name or "").casefold()
        if plain in _folded(self.subject):
            return Role.USER, None
        if plain in _folded(self.assistant) | _ASSISTANTS or declared == "assistant":
            return Role.ASSISTANT, None
        if plain in _folded(self.tools) | _TOOLS or declared in ("tool", "system"):
            return Role.TOOL, None
        own = name is None or (declared == "user" and self.subject == ("user",))
        return (Role.USER, None) if own else (Role.USER, name)


@dataclass(frozen=True)
class Said:
    """What one speaker says in a body: `body[start:end]`, after a prefix such as "user: "."""

    text: str
    role: Role
    actor: str | None = None
    speaker: str | None = None
    prefix: str = ""


@dataclass(frozen=True)
class Speech:
    """A body taken apart. `said` are its turns, in order; empty lines are none."""

    body: str
    source: EpisodeType
    said: tuple[Said, ...]
    _leaves: tuple[tuple[tuple[str | int, ...], Span], ...] = field(default=())

    def without(self, withheld: Sequence[Sequence[Span]]) -> str | None:
        """The body without the withheld spans of each turn; None when no words are left.

        The caller's own string where nothing is withheld.
        """
        if not any(withheld):
            return self.body
        if self._leaves:
            return self._json_without(withheld[0])
        if self.source is EpisodeType.message:
            kept = [
                f"{turn.prefix}{rest}"
                for turn, spans in zip(self.said, withheld, strict=True)
                if (rest := forwardable(turn.text, spans)) is not None
            ]
            return "\n".join(kept) or None
        return forwardable(self.said[0].text, withheld[0])

    def _json_without(self, withheld: Sequence[Span]) -> str | None:
        data = json.loads(self.body)
        held = [path for path, span in self._leaves if any(span.overlaps(w) for w in withheld)]
        if len(held) == len(self._leaves):
            return None
        for path in reversed(held):
            _drop(data, path)
        return json.dumps(data, ensure_ascii=False)


def speech_in(body: str, source: EpisodeType, speakers: Speakers, role: str) -> Speech:
    """Takes a body apart. `role` is who speaks in a text or json episode.

    Raises:
        InvalidTurnError: the body is no string, or the role is unknown.
    """
    if not isinstance(body, str):
        raise InvalidTurnError("text", f"must be a string, not {type(body).__name__}")
    if source is EpisodeType.message:
        return Speech(body, source, tuple(_turns(body, speakers)))
    speaker = role_named(role)
    if source is EpisodeType.json and (leaves := list(_strings_in(body))):
        text, spans = _joined([words for _, words in leaves])
        paths = tuple((path, span) for (path, _), span in zip(leaves, spans, strict=True))
        return Speech(body, source, (Said(text, speaker),), paths)
    return Speech(body, source, (Said(body, speaker),))


def role_named(role: str) -> Role:
    """The role of this name.

    Raises:
        InvalidTurnError: there is none.
    """
    try:
        return Role(role)
    except ValueError:
        known = ", ".join(Role)
        raise InvalidTurnError("role", f"{role!r} is unknown", hint=f"one of {known}") from None


def _turns(body: str, speakers: Speakers) -> Iterable[Said]:
    for prefix, text in _parts(body, speakers):
        found = _SPEAKER.match(prefix) if prefix else None
        name = found.group("name") if found else None
        declared = found.group("role").lower() if found and found.group("role") else None
        role, actor = speakers.role_of(name, declared)
        yield Said(text, role, actor, name, prefix)


def _parts(body: str, speakers: Speakers) -> list[tuple[str, str]]:
    """(prefix, text) of each turn; text keeps the lines that go on after the first."""
    parts: list[tuple[str, list[str]]] = []
    for line in body.split("\n"):
        prefix = _prefix(line, speakers)
        if prefix is not None:
            parts.append((prefix, [line[len(prefix) :]]))
        elif parts:
            parts[-1][1].append(line)
        else:
            parts.append(("", [line]))
    joined = [(prefix, "\n".join(lines)) for prefix, lines in parts]
    return [(prefix, text) for prefix, text in joined if text.strip()]


def _prefix(line: str, speakers: Speakers) -> str | None:
    """The "name: " at the start of a line, where that is somebody's name."""
    found = _SPEAKER.match(line)
    if found is None or not (found.group("name") or found.group("role")):
        return None
    name = (found.group("name") or "").casefold()
    known = _folded((*speakers.subject, *speakers.assistant, *speakers.tools))
    if name in known | _ASSISTANTS | _TOOLS or found.group("role"):
        return found.group()
    return found.group() if speakers.others and not set(name.split()) & _NOT_NAMES else None


def _strings_in(body: str) -> Iterable[tuple[tuple[str | int, ...], str]]:
    try:
        data = json.loads(body)
    except ValueError:
        return
    yield from _walk(data, ())


def _walk(data: Any, path: tuple[str | int, ...]) -> Iterable[tuple[tuple[str | int, ...], str]]:
    if isinstance(data, str):
        if data.strip() and path:
            yield path, _spoken(data, path)
        return
    pairs = data.items() if isinstance(data, dict) else enumerate(data) if _is_list(data) else ()
    for key, value in pairs:
        yield from _walk(value, (*path, key))


def _spoken(words: str, path: tuple[str | int, ...]) -> str:
    """A string as it is judged: one whose key calls it a plan says so itself."""
    keys = [key for key in path if isinstance(key, str)]
    framed = [key for key in keys if is_plan_framed(key) or is_frame_alone(key)]
    return f"I might choose {words} ({' '.join(tokens(framed[-1]))})" if framed else words


def _is_list(data: Any) -> bool:
    return isinstance(data, list)


def _drop(data: Any, path: tuple[str | int, ...]) -> None:
    for key in path[:-1]:
        data = data[key]
    del data[path[-1]]


def _joined(texts: Sequence[str]) -> tuple[str, list[Span]]:
    """Texts under each other, each a paragraph, and where each of them stands."""
    spans, at = [], 0
    for text in texts:
        spans.append(Span(start=at, end=at + len(text)))
        at += len(text) + 2
    return "\n\n".join(texts), spans


def _folded(names: Iterable[str]) -> frozenset[str]:
    return frozenset(name.casefold() for name in names)

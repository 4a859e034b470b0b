"""What would be true if a held statement came true: "might sell the piano" -> "sold the piano".

In the third person and without a subject where that is the user. With a registered field the
field's own phrase is used; without one the hedge and plan frame go, and the verb is inflected.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from memgate_core.fields.catalogue import completed
from memgate_core.fields.plain_value import plain_value
from memgate_core.language.lexicon import Tag, inflect, is_noun
from memgate_core.language.predicate import Predicate, find_predicate
from memgate_core.language.tokens import Token, lower, tokenise
from memgate_core.language.words import DETERMINERS, DISCOURSE, FIRST_PERSON, STATIVE, word_set
from memgate_core.model import USER_ENTITY, Candidate, FieldSpec, Instant, Turn
from memgate_core.resolution import dates
from memgate_core.resolution.settled_when import discard_when, promote_when
from memgate_core.resolution.wording import (
    in_third_person,
    without_afterthoughts,
    without_times,
)

_LONGEST = 240
_USER_SUBJECT = re.compile(r"^\W*(?:the\s+)?user(?:'s|’s)?\s+", re.IGNORECASE)
_POINTS = re.compile(
    r"^\W*(?:and |so |but )?(?:that|this)(?:'s|’s| is| \w+ is) (?:the |when)", re.IGNORECASE
)
_NOUN_DOINGS = {
    "move": "moved", "switch": "switched", "change": "made a change", "trip": "took {np}",
    "upgrade": "upgraded", "return": "returned", "visit": "paid {np}", "holiday": "took {np}",
    "vacation": "took {np}", "wedding": "had {np}", "party": "had {np}", "relocation": "relocated",
    "transfer": "transferred", "divorce": "got {np}", "break": "took {np}", "purchase": "made {np}",
}  # fmt: skip
"""How a considered noun comes true."""
_GOT = word_set("want consider look eye fancy save apply need")
_STATES = word_set("be have")


class LocalRealiser:
    """Implements Realiser with grammar alone: no model, no network."""

    name = "local-realiser/1"

    def realise(self, candidate: Candidate, field: FieldSpec | None) -> str:
        """What would be true, e.g. "lives in Seattle"."""
        value = plain_value(candidate.value) if candidate.value else None
        if field is not None and value:
            return _of_field(completed(field), value)
        return _of_words(candidate)[:_LONGEST]

    def conditions(self, realised: str, candidate: Candidate) -> tuple[str, str]:
        """(promote_when, discard_when): see memgate_core.resolution.settled_when."""
        return promote_when(realised, candidate), discard_when(realised, candidate)

    def review_at(self, turn: Turn, candidate: Candidate) -> Instant | None:
        """The day the words name, from the turn's clock: see memgate_core.resolution.dates."""
        return dates.review_at(turn, candidate)

    def event_time(self, turn: Turn, words: str) -> Instant:
        """When what the words report happened: see memgate_core.resolution.dates."""
        return dates.event_time(turn, words)


def _of_field(field: FieldSpec, value: str) -> str:
    phrase = field.phrase or f"has {{value}} as {field.attribute.replace('_', ' ')}"
    at = phrase.index("{value}")
    shown = value[0].lower() + value[1:] if value.startswith(("A ", "An ", "The ")) else value
    before = phrase[:at]
    if before.endswith(" a ") and shown[:1].lower() in "aeiou":
        before = before[:-1] + "n "
    return before + shown + phrase[at + len("{value}") :]


def _of_words(candidate: Candidate) -> str:
    written = candidate.text if candidate.text != candidate.words else candidate.words
    text = _USER_SUBJECT.sub("I ", written)
    tokens = tokenise(text)
    predicate = find_predicate(tokens)
    if predicate is None:
        return _plain(text)
    said = _said(text, tokens, predicate, dated=_is_dated(text))
    subject = _subject(text, tokens, predicate, candidate.entity)
    return f"{subject} {said}".strip() if said else _plain(text)


def _is_dated(text: str) -> bool:
    """A day is named, or pointed at: then a simple present tells of the future."""
    return bool(_POINTS.match(text)) or without_times(text) != text.strip(" .!?,")


def _plain(text: str) -> str:
    """Without a verb there is nothing to inflect: the words, tidied."""
    tokens = tokenise(text)
    first = next((t.start for t in tokens if t.is_word and t.low not in DISCOURSE), 0)
    return in_third_person(without_times(without_afterthoughts(text[first:])))


def _subject(text: str, tokens: Sequence[Token], predicate: Predicate, entity: str) -> str:
    start, end = predicate.subject
    words = [t.low for t in tokens[start:end]]
    if not words or any(word in ("i", "we", "me") for word in words):
        return "" if entity == USER_ENTITY else entity
    if words in (["he"], ["she"], ["they"]) and entity not in (USER_ENTITY, *words):
        return entity
    if words[0] in ("it", "that", "this", "there", "you"):
        return ""
    named = text[tokens[start].start : tokens[end - 1].end]
    return entity if entity != USER_ENTITY else in_third_person(_lower_first(named))


def _lower_first(text: str) -> str:
    first = lower(text.split()[0])
    common = first in FIRST_PERSON or first in DETERMINERS or is_noun(first)
    return text[0].lower() + text[1:] if common and not text.split()[0].isupper() else text


def _said(text: str, tokens: Sequence[Token], predicate: Predicate, *, dated: bool) -> str:
    if predicate.tag is None:
        return _of_noun(text[tokens[predicate.verb].start :], predicate)
    rest = without_afterthoughts(text[tokens[predicate.verb].end :])
    happened = predicate.tag in (Tag.PAST, Tag.PARTICIPLE) and not predicate.planned
    if not happened and (predicate.planned or predicate.tag is Tag.GERUND or dated):
        rest = without_times(rest)
    if predicate.lemma == "do" and rest.startswith("with "):
        return f"got {in_third_person(rest.removeprefix('with '))}"  # "could do with a bag"
    return f"{_verb(tokens, predicate, dated)} {in_third_person(rest)}".strip()


def _verb(tokens: Sequence[Token], predicate: Predicate, dated: bool) -> str:
    lemma = predicate.lemma
    if predicate.former:
        return f"used to {lemma}"
    if predicate.passive:
        be = (
            "were"
            if any(t.low in ("are", "were", "'re") for t in tokens[: predicate.verb])
            else "was"
        )
        return f"{be} {'not ' if predicate.negated else ''}{inflect(lemma, Tag.PARTICIPLE)}"
    tense = _tense(predicate, dated)
    if predicate.negated:
        if lemma == "be":
            return f"{inflect(lemma, tense)} not"
        return f"{'does' if tense is Tag.PRESENT else 'did'} not {lemma}"
    if tense is Tag.PRESENT and predicate.tag is Tag.BASE and _others_plural(tokens, predicate):
        return lemma
    return inflect(lemma, tense)


def _others_plural(tokens: Sequence[Token], predicate: Predicate) -> bool:
    start, end = predicate.subject
    words = [t.low for t in tokens[start:end]]
    return bool(words) and not predicate.planned and words[0] not in ("i", "we")


def _tense(predicate: Predicate, dated: bool) -> Tag:
    standing = predicate.lemma in STATIVE or predicate.lemma in _STATES
    if predicate.planned or predicate.tag is Tag.GERUND:
        return Tag.PRESENT if standing else Tag.PAST
    if predicate.tag in (Tag.PAST, Tag.PARTICIPLE) or (dated and not standing):
        return Tag.PAST
    return Tag.PRESENT


def _of_noun(phrase: str, predicate: Predicate) -> str:
    """ "considering a move to Leeds" -> "moved to Leeds"; "wants a dog" -> "got a dog"."""
    bare = in_third_person(without_times(without_afterthoughts(phrase)))
    words = bare.split()
    skip = 1 if words and words[0].lower() in ("a", "an", "the", "another") else 0
    doing = _NOUN_DOINGS.get(words[skip].lower()) if len(words) > skip else None
    if doing is not None:
        rest = " ".join(words[skip + 1 :])
        return doing.format(np=bare) if "{np}" in doing else f"{doing} {rest}".strip()
    if not bare:
        return ""
    return f"got {bare}" if predicate.framed_by in _GOT else f"went ahead with {bare}"

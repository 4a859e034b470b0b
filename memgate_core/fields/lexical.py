"""The lexical field matcher: names, synonyms, the plan-frame retry, and words in common.

It needs no model and is right when it speaks; what it does not find, a model-based matcher may.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from memgate_core.fields.catalogue import completed
from memgate_core.fields.normalise import is_frame_alone, normalise, plan_frame_steps
from memgate_core.language.lexicon import noun_lemma, verb_readings
from memgate_core.language.tokens import words_of
from memgate_core.language.words import STOPWORDS, word_set
from memgate_core.model import USER_ENTITY, Candidate, FieldMatch, FieldSpec
from memgate_core.per_catalogue import per_catalogue

_NOWHERE = FieldMatch(field=None, confidence=0.0, via="none")
_ENOUGH = 0.72
"""Share of an attribute's telling words that a field must hold to count as the same slot."""
_MARGIN = 0.1
"""How far the best field must be ahead of the next one."""
_VAGUE = word_set(
    "type kind status name detail info information current main own personal mode method way model"
    " provider service use user thing place person people home usual regular choice setup situation"
    " work everyday daily platform"
)
"""Words that many slots share and that tell none of them apart."""
_ASPECTS = word_set(
    "complaint day days history past former previous old fit feature rating opinion view reason"
    " price cost fee age problem issue fault feedback recommendation advice trait experience"
    " rejected dislike disliked symptom training question topic exam event activity mood note"
    " quirk usage preference taste outside duration distance frequency condition colour size"
    " brand damage memory gift first last number date time habit skill level"
    " concern worry"
)
"""Words that make an attribute speak of something else about the thing ("vet_complaint")."""
_HEAD_ENDS = re.compile(
    r"\b(?:that|who|which|where|whom|the user|user's|at|on|in|of|from|behind|and)\b"
)


@dataclass(frozen=True)
class _Slot:
    """The telling words of one field."""

    field: FieldSpec
    named: tuple[str, ...]
    """Of its attribute name, in order; the last is its head."""
    heads: frozenset[str]
    """What its description calls the thing ("the piano the user practises on")."""
    described: frozenset[str]


@dataclass(frozen=True)
class _Index:
    """Fields by every name they answer to, and the words that speak of them."""

    exact: dict[str, FieldSpec]
    synonyms: dict[str, FieldSpec]
    slots: tuple[_Slot, ...]


class LexicalMatcher:
    """Implements FieldMatcher. Only the user's own candidates match the user's fields.

    `overlap=False` leaves out the last, loosest step (paper section 6.3: a looser matcher lets more
    classification errors through).
    """

    name = "lexical"

    def __init__(self, *, overlap: bool = True, retry: bool = True) -> None:
        self._overlap = overlap
        self._retry = retry

    def match(
        self, candidates: Sequence[Candidate], fields: Sequence[FieldSpec]
    ) -> list[FieldMatch]:
        """One match a candidate, in order; `via` says how: exact, synonym, plan_frame, overlap."""
        index = _index_of(fields)
        return [self._match(candidate, index) for candidate in candidates]

    def _match(self, candidate: Candidate, index: _Index) -> FieldMatch:
        if candidate.attribute is None:
            return _NOWHERE
        steps: list[Callable[[str, _Index], FieldMatch | None]] = [_named]
        steps += [_retried] if self._retry else []
        steps += [_overlapping] if self._overlap else []
        for step in steps:
            found = step(candidate.attribute, index)
            if found is not None and _same_owner(candidate, found):
                return found
        return _NOWHERE


def _same_owner(candidate: Candidate, match: FieldMatch) -> bool:
    wanted = match.field.entity if match.field else USER_ENTITY
    return candidate.entity.casefold() == wanted.casefold()


def _named(attribute: str, index: _Index) -> FieldMatch | None:
    name = normalise(attribute)
    for key in (attribute, name, _singular(name)):
        if key in index.exact:
            return FieldMatch(field=index.exact[key], confidence=1.0, via="exact")
    for key in (name, _singular(name)):
        if key in index.synonyms:
            return FieldMatch(field=index.synonyms[key], confidence=0.95, via="synonym")
    return None


def _retried(attribute: str, index: _Index) -> FieldMatch | None:
    """The paper's retry (section 4): plan words are stripped and the rest is asked again."""
    for name in plan_frame_steps(attribute):
        found = _named(name, index) or _overlapping(name, index)
        if found is not None:
            sure = round(0.9 * found.confidence, 3)
            return found.model_copy(update={"via": "plan_frame", "confidence": sure})
    return None


def _overlapping(attribute: str, index: _Index) -> FieldMatch | None:
    """The one field whose name and description hold most of the attribute's telling words."""
    wanted = _telling(normalise(attribute).replace("_", " "))
    if (
        not wanted
        or is_frame_alone(attribute)
        or _speaks_of_another_aspect(attribute, wanted, index)
    ):
        return None
    scored = sorted(
        ((_score(wanted, slot), at) for at, slot in enumerate(index.slots)), reverse=True
    )
    best, at = scored[0]
    rival = scored[1][0] if len(scored) > 1 else 0.0
    if best < _ENOUGH or best - rival < _MARGIN:
        return None
    sure = round(min(0.85, 0.4 + best / 2), 3)
    return FieldMatch(field=index.slots[at].field, confidence=sure, via="overlap")


def _speaks_of_another_aspect(attribute: str, wanted: tuple[str, ...], index: _Index) -> bool:
    aspects = _ASPECTS & {*words_of(attribute.replace("_", " ")), *wanted}
    named = {word for slot in index.slots if wanted[-1] == slot.named[-1] for word in slot.named}
    return bool(aspects - named)


def _score(wanted: tuple[str, ...], slot: _Slot) -> float:
    """Both must speak of the same thing: the head of the attribute is the head of the field."""
    head = wanted[-1]
    if not slot.named or (head != slot.named[-1] and head not in slot.heads):
        return 0.0
    own = {*slot.named, *slot.heads}
    hits = sum(1.0 if word in own else 0.5 if word in slot.described else 0.0 for word in wanted)
    back = sum(word in wanted for word in slot.named) / len(slot.named)
    return 0.9 * hits / len(wanted) + 0.1 * back


@per_catalogue
def _index_of(given: tuple[FieldSpec, ...]) -> _Index:
    exact = {f.attribute: f for f in given}
    exact |= {normalise(f.attribute): f for f in given}
    synonyms: dict[str, FieldSpec] = {}
    for field in given:
        for synonym in completed(field).synonyms:
            name = normalise(synonym)
            synonyms.setdefault(name, field)
            synonyms.setdefault(_singular(name), field)
    slots = tuple(_slot(field) for field in given)
    return _Index(exact, {k: v for k, v in synonyms.items() if k not in exact}, slots)


def _slot(field: FieldSpec) -> _Slot:
    named = _telling(field.attribute.replace("_", " "))
    called = _HEAD_ENDS.split(field.description.removeprefix("the user's "), maxsplit=1)[0]
    return _Slot(
        field=field,
        named=named or tuple(words_of(field.attribute.replace("_", " "))),
        heads=frozenset(_telling(called)),
        described=frozenset(_telling(field.description)),
    )


def _telling(text: str) -> tuple[str, ...]:
    words = (_lemma(word) for word in words_of(text) if word not in STOPWORDS)
    return tuple(word for word in words if word not in _VAGUE)


def _lemma(word: str) -> str:
    singular = noun_lemma(word)
    readings = verb_readings(word)
    return readings[0].lemma if singular == word and readings else singular


def _singular(name: str) -> str:
    head, _, last = name.rpartition("_")
    return f"{head}_{noun_lemma(last)}" if head else noun_lemma(last)

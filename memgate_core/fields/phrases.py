"""Reads a field's value out of plainly put first-person sentences: "I live in Leeds".

A field's `phrase` ("lives in {value}") and its `said` forms ("move to {value}") are turned into
patterns over every form of their verb, behind the hedges and auxiliaries people put there ("I'm
thinking of moving to …"). What kind of evidence the sentence is stays the classifier's word; what
no pattern finds is left to the encoder's reader.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from memgate_core.language.lexicon import Tag, inflect, verb_lemma
from memgate_core.model import Candidate, Evidence, FieldSpec, Role, Span, Turn
from memgate_core.per_catalogue import per_catalogue

_BETWEEN = (
    r"(?:am|'m|’m|m|are|'re|’re|was|were|be|been|being|have|'ve|’ve|had|has|will|'ll|’ll|would|'d|’d"
    r"|might|may|could|should|shall|must|ought|gonna|wanna|going|thinking|considering|planning|plan"
    r"|hoping|hope|want|intend|decided|started|likely|about|of|on|to|maybe|perhaps|probably|possibly|really"
    r"|just|now|currently|still|finally|actually|also|already|recently|officially|both|all|been|even"
    r"|seriously|toying|with|tempted|supposed|due|set|half|only|always|usually|mostly)"
)
_SUBJECT = r"(?:^|(?<=[\s,;:(—–-]))(?:i|we|my (?:wife|husband|partner|family) and i)(?=['’\s])"
_VALUE = (
    r"(?P<value>(?:(?!\b(?:and|but|so|now|since|because|cos|last|next|on|yesterday|today|this|these"
    r"|from|as|where|who|which|that|when|while|after|before|until|if|though|although|instead|again"
    r"|anymore|too|right|then|than|tomorrow|tonight|ago|every|these|at)\b)[^,.;:!?()\n\"“”])+)"
)
_UNREAL = re.compile(
    r"\b(?:if|wish(?:ed)?|imagine|pretend(?:ing|s)?|suppose|as though|used to|never|not|no longer"
    r"|n['’]t|sorry|past tense|scratch that|wrong|role ?play|character|novel|story|joke)\b",
    re.IGNORECASE,
)
_QUOTED = re.compile(r"[\"“][^\"”]*[\"”]|(?<!\w)['‘][^'’]{12,}['’](?!\w)")
_SENTENCE = re.compile(r"[^.!?\n]+[.!?]*")
_EMPTY = frozenset(
    "it that this there here them one something anything you him her".split()  # noqa: SIM905
)


class PhraseReader:
    """Proposes (field, value) where a turn says a field's own phrase. It never decides."""

    name = "phrases-1"

    def read(
        self, turn: Turn, fields: Sequence[FieldSpec], known: Mapping[str, str | None]
    ) -> list[Candidate]:
        """Candidates in the order of the words; at most one a place, the first field's."""
        del known
        if turn.role is not Role.USER:
            return []
        patterns = _patterns(fields)
        found = [
            candidate
            for sentence in _SENTENCE.finditer(turn.text)
            if not _UNREAL.search(sentence.group())
            for candidate in _in_sentence(turn, sentence, patterns)
        ]
        return [c.model_copy(update={"ordinal": at}) for at, c in enumerate(found)]


def _in_sentence(
    turn: Turn, sentence: re.Match[str], patterns: Sequence[tuple[FieldSpec, re.Pattern[str]]]
) -> list[Candidate]:
    quoted = [(m.start(), m.end()) for m in _QUOTED.finditer(turn.text)]
    taken: list[Span] = []
    found = []
    for field, pattern in patterns:
        match = pattern.search(sentence.group())
        if match is None:
            continue
        start = sentence.start() + match.start("value")
        value = match.group("value").strip(" \t'’*_")
        place = Span(start=start, end=start + len(match.group("value").rstrip()))
        inside = any(a <= place.start < b for a, b in quoted)
        if inside or not _fits(value) or any(place.overlaps(t) for t in taken):
            continue
        taken.append(place)
        found.append(_candidate(turn, field, value, sentence))
    return found


def _candidate(turn: Turn, field: FieldSpec, value: str, sentence: re.Match[str]) -> Candidate:
    words = sentence.group()
    start = sentence.start() + len(words) - len(words.lstrip())
    span = Span(start=start, end=sentence.start() + len(words.rstrip()))
    return Candidate(
        attribute=field.attribute,
        value=value,
        text=span.of(turn.text),
        words=span.of(turn.text),
        evidence=Evidence.of(turn, span),
        ordinal=0,
        extractor=PhraseReader.name,
    )


def _fits(value: str) -> bool:
    words = value.split()
    return 0 < len(words) <= 8 and words[0].lower() not in _EMPTY and len(value) > 1


@per_catalogue
def _patterns(fields: tuple[FieldSpec, ...]) -> tuple[tuple[FieldSpec, re.Pattern[str]], ...]:
    return tuple(
        (field, pattern)
        for field in fields
        for phrase in field.said
        if (pattern := _pattern(phrase)) is not None
    )


def _pattern(phrase: str) -> re.Pattern[str] | None:
    before, _, after = phrase.partition("{value}")
    words = before.split()
    if not words:
        return None
    verb, rest = words[0], r"\s+".join(re.escape(word) for word in words[1:])
    lemma = verb_lemma(verb) or verb
    forms = {lemma, *(inflect(lemma, tag) for tag in Tag)}
    heads = "|".join(sorted((re.escape(form) for form in forms if form), key=len, reverse=True))
    tail = rf"\s+{re.escape(after.strip())}" if after.strip() else ""
    gap = rf"(?:\s+{rest})?\s+" if not rest else rf"\s+{rest}\s+"
    return re.compile(
        rf"{_SUBJECT}(?:\s*{_BETWEEN}\b){{0,6}}\s*\b(?:{heads}){gap}(?:(?:the|a|an|my|our)\s+)?{_VALUE}{tail}",
        re.IGNORECASE,
    )

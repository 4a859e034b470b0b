"""The key of a statement that no registered field holds: predicate lemma and object head.

"might sell the piano" and "sold the piano" share a key, so a plan and its outcome meet. Names,
numbers and modifiers are values and stay out of it ("prefers aisle seats" and "prefers window
seats" share one too, and the later replaces the earlier).
"""

from __future__ import annotations

from collections.abc import Sequence

from memgate_core.language.frames import attribute_words, unframed
from memgate_core.language.lexicon import is_noun
from memgate_core.language.nouns import PARTICLES, head_of, noun_phrase
from memgate_core.language.predicate import Predicate, find_predicate
from memgate_core.language.tokens import Token, fold, tokenise, words_of
from memgate_core.language.words import (
    PREPOSITIONS,
    STOPWORDS,
    SUBJECT_PRONOUNS,
)
from memgate_core.model import USER_ENTITY

_LONGEST = 80
_SEPARATOR = ":"


def open_key(words: str, *, entity: str = USER_ENTITY, attribute: str | None = None) -> str:
    """The normalised key of an open statement.

    `words` are the source words; `entity` goes before the key when it is not the user, so another
    person's fact has a key of its own. Where an extractor named an attribute that no field
    matched, the key is that name without its plan frame.
    """
    named = _attribute_key(attribute) if attribute else ""
    key = named or _words_key(words, own=entity == USER_ENTITY)
    owner = "" if entity == USER_ENTITY else _slug(entity) + _SEPARATOR
    return (owner + key)[:_LONGEST].rstrip(_SEPARATOR + "-") or "statement"


def _attribute_key(attribute: str) -> str:
    frames = unframed(attribute)
    return frames[-1] if frames else "_".join(attribute_words(attribute))


def _words_key(words: str, *, own: bool) -> str:
    tokens = tokenise(words)
    predicate = find_predicate(tokens)
    if predicate is None:
        return _content_key(words)
    subject = _subject_head(tokens, predicate) if own else None  # else the entity names it
    parts = [subject, predicate.lemma, _object_head(tokens, predicate)]
    if predicate.passive and parts[2] is None:
        parts = [None, predicate.lemma, subject]
    elif predicate.framed_by is not None:
        parts = [parts[0], _frame_lemma(predicate), parts[2]]
    return _SEPARATOR.join(_slug(part) for part in parts if part)


def _frame_lemma(predicate: Predicate) -> str:
    return "get" if predicate.framed_by in ("want", "consider", "fancy", "eye") else "do"


def _subject_head(tokens: Sequence[Token], predicate: Predicate) -> str | None:
    start, end = predicate.subject
    pronouns = SUBJECT_PRONOUNS | {"me", "myself"}
    if end <= start or any(t.low in pronouns for t in tokens[start:end]):
        return None
    return head_of(tokens, start, end)


def _object_head(tokens: Sequence[Token], predicate: Predicate) -> str | None:
    start = predicate.verb if predicate.tag is None else predicate.verb + 1
    while start < len(tokens) and tokens[start].low in PARTICLES:
        start += 1
    first, last = noun_phrase(tokens, start)
    return head_of(tokens, first, last) if last > first else _prepositional_head(tokens, start)


def _prepositional_head(tokens: Sequence[Token], start: int) -> str | None:
    """ "move to a bigger flat" -> "flat", "switch to oat milk" -> "milk"; common nouns only."""
    if start + 1 >= len(tokens) or tokens[start].low not in PREPOSITIONS:
        return None
    head = head_of(tokens, *noun_phrase(tokens, start + 1))
    return head if head is not None and is_noun(head) else None


def _content_key(words: str) -> str:
    content = [word for word in words_of(words) if word not in STOPWORDS and word[0].isalpha()]
    return _SEPARATOR.join(_slug(word) for word in content[:3])


def _slug(text: str) -> str:
    return "".join(ch if ch.isalnum() or ch == "_" else "-" for ch in fold(text)).strip("-")

"""Noun phrases: where one ends behind a verb, and what its head is."""

from __future__ import annotations

from collections.abc import Sequence

from memgate_core.language.lexicon import Tag, is_adjective, is_noun, noun_lemma, verb_readings
from memgate_core.language.tokens import Token
from memgate_core.language.words import (
    ADVERBS,
    AUXILIARIES,
    COORDINATORS,
    DETERMINERS,
    DISCOURSE,
    PREPOSITIONS,
    SUBJECT_PRONOUNS,
    SUBORDINATORS,
    TIME_NOUNS,
    word_set,
)

PARTICLES = word_set("up out off over down back away in on through round around along")
_STOPS = PREPOSITIONS - {"of"} | COORDINATORS | SUBORDINATORS | AUXILIARIES | {"to", "which", "who"}
_TIMELY = word_set("next last this every today tomorrow yesterday tonight now soon again")
_OBJECTS = word_set("it them him her me us that this one ones something anything there here")
_EMPTY_HEADS = _OBJECTS | ADVERBS | DETERMINERS | TIME_NOUNS | PARTICLES


def noun_phrase(tokens: Sequence[Token], start: int) -> tuple[int, int]:
    """The noun phrase that begins at `start`, as [start, end); empty where none does."""
    end = start
    while end < len(tokens) and _belongs(tokens, end, start):
        end += 1
    return start, end


def _belongs(tokens: Sequence[Token], at: int, start: int) -> bool:
    token = tokens[at]
    if token.low == "'s" or (token.low == "of" and at > start):
        return True
    if not token.is_word or token.low in _STOPS or token.low in _TIMELY:
        return False
    if at == start:
        return True
    if token.low in SUBJECT_PRONOUNS | DETERMINERS or token.low in DISCOURSE - {"well", "right"}:
        return tokens[at - 1].low == "of" or token.low in ("one", "two", "three")
    return is_noun(token.low) or is_adjective(token.low) or _no_plain_verb(token)


def _no_plain_verb(token: Token) -> bool:
    tags = {r.tag for r in verb_readings(token.low)}
    return not tags & {Tag.PAST, Tag.PRESENT} or token.is_capitalised


def head_of(tokens: Sequence[Token], start: int, end: int) -> str | None:
    """The head noun's lemma of tokens[start:end]; None for a pronoun, a name, a number or a day.

    The head says what is spoken of; names and numbers are values and stay out.
    """
    stop = next((i for i in range(start, end) if tokens[i].low == "of"), end)
    for at in range(stop - 1, start - 1, -1):
        token = tokens[at]
        if token.low in _EMPTY_HEADS or not token.low[0].isalpha() or _is_name(token, at):
            continue
        return noun_lemma(token.low)
    return None


def _is_name(token: Token, at: int) -> bool:
    """A capital inside a clause marks a name; at its beginning it says nothing."""
    known = is_noun(token.low) or is_adjective(token.low)
    return token.is_capitalised and (at > 0 or not known)

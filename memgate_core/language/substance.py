"""Where a statement's clause of substance begins, behind conditions and introductions."""

from __future__ import annotations

from collections.abc import Sequence

from memgate_core.language.grammar import begins_clause, has_predicate, skip
from memgate_core.language.tokens import Token
from memgate_core.language.words import (
    BE,
    DETERMINERS,
    DISCOURSE,
    NOMINATIVE,
    PREPOSITIONS,
    SUBORDINATORS,
    word_set,
)

OPENERS = DISCOURSE | word_set("please pls plz")
"""Words that may stand before a clause without belonging to it."""
NO_SUBJECT = DETERMINERS - word_set("this that") | PREPOSITIONS
"""A word right behind one of these is no subject's verb and opens no clause."""
_REMEMBER = word_set("remember note fyi remind")
_MOMENTS = word_set("day moment minute week month weekend year")


def main_clause(tokens: Sequence[Token]) -> int:
    """Where the clause of substance begins; 0 where it comes first.

    Behind "if the survey is fine, ...", "please remember that ...", "that's the day ...".
    """
    first = skip(tokens, 0, OPENERS - SUBORDINATORS, 6)
    lows = [t.low for t in tokens[first : first + 6]]
    if lows[:1] and lows[0] in _REMEMBER:
        return first + (2 if lows[1:2] in (["that"], [":"]) else 1)
    if lows[:1] and lows[0] in ("that", "this", "it"):
        return _behind_anaphor(tokens, first)
    if not lows or not (lows[0] in SUBORDINATORS or (lows[1:2] and lows[1] in _MOMENTS)):
        return 0
    return _behind_condition(tokens, first)


def _behind_anaphor(tokens: Sequence[Token], first: int) -> int:
    for at in range(first + 2, min(first + 6, len(tokens) - 1)):
        be = any(t.low in BE | {"'s"} for t in tokens[first + 1 : at])
        if be and tokens[at].low in _MOMENTS | {"when"} and begins_clause(tokens, at + 1):
            return at + 1
    return 0


def _behind_condition(tokens: Sequence[Token], first: int) -> int:
    for at in range(first + 3, len(tokens) - 1):
        if tokens[at].low == "," and begins_clause(tokens, at + 1):
            return at + 1
        pronoun = tokens[at].low in NOMINATIVE | {"it"} and tokens[at - 1].low not in NO_SUBJECT
        if pronoun and has_predicate(tokens[first + 1 : at]) and begins_clause(tokens, at):
            return at
    return 0

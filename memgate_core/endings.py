"""Which open facts a finished event declares over: "I've handed the under-9s over".

A registered field is closed by its next value; an open fact has no slot, so it is closed only when
an ending verb takes as its object what the fact is about.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from memgate_core.ledger.protocol import Ledger
from memgate_core.ledger.terms import terms_of
from memgate_core.model import USER_ENTITY, Fact, Subject

MAX_FACTS = 500
"""Newest open facts looked at, and only in a turn that ends something."""

_OBJECT = r"(?P<object>(?:(?!\b(?:and|but|so|because|after|when|to|for|last|this|yesterday)\b)[^,.;!?]){2,60})"
_ENDING = re.compile(
    r"\b(?:handed (?:over )?|given up |gave up |quit |left |stopped |packed in |jacked in |dropped "
    r"|cancelled |canceled |ditched |got rid of |sold |retired from |finished with |broke up with "
    r"|moved out of |no longer |don't .{0,20}any ?more)" + _OBJECT,
    re.IGNORECASE,
)


def ended_facts(words: str, ledger: Ledger, subject: Subject) -> Sequence[Fact]:
    """Open standing facts of the subject that `words` say are over."""
    ended = [terms for match in _ENDING.finditer(words) if (terms := _terms(match))]
    if not ended:
        return ()
    facts = ledger.facts(subject, limit=MAX_FACTS)
    return [
        fact
        for fact in facts
        if fact.open
        and fact.entity == USER_ENTITY
        and "@" not in fact.key.normalized_key
        and any(terms <= terms_of(fact.words) for terms in ended)
    ]


def _terms(match: re.Match[str]) -> frozenset[str]:
    return frozenset(terms_of(match.group("object")))

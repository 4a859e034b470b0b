"""Which held items a text names: what a model's paraphrase may not say as if it were so."""

from __future__ import annotations

import re
from collections.abc import Sequence

from memgate_core.extraction.subject import subject_of
from memgate_core.fields.values import same_value
from memgate_core.language.tokens import words_of
from memgate_core.language.words import PERSONS
from memgate_core.ledger.protocol import Ledger
from memgate_core.ledger.terms import terms_of
from memgate_core.model import USER_ENTITY, StagedItem, Subject
from memgate_core.settling import MAX_ITEMS

_SENTENCE = re.compile(r"[^.!?…\n]+")
_MINE = frozenset({"my", "our"})
_SPEAKER = frozenset({"i", "we", "me", "us", "mine", "ours", "myself", "ourselves", "user"})


def held_named(ledger: Ledger, subject: Subject, text: str) -> list[StagedItem]:
    """Held items whose value, or all that is said of them, stands in the text."""
    terms = terms_of(text)
    touched = ledger.touched(subject, terms, session=None, limit=MAX_ITEMS)
    return [item for item in touched if _names(text, item)]


def is_of_a_relative(text: str, items: Sequence[StagedItem]) -> bool:
    """True when the text names what is held of the user only in what it says of a relative.

    "My dad lives in Seattle" is in the user's voice and says nothing of the user's own plan.
    """
    if any(item.entity != USER_ENTITY for item in items):
        return False
    naming = [s for s in _SENTENCE.findall(text) if any(_names(s, item) for item in items)]
    return bool(naming) and all(_tells_of_a_relative(sentence) for sentence in naming)


def _names(text: str, item: StagedItem) -> bool:
    named = item.value if item.value is not None else item.text
    wanted = terms_of(named)
    return same_value(named, text) or (bool(wanted) and wanted <= terms_of(text))


def _tells_of_a_relative(sentence: str) -> bool:
    """True for the user's voice on somebody else alone: "my" once, before who it is about."""
    first, *rest = words_of(sentence) or [""]
    kin = any(word in PERSONS for word in words_of(subject_of(sentence.strip())))
    return first in _MINE and kin and not (_MINE | _SPEAKER).intersection(rest)

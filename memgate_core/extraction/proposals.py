"""What an extractor hands in, read defensively: LLM output is data, not a promise."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, NamedTuple

from memgate_core.errors import InvalidInputError
from memgate_core.extraction.subject import subject_of
from memgate_core.language.frames import attribute_words
from memgate_core.language.tokens import words_of
from memgate_core.language.words import PERSONS, PETS
from memgate_core.model import USER_ENTITY, Model, Role, Turn

_SELF = frozenset(
    {"user", "the user", "me", "i", "myself", "self", "speaker", "the speaker", "human"}
)
_POSSESSED = re.compile(r"^(?:the\s+)?(?:user['’]s|users?['’]|my|our)\s+(?=\S)", re.IGNORECASE)
_USER_HAS = re.compile(r"^\W*(?:the\s+)?user['’]s\s+", re.IGNORECASE)
_USER_IS = re.compile(r"^\W*(?:the\s+)?user\s+", re.IGNORECASE)
_PET_WORDS = PETS | {"vet", "groomer", "kennel", "litter"}


class RawProposal(Model):
    """One proposal as an extractor gave it, every part a string or None."""

    entity: str | None = None
    attribute: str | None = None
    value: str | None = None
    text: str | None = None
    span: str | None = None
    confidence: float = 1.0

    @property
    def said(self) -> str:
        """The words to look for in the message: the text, else attribute and value."""
        if self.text:
            return self.text
        return " ".join(part for part in (self.attribute, self.value) if part).replace("_", " ")


def read_proposal(proposal: object, index: int) -> RawProposal:
    """Reads a mapping, or an object with the same attributes.

    Raises:
        InvalidInputError: neither text, value nor span is there, or one of them is a structure.
    """
    parts = {key: _part(proposal, key, index) for key in ("entity", "attribute", "value", "text")}
    raw = RawProposal(**parts, span=_part(proposal, "span", index), confidence=_sure(proposal))
    if not (raw.text or raw.value or raw.span):
        raise InvalidInputError(
            f"proposals[{index}]: none of text, value, span is given",
            hint="an extractor must say at least what it read, or where",
        )
    return raw


class Owner(NamedTuple):
    """Whose a proposal is, and the attribute as it reads on that owner."""

    entity: str
    attribute: str | None


def owner_of(raw: RawProposal, words: str, turn: Turn) -> Owner:
    """The entity of a proposal: `user`, or another person or thing by the extractor's name.

    The user's relatives are themselves. Pets and possessions are the user's, with a slot of their
    own: ("user's cat", "medication") is the user's cat_medication, never the user's medication.
    """
    attribute = raw.attribute or None
    if raw.entity is None or not raw.entity.strip():
        return Owner(_entity_of_text(raw.text or words, turn.role), attribute)
    entity = raw.entity.strip()
    if entity.lower() in _SELF or entity in (turn.speaker, turn.subject.user_id):
        return Owner(USER_ENTITY, attribute)
    possessed = _POSSESSED.sub("", entity)
    if possessed != entity and not _names_person(possessed):
        thing = "_".join(attribute_words(possessed))
        return Owner(USER_ENTITY, f"{thing}_{attribute}" if attribute else None)
    if possessed != entity or not _is_pet(raw, entity, words):
        return Owner(possessed, attribute)
    return Owner(USER_ENTITY, attribute)


def _names_person(phrase: str) -> bool:
    return any(word in PERSONS for word in words_of(phrase))


def _is_pet(raw: RawProposal, entity: str, words: str) -> bool:
    """ "Banjo" / dog_walker on words that tell of no other person: the user's own pet."""
    about = set(attribute_words(raw.attribute or ""))
    if not about & _PET_WORDS or _names_person(entity):
        return False
    return entity.lower() not in words.lower() and subject_of(words) == USER_ENTITY


def _entity_of_text(text: str, role: Role) -> str:
    if _USER_IS.match(text) or _USER_HAS.match(text):
        return subject_of(_USER_IS.sub("I ", _USER_HAS.sub("my ", text)))
    return subject_of(text, role)


def _part(proposal: object, key: str, index: int) -> str | None:
    value = _get(proposal, key)
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, (int, float)):
        return str(value)
    raise InvalidInputError(
        f"proposals[{index}].{key}: expected text, found {type(value).__name__}"
    )


def _sure(proposal: object) -> float:
    value = _get(proposal, "confidence")
    numeric = isinstance(value, (int, float)) and not isinstance(value, bool)
    return min(1.0, max(0.0, float(value))) if numeric else 1.0


def _get(proposal: object, key: str) -> Any:
    return proposal.get(key) if isinstance(proposal, Mapping) else getattr(proposal, key, None)

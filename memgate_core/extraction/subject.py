"""Whose statement it is, told from the words: the user's, or another person's by name or kinship.

Pets and possessions are the user's, and so is "we". Whoever provides the user a service ("my
dentist", "Kieran walks my dog") speaks of the user's own profile unless the words are about that
person's own tastes and state.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from memgate_core.language.grammar import is_copula, skip
from memgate_core.language.lexicon import Tag, is_known, verb_lemma, verb_readings
from memgate_core.language.tokens import Token, tokenise
from memgate_core.language.words import (
    ADVERBS,
    AUXILIARIES,
    BARE_KIN,
    DETERMINERS,
    DISCOURSE,
    FIRST_PERSON,
    PERSONS,
    PETS,
    SERVICE_ROLES,
    word_set,
)
from memgate_core.model import USER_ENTITY, Role

ASSISTANT_ENTITY = "assistant"

_KIN_PATTERN = "|".join(sorted(map(re.escape, PERSONS), key=len, reverse=True))
_RELATION = re.compile(
    rf"\b(?:my|our)(?: \w+){{0,2}} (?:{_KIN_PATTERN})(?:'s name)?(?:'s| is| was)"
    rf"(?: now)?(?: called| named)? (?-i:[A-Z])"
    rf"|^\W*(?-i:[A-Z])[\w'-]+(?: (?-i:[A-Z])[\w'-]+)?(?:'s| is| was| became| has been)"
    rf"(?: now)? (?:my|our) (?:\w+ )?(?:{_KIN_PATTERN})\b",
    re.IGNORECASE,
)
"""Says who somebody is to the user, which is a fact of the user's own."""
_OWN_STATE = word_set(
    "like love hate prefer want think reckon say live work be have drink eat smoke drive need"
    " believe enjoy dislike stand study know feel get go come move start retire"
)
_NAMES_THAT_ARE_WORDS = word_set(
    "will mark grace rose may april june jack bill sue pat rob drew dean faith hope joy art ray"
    " lily daisy ivy amber ruby jasmine olive holly robin frank grant chase hunter mason carter"
    " nick miles josh jade victor rich bob penny pearl iris violet heather hazel ginger basil max"
    " guy gene earl duke duncan harry rowan sage summer autumn dawn eve bella chris charlie"
)
_PLACE_BEFORE = word_set("in at to from near into of around on via")
_TITLES = word_set("mr mrs ms dr prof miss sir uncle auntie aunt")
_PLURALS = word_set(
    "parents kids children friends siblings grandparents folks in-laws neighbours neighbors"
    " colleagues cousins twins sons daughters mates family people guests"
)
_THIRD = {"he": "he", "she": "she", "his": "he", "her": "she"}
_SOMEBODY = word_set("someone somebody everyone everybody nobody anyone")


class SubjectTracker:
    """Reads the statements of one message in order and remembers who was spoken of."""

    def __init__(self, role: Role = Role.USER) -> None:
        self._me = ASSISTANT_ENTITY if role is Role.ASSISTANT else USER_ENTITY
        self._you = USER_ENTITY if role is Role.ASSISTANT else ASSISTANT_ENTITY
        self._person: str | None = None
        self._plural: str | None = None
        self._pets: set[str] = set()
        self._pet_last = False

    def entity_of(self, words: str) -> str:
        """The entity that `words` are about; `user` unless they name somebody else."""
        tokens = tokenise(words)
        if not tokens:
            return self._me
        entity = self._me if _RELATION.search(words) else self._subject(tokens)
        self._remember(tokens)
        return entity

    def _subject(self, tokens: Sequence[Token]) -> str:
        at = skip(tokens, 0, DISCOURSE)
        if at >= len(tokens):
            return self._me
        low = tokens[at].low
        ours = any(t.low in FIRST_PERSON for t in tokens)
        if low in ("i", "we"):
            return self._me
        if low in ("you", "u"):
            return self._me if ours else self._you
        if low in _THIRD:
            return self._me if self._pet_last else self._person or _THIRD[low]
        if low in ("they", "their", "them"):
            return self._plural or (self._me if ours else "they")
        if low in _SOMEBODY:
            return self._me if ours else low
        return self._noun_subject(tokens, at, ours)

    def _noun_subject(self, tokens: Sequence[Token], at: int, ours: bool) -> str:
        person = _person_phrase(tokens, at)
        if person is not None:
            return self._of_person(tokens, *person)
        name = _name_phrase(tokens, at)
        if name is None:
            return self._me
        called = " ".join(t.text for t in tokens[at:name] if t.is_word)
        if called.lower() in self._pets:
            return self._me
        if ours and not _about_own_state(tokens, name):
            return self._me
        return called

    def _of_person(self, tokens: Sequence[Token], start: int, end: int) -> str:
        after = tokens[end].low if end < len(tokens) else ""
        following = tokens[end + 1].low if end + 1 < len(tokens) else ""
        if after in ("and", "&") and following in ("i", "me", "myself"):
            return self._me
        service = any(t.low in SERVICE_ROLES for t in tokens[start:end])
        if service and not _about_own_state(tokens, end):
            return self._me
        return " ".join(t.text for t in tokens[start:end] if t.is_word)

    def _remember(self, tokens: Sequence[Token]) -> None:
        for at, token in enumerate(tokens):
            if token.low in PETS:
                self._note_pet(tokens, at)
            person = _person_phrase(tokens, at) if _may_open_person(token) else None
            if person is not None:
                self._note_person(" ".join(t.text for t in tokens[slice(*person)] if t.is_word))
            elif at and _is_new_name(tokens, at) and token.low not in self._pets:
                self._note_person(token.text)

    def _note_person(self, phrase: str) -> None:
        self._pet_last = False
        if phrase.lower().split()[-1] in _PLURALS:
            self._plural = phrase
        else:
            self._person = phrase

    def _note_pet(self, tokens: Sequence[Token], at: int) -> None:
        self._pet_last = True
        for token in tokens[at + 1 : at + 4]:
            if token.is_capitalised:
                self._pets.add(token.low)


def subject_of(words: str, role: Role = Role.USER) -> str:
    """The entity of one statement that stands alone."""
    return SubjectTracker(role).entity_of(words)


def _may_open_person(token: Token) -> bool:
    return token.low in DETERMINERS or token.low in BARE_KIN or token.low in PERSONS


def _person_phrase(tokens: Sequence[Token], at: int) -> tuple[int, int] | None:
    """ "my cousin Wren", "the young fella", "mum": [start, end) without the determiner."""
    start = at
    if tokens[at].low in DETERMINERS:
        start += 1
    elif not (tokens[at].low in BARE_KIN or _opens_with_person(tokens, at)):
        return None
    for here in range(start, min(start + 4, len(tokens))):
        token = tokens[here]
        if token.low in PERSONS:
            return start, _with_name(tokens, here + 1)
        if not token.is_word or token.low in AUXILIARIES or token.low in DETERMINERS:
            return None
        if token.low in PETS or _is_verb(token):
            return None
    return None


def _opens_with_person(tokens: Sequence[Token], at: int) -> bool:
    """ "roommate did bio", "upstairs neighbour practises": no determiner before it."""
    if at > 0:
        return False
    modified = len(tokens) > 2 and tokens[1].low in PERSONS and not _is_verb(tokens[0])
    return tokens[0].low in PERSONS or modified


def _is_verb(token: Token) -> bool:
    tags = {r.tag for r in verb_readings(token.low)}
    return bool(tags & {Tag.PAST, Tag.PRESENT}) and not token.low.endswith("s")


def _with_name(tokens: Sequence[Token], at: int) -> int:
    while at < len(tokens) and tokens[at].is_capitalised and tokens[at].is_word:
        at += 1
    return at


def _name_phrase(tokens: Sequence[Token], at: int) -> int | None:
    """The end of a personal name that is the subject at `at`, None where there is none."""
    if not tokens[at].is_capitalised or tokens[at].low in DETERMINERS:
        return None
    title = tokens[at].low in _TITLES
    end = at + 1
    while end < len(tokens) and (tokens[end].is_capitalised or (title and tokens[end].low == ".")):
        end += 1
    end = min(end, at + 4)
    verb = skip(tokens, end, ADVERBS, 3)
    if verb >= len(tokens) or not _agrees(tokens, verb):
        return None
    known = is_known(tokens[at].low) and end - at == 1 and not title
    if known and tokens[at].low not in _NAMES_THAT_ARE_WORDS:
        return (
            end
            if at and not _sentence_initial(tokens, at)
            else _plain_person_verb(tokens, verb, end)
        )
    return end


def _sentence_initial(tokens: Sequence[Token], at: int) -> bool:
    return all(not t.is_word or t.low in DISCOURSE for t in tokens[:at])


def _plain_person_verb(tokens: Sequence[Token], verb: int, end: int) -> int | None:
    lemma = verb_lemma(tokens[verb].low)
    return end if lemma in ("live", "love", "like", "hate", "prefer", "think", "want") else None


def _agrees(tokens: Sequence[Token], verb: int) -> bool:
    """A third-person verb follows: "Kieran walks", "Priya's vegan", "Ravi can"."""
    token = tokens[verb]
    if token.low == "'s":
        return is_copula(tokens, verb) or verb + 1 < len(tokens)
    if token.low in AUXILIARIES:
        return token.low not in ("am", "'m", "are", "'re", "do", "have", "'ve", "be")
    return any(r.tag in (Tag.PRESENT, Tag.PAST) for r in verb_readings(token.low))


def _about_own_state(tokens: Sequence[Token], end: int) -> bool:
    """The verb behind the name says how that person is, not what is done for the user."""
    verb = skip(
        tokens, end, ADVERBS | AUXILIARIES - {"is", "was", "has", "have", "'s"} | {"n't"}, 5
    )
    if verb >= len(tokens):
        return False
    if any(t.low in ("me", "us") for t in tokens[verb:]):
        return False
    return tokens[verb].low == "'s" or verb_lemma(tokens[verb].low) in _OWN_STATE


def _is_new_name(tokens: Sequence[Token], at: int) -> bool:
    token, before = tokens[at], tokens[at - 1]
    if not token.is_capitalised or len(token.text) < 2 or token.text.isupper():
        return False
    if before.low in _PLACE_BEFORE or before.is_capitalised or not before.is_word:
        return False
    return not is_known(token.low) or token.low in _NAMES_THAT_ARE_WORDS

"""Shallow questions about a run of tokens: is there a finite verb, where does a clause begin."""

from __future__ import annotations

from collections.abc import Sequence

from memgate_core.language.lexicon import Tag, is_adjective, is_noun, verb_readings
from memgate_core.language.tokens import Token
from memgate_core.language.words import (
    ADVERBS,
    AUXILIARIES,
    COORDINATORS,
    DETERMINERS,
    DISCOURSE,
    DO,
    EVERYDAY_VERBS,
    FIRST_POSSESSIVE,
    HAVE,
    MODALS,
    NOMINATIVE,
    PERSONS,
    PREPOSITIONS,
    QUESTION_WORDS,
    SUBJECT_PRONOUNS,
    word_set,
)

_LONGEST_SUBJECT = 7
"""Words a subject may have before its verb; longer ones are not looked for."""
_AFTER_IS = word_set(
    "a an the not been got going so too very just now still always my our in at on from into back"
    " home here there like getting off out up over done gone all about n't only never actually"
    " already being her his your no"
)
_ADDRESSED = word_set("you u ya i we it they he she there this that")
_ASKING = word_set(
    "tell give show help remind send find write draft suggest recommend explain book order check"
    " make add set list translate summarise summarize compare plan let keep ignore forget"
)
_OBJECT_ME = word_set("me us it that this a an the my our some something someone")
_COMPARED = word_set("more less sooner longer better worse older earlier later")
_ANY = word_set("any anything thoughts ideas tips advice recommendations suggestions")


def is_finite(token: Token) -> bool:
    """True for a modal, an auxiliary, or a present or past form of a verb."""
    if token.low in AUXILIARIES:
        return token.low not in ("be", "been", "being", "having")
    return any(r.tag in (Tag.PAST, Tag.PRESENT, Tag.BASE) for r in verb_readings(token.low))


def is_plainly_finite(token: Token) -> bool:
    """Finite, and hardly ever anything but a verb (auxiliaries, past forms)."""
    if token.low in AUXILIARIES:
        return token.low not in ("be", "been", "being", "having", "'s")
    return not is_noun(token.low) and any(
        r.tag in (Tag.PAST, Tag.PRESENT) for r in verb_readings(token.low)
    )


def has_predicate(tokens: Sequence[Token]) -> bool:
    """True when the words already say something: a verb in them is not only a noun's double."""
    for at, token in enumerate(tokens):
        if token.low in AUXILIARIES and token.low != "'s":
            return True
        if token.low == "'s" and is_copula(tokens, at):
            return True
        if at and tokens[at - 1].low in SUBJECT_PRONOUNS | ADVERBS and is_finite(token):
            return True
        tags = {r.tag for r in verb_readings(token.low)}
        if tags & {Tag.PAST, Tag.PARTICIPLE, Tag.PRESENT} and not is_noun(token.low):
            return True
        if is_everyday_present(token) and at and is_subject_word(tokens[at - 1]):
            return True
    return False


def is_everyday_present(token: Token) -> bool:
    """ "lives", "works": a verb although the tables list a plural of the same spelling."""
    return any(r.tag is Tag.PRESENT and r.lemma in EVERYDAY_VERBS for r in verb_readings(token.low))


def is_subject_word(token: Token) -> bool:
    """A noun, name or pronoun that may stand right before its verb."""
    return token.is_capitalised or token.low in PERSONS | SUBJECT_PRONOUNS or is_noun(token.low)


def is_copula(tokens: Sequence[Token], at: int) -> bool:
    """True when the "'s" at `at` is "is" or "has" rather than a possessive."""
    if at + 1 >= len(tokens):
        return False
    before, after = tokens[at - 1].low if at else "", tokens[at + 1]
    if before in SUBJECT_PRONOUNS | QUESTION_WORDS | {"there", "here"}:
        return True
    if after.low in _AFTER_IS or after.low.endswith("ing"):
        return True
    tags = {r.tag for r in verb_readings(after.low)}
    return Tag.PARTICIPLE in tags and not is_noun(after.low)


def skip(tokens: Sequence[Token], at: int, words: frozenset[str], limit: int = 6) -> int:
    """The first index from `at` whose word is not among `words` (commas are passed over)."""
    stop = min(len(tokens), at + limit)
    while at < stop and (tokens[at].low in words or tokens[at].low == ","):
        at += 1
    return at


def begins_clause(tokens: Sequence[Token], at: int) -> bool:
    """True when an independent clause, question or request begins at `at`."""
    first = skip(tokens, at, DISCOURSE)
    starts = [first] if tokens[at].low in COORDINATORS else [first, at]
    return any(start < len(tokens) and _begins(tokens, start) for start in starts)


def _begins(tokens: Sequence[Token], at: int) -> bool:
    low = tokens[at].low
    if low in ("there", "here"):
        return _at(tokens, at + 1) in ("'s", "is", "are", "was", "were", "will", "'ll", "might")
    if low in SUBJECT_PRONOUNS and low != "who" and _pronoun_clause(tokens, at):
        return True
    return _asks(tokens, at) or _requests(tokens, at) or _noun_clause(tokens, at)


def _pronoun_clause(tokens: Sequence[Token], at: int) -> bool:
    verb = skip(tokens, at + 1, ADVERBS - {"n't"}, 4)
    if verb >= len(tokens) or tokens[verb].low == ",":
        return False
    return is_finite(tokens[verb]) and tokens[verb].low not in PREPOSITIONS


def _asks(tokens: Sequence[Token], at: int) -> bool:
    low, after = tokens[at].low, _at(tokens, at + 1)
    if low in MODALS | DO | HAVE | {"is", "are", "am", "was", "were"}:
        return after in _ADDRESSED or (low in ("is", "are", "was") and after in DETERMINERS)
    if low in QUESTION_WORDS and low not in ("which", "whose", "who"):
        second = _at(tokens, at + 2)
        return after in AUXILIARIES or after in ("about", "to") or second in AUXILIARIES
    return low in _ANY


def _requests(tokens: Sequence[Token], at: int) -> bool:
    low, after = tokens[at].low, _at(tokens, at + 1)
    if low in ("please", "pls", "plz"):
        return at + 1 < len(tokens)
    if low == "let" and after == "'s":
        return True
    if low in _ASKING:
        return after in ("me", "us") or (low in ("book", "remind") and after in _OBJECT_ME)
    return low == "do" and after == "n't" and _at(tokens, at + 2) in _ASKING


def _noun_clause(tokens: Sequence[Token], at: int) -> bool:
    """A noun phrase with its finite verb: "my dad lives", "Kieran walks", "prices are"."""
    if not _opens_noun_phrase(tokens, at):
        return False
    opens = tokens[at].low in DETERMINERS or tokens[at].is_capitalised
    stop = min(len(tokens), at + _LONGEST_SUBJECT)
    for here in range(at + 1, stop):
        token = tokens[here]
        if token.low in NOMINATIVE or token.low in COORDINATORS or not token.is_word:
            return False
        if token.low in AUXILIARIES:
            if token.low != "'s" or is_copula(tokens, here):
                return opens or here - at <= 3
        elif (opens or tokens[here - 1].low in PERSONS) and _verb_of_noun(tokens, here):
            return True
        if token.low in PREPOSITIONS and not opens:
            return False
    return False


def _opens_noun_phrase(tokens: Sequence[Token], at: int) -> bool:
    low = tokens[at].low
    if low == "which" or (low == "the" and _at(tokens, at + 1) in _COMPARED):
        return False
    if low in DETERMINERS or low in PERSONS:
        return True
    return low not in AUXILIARIES | PREPOSITIONS | ADVERBS | QUESTION_WORDS and (
        tokens[at].is_capitalised or is_noun(low) or is_adjective(low)
    )


def _verb_of_noun(tokens: Sequence[Token], here: int) -> bool:
    token, before = tokens[here], tokens[here - 1]
    if before.low in DETERMINERS | PREPOSITIONS | FIRST_POSSESSIVE:
        return False
    if is_plainly_finite(token):
        return not _may_be_participle(tokens, here)
    if is_everyday_present(token):
        return is_subject_word(before)
    plural = before.low.endswith("s") and before.low not in PERSONS
    base = any(r.tag is Tag.BASE and r.lemma in EVERYDAY_VERBS for r in verb_readings(token.low))
    return plural and base and is_subject_word(before)


def _may_be_participle(tokens: Sequence[Token], here: int) -> bool:
    """ "a spaniel involved": a past form with nothing behind it may only describe its noun."""
    if here + 1 < len(tokens) and tokens[here + 1].is_word:
        return False
    tags = {r.tag for r in verb_readings(tokens[here].low)}
    owned = any(
        t.low in FIRST_POSSESSIVE or t.low in PERSONS for t in tokens[max(0, here - 3) : here]
    )
    return Tag.PARTICIPLE in tags and not owned and tokens[here - 2].low in ("a", "an", "some")


def _at(tokens: Sequence[Token], index: int) -> str:
    return tokens[index].low if index < len(tokens) else ""

"""What the words alone say of a value, where that is beyond doubt: denied, another's, over, mocked.

"I don't live in Beijing" and "my colleague lives in Beijing" never become the user's address,
whatever a judge makes of them (article). So this reads only what stands in plain sight: the verb
that the field itself is about, with the value right behind it, or a "no" or "not" right before the
value. Everything else is the judges'.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from memgate_core.language.lexicon import verb_lemma
from memgate_core.language.tokens import Token, tokenise
from memgate_core.language.words import ADVERBS, AUXILIARIES
from memgate_core.model import (
    USER_ENTITY,
    Candidate,
    EvidenceType,
    FieldSpec,
    Role,
    Standing,
    StandingJudgement,
)
from memgate_core.policy.lasting import is_lasting
from memgate_core.weighing import Weighed

_NEAR = 5
"""So many words may stand between the verb and the value: "live right in the middle of Beijing"."""
_KINDRED = {
    "live": frozenset({"live", "move", "relocate", "reside", "stay", "settle"}),
    "work": frozenset({"work", "join", "start"}),
    "use": frozenset({"use", "run"}),
}
_BREAKS = frozenset({"but", "and", "or", ",", ";", ".", "instead", "rather"})
_DENIALS = frozenset({"not", "n't", "never"})
_REFUSALS = _DENIALS | {"no", "without", "pas", "kein", "keine", "keinen", "nicht"}
"""Words that deny what stands right behind them: "there is no beagle here", "pas AZERTY"."""
_ARTICLES = frozenset({"a", "an", "the", "any"})
_FIRST = frozenset({"i", "we"})
_LIGHT = ADVERBS | AUXILIARIES | _DENIALS | {"no", "longer"}
_OCCASION = re.compile(
    r"\b(?:(?:just |only )?this (?:time|once)|just (?:this )?once|just for (?:now|today|tonight)"
    r"|for this (?:one|project|task|file|thread|chat|answer|call))\b",
    re.IGNORECASE,
)
_MOCKING = re.compile(
    r"^\W*(?:(?:haha+|lol|oh|ah)[\s,]+)*(?:yeah,? right|(?:haha+|lol|oh)[\s,]+(?:yeah[\s,]+)?"
    r"(?:sure|of course))[,.!…:–—-]|\b(?:as if|yeah,? right)[.!…]*\s*$",
    re.IGNORECASE,
)
"""How a statement begins or ends that means the opposite."""


def read_plainly(
    weighed: Sequence[Weighed], statements: Sequence[Candidate], role: Role
) -> list[Weighed]:
    """The candidates; those whose words plainly do not assert their value have that standing.

    `statements` are the turn's own, each with whose it is. Only the user's words are read.
    """
    if role is not Role.USER:
        return list(weighed)
    return [_read(w, statements) for w in weighed]


def _read(w: Weighed, statements: Sequence[Candidate]) -> Weighed:
    field, value = w.match.field, w.candidate.value
    if field is None or not value or w.standing.standing is not Standing.OWN:
        return w
    said = [s for s in statements if s.evidence.span.overlaps(w.span) and _names(s.words, value)]
    found = {_standing(statement, field, value) for statement in said}
    if len(found) != 1 or (standing := found.pop()) is None:
        return w
    planned = w.judgement.evidence_type is EvidenceType.SPECULATION
    if planned and standing is Standing.NEGATED:  # "haven't moved to Beijing yet": held as a plan
        return w
    plain = StandingJudgement(standing=standing, cues=tuple(s.words for s in said))
    return replace(w, standing=plain)


def _standing(statement: Candidate, field: FieldSpec, value: str) -> Standing | None:
    """What one statement plainly says of the value; None where it asserts it, or is not plain."""
    if _MOCKING.search(statement.words):
        return Standing.NON_LITERAL
    if _OCCASION.search(statement.words) and not is_lasting(statement.words):
        return Standing.TEMPORARY
    tokens = tokenise(statement.words)
    if _is_refused(tokens, value):
        return Standing.NEGATED
    verb = _verb_of(tokens, field, value)
    if verb is None:
        return None
    at = _before_auxiliaries(tokens, verb)
    if _is_denied(tokens, at, verb):
        return Standing.NEGATED
    if at >= 1 and (tokens[at - 1].low, tokens[at].low) == ("used", "to"):
        return Standing.PAST
    if statement.entity == USER_ENTITY:
        return None
    return Standing.QUOTED if tokens[at].low in _FIRST else Standing.OTHER_PERSON


def _is_refused(tokens: Sequence[Token], value: str) -> bool:
    """Whether a denial stands right before the value, wherever the statement names it."""
    places = list(_places(tokens, value))
    return bool(places) and all(_word_before(tokens, place) in _REFUSALS for place in places)


def _word_before(tokens: Sequence[Token], place: int) -> str:
    at = place - 1
    if at > 0 and tokens[at].low in _ARTICLES:
        at -= 1
    return tokens[at].low if at >= 0 else ""


def _verb_of(tokens: Sequence[Token], field: FieldSpec, value: str) -> int | None:
    """Where the field's own verb stands, with the value right behind it."""
    verbs = _verbs_of(field)
    for place in _places(tokens, value):
        for at in range(place - 1, max(-1, place - 2 - _NEAR), -1):
            if tokens[at].low in _BREAKS:
                break
            if verb_lemma(tokens[at].low) in verbs:
                return at
    return None


def _before_auxiliaries(tokens: Sequence[Token], verb: int) -> int:
    """The last token before the verb that is no auxiliary, adverb or negation of it; 0 without."""
    at = verb - 1
    while at > 0 and tokens[at].low in _LIGHT:
        at -= 1
    return max(at, 0)


def _is_denied(tokens: Sequence[Token], before: int, verb: int) -> bool:
    light = [token.low for token in tokens[before:verb]]
    return bool(_DENIALS & set(light)) or light[-2:] == ["no", "longer"]


def _verbs_of(field: FieldSpec) -> frozenset[str]:
    if not field.phrase:
        return frozenset()
    verb = verb_lemma(field.phrase.split()[0].lower())
    return _KINDRED.get(verb, frozenset({verb})) if verb else frozenset()


def _places(tokens: Sequence[Token], value: str) -> Iterator[int]:
    wanted = [token.low for token in tokenise(value) if token.is_word]
    for at in range(len(tokens)):
        if wanted and [t.low for t in tokens[at : at + len(wanted)]] == wanted:
            yield at


def _names(words: str, value: str) -> bool:
    return value.casefold() in words.casefold()

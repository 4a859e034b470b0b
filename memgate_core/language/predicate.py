"""The main verb of a clause, behind its hedges and plan frames.

"I've been thinking about maybe moving to Seattle" -> "move", planned. Used where a plan and its
outcome must meet on one key, and where a plan is rewritten as what would be true.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from memgate_core.language.grammar import (
    begins_clause,
    is_copula,
    is_everyday_present,
    is_finite,
    is_plainly_finite,
    skip,
)
from memgate_core.language.lexicon import Reading, Tag, is_adjective, is_noun, verb_readings
from memgate_core.language.substance import NO_SUBJECT, OPENERS, main_clause
from memgate_core.language.tokens import Token
from memgate_core.language.words import (
    ADVERBS,
    BE,
    DETERMINERS,
    DO,
    EVERYDAY_VERBS,
    HAVE,
    MODALS,
    PREPOSITIONS,
    SUBJECT_PRONOUNS,
    SUBORDINATORS,
    word_set,
)

_PLAN_MODALS = MODALS - {"can", "ca"}
_HEDGES = word_set(
    "maybe perhaps possibly probably hopefully potentially likely ideally eventually someday"
    " definitely"
)
_TO_FRAMES = word_set(
    "want hope plan intend wish aim expect mean need decide agree try attempt like love prefer"
    " wanna look prepare arrange promise choose opt ask get ought have set go vow resolve"
)
"""Verbs that put "to" + verb into the future or leave it open ("decided to sell")."""
_TO_FRAME_WORDS = word_set(
    "about set due supposed meant hoping planning looking aiming tempted ready keen going intending"
    " trying determined inclined likely eager excited prepared willing scheduled bound"
)
_ABOUT_FRAMES = word_set(
    "think consider plan look dream talk debate contemplate fancy toy lean wonder ponder mull muse"
    " flirt explore discuss save apply weigh torn reckon eye float"
)
"""Verbs whose object or gerund is only thought of ("considering a move")."""
_FRAME_LINKS = word_set("about of on into at to towards toward with over up for between")
_SKIPPED = ADVERBS | {"not", "n't", "too"} | _HEDGES
_THOUGHTS = word_set("think guess suppose hope reckon believe feel bet wish imagine expect")
_NOUN_FRAMES = word_set("plan plans idea hope aim goal dream intention thinking")


@dataclass(frozen=True)
class Predicate:
    """The main verb of a clause. Indices count tokens of the clause."""

    subject: tuple[int, int]
    """The subject's words, [start, end); empty for "sold the piano"."""
    verb: int
    """The main verb, or the first word of a noun that is only considered ("a move")."""
    lemma: str
    tag: Tag | None
    """The verb's form; None where a noun stands in its place."""
    planned: bool
    """True when a hedge, a modal or a plan frame stands before it."""
    passive: bool = False
    negated: bool = False
    former: bool = False
    """ "used to": a state that is over."""
    framed_by: str | None = None
    """The verb that frames a considered noun ("consider", "want")."""

    def moved(self, by: int) -> Predicate:
        """The same predicate in a longer clause, `by` tokens further on; a thought is a hedge."""
        subject = (self.subject[0] + by, self.subject[1] + by)
        return replace(self, subject=subject, verb=self.verb + by, planned=True)


def find_predicate(tokens: Sequence[Token]) -> Predicate | None:
    """The main predicate of a clause; None where no verb is found."""
    start = skip(tokens, main_clause(tokens), OPENERS | SUBORDINATORS, 8)
    if start >= len(tokens):
        return None
    verb = _first_verb(tokens, start)
    if verb is None:
        return None
    inner = _complement(tokens, start, verb)
    if inner is not None:
        return inner
    hedged = any(t.low in _HEDGES for t in tokens[:verb])
    end = verb
    while end > start and tokens[end - 1].low in ADVERBS | _HEDGES:
        end -= 1
    return _Chain(tokens, (start, end), hedged).walk(verb)


def _complement(tokens: Sequence[Token], start: int, verb: int) -> Predicate | None:
    """ "I think I'll sell it", "I've a feeling it'll be Leeds": the clause that is thought."""
    if tokens[start].low not in ("i", "we") or verb - start > 3:
        return None
    for at in range(verb, min(verb + 5, len(tokens) - 1)):
        reading = verb_readings(tokens[at].low)
        thinks = bool(reading) and reading[0].lemma in _THOUGHTS
        if not thinks and tokens[at].low not in ("feeling", "sure", "afraid", "hunch"):
            continue
        behind = (
            at + 2 if tokens[at + 1].low in ("that", "like") and at + 2 < len(tokens) else at + 1
        )
        if not begins_clause(tokens, behind):
            return None
        inner = find_predicate(tokens[behind:])
        return inner.moved(behind) if inner is not None else None
    return None


def _first_verb(tokens: Sequence[Token], start: int) -> int | None:
    """The first finite verb after the subject, or the verb that opens a subjectless clause."""
    if tokens[start].low not in SUBJECT_PRONOUNS | DETERMINERS and _opens_with_verb(tokens, start):
        return start
    for at in range(start + 1, len(tokens)):
        token, before = tokens[at], tokens[at - 1]
        if token.low == "'s" and not is_copula(tokens, at):
            continue
        if token.low in BE | HAVE | DO | MODALS or token.low == "'s":
            return at
        if before.low in NO_SUBJECT or token.low in PREPOSITIONS or not is_finite(token):
            continue
        if _more_likely_noun(token, before):
            continue
        return at
    return None


def _more_likely_noun(token: Token, before: Token) -> bool:
    if before.low in SUBJECT_PRONOUNS | ADVERBS:
        return False
    if token.is_capitalised and before.is_capitalised and not token.text.isupper():
        return True  # "Happy Paws take over": part of a name
    if not is_noun(token.low):
        return False
    subject = is_noun(before.low) or before.is_capitalised or before.low.endswith("ing")
    base = before.is_capitalised and before.low.endswith("s") and _is_everyday(token)
    return not (subject and (_present_or_past(token) or base))


def _is_everyday(token: Token) -> bool:
    return any(r.lemma in EVERYDAY_VERBS for r in verb_readings(token.low))


def _present_or_past(token: Token) -> bool:
    return any(r.tag in (Tag.PRESENT, Tag.PAST) for r in verb_readings(token.low))


def _opens_with_verb(tokens: Sequence[Token], start: int) -> bool:
    first = skip(tokens, start, _SKIPPED, 3)
    if first >= len(tokens):
        return False
    low = tokens[first].low
    if low in MODALS | BE - {"been", "being"} | HAVE | DO:
        return True
    readings = verb_readings(low)
    if not readings:
        return False
    tags = {r.tag for r in readings}
    if tags & {Tag.GERUND, Tag.PAST, Tag.PRESENT}:
        return not (is_noun(low) and _followed_by_verb(tokens, first))
    named = tokens[first].is_capitalised and first + 1 < len(tokens)
    if named and tokens[first + 1].is_capitalised:
        return False
    return tags == {Tag.BASE} and not _followed_by_verb(tokens, first) and first == start


def _followed_by_verb(tokens: Sequence[Token], at: int) -> bool:
    after = skip(tokens, at + 1, ADVERBS, 2)
    if after >= len(tokens):
        return False
    token = tokens[after]
    return token.low in BE | HAVE | MODALS | DO | {"'s"} or (
        tokens[at].is_capitalised and (is_everyday_present(token) or is_plainly_finite(token))
    )


class _Chain:
    """Walks from the first verb of a clause to the main one."""

    def __init__(self, tokens: Sequence[Token], subject: tuple[int, int], hedged: bool) -> None:
        self._tokens = tokens
        self._subject = subject
        self._planned = hedged
        self._negated = False
        self._passive = False
        self._former = False
        self._framed_by: str | None = None

    def walk(self, at: int) -> Predicate | None:
        tokens = self._tokens
        for _ in range(12):
            at = self._past_adverbs(at)
            if at >= len(tokens):
                return None
            step = self._step(at)
            if step is None:
                return self._result(at)
            if step >= len(tokens):
                return self._result(at)
            at = step
        return None

    def _past_adverbs(self, at: int) -> int:
        while at < len(self._tokens) and self._tokens[at].low in _SKIPPED:
            self._negated |= self._tokens[at].low in ("not", "n't", "never")
            self._planned |= self._tokens[at].low in _HEDGES
            at += 1
        return at

    def _step(self, at: int) -> int | None:
        """The index to go on from, or None when `at` is the main predicate."""
        low = self._tokens[at].low
        if low in MODALS:
            self._planned |= low in _PLAN_MODALS
            return self._after_to(at + 1)
        if low in BE or low == "'s":
            return self._after_be(at)
        if low in HAVE:
            return self._after_have(at)
        if low in DO and self._verb_at(at + 1) is not None:
            return at + 1
        return self._after_frame(at)

    def _after_be(self, at: int) -> int | None:
        after = self._past_adverbs(at + 1)
        low = self._low(after)
        if low in _TO_FRAME_WORDS and self._low(after + 1) == "to" and self._has_verb(after + 2):
            self._planned = True
            return after + 2
        if low == "to" and self._has_verb(after + 1):
            return self._to_be_done(after + 1)
        if low == "torn" and (other := self._other_choice(after)) is not None:
            self._planned = True
            return other
        readings = self._readings(after)
        tags = {r.tag for r in readings}
        if low in ("been", "being") or Tag.GERUND in tags:
            return after
        if Tag.PARTICIPLE in tags and not is_adjective(low):
            self._passive = True
            return after
        return None

    def _to_be_done(self, at: int) -> int:
        """ "the plan is to sell": the plan is no subject of the selling."""
        self._planned = True
        start, end = self._subject
        if any(t.low in _NOUN_FRAMES for t in self._tokens[start:end]):
            self._subject = (start, start)
        return at

    def _other_choice(self, at: int) -> int | None:
        """ "torn between staying with A and switching to B": the change is what is pending."""
        for here in range(at, len(self._tokens) - 1):
            gerund = any(r.tag is Tag.GERUND for r in self._readings(here + 1))
            if self._low(here) in ("and", "or") and gerund:
                return here + 1
        return None

    def _after_have(self, at: int) -> int | None:
        after = self._past_adverbs(at + 1)
        if self._low(after) == "to" and self._has_verb(after + 1):
            self._planned = True
            return after + 1
        if self._low(after) == "been" or any(
            r.tag is Tag.PARTICIPLE for r in self._readings(after)
        ):
            return after
        return None

    def _after_frame(self, at: int) -> int | None:
        lemma = self._lemma(at)
        after = self._past_adverbs(at + 1)
        low = self._low(after)
        if self._low(at) == "used" and low == "to" and self._has_verb(after + 1):
            self._former = True
            return after + 1
        if lemma in _TO_FRAMES and low == "to" and self._has_verb(after + 1):
            self._planned = True
            return after + 1
        if lemma in ("end", "wind") and low == "up" and self._low(after + 1).endswith("ing"):
            return after + 1
        if lemma in _ABOUT_FRAMES:
            return self._after_about(at, after)
        if lemma == "want" and low and low not in PREPOSITIONS:
            self._planned, self._framed_by = True, "want"
            return after if low not in ("to",) else after + 1
        return None

    def _after_about(self, at: int, after: int) -> int | None:
        lemma, direct = (
            self._lemma(at),
            ("consider", "contemplate", "fancy", "debate", "eye", "plan"),
        )
        links = 0
        while links < 3 and self._low(after) in _FRAME_LINKS:
            after, links = self._past_adverbs(after + 1), links + 1
        if not links and lemma not in direct:
            return None
        if lemma in ("look", "talk", "apply", "save", "lean") and not self._progressive(at):
            return None
        self._planned, self._framed_by = True, lemma
        return after

    def _progressive(self, at: int) -> bool:
        return self._tokens[at].low.endswith("ing")

    def _after_to(self, at: int) -> int:
        at = self._past_adverbs(at)
        return at + 1 if self._low(at) in ("to", "better", "rather") else at

    def _result(self, at: int) -> Predicate:
        reading = self._verb_at(at)
        considered = self._framed_by is not None
        noun = reading is None or (considered and reading.tag is not Tag.GERUND)
        return Predicate(
            subject=self._subject,
            verb=at,
            lemma=self._tokens[at].low if noun or reading is None else reading.lemma,
            tag=None if noun or reading is None else reading.tag,
            planned=self._planned,
            passive=self._passive,
            negated=self._negated,
            former=self._former,
            framed_by=self._framed_by if noun else None,
        )

    def _verb_at(self, at: int) -> Reading | None:
        low = self._low(at)
        if low in ("'s", "'m", "'re"):
            return Reading("be", Tag.PRESENT)
        if low == "'ve":
            return Reading("have", Tag.PRESENT)
        readings = self._readings(at)
        return readings[0] if readings else None

    def _readings(self, at: int) -> tuple[Reading, ...]:
        return verb_readings(self._low(at)) if at < len(self._tokens) else ()

    def _has_verb(self, at: int) -> bool:
        return bool(self._readings(self._past_adverbs(at)))

    def _lemma(self, at: int) -> str:
        readings = self._readings(at)
        return readings[0].lemma if readings else self._low(at)

    def _low(self, at: int) -> str:
        return self._tokens[at].low if at < len(self._tokens) else ""

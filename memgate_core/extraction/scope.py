"""How far a hedge, a condition or a report reaches over the rest of its sentence.

A statement cut off from its "if", "maybe" or "she said" reads as a plain fact, and would be
committed as one. These rules refuse such cuts.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from memgate_core.language.grammar import skip
from memgate_core.language.lexicon import verb_lemma
from memgate_core.language.tokens import Token
from memgate_core.language.words import (
    ATTITUDES,
    CONDITIONAL,
    DISCOURSE,
    QUESTION_WORDS,
    SUBORDINATORS,
    word_set,
)

_ASKS_WHETHER = word_set(
    "check see know wonder ask asks asked wondering sure tell idk remember out curious say says"
    " understand decide confirm find"
)
_HEDGE_ADVERBS = word_set(
    "maybe perhaps possibly hopefully ideally potentially theoretically hypothetically probably"
    " presumably say wish"
)
_PHRASE_CONDITIONS = re.compile(
    r"\b(?:as long as|in case|depending on|on condition|provided|what if|only if|even if|in theory"
    r"|the (?:day|moment|minute|second)|as soon as|had i|were i|should (?:i|we) ever|whichever"
    r"|in a perfect world|if only|i wish|would've|would have|could have|could've)\b"
)
_PAST_PLAN = re.compile(
    r"\b(?:(?:was|were) (?:gonna|going to|about to|planning|thinking|hoping|supposed|meant"
    r"|considering|set to|due to|tempted|all set)|nearly|almost|thought (?:about|of|i'd|we'd)"
    r"|considered|wanted to|meant to|tried to|intended|planned|had (?:planned|hoped)|used to want"
    r"|looked (?:at|into)|toyed|flirted)\b"
)
_ASIDE = re.compile(
    r"(?:(?:i|we) (?:don't )?(?:think|guess|suppose|hope|reckon|believe|imagine|bet|swear"
    r"|promise|assume|fear|doubt|know|mean|wish|see|said|gather|understand|hear|dunno|say)"
    r"(?: so| not| it| that much| to)?"
    r"|you (?:know|see|said|told me|mentioned|asked)|(?:as|like) (?:i|you) (?:said|say|told you)"
    r"|i (?:told|swear to|promise) (?:you|god)|i(?:'m)? (?:just )?(?:joking|kidding)"
    r"|i'm (?:pretty |fairly |quite |not |not so |not too |almost )*(?:sure|certain|afraid|told)"
    r"(?: yet| though| about it| about that)?"
    r"|(?:it|that) (?:seems|looks like it|appears|depends|turns out)|they (?:say|said|reckon)"
    r"|we (?:'ll|will) see(?: \w+){0,4}|i (?:'ll|will) see(?: how \w+ goes)?|who knows(?: \w+){0,3}"
    r"|(?:i|we)(?:'ve not|'ve yet to| have not| haven't| have yet to) decide\w*(?: \w+){0,2}"
    r"|nothing(?: is|'s)? \w+(?: yet)?"
    r"|(?:is|was|are|were|do|does|did|has|have|wo|would|could|can|ca|should|ai)"
    r"(?:n't)? (?:i|it|you|we|he|she|they|that|there|this)(?: think)?"
    r"|(?:if|though) \w+|it is|that is(?: to say)?|what is more|mind you)$"
)
_TIGHT = re.compile(r" (?='|n't)")
_CLAUSE_MARKS = frozenset({",", ";", ".", "!", "?", "…", "—", "–", "-"})


class Scope:
    """The reach of one sentence's hedges, worked out once."""

    def __init__(self, tokens: Sequence[Token]) -> None:
        self._tokens = tokens
        self._conditional = _has_condition(tokens)
        self._asks = bool(tokens) and tokens[-1].low.startswith("?") and _opens_question(tokens)
        self._waiting = _opens_subordinate(tokens, 0)
        self._trailing = _trailing_condition(tokens)

    def lets(self, at: int, *, strong: bool, left: int) -> bool:
        """True when the words from `at` may be cut off from those since `left`."""
        token = self._tokens[at]
        if at < self._trailing:
            return False
        if strong and _opens_subordinate(self._tokens[:at], self._segment(left, at)):
            return False
        if self._waiting:
            # "if the survey is fine, we complete in June": the main clause belongs to its condition
            self._waiting = False
            return False
        words = _plain(self._tokens[left:at])
        if _PAST_PLAN.search(words):
            return False
        if not strong and token.low not in ("but", "though", "although", "whereas", "yet"):
            return not (self._conditional or self._asks or self._reported(left, at))
        self._waiting = _opens_subordinate(self._tokens, at)
        return True

    def _segment(self, left: int, at: int) -> int:
        """Where the last stretch between commas begins: "..., so if you hear, it's mine"."""
        for here in range(at - 2, left, -1):
            if self._tokens[here].low == ",":
                return here + 1
        return left

    def _reported(self, left: int, at: int) -> bool:
        """The left clause only reports or wishes what follows, and the right may be part of it."""
        first = skip(self._tokens, left, DISCOURSE - _HEDGE_ADVERBS)
        if first < at and self._tokens[first].low in _HEDGE_ADVERBS:
            return True
        verbs = (verb_lemma(t.low) for t in self._tokens[left : min(at, left + 8)])
        return any(verb in ATTITUDES for verb in verbs if verb)


def is_aside(tokens: Sequence[Token], at: int, *, whole: bool = False) -> bool:
    """True for a comment on the statement beside it: "I think", "isn't it", "not sure yet".

    With `whole`, the words from `at` to the end are looked at as the left clause.
    """
    stop = len(tokens) if whole else _clause_end(tokens, at)
    if stop - at > 9:
        return False
    first = skip(tokens, at, frozenset({"and", "but", "so", "well", "though"}), 2)
    words = _plain(tokens[min(first, stop) : stop])
    return bool(_ASIDE.match(words))


def _clause_end(tokens: Sequence[Token], at: int) -> int:
    stop = at
    while stop < len(tokens) and tokens[stop].low[0] not in _CLAUSE_MARKS:
        stop += 1
    return stop


def _plain(tokens: Sequence[Token]) -> str:
    words = " ".join(t.low for t in tokens if t.is_word or t.low[0] == "'")
    return _TIGHT.sub("", words) if "'" in words else words


def _has_condition(tokens: Sequence[Token]) -> bool:
    for at, token in enumerate(tokens):
        asked = at > 0 and tokens[at - 1].low in _ASKS_WHETHER
        if token.low in CONDITIONAL and token.low != "whether" and not asked:
            return True
    return bool(_PHRASE_CONDITIONS.search(_plain(tokens)))


def _trailing_condition(tokens: Sequence[Token]) -> int:
    """Where ", if ..." stands: it reaches over everything before it. 0 without one."""
    for at in range(len(tokens) - 1, 1, -1):
        if tokens[at].low in ("if", "unless", "assuming", "provided", "depending"):
            return at if tokens[at - 1].low in (",", "but", "only") else 0
    return 0


def _opens_subordinate(tokens: Sequence[Token], at: int) -> bool:
    first = skip(tokens, at, DISCOURSE - SUBORDINATORS)
    if first >= len(tokens):
        return False
    if tokens[first].low == "even" and first + 1 < len(tokens):
        first += 1
    return tokens[first].low in SUBORDINATORS or bool(
        re.match(
            r"(?:the (?:day|moment|minute|second|next time|last time|week|month|year)|what if"
            r"|as (?:soon|long) as|in case|now that|had i|should (?:i|we|you)"
            r"|say (?:i|we|you)|say)\b",
            _plain(tokens[first : first + 4]),
        )
    )


def _opens_question(tokens: Sequence[Token]) -> bool:
    first = skip(tokens, 0, DISCOURSE)
    return first < len(tokens) and (
        tokens[first].low in QUESTION_WORDS
        or tokens[first].low
        in [
            "do",
            "does",
            "did",
            "is",
            "are",
            "can",
            "could",
            "should",
            "would",
            "will",
            "have",
            "has",
            "was",
            "were",
            "am",
        ]
    )

"""Where a sentence falls into clauses that assert different things.

Not splitting is the safe side: a span that is judged whole keeps its hedge. So a joint needs a
full clause on both sides, and is refused wherever the left side's hedge, condition or report may
reach over it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from memgate_core.extraction.enclosed import Walls
from memgate_core.extraction.pictures import is_picture
from memgate_core.extraction.scope import Scope, is_aside
from memgate_core.language.grammar import begins_clause, has_predicate, skip
from memgate_core.language.lexicon import verb_lemma
from memgate_core.language.tokens import Token
from memgate_core.language.words import ADVERBS, NOMINATIVE, SUBORDINATORS, word_set


class Joint(NamedTuple):
    """The index of the first token of the right clause, and how the two are joined."""

    at: int
    strong: bool
    """A semicolon, dash, ellipsis, picture or comma, rather than a bare "and"."""


_STRONG = word_set("; — –")
_LINKS = word_set("and but so plus yet & though although whereas")
_CONTRAST = word_set("but yet though although whereas")
_PURPOSE = word_set("can could can't that much many far long good bad")
_CHAT_ENDS = word_set("lol lmao haha hahaha tho yesterday tonight today tomorrow already xx xxx")
_HEDGED_VP = re.compile(
    r"(?:might|may|could|would|will|should|'ll|'d|gonna|plan|plans|hope|hopes|intend|want|wants)$"
)
_HEDGED_ING = word_set("thinking considering planning hoping looking going debating")
_ANAPHORIC = re.compile(
    r"(?:and |so |but )?(?:that|this|it)(?: \w+)? ?(?:'s|is|was|will be) "
    r"(?:the|when|why|how|where|what|because|all|it|where)\b"
)


def joints_of(tokens: Sequence[Token], text: str, walls: Walls) -> list[int]:
    """Indices of the tokens that begin a new clause, in order."""
    found: list[int] = []
    scope = Scope(tokens)
    left = 0
    for at in range(1, len(tokens)):
        if not _may_join(tokens[at - 1], tokens[at]):
            continue
        joint = _joint_at(tokens, at, left, text, walls)
        if joint is not None and scope.lets(joint.at, strong=joint.strong, left=left):
            found.append(joint.at)
            left = joint.at
    return found


def _may_join(before: Token, token: Token) -> bool:
    """A cheap look first: most neighbouring words join nothing."""
    return token.low in _LINKS or before.low in _CHAT_ENDS or not before.text[-1].isalnum()


def _joint_at(tokens: Sequence[Token], at: int, left: int, text: str, walls: Walls) -> Joint | None:
    kind = _kind(tokens, at, left, text)
    if kind is None or walls.around(tokens[at].start) is not None:
        return None
    open_words = [t for t in tokens[left:at] if walls.around(t.start) is None]
    if not (has_predicate(open_words) and _stands_alone(tokens, at)):
        return None
    if is_aside(tokens, at) or is_aside(tokens[:at], left, whole=True):
        return None
    return Joint(at, strong=kind != "link")


def _kind(tokens: Sequence[Token], at: int, left: int, text: str) -> str | None:
    """How the clause that would begin at `at` is joined to the words before it."""
    token, before = tokens[at], tokens[at - 1]
    if not token.is_word or token.low in ("or", "nor"):
        return None
    if before.low in _STRONG or before.low.startswith(("..", "…")) or is_picture(before.text):
        return "mark"
    if before.low == "-" and before.start and text[before.start - 1].isspace():
        return "mark"
    if before.low in "()" and at > 1 and tokens[at - 2].low in (":", ";", "-"):
        return "mark"
    if before.low == ",":
        return "comma"
    if token.low in _LINKS and before.is_word and _goes_on(tokens, at):
        return "link"
    if before.low in _CHAT_ENDS and token.low in NOMINATIVE and at - left >= 3:
        return "chat"
    return None


def _goes_on(tokens: Sequence[Token], at: int) -> bool:
    """ "I moved though, it's fine": a link with a comma behind it belongs to the left."""
    return at + 1 < len(tokens) and tokens[at + 1].is_word


def _stands_alone(tokens: Sequence[Token], at: int) -> bool:
    low = tokens[at].low
    if low in SUBORDINATORS and low not in _CONTRAST:
        return False
    if low == "so" and _is_purpose(tokens, at):
        return False
    here = " ".join(t.low for t in tokens[at : at + 6]).replace(" '", "'")
    if _ANAPHORIC.match(here):
        return False
    if low in _LINKS and _hedged_verb_phrase(tokens, at + 1):
        return True
    return begins_clause(tokens, at)


def _is_purpose(tokens: Sequence[Token], at: int) -> bool:
    words = [t.low for t in tokens[at + 1 : at + 4]]
    return bool(words) and (words[0] in _PURPOSE or (len(words) > 1 and words[1] in _PURPOSE))


def _hedged_verb_phrase(tokens: Sequence[Token], at: int) -> bool:
    """ "... and might buy a bike": a plan that shares its subject with a fact."""
    verb = skip(tokens, at, ADVERBS, 3)
    if verb >= len(tokens) - 1:
        return False
    low, after = tokens[verb].low, tokens[verb + 1].low
    if low in ("am", "'m", "is", "are", "was", "were"):
        return after in _HEDGED_ING
    if low in ("plan", "plans", "hope", "hopes", "intend", "want", "wants"):
        return after == "to"
    return bool(_HEDGED_VP.match(low)) and verb_lemma(after) is not None

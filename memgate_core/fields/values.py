"""When two values are the same: one documented function, used everywhere.

Reaffirming, merging restated plans, and evaluation all use `same_value`, so no pipeline is judged
by another measure than another.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

from memgate_core.language.lexicon import is_noun, noun_lemma, verb_lemma
from memgate_core.language.tokens import fold
from memgate_core.language.words import NUMBER_WORDS, word_set

_WORD = re.compile(r"\d+(?:[.,:]\d+)*|[^\W_]+|&|\+")
_POSSESSIVE = re.compile(r"['’]s\b|['’](?=\s|$)")
_AND_A_HALF = re.compile(r"(?<!\d)(\d+) and a half")
_ARTICLES = word_set("a an the my our their his her your its some s")
_QUALIFIERS = word_set(
    "senior junior head chief lead deputy assistant associate vice principal acting trainee former"
    " ex late retired non anti semi pre post un half part not no never without decaf former"
    " formerly previously almost nearly ish sub mini pro max plus lite"
)
"""Words that make another value of the one they stand beside ("senior underwriter")."""
_PLACE_QUALIFIERS = word_set("new north south east west upper lower great greater old")
"""Likewise in names of places ("New York" is not "York")."""
_GENERIC = word_set(
    "bank street road city town house flat home car bike phone plan school university college shop"
    " store company club gym team service app account job work clinic practice surgery"
)
"""Words that name a kind of thing rather than a thing."""
OPEN_WORDS = word_set("or between undecided either whether versus vs torn")
"""Words that leave it open which of several values holds."""
_LEFT_BEHIND = word_set("from than not no never without off ditch leave leaving left quit")
_LINKS = word_set("of in on at to for by with and")
_REPLACED = word_set("swap swapping replace replacing trade trading ditching leaving instead")
"""A value behind these is the one given up ("swap Netflix for Mubi")."""


@lru_cache(maxsize=4096)
def same_value(a: str, b: str) -> bool:
    """True when two values name the same thing: normalised containment of whole words.

    Case, diacritics, punctuation, articles, possessives and plurals are folded, number words are
    read as numbers, "e-reader" equals "ereader". Then the shorter value must stand in the longer
    one as a run of whole words, and

    - numbers are exact: where both have numbers, they must be the same ("40 trees", "46 trees");
    - no word beside the run may make another value of it: "senior", "ex-", "non-", "not", "New"
      in a place name ("ex-smoker" is not "smoker", "New York" is not "York");
    - the longer value may not leave it open ("undecided between A and B"), nor name the run as
      what is given up ("swap A for B", "from A to B");
    - a generic word alone is not enough ("bank", "the bank on Mill Street").

    Two words and more may also stand apart or turned round ("LG ultrawide", "ultrawide by LG").

    Symmetric. Two values without a letter or digit are the same only when they are equal.
    """
    first, second = words_of(a), words_of(b)
    if not first or not second:
        return a == b
    if first == second or "".join(first) == "".join(second):
        return True
    short, long = (first, second) if len(first) <= len(second) else (second, first)
    if _numbers(short) and _numbers(long) and _numbers(short) != _numbers(long):
        return False
    if not set(short) - _GENERIC:
        return False
    written = a if long is first else b
    return _contains(long, short, written) or _scattered(long, short)


def refines(new: str, old: str) -> bool:
    """True when `new` says the same as `old` and more ("Leeds" -> "Leeds, Headingley")."""
    return same_value(new, old) and len(words_of(new)) > len(words_of(old))


@lru_cache(maxsize=16384)
def words_of(value: str) -> tuple[str, ...]:
    """The words of a value as they are compared: folded, in order, numbers as digits."""
    text = _POSSESSIVE.sub("", fold(value)).replace("-", " ")
    words = [_number(word) for word in _WORD.findall(text)]
    joined = _AND_A_HALF.sub(r"\1.5", " ".join("and" if w == "&" else w for w in words))
    kept = [word for word in joined.split() if word not in _ARTICLES]
    return tuple(_singular(word) for word in kept or joined.split())


def _number(word: str) -> str:
    if word in NUMBER_WORDS:
        return str(NUMBER_WORDS[word])
    if word[0].isdigit() and word.count(",") == 1 and len(word.partition(",")[2]) == 3:
        return word.replace(",", "")
    return word.replace(",", ".") if word[0].isdigit() else word


def _singular(word: str) -> str:
    """Plurals and gerunds brought to one form: "shoes", "carpooling"."""
    if len(word) > 3 and word.endswith("s"):
        return noun_lemma(word)
    if len(word) > 5 and word.endswith("ing") and not is_noun(word):
        return verb_lemma(word) or word
    return word


def _numbers(words: Sequence[str]) -> list[str]:
    return sorted(word for word in words if word[0].isdigit())


def _contains(long: tuple[str, ...], short: tuple[str, ...], written: str) -> bool:
    runs = [at for at in range(len(long) - len(short) + 1) if long[at : at + len(short)] == short]
    if not runs:
        return False
    beside = set(long) - set(short)
    if beside & OPEN_WORDS:
        return False
    return any(_holds(long, at, at + len(short), written) for at in runs)


def _scattered(long: Sequence[str], short: Sequence[str]) -> bool:
    """All words of the shorter value, two or more, anywhere in the longer one."""
    telling = set(short) - _LINKS
    beside = set(long) - set(short)
    turns = OPEN_WORDS | _QUALIFIERS | _LEFT_BEHIND | _REPLACED
    return len(telling) > 1 and telling <= set(long) and not beside & turns


def _holds(long: Sequence[str], start: int, end: int, written: str) -> bool:
    before = long[start - 1] if start else ""
    after = long[end] if end < len(long) else ""
    if before in _QUALIFIERS or after in _QUALIFIERS or before in _LEFT_BEHIND:
        return False
    if before in _PLACE_QUALIFIERS and f"{before.capitalize()} " in written:
        return False
    return not (set(long[:start]) & _REPLACED and set(long[end:]) & {"for", "with", "to", "by"})

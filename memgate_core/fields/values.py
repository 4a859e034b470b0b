"""When two values are the same: one documented function, used everywhere.

`same_value(a, b)` is normalised containment. Both are folded (case, diacritics, punctuation,
articles, possessives, digits written as words up to twenty); then they are the same when the words
of the shorter one all stand in the longer one, and no word that would make them different stands
in only one of them:

- numbers must agree exactly: "40 trees" is not "46 trees";
- a negation in only one of them differs: "no coffee" is not "coffee";
- a single shared word that is generic ("bank", "street") is not enough.

Evaluation uses the same function for every pipeline.
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

_WORD = re.compile(r"[a-z0-9]+(?:\.[0-9]+)?")
_FILLER = frozenset(
    ["a", "an", "the", "my", "our", "your", "his", "her", "their", "its", "this", "that", "of", "for", "at", "in", "on", "to", "by", "with", "from", "and", "or", "is", "are", "was", "be", "user", "users", "s", "now", "currently", "new", "some"]
)
_GENERIC = frozenset(
    ["bank", "street", "road", "city", "town", "house", "flat", "home", "car", "bike", "phone", "plan", "school", "university", "college", "shop", "store", "company", "club", "gym", "team", "service", "app", "account", "job", "work", "clinic", "practice", "surgery"]
)
_NEGATIONS = frozenset(["no", "not", "never", "none", "without", "non", "ex", "former", "anti", "un", "stopped", "quit"])
_NUMBERS = {
    word: str(number)
    for number, word in enumerate(
        ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve", "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen", "twenty"]
    )
}


def same_value(one: str, other: str) -> bool:
    """True when the two name the same value (see the module's rules). Symmetric and reflexive."""
    first, second = words_of(one), words_of(other)
    if first == second:
        return bool(first) or one.strip() == other.strip()
    if not first or not second:
        return False
    if _numbers(first) != _numbers(second) and not _one_sided_numbers(first, second):
        return False
    if (set(first) & _NEGATIONS) != (set(second) & _NEGATIONS):
        return False
    shorter, longer = sorted((set(first), set(second)), key=len)
    return shorter <= longer and bool(shorter - _GENERIC)


@lru_cache(maxsize=16384)
def words_of(value: str) -> tuple[str, ...]:
    """The folded content words of a value, in order."""
    folded = unicodedata.normalize("NFKD", value.casefold())
    plain = "".join(ch for ch in folded if not unicodedata.combining(ch))
    plain = plain.replace("ß", "ss").replace("’", "'").replace("&", " and ")
    plain = re.sub(r"'s\b|(?<=s)'(?=\s|$)", "", plain)
    plain = re.sub(r"(?<=\d)[,](?=\d{3}\b)", "", plain)
    found = [_NUMBERS.get(word, word) for word in _WORD.findall(plain)]
    kept = tuple(word for word in found if word not in _FILLER)
    return kept or tuple(found)


def _numbers(words: tuple[str, ...]) -> set[str]:
    return {word for word in words if word[0].isdigit()}


def _one_sided_numbers(first: tuple[str, ...], second: tuple[str, ...]) -> bool:
    """A detail such as "since 2009" may stand on one side; two different numbers may not."""
    return not _numbers(first) or not _numbers(second)

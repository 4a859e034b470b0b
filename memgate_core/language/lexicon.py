"""Which forms a verb or noun has, from lemminflect's tables.

lemminflect's own loader turns its two tables into 50 MB of dictionaries in half a second. The
tables are sorted, so the same answers come from a binary search over 3 MB, loaded in 20 ms.
"""

from __future__ import annotations

import gzip
import re
from array import array
from collections.abc import Callable
from enum import StrEnum
from functools import cache, lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

from memgate_core.errors import ConfigurationError


class Tag(StrEnum):
    """Forms of a verb (Penn names)."""

    BASE = "VB"
    PRESENT = "VBZ"
    PAST = "VBD"
    PARTICIPLE = "VBN"
    GERUND = "VBG"


class Reading(NamedTuple):
    """One way to read a word form as a verb."""

    lemma: str
    tag: Tag


_TABLE_TAGS = (Tag.PAST, Tag.PARTICIPLE, Tag.GERUND, Tag.PRESENT)
_BE = {
    "am": Tag.PRESENT, "is": Tag.PRESENT, "are": Tag.PRESENT, "was": Tag.PAST, "were": Tag.PAST,
    "been": Tag.PARTICIPLE, "being": Tag.GERUND, "be": Tag.BASE,
}  # fmt: skip
_EXTRA = {
    "gonna": Reading("go", Tag.GERUND), "wanna": Reading("want", Tag.BASE),
    "gotta": Reading("get", Tag.PARTICIPLE), "got": Reading("get", Tag.PAST),
    "gotten": Reading("get", Tag.PARTICIPLE), "found": Reading("find", Tag.PAST),
    "left": Reading("leave", Tag.PAST), "saw": Reading("see", Tag.PAST),
    "felt": Reading("feel", Tag.PAST), "bought": Reading("buy", Tag.PAST),
}  # fmt: skip
"""Forms for which the frequent reading must win over the rare one ("found", "saw" as base)."""
_OVER = {"relocate": "relocated", "text": "texted", "quit": "quit", "rehome": "rehomed"}
_VOWELS = "aeiou"


class _Table:
    """Lines of "word,category,..." sorted by word."""

    def __init__(self, path: Path) -> None:
        self._blob = gzip.decompress(path.read_bytes()).rstrip(b"\n")
        ends = (match.end() for match in re.finditer(rb"\n", self._blob))
        self._starts = array("I", (0, *ends))

    def rows(self, word: str) -> list[list[str]]:
        """The fields behind the word, one list a category."""
        key, found = word.encode("utf-8", "replace"), []
        at = self._first(key)
        while at < len(self._starts):
            line = self._line(at)
            name, _, rest = line.partition(b",")
            if name != key:
                break
            found.append(rest.decode().split(","))
            at += 1
        return found

    def _line(self, index: int) -> bytes:
        start = self._starts[index]
        stop = self._blob.find(b"\n", start)
        return self._blob[start : stop if stop >= 0 else len(self._blob)]

    def _first(self, key: bytes) -> int:
        low, high = 0, len(self._starts)
        while low < high:
            middle = (low + high) // 2
            if self._line(middle).partition(b",")[0] < key:
                low = middle + 1
            else:
                high = middle
        return low


@cache
def _tables() -> tuple[_Table, _Table]:
    return _Table(_resources() / "lemma_lu.csv.gz"), _Table(_resources() / "infl_lu.csv.gz")


def _resources() -> Path:
    spec = find_spec("lemminflect")  # finds without importing: the package would load numpy
    if spec is None or not spec.submodule_search_locations:
        raise ConfigurationError("lemminflect is not installed", hint="pip install agentmemgate")
    return Path(spec.submodule_search_locations[0]) / "resources"


@lru_cache(maxsize=8192)
def verb_readings(word: str) -> tuple[Reading, ...]:
    """Every verb reading of a lower-case word; empty for a word that is never a verb.

    Words that no table knows are read by their endings ("yeeted"), only where those are clear.
    """
    if word in _BE:
        return (Reading("be", _BE[word]),)
    if word in _EXTRA:
        first = _EXTRA[word]
        participle = Reading(first.lemma, Tag.PARTICIPLE)
        return (first, participle) if first.tag is Tag.PAST else (first,)
    lemmas = _lemmas(word, "verb")
    if not lemmas and not is_known(word):
        return _unlisted(word)
    return tuple(Reading(lemma, tag) for lemma in lemmas for tag in _tags(lemma, word))


@lru_cache(maxsize=8192)
def is_noun(word: str) -> bool:
    """True when the word may be a common noun."""
    return bool(_lemmas(word, "noun"))


@lru_cache(maxsize=8192)
def is_adjective(word: str) -> bool:
    """True when the word may be an adjective or adverb."""
    return bool(_lemmas(word, "adj") or _lemmas(word, "adv"))


@lru_cache(maxsize=8192)
def is_known(word: str) -> bool:
    """True when any table lists the lower-case word."""
    return bool(_tables()[0].rows(word))


def verb_lemma(word: str) -> str | None:
    """The base form of a verb, or None for a word that is never a verb."""
    readings = verb_readings(word)
    return readings[0].lemma if readings else None


@lru_cache(maxsize=8192)
def noun_lemma(word: str) -> str:
    """The singular of a noun; the word itself where no table knows it."""
    found = _lemmas(word, "noun")
    if found:
        return min(found, key=lambda lemma: (lemma == word, len(lemma)))
    return word[:-1] if len(word) > 3 and word.endswith("s") and not word.endswith("ss") else word


@lru_cache(maxsize=4096)
def inflect(lemma: str, tag: Tag) -> str:
    """The form of a verb for a tag: ("sell", PAST) -> "sold"."""
    if tag is Tag.BASE:
        return lemma
    if lemma == "be":
        return {Tag.PRESENT: "is", Tag.PAST: "was", Tag.PARTICIPLE: "been"}.get(tag, "being")
    if tag in (Tag.PAST, Tag.PARTICIPLE) and lemma in _OVER:
        return _OVER[lemma]
    forms = _forms(lemma)
    return forms.get(tag, ("",))[0] or _regular(lemma, tag)


def _lemmas(word: str, category: str) -> tuple[str, ...]:
    rows = _tables()[0].rows(word)
    found = [lemma for row in rows if row[0] == category for lemma in row[1].split("/") if lemma]
    return tuple(found)


@lru_cache(maxsize=4096)
def _forms(lemma: str) -> dict[Tag, tuple[str, ...]]:
    rows = [row for row in _tables()[1].rows(lemma) if row[0] == "verb"]
    if not rows:
        return {}
    cells = [tuple(cell.split("/")) if cell else () for cell in rows[0][1:]]
    cells += [()] * (len(_TABLE_TAGS) - len(cells))
    if not cells[1]:
        cells[1] = cells[0]
    forms = {tag: cell for tag, cell in zip(_TABLE_TAGS, cells, strict=False) if cell}
    return forms | _overrides().get(lemma, {})


@cache
def _overrides() -> dict[str, dict[Tag, tuple[str, ...]]]:
    """The forms that lemminflect puts before its table ("run" as a participle)."""
    found: dict[str, dict[Tag, tuple[str, ...]]] = {}
    lines = (_resources() / "infl_overrides.csv").read_text(encoding="utf-8").splitlines()
    for line in lines:
        lemma, _, rest = line.partition(",")
        tag, _, forms = rest.partition(",")
        if tag in _TABLE_TAGS:
            found.setdefault(lemma, {})[Tag(tag)] = tuple(forms.strip().split("/"))
    return found


def _tags(lemma: str, word: str) -> tuple[Tag, ...]:
    if lemma == word:
        same = tuple(tag for tag, forms in _forms(lemma).items() if word in forms)
        return (Tag.BASE, *same)
    known = tuple(tag for tag, forms in _forms(lemma).items() if word in forms)
    return known or _by_ending(word)


def _unlisted(word: str) -> tuple[Reading, ...]:
    tags = _by_ending(word) if len(word) > 4 and not word.endswith("s") else ()
    return tuple(Reading(_stem(word, 3 if tag is Tag.GERUND else 2), tag) for tag in tags)


def _stem(word: str, ending: int) -> str:
    stem = word[:-ending]
    undoubled = stem[:-1] if stem[-1:] == stem[-2:-1] else stem
    guesses = (stem, stem + "e", undoubled, stem.removeprefix("re") + "e")
    known = [guess for guess in guesses if is_known(guess)]
    if known and known[0] == guesses[3]:
        return stem + "e"
    return known[0] if known else stem


def _by_ending(word: str) -> tuple[Tag, ...]:
    for ending, tags in (
        ("ing", (Tag.GERUND,)),
        ("ed", (Tag.PAST, Tag.PARTICIPLE)),
        ("s", (Tag.PRESENT,)),
    ):
        if word.endswith(ending):
            return tags
    return ()


def _regular(lemma: str, tag: Tag) -> str:
    build: Callable[[str], str] = {
        Tag.PRESENT: _with_s,
        Tag.GERUND: lambda v: (v[:-1] if v[-1:] == "e" and v[-2:] != "ee" else _doubled(v)) + "ing",
    }.get(tag, _with_ed)
    return build(lemma)


def _with_s(verb: str) -> str:
    if verb.endswith("y") and verb[-2:-1] not in _VOWELS:
        return verb[:-1] + "ies"
    return verb + ("es" if verb.endswith(("s", "x", "z", "ch", "sh", "o")) else "s")


def _with_ed(verb: str) -> str:
    if verb.endswith("e"):
        return verb + "d"
    if verb.endswith("y") and verb[-2:-1] not in _VOWELS:
        return verb[:-1] + "ied"
    return _doubled(verb) + "ed"


def _doubled(verb: str) -> str:
    short = len(verb) >= 3 and sum(ch in _VOWELS for ch in verb) == 1
    closed = verb[-1:] not in _VOWELS + "wxy" and verb[-2:-1] in _VOWELS
    return verb + verb[-1] if short and closed and verb[-3:-2] not in _VOWELS else verb

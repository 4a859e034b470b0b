"""Words of a message with their places, contractions taken apart."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache
from typing import NamedTuple


class Token(NamedTuple):
    """One word, number, clitic or mark of a text, at [start, end)."""

    text: str
    low: str
    """Lower case, straight apostrophes; a clitic keeps its apostrophe ("'s", "n't")."""
    start: int
    end: int

    @property
    def is_word(self) -> bool:
        """True for words, clitics and numbers; False for punctuation and pictures."""
        return self.text[-1].isalnum() or self.text[0].isalnum()

    @property
    def is_capitalised(self) -> bool:
        """True when the first letter is upper case."""
        return self.text[0].isupper()


_TOKEN = re.compile(
    r"(?:https?://|www\.)\S+"
    r"|[\w.+-]{1,64}@[\w-]+\.[\w.-]+"
    r"|\d+(?:[.,:]\d+)*(?:st|nd|rd|th)?\b"
    r"|[^\W_]+(?:[-_/][^\W_]+)*(?:['’`](?=[^\W_])[^\W_]+)?"
    r"|[.…]+|[^\w\s]|_+"
)
_CLITIC = re.compile(r"(?<=[a-z])(?:n'?t|'(?:s|m|re|ve|ll|d))$")
_UNMARKED = {
    "im": 1, "ive": 1, "id": 1, "hes": 2, "shes": 3, "thats": 4, "whats": 4, "theres": 5,
    "heres": 4, "theyre": 4, "theyve": 4, "theyll": 4, "youre": 3, "youve": 3, "youll": 3,
    "weve": 2, "dont": 2, "doesnt": 4, "didnt": 3, "cant": 2, "wont": 2, "isnt": 2, "wasnt": 3,
    "arent": 3, "werent": 4, "havent": 4, "hasnt": 3, "hadnt": 3, "couldnt": 5, "wouldnt": 5,
    "shouldnt": 6, "itll": 2, "thatll": 4, "hows": 3, "wheres": 5, "whos": 3, "lets": 3,
}  # fmt: skip
_LONGEST_WORD = 60
"""Characters of a word that are looked at; pasted data must not fill the caches."""
_STRAIGHT = str.maketrans({"’": "'", "`": "'", "‘": "'", "ʼ": "'"})


def straight(text: str) -> str:
    """Typographic apostrophes made straight; same length, so offsets hold."""
    return text.translate(_STRAIGHT)


def lower(text: str) -> str:
    """Lower case with straight apostrophes."""
    return text.lower() if text.isalnum() else straight(text).lower()


def tokenise(text: str, start: int = 0, end: int | None = None) -> list[Token]:
    """Tokens of `text[start:end]`, with offsets into `text`."""
    stop = len(text) if end is None else end
    out: list[Token] = []
    for match in _TOKEN.finditer(text, start, stop):
        at = match.start()
        word = match.group()
        shape = _parts(word) if len(word) <= _LONGEST_WORD else _parts.__wrapped__(word)
        out += [Token(part, low, at + a, at + b) for part, low, a, b in shape]
    return out


def words_of(text: str) -> list[str]:
    """Lower-case words and numbers of a text, clitics dropped."""
    return [t.low for t in tokenise(text) if t.is_word and t.low[0] not in "'’" and t.low != "n't"]


def fold(text: str) -> str:
    """Case, diacritics and typographic marks folded away; for comparing, never for offsets."""
    if text.isascii():
        return text.lower()
    decomposed = unicodedata.normalize("NFKD", straight(text).casefold())
    return "".join(ch for ch in decomposed if not unicodedata.combining(ch))


@lru_cache(maxsize=16384)
def _parts(text: str) -> tuple[tuple[str, str, int, int], ...]:
    """A run of characters as one token, or as a word and its clitic: (text, low, start, end)."""
    low = lower(text)[:_LONGEST_WORD]
    cut = _clitic_at(low)
    if not cut:
        return ((text, low, 0, len(text)),)
    tail = low[cut:]
    clitic = tail if "'" in tail else _marked(tail)
    return ((text[:cut], low[:cut], 0, cut), (text[cut:], clitic, cut, len(text)))


def _clitic_at(low: str) -> int:
    if "'" not in low:
        return _UNMARKED.get(low, 0)
    match = _CLITIC.search(low)
    return match.start() if match else 0


def _marked(tail: str) -> str:
    return "n't" if tail == "nt" else f"'{tail}"

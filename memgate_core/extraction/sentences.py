"""Where one sentence of a block ends and the next begins, in messy chat as in tidy prose."""

from __future__ import annotations

import re

from memgate_core.extraction.blocks import Block, BlockKind
from memgate_core.extraction.enclosed import Walls
from memgate_core.language.tokens import lower
from memgate_core.language.words import word_set

_STOP = re.compile(
    r"(?:(?<![.!?])[.!?]+|…)[\"'”’)\]*_]*(?=\s|$)"
    r"|(?<=[a-z]{2})[.!?](?=(?:I|I'm|We|He|She|They|My|The|It|And|But|So|You)\b)"
    r"|[。！？｡؟۔।॥]+[」』”）\"]*"
    r"|\n+"
)
_ALWAYS_SHORT = word_set("mr mrs ms dr prof st mt ft vs e.g i.e cf approx fig gen rev sgt")
_MAYBE_SHORT = word_set(
    "no etc inc ltd co corp jr sr am pm a.m p.m dept est min max tel ext jan feb mar apr jun jul"
    " aug sep sept oct nov dec mon tue tues wed thu thur thurs fri sat sun u.s u.k ph.d"
)
_STARTS_ANEW = re.compile(
    r"\s*[\"'“‘(]*(?:I|We|He|She|They|You|It|My|Our|The|This|That|There|But|And|So|Then|Can|Could"
    r"|What|How|When|Where|Why|Is|Are|Do|Does|Did|Please|Also|Now|Not|No|Yes)\b"
)
_WORD_BEFORE = re.compile(r"[\w.]+$")
_INITIAL = re.compile(r"(?:^|\s|\.)[A-HJ-Z]$")


def sentence_ends(text: str, block: Block, walls: Walls) -> list[int]:
    """Offsets right after each sentence of the block; the last one is the block's end."""
    if block.kind is BlockKind.CODE:
        return [block.end]
    ends = [
        match.end()
        for match in _STOP.finditer(text, block.start, block.end)
        if _ends_here(text, match, block, walls)
    ]
    return [*(end for end in ends if end < block.end), block.end]


def _ends_here(text: str, match: re.Match[str], block: Block, walls: Walls) -> bool:
    if match.group()[0] == "\n":
        return False  # blocks_of already joined only lines that go on
    wall = walls.around(match.start())
    if wall is not None:
        closes = match.end() >= wall.end or (wall.end == match.end())
        return closes and bool(_STARTS_ANEW.match(text, match.end()) or _upper(text, match.end()))
    if match.group().startswith("..") or match.group()[0] == "…":
        return _upper(text, match.end())
    return match.group()[0] != "." or not _shortens(text, match, block.start)


def _upper(text: str, at: int) -> bool:
    rest = text[at : at + 3].lstrip()
    return bool(rest) and rest[0].isupper()


def _shortens(text: str, match: re.Match[str], start: int) -> bool:
    """True when the full stop belongs to an abbreviation, an initial or a number."""
    before = _WORD_BEFORE.search(text, max(start, match.start() - 12), match.start())
    word = lower(before.group()) if before else ""
    if word in _ALWAYS_SHORT or _INITIAL.search(
        text[max(start, match.start() - 3) : match.start()]
    ):
        return True
    if word.isdigit() and _is_list_number(text, match.start() - len(word), start):
        return True
    after = text[match.end() : match.end() + 2].strip()
    if word == "no":
        return after[:1].isdigit()
    if word in _MAYBE_SHORT:
        return not _STARTS_ANEW.match(text, match.end())
    return False


def _is_list_number(text: str, at: int, start: int) -> bool:
    before = text[start:at].rstrip()
    return not before or before[-1] in ".!?:;,"

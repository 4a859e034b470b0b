"""Hand labels of the recorded extractions: what their words are evidence of, and of which slot.

One line a conversation: its id, a tab, and a code for each extraction in the order of the source
file. First letter: s, e, c or o, the evidence in the span's words. Second: y where the extraction
speaks of the conversation's field, n elsewhere; after y, what the line says of the value:
C holds now, X corrects, H is held, N neither, P another person's.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from evaluation.training.source import DATA, lines_of
from evaluation.training.statements import LABELS
from memgate_core.model import EvidenceType

Conversation = dict[str, Any]
"""A conversation in the form of evaluation/plans/format.py."""

_CODE = re.compile(r"([seco])(?:n|y([CXHNP]))")


@dataclass(frozen=True)
class Code:
    """What a reader said of one extraction."""

    evidence: EvidenceType
    same: bool
    """True when it speaks of the conversation's field."""
    verdict: str | None
    """C, X, H, N or P, where it speaks of the field."""


def labels() -> dict[str, tuple[Code, ...]]:
    """Codes by conversation id.

    Raises:
        InvalidRecordError: a line outside the grammar.
    """
    return _labels(DATA / "plan_labels")


@cache
def _labels(folder: Path) -> dict[str, tuple[Code, ...]]:
    found: dict[str, tuple[Code, ...]] = {}
    for path in sorted(folder.glob("*.tsv")):
        for line in lines_of(path):
            unit, _, codes = line.text.partition("\t")
            matches = [_CODE.fullmatch(code) for code in codes.split()]
            if not all(matches):
                raise line.wrong("code", f"is none of the grammar: {codes!r}")
            found[unit] = tuple(_code(match) for match in matches if match is not None)
    return found


def _code(match: re.Match[str]) -> Code:
    verdict = match.group(2)
    return Code(LABELS[match.group(1)], verdict is not None, verdict)


def code_of(conversation: Conversation) -> dict[int, Code]:
    """Codes by the identity of the extraction they belong to; empty where nobody labelled.

    Raises:
        ValueError: the labels count other extractions than the conversation has.
    """
    codes = labels().get(conversation["id"])
    if codes is None:
        return {}
    turns = (turn for session in conversation["sessions"] for turn in session["turns"])
    found = [extraction for turn in turns for extraction in extractions_of(turn)]
    if len(codes) != len(found):
        count = f"{len(codes)} codes for {len(found)} extractions"
        raise ValueError(f"{conversation['id']}: {count}")
    return {id(extraction): code for extraction, code in zip(found, codes, strict=True)}


def extractions_of(turn: dict[str, Any]) -> list[dict[str, Any]]:
    """What was recorded of a turn: the literal extractions, then the cautious ones."""
    given = turn.get("extractions", {})
    return [*given.get("literal", ()), *given.get("cautious", ())]

"""Reads the hand-written plan conversations (`evaluation/data/plans/*.txt`) into the plans format.

The text form is what people write and review; `python -m evaluation.plans.source IN… -o OUT.jsonl`
compiles it. Grammar, one conversation a block, blocks apart by a blank line:

    # id|kind|attribute|description|initial|plan|outcome|hedge|confirm|final|probe
    @ 2025-01-14T20:41:00Z
    U plan: what the user types
    l user/home_city = Saltaire | User lives in Saltaire | exact words of the line above
    c user/moving_plan = considering Saltaire | User is considering … | exact words
    A: what the assistant answers

`l` is the literal extraction, `c` the cautious one. The mark after U (state, plan, reminder,
outcome) may be missing; `-` stands for a plan, hedge or confirm level that there is none of.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from memgate_core.errors import InvalidRecordError

_HEAD = (
    "id", "kind", "attribute", "description", "initial_value", "plan_value",
    "outcome", "hedge_level", "confirm_level", "final_value", "probe",
)  # fmt: skip
_KINDS = {"core", "heldout", "hedge", "confirm", "control_completed", "control_correction"}
_OUTCOMES = {"came_true", "abandoned", "open", "completed", "corrected"}
_HEDGES = {None, "strong", "weak", "confident_undated", "scheduled_dated"}
_CONFIRMS = {None, "verbatim", "paraphrase", "oblique", "situational"}
_USER = re.compile(r"^U(?: (state|plan|reminder|outcome))?: (.+)$")
_EXTRACTION = re.compile(r"^([lc]) ([^/|]+)/([a-z0-9_' ]+?) = (.+?) \| (.+?) \| (.+)$")
_DATE = re.compile(r"^@ (\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ)$")


def conversations(path: Path) -> Iterator[dict[str, Any]]:
    """Every conversation of a source file.

    Raises:
        InvalidRecordError: names file, line and what is wrong there.
    """
    block: list[tuple[int, str]] = []
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        if line.strip():
            block.append((number, line.rstrip()))
        elif block:
            yield _conversation(path, block)
            block = []
    if block:
        yield _conversation(path, block)


def _conversation(path: Path, block: list[tuple[int, str]]) -> dict[str, Any]:
    record = _head(path, *block[0])
    sessions: list[dict[str, Any]] = []
    for number, line in block[1:]:
        if date := _DATE.match(line):
            sessions.append({"date": date.group(1), "turns": []})
        elif not sessions:
            raise InvalidRecordError(path, number, "@", "a date line must come first")
        else:
            _turn_line(path, number, line, sessions[-1]["turns"])
    record["sessions"] = sessions
    return record


def _head(path: Path, number: int, line: str) -> dict[str, Any]:
    parts = [part.strip() for part in line.lstrip("# ").split("|")]
    if not line.startswith("#") or len(parts) != len(_HEAD):
        raise InvalidRecordError(path, number, "#", f"the head needs {len(_HEAD)} parts")
    head: dict[str, Any] = dict(zip(_HEAD, (None if p == "-" else p for p in parts), strict=True))
    allowed = (("kind", _KINDS), ("outcome", _OUTCOMES), ("hedge_level", _HEDGES))
    for key, known in (*allowed, ("confirm_level", _CONFIRMS)):
        if head[key] not in known:
            raise InvalidRecordError(path, number, key, f"{head[key]!r} is not one of {known}")
    field = {
        "entity": "user",
        "attribute": head.pop("attribute"),
        "description": head.pop("description"),
    }
    return {"id": head.pop("id"), "kind": head.pop("kind"), "field": field, **head}


def _turn_line(path: Path, number: int, line: str, turns: list[dict[str, Any]]) -> None:
    if user := _USER.match(line):
        turn: dict[str, Any] = {"role": "user", "content": user.group(2)}
        if user.group(1):
            turn["mark"] = user.group(1)
        turns.append({**turn, "extractions": {"literal": [], "cautious": []}})
    elif line.startswith("A: "):
        turns.append({"role": "assistant", "content": line[3:]})
    elif extraction := _EXTRACTION.match(line):
        _extraction(path, number, extraction, turns)
    else:
        raise InvalidRecordError(path, number, line[:12], "neither U, A, l, c nor @")


def _extraction(path: Path, number: int, found: re.Match[str], turns: list[dict[str, Any]]) -> None:
    style, entity, attribute, value, text, span = (part.strip() for part in found.groups())
    if not turns or turns[-1]["role"] != "user":
        raise InvalidRecordError(path, number, style, "an extraction must follow a user line")
    if span not in turns[-1]["content"]:
        raise InvalidRecordError(path, number, "span", f"{span!r} is not in the line above")
    turns[-1]["extractions"]["literal" if style == "l" else "cautious"].append(
        {"entity": entity, "attribute": attribute, "value": value, "text": text, "span": span}
    )


def main() -> int:
    """Compiles source files into one JSONL file."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("sources", nargs="+", type=Path)
    parser.add_argument("-o", "--out", type=Path)
    args = parser.parse_args()
    try:
        records = [record for path in args.sources for record in conversations(path)]
    except InvalidRecordError as fault:
        print(fault, file=sys.stderr)
        return 2
    lines = [json.dumps(record, ensure_ascii=False) for record in records]
    if args.out:
        args.out.write_text("\n".join(lines) + "\n", encoding="utf-8")
    print(f"{len(lines)} conversations", file=sys.stderr)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())

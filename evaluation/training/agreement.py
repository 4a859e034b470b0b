"""`python -m evaluation.training.agreement`: how far a second reader agrees; for docs/datasheet.md.

`evaluation/data/second_reading/*.tsv`: kind, conversation or block, origin, label of the data, and
the label of somebody who saw the words and no label.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from evaluation.training.source import DATA, Line, lines_of

_NAMES = {
    "natural": "statements, hand-written",
    "chat": "statements, real chats",
    "resolution": "held items and later turns",
    "admission": "turns against a field",
}
Pair = tuple[str, str]


@dataclass(frozen=True)
class Twice:
    """One record, read twice."""

    kind: str
    first: str
    second: str


def main() -> None:
    """Prints the table."""
    print(table())


def table() -> str:
    """One row a sample and kind, as a table in Markdown."""
    lines = ["| sample | n | agreement | Cohen's kappa | on hold or not |"]
    lines.append("| --- | ---: | ---: | ---: | ---: |")
    for path in sorted((DATA / "second_reading").glob("*.tsv")):
        read = list(_read(path))
        for kind, name in _NAMES.items():
            pairs = [(one.first, one.second) for one in read if one.kind == kind]
            if pairs:
                lines.append(_row(f"{path.stem.replace('_', ' ')}: {name}", pairs, kind))
    return "\n".join(lines)


def agreement(pairs: Sequence[Pair]) -> float:
    """Share of records that both read alike."""
    return sum(first == second for first, second in pairs) / len(pairs)


def kappa(pairs: Sequence[Pair]) -> float:
    """Cohen's kappa: agreement beyond what the two would reach by chance; 1.0 where all agree."""
    ours, theirs = (Counter(pair[side] for pair in pairs) for side in (0, 1))
    chance = sum(ours[label] * theirs[label] for label in ours) / len(pairs) ** 2
    return 1.0 if chance == 1.0 else (agreement(pairs) - chance) / (1 - chance)


def _row(name: str, pairs: Sequence[Pair], kind: str) -> str:
    held = [(str(a == "speculation"), str(b == "speculation")) for a, b in pairs]
    on_hold = f"{agreement(held):.1%}" if kind in ("natural", "chat") else "-"
    return f"| {name} | {len(pairs)} | {agreement(pairs):.1%} | {kappa(pairs):.2f} | {on_hold} |"


def _read(path: Path) -> Iterator[Twice]:
    for line in lines_of(path):
        kind, _unit, origin, first, second = _columns(line)
        yield Twice(origin if kind == "statement" else kind, *_alike((first, second)))


def _columns(line: Line) -> list[str]:
    columns = line.text.split("\t")
    if len(columns) != 5:
        raise line.wrong("columns", "needs kind, unit, origin, label, second label")
    return columns


def _alike(labels: Iterable[str]) -> list[str]:
    """A refused value and one that is nothing come to the same for the field."""
    return ["none" if label == "reject" else label for label in labels]


if __name__ == "__main__":
    main()

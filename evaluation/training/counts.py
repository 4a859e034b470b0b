"""`python -m evaluation.training.counts`: how much of what there is, for docs/datasheet.md."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from evaluation.plans.source import conversations
from evaluation.training.admission import admissions
from evaluation.training.chats import chat_labels
from evaluation.training.resolutions import later_turns
from evaluation.training.source import DATA, for_test, plan_files
from evaluation.training.statements import UNSEEN, Labelled, from_jsonl, natural
from memgate_core.model import EvidenceType

Row = tuple[str, int, int, str]
"""What, units (conversations, blocks), records, and the records by class."""


def main() -> None:
    """Prints the table."""
    print(table())


def table() -> str:
    """All rows as one table in Markdown."""
    lines = [
        "| what | conversations or blocks | records | by class |",
        "| --- | ---: | ---: | --- |",
    ]
    lines += [
        f"| {what} | {units} | {records} | {classes} |" for what, units, records, classes in rows()
    ]
    return "\n".join(lines)


def rows() -> Iterable[Row]:
    """One row a kind of data."""
    hard = from_jsonl(DATA / "statements" / "hard.jsonl", "hard")
    for what, items in (
        ("statements, hand-written conversations", _labels(natural())),
        ("statements, hand-written conversations never taught", _labels(natural(UNSEEN))),
        ("statements, real chats (labels only)", list(chat_labels())),
        ("statements, hard ones", _labels(hard)),
    ):
        yield _statements(what, items)
    later = list(later_turns())
    kinds = Counter(item.resolution.value for item in later)
    yield "held items and later turns", len({i.item.unit for i in later}), len(later), _said(kinds)
    admitted = list(admissions())
    decisions = Counter(item.decision for item in admitted)
    units = len({item.unit for item in admitted})
    yield "turns against a field", units, len(admitted), _said(decisions)
    for part in ("train", "test"):
        plans = [c for path in plan_files(f"{part}_*.txt") for c in conversations(path)]
        outcomes = Counter(plan["outcome"] for plan in plans)
        turns = sum(len(session["turns"]) for plan in plans for session in plan["sessions"])
        yield f"plan conversations, {part} ({turns} turns)", len(plans), len(plans), _said(outcomes)


def _labels(items: Iterable[Labelled]) -> list[tuple[str, EvidenceType]]:
    return [(item.unit, item.label) for item in items]


def _statements(what: str, items: Sequence[tuple[str, EvidenceType]]) -> Row:
    units = {unit for unit, _ in items}
    kept = sum(for_test(unit) for unit in units)
    labels = Counter(label.value for _, label in items)
    part = "" if what.endswith("never taught") else f" ({kept} units kept for test)"
    return f"{what}{part}", len(units), len(items), _said(labels)


def _said(counts: Counter[str]) -> str:
    return ", ".join(f"{name} {count}" for name, count in counts.most_common())


if __name__ == "__main__":
    main()

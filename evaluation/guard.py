"""`python -m evaluation.guard`: figures on the own test part that no change may lower.

`evaluation/data/guard.json` keeps what was last reached; a test measures again and fails where a
figure has dropped. After a change for the better, `--write` raises the mark; lowering one is a
decision, and belongs into docs/decisions/.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections.abc import Iterable, Sequence
from pathlib import Path

from evaluation.acceptance.bench import measure as acceptance
from evaluation.plans.format import Conversation
from evaluation.plans.pipeline import trace_of
from evaluation.plans.run import labelled, pipeline_for
from evaluation.plans.score import Score, score
from evaluation.plans.setting import Setting
from evaluation.statements.bench import judged
from evaluation.statements.measure import figures
from evaluation.write_docs import DATA, plan_file, statement_file
from memgate_core.judgement.local import LocalClassifier

MARKS = DATA / "guard.json"
SLACK = 0.015
"""So far a figure may fall before it counts: other processors round int8 products otherwise."""
SLACK_PLANS = 0.1
"""Likewise for the plan figures, where one of a dozen conversations is eight in a hundred."""
_FEWER_IS_BETTER = frozenset({"wrong_commits", "pending_contaminated", "falsely_promoted"})
_EVERY = 3
"""Every third conversation of the test part: the whole of it is what `make docs` measures."""


def measured() -> dict[str, float]:
    """All guarded figures, shares from 0 to 1."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        found = _statements(statement_file(folder / "statements.jsonl"))
        found |= _acceptance()
        plans = list(labelled(plan_file(folder / "plans.jsonl")))[::_EVERY]
        for style in ("literal", "cautious"):
            found |= {f"{style}.{key}": value for key, value in _plans(plans, style).items()}
    return {key: round(value, 4) for key, value in found.items()}


def dropped(now: dict[str, float], marks: dict[str, float]) -> list[str]:
    """One line for every figure that is worse than its mark by more than the slack."""
    lines = []
    for key, mark in marks.items():
        value = now.get(key, 0.0)
        worse = value - mark if key.rpartition(".")[2] in _FEWER_IS_BETTER else mark - value
        if worse > (SLACK_PLANS if key.startswith(("literal.", "cautious.")) else SLACK):
            lines.append(f"{key}: {value:.3f}, was {mark:.3f}")
    return lines


def _statements(path: Path) -> dict[str, float]:
    found = figures(list(judged(path, LocalClassifier())))
    return {
        "statements.auroc_hold": found.auroc_hold or 0.0,
        "statements.accuracy": found.accuracy.rate or 0.0,
        "statements.hold_or_not": found.hold_or_not.rate or 0.0,
    }


def _acceptance() -> dict[str, float]:
    found = acceptance(DATA / "acceptance" / "cases.jsonl")
    wrong = sum(result.wrong_commit for result in found.wrong)
    return {
        "acceptance.right": found.right.rate or 0.0,
        "acceptance.wrong_commits": wrong / found.n,
    }


def _plans(plans: Iterable[Conversation], style: str) -> dict[str, float]:
    setting = Setting.model_validate(
        {"name": f"{style} gated", "extraction": f"recorded:{style}", "gate": "on"}
    )
    scores = [score(one, trace_of(one, pipeline_for(one, setting))) for one in plans]
    return {key: _share(scores, key) for key in _PLAN_FIGURES}


_PLAN_FIGURES = (
    "right",
    "pending_contaminated",
    "staged",
    "promoted",
    "falsely_promoted",
    "discarded",
)


def _share(scores: Sequence[Score], key: str) -> float:
    seen = [getattr(one, key) for one in scores if getattr(one, key) is not None]
    return sum(seen) / len(seen) if seen else 0.0


def main(arguments: Sequence[str] | None = None) -> int:
    """Measures, compares, and with --write keeps what was measured."""
    parser = argparse.ArgumentParser("python -m evaluation.guard", description=__doc__)
    parser.add_argument("--write", action="store_true", help="keep what is measured as the mark")
    options = parser.parse_args(arguments)
    now = measured()
    marks = json.loads(MARKS.read_text(encoding="utf-8")) if MARKS.is_file() else {}
    for key, value in now.items():
        print(f"{key:<34} {value:.3f}   mark {marks.get(key, float('nan')):.3f}")
    if options.write:
        MARKS.write_text(json.dumps(now, indent=1) + "\n", encoding="utf-8")
        return 0
    worse = dropped(now, marks)
    print("\n".join(worse) or "nothing dropped")
    return 1 if worse else 0


if __name__ == "__main__":
    sys.exit(main())

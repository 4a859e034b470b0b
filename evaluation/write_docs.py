"""`make docs`: writes docs/proposal.schema.json from the model and the tables of docs/datasheet.md
from the data, measures on the project's own test data, and writes docs/figures.md and its report.

Nothing that is measured on here was trained on: acceptance cases, the test part of the plan
conversations, the test part of the labelled statements.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

from evaluation import datasheet, proposal_schema
from evaluation.acceptance import bench as acceptance
from evaluation.acceptance import tables as acceptance_tables
from evaluation.plans.bench import chosen, measure, write_html
from evaluation.plans.source import conversations
from evaluation.report.markdown import tables
from evaluation.statements.bench import judged
from evaluation.statements.measure import figures
from evaluation.statements.tables import tables as statement_tables
from evaluation.training.source import for_test
from evaluation.training.statements import UNSEEN, Labelled, natural
from memgate_core import __version__
from memgate_core.judgement.local import LocalClassifier

DATA = Path(__file__).parent / "data"
_HEAD = """# Figures

Written by `make docs`, not by hand. AgentMemGate {version}, local judges, no model asked, on the
project's own test data, which no weights were trained on. The paper's figures are its own, on its
data and its model: they stand beside ours for orientation and are no comparison under like
conditions. `docs/figures.html` has the part on plans once more, with plots.

"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Measures and writes."""
    parser = argparse.ArgumentParser(prog="python -m evaluation.write_docs", description=__doc__)
    parser.add_argument("--out", type=Path, default=Path("docs"))
    parser.add_argument("--pipelines", default="all")
    options = parser.parse_args(arguments)
    options.out.mkdir(parents=True, exist_ok=True)
    print(f"written: {proposal_schema.write(options.out)}")
    if (options.out / "datasheet.md").is_file():
        print(f"written: {datasheet.write(options.out)}")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        plans = plan_file(folder / "plans.jsonl")
        report = measure(plans, chosen(options.pipelines))
        held_back = statement_file(folder / "statements.jsonl")
        statements = figures(list(judged(held_back, LocalClassifier())))
    cases = acceptance.measure(DATA / "acceptance" / "cases.jsonl")
    parts = [
        ("Statements", statement_tables(statements)),
        ("Acceptance", acceptance_tables.tables(cases)[:2]),
        ("Plans", report.tables),
    ]
    text = _HEAD.format(version=__version__)
    text += "\n".join(f"## {title}\n\n{tables(made)}" for title, made in parts)
    (options.out / "figures.md").write_text(text, encoding="utf-8")
    write_html(report, options.out / "figures.html")
    print(f"written: {options.out / 'figures.md'}, {options.out / 'figures.html'}")
    return 0


def plan_file(path: Path) -> Path:
    """The test part of the plan conversations, compiled."""
    sources = sorted((DATA / "plans").glob("test_*.txt"))
    records = (record for source in sources for record in conversations(source))
    lines = (json.dumps(record, ensure_ascii=False) for record in records)
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def statement_file(path: Path) -> Path:
    """The hand-written statements that no judge was taught."""
    lines = (json.dumps(record, ensure_ascii=False) for record in _held_back())
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def _held_back() -> Iterator[dict[str, object]]:
    kept = [one for one in natural() if for_test(one.unit)]
    for number, one in enumerate([*kept, *natural(UNSEEN)]):
        yield _record(number, one)


def _record(number: int, one: Labelled) -> dict[str, object]:
    said = one.statement
    return {
        "id": f"own-{number}",
        "text": said.text,
        "message": said.message,
        "role": said.role.value,
        "history": [{"role": h.role.value, "content": h.content} for h in said.history],
        "label": one.label.value,
    }


if __name__ == "__main__":
    sys.exit(main())

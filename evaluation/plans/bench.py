"""`memgate bench plans`: every pipeline over one file, scored side by side."""

from __future__ import annotations

import hashlib
import platform
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from evaluation.equivalence import Equivalence, JudgeFigures, Verdict
from evaluation.plans.figures import plots
from evaluation.plans.judged import judged_tables
from evaluation.plans.pipeline import trace_of
from evaluation.plans.run import labelled, pipeline_for
from evaluation.plans.score import Score, score
from evaluation.plans.setting import ModelAccess, Setting, live, standard
from evaluation.plans.tables import tables
from evaluation.questions.bench import Questions
from evaluation.questions.bench import tables as question_tables
from evaluation.report.html import page, write
from evaluation.report.table import Table
from memgate_core import __version__
from memgate_core.errors import ConfigurationError

_EQUALITY = "normalised containment, memgate_core.fields.values.same_value"


class PlanReport(BaseModel):
    """Everything that was measured on a file."""

    version: str
    data: str
    data_sha256: str
    conversations: int
    machine: str
    settings: list[Setting]
    tables: list[Table]
    scores: dict[str, list[Score]]
    judge: JudgeFigures | None = None
    judged_scores: dict[str, list[Score]] = {}
    """As `scores`, with stored and answered values judged by a model."""
    verdicts: list[Verdict] = []
    """Every pair that the model judged."""
    questions: Questions | None = None
    """What the model says to the three questions, and how stably."""

    def with_questions(self, found: Questions) -> PlanReport:
        """The report with these beside it."""
        made = [*self.tables, *question_tables(found)]
        return self.model_copy(update={"questions": found, "tables": made})


def chosen(
    pipelines: str,
    *,
    classifier: str = "local",
    model: Mapping[str, Any] | None = None,
    extracts: bool = False,
) -> list[Setting]:
    """The settings for `--pipelines`: all, main, or names separated by commas. With `extracts` the
    model reads the turns itself, in both styles.

    Raises:
        ConfigurationError: a name that is not one of the pipelines; no model that could extract.
    """
    access = ModelAccess.model_validate(model) if model else None
    if extracts and access is None:
        raise ConfigurationError("extraction by a model needs one", hint="name it with --llm URL")
    update = {"classifier": classifier, "model": access}
    listed = [live(one) for one in standard()] if extracts else standard()
    known = {s.name: s.model_copy(update=update) for s in listed}
    if pipelines == "all":
        return list(known.values())
    if pipelines == "main":
        return [s for name, s in known.items() if name.split(" ", 1)[1] in ("gated", "ungated")]
    wanted = [name.strip() for name in pipelines.split(",")]
    if unknown := [name for name in wanted if name not in known]:
        raise ConfigurationError(
            f"no pipeline {unknown[0]!r}", hint=f"all, main, or of: {', '.join(known)}"
        )
    return [known[name] for name in wanted]


def measure(
    path: Path,
    settings: Sequence[Setting],
    *,
    equivalence: Equivalence | None = None,
    consumed: Callable[[int], None] | None = None,
) -> PlanReport:
    """Scores every conversation under every setting; with `equivalence` once more, values judged
    by its model. Conversations stream; scores are kept.

    Raises:
        InvalidRecordError: a malformed or unlabelled line. ModelFaultError: the model fails again
            and again.
    """
    scores: dict[str, list[Score]] = {setting.name: [] for setting in settings}
    judged: dict[str, list[Score]] = {setting.name: [] for setting in settings}
    count = 0
    for conversation in labelled(path, consumed=consumed):
        count += 1
        for setting in settings:
            trace = trace_of(conversation, pipeline_for(conversation, setting))
            scores[setting.name].append(score(conversation, trace))
            if equivalence is not None:
                same = equivalence.of(conversation.probe)
                judged[setting.name].append(score(conversation, trace, same))
    made = tables(scores)
    told = equivalence.figures() if equivalence is not None else None
    return PlanReport(
        version=__version__,
        data=path.name,
        data_sha256=_hash(path),
        conversations=count,
        machine=f"{platform.machine()}, Python {platform.python_version()}",
        settings=list(settings),
        tables=made if told is None else [*made, *judged_tables(judged, told)],
        scores=scores,
        judge=told,
        judged_scores=judged if told is not None else {},
        verdicts=equivalence.verdicts() if equivalence is not None else [],
    )


def write_html(report: PlanReport, path: Path) -> None:
    """Writes the self-contained page.

    Raises:
        InvalidInputError: the file cannot be written. ConfigurationError: no plotting library.
    """
    about = [
        ("version", f"AgentMemGate {report.version}"),
        ("data", f"{report.data}, {report.conversations} conversations"),
        ("sha256", report.data_sha256),
        ("machine", report.machine),
        ("value equality", _EQUALITY + (f"; and {report.judge.name}" if report.judge else "")),
        ("pipelines", "; ".join(setting.name for setting in report.settings)),
    ]
    write(path, page("Plans and memory", about, report.tables, plots(report.scores)))


def _hash(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()

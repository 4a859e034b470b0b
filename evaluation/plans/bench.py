"""`memgate bench plans`: every pipeline over one file, scored side by side."""

from __future__ import annotations

import hashlib
import platform
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from evaluation.plans.figures import plots
from evaluation.plans.run import labelled, scored
from evaluation.plans.score import Score
from evaluation.plans.setting import ModelAccess, Setting, standard
from evaluation.plans.tables import tables
from evaluation.report.html import page, write
from evaluation.report.table import Table
from memgate_core import __version__
from memgate_core.errors import ConfigurationError


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


def chosen(
    pipelines: str, *, classifier: str = "local", model: Mapping[str, Any] | None = None
) -> list[Setting]:
    """The settings for `--pipelines`: all, main, or names separated by commas.

    Raises:
        ConfigurationError: a name that is not one of the pipelines.
    """
    access = ModelAccess.model_validate(model) if model else None
    update = {"classifier": classifier, "model": access}
    known = {s.name: s.model_copy(update=update) for s in standard()}
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
    consumed: Callable[[int], None] | None = None,
) -> PlanReport:
    """Scores every conversation under every setting. Conversations stream; scores are kept.

    Raises:
        InvalidRecordError: a malformed or unlabelled line.
    """
    scores: dict[str, list[Score]] = {setting.name: [] for setting in settings}
    count = 0
    for conversation in labelled(path, consumed=consumed):
        count += 1
        for setting in settings:
            scores[setting.name].append(scored(conversation, setting))
    return PlanReport(
        version=__version__,
        data=path.name,
        data_sha256=_hash(path),
        conversations=count,
        machine=f"{platform.machine()}, Python {platform.python_version()}",
        settings=list(settings),
        tables=tables(scores),
        scores=scores,
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
        ("value equality", "normalised containment, memgate_core.fields.values.same_value"),
        ("pipelines", "; ".join(setting.name for setting in report.settings)),
    ]
    write(path, page("Plans and memory", about, report.tables, plots(report.scores)))


def _hash(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()

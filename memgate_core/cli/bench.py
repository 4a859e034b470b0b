"""`memgate bench`: figures on labelled files, of the project's own or of yours."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeVar

import typer

from memgate_core.cli import options
from memgate_core.cli.opening import classifier_of, model_access, model_options, settings
from memgate_core.cli.output import progress, write_json
from memgate_core.errors import ModelFaultError

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from pydantic import BaseModel

    from evaluation.answerer import Answerer
    from evaluation.plans.setting import ModelAccess
    from evaluation.questions.bench import Questions
    from evaluation.questions.material import Asked
    from evaluation.report.table import Table
    from memgate_core.cli.settings import Settings

_Score = TypeVar("_Score")

app = typer.Typer(name="bench", help="Figures on labelled files.", no_args_is_help=True)


class RecordedStyle(StrEnum):
    """The two ways in which extractions were recorded."""

    LITERAL = "literal"
    CAUTIOUS = "cautious"


class Framework(StrEnum):
    """Frameworks that measurements run in, embedded."""

    MEM0 = "mem0"
    GRAPHITI = "graphiti"
    LANGCHAIN = "langchain"


HtmlFile = Annotated[
    Path | None,
    typer.Option("--html", metavar="FILE", help="Write one self-contained page with plots."),
]

AskedCount = Annotated[
    int, typer.Option("--asked", min=1, help="With --llm: how many statements are asked about.")
]
Repeats = Annotated[
    int,
    typer.Option("--repeats", min=2, help="With --llm: runs that are compared."),
]


@app.command()
def statements(
    data: options.DataFile,
    json_file: options.JsonFile = None,
    html: HtmlFile = None,
    classifier: options.Classifier = None,
    llm: options.Llm = None,
    asked: AskedCount = 200,
    repeats: Repeats = 5,
) -> None:
    """How well statements are told apart: per class, hold or not, calibration, latency."""
    from evaluation.statements.bench import judged
    from evaluation.statements.measure import figures
    from evaluation.statements.tables import tables

    chosen = settings(classifier=classifier)
    judge = classifier_of(_with_model(chosen, llm))
    with progress(data, "bench statements") as consumed:
        found = figures(list(judged(data, judge, consumed=consumed)))
    if llm is not None:
        found = found.model_copy(
            update={"questions": _questions_on_lines(data, llm, asked, repeats)}
        )
    _show(tables(found), found, json_file)
    if html is not None:
        from evaluation.statements.tables import write_html

        write_html(found, html, data, judge.name)


@app.command()
def acceptance(
    data: options.DataFile,
    trace: Annotated[
        Path | None, typer.Option("--trace", metavar="FILE", help="One line a case.")
    ] = None,
    json_file: options.JsonFile = None,
    classifier: options.Classifier = None,
    llm: options.Llm = None,
) -> None:
    """Contamination samples: what is committed, held, corrected or refused, and what wrongly.

    With --classifier llm or cascade the model judges: the one at --llm, or of the settings.
    """
    from evaluation.acceptance.bench import measure
    from evaluation.acceptance.tables import tables
    from memgate_core.errors import ConfigurationError

    chosen = _with_model(settings(classifier=classifier), llm)
    if llm is not None and chosen.classifier == "local":
        raise ConfigurationError(
            "the local classifier asks no model", hint="--classifier llm or cascade"
        )
    asked = model_options(chosen)
    with progress(data, "bench acceptance") as consumed:
        found = measure(data, trace, classifier=chosen.classifier, model=asked, consumed=consumed)
    _show(tables(found), found, json_file)


@app.command()
def plans(
    data: options.DataFile,
    pipelines: Annotated[
        str, typer.Option("--pipelines", help="all, main, or names separated by commas.")
    ] = "all",
    json_file: options.JsonFile = None,
    html: HtmlFile = None,
    classifier: options.Classifier = None,
    llm: options.Llm = None,
    extracts: Annotated[
        bool, typer.Option("--extract", help="The model also extracts, in both styles.")
    ] = False,
    asked: AskedCount = 200,
    repeats: Repeats = 5,
) -> None:
    """Plans from being voiced to their outcome: the paper's tables, gate on and off, baselines.

    With --llm a model also judges which values are equal, answers the questions that the paper
    compares evidence types with, and is asked again to see how stable it is.
    """
    from evaluation.equivalence import Equivalence
    from evaluation.judge import Judge
    from evaluation.plans.bench import chosen, measure, write_html

    found = settings(classifier=classifier)
    access = model_access(found, llm)
    setup = chosen(pipelines, classifier=found.classifier, model=access, extracts=extracts)
    equivalence = Equivalence(Judge(_access(llm))) if llm is not None else None
    with progress(data, "bench plans") as consumed:
        report = measure(data, setup, equivalence=equivalence, consumed=consumed)
    if llm is not None:
        report = report.with_questions(_questions_on_plans(data, llm, asked, repeats))
    _show(report.tables, report, json_file)
    if html is not None:
        write_html(report, html)


@app.command()
def products(
    data: options.DataFile,
    memory: Annotated[
        list[Framework], typer.Option("--memory", help="Which frameworks; may be repeated.")
    ] = [Framework.MEM0, Framework.GRAPHITI],  # noqa: B006
    style: Annotated[
        RecordedStyle,
        typer.Option("--style", help="Without --llm: which of the recorded extractions."),
    ] = RecordedStyle.LITERAL,
    llm: options.Llm = None,
    json_file: options.JsonFile = None,
) -> None:
    """Frameworks as released against gated, session by session, on embedded backends.

    Without --llm recorded extractions answer in a model's place; with it the model extracts,
    answers and judges.
    """
    from evaluation.products.measure import measure
    from evaluation.products.measure import products as settings_of
    from evaluation.products.report import report

    access = _access(llm) if llm is not None else None
    answerer = _answerer(access)
    setup = settings_of([one.value for one in memory], style.value, access)
    with progress(data, "bench products") as consumed:
        found, fault = _as_far_as(measure(data, setup, answerer=answerer, consumed=consumed))
    whole = len(found) - len(found) % len(setup)  # a conversation counts in all products or in none
    made = report(data, setup, found[:whole], answerer)
    _show([made], made, json_file)
    if fault is not None:
        raise fault


@app.command()
def labels(
    data: options.DataFile,
    second: Annotated[
        Path | None,
        typer.Option("--second", metavar="FILE", help="The same statements, labelled by another."),
    ] = None,
    json_file: options.JsonFile = None,
) -> None:
    """Your own traffic, labelled with `memgate label`: false-commit rate and agreement."""
    from evaluation.jsonl import read
    from evaluation.labelling.agreement import label_figures, tables
    from evaluation.labelling.traffic import TrafficLine

    other = {line.id: line for _, line in read(second, TrafficLine)} if second else None
    with progress(data, "bench labels") as consumed:
        found = label_figures(
            (line for _, line in read(data, TrafficLine, consumed=consumed)), other
        )
    _show(tables(found), found, json_file)


@app.command()
def updates(
    data: options.DataFile,
    memory: Annotated[
        Framework, typer.Option("--memory", help="Which framework.")
    ] = Framework.MEM0,
    llm: options.Llm = None,
    json_file: options.JsonFile = None,
) -> None:
    """Questions about what changed, asked with the gate on and off (see `memgate import`).

    With --llm the model extracts, answers from what memory returns, and judges the answers.
    """
    from evaluation.updates.report import report
    from evaluation.updates.run import answers

    access = _access(llm) if llm is not None else None
    answerer = _answerer(access)
    with progress(data, "bench updates") as consumed:
        found, fault = _as_far_as(
            answers(data, memory=memory.value, answerer=answerer, model=access, consumed=consumed)
        )
    made = report(data, memory.value, found, answerer)
    _show([made], made, json_file)
    if fault is not None:
        raise fault


def _as_far_as(scores: Iterable[_Score]) -> tuple[list[_Score], ModelFaultError | None]:
    """What was scored before a model was given up: hours of its work are shown, not lost."""
    found: list[_Score] = []
    try:
        for score in scores:
            found.append(score)
    except ModelFaultError as fault:
        if not found:
            raise
        return found, fault
    return found, None


def _access(url: str) -> ModelAccess:
    from evaluation.plans.setting import ModelAccess

    return ModelAccess.model_validate(model_access(settings(), url))


def _answerer(access: ModelAccess | None) -> Answerer | None:
    from evaluation.answerer import Answerer
    from evaluation.judge import Judge

    return Answerer(Judge(access)) if access is not None else None


def _with_model(chosen: Settings, url: str | None) -> Settings:
    if url is None:
        return chosen
    return chosen.model_copy(update={"model": chosen.model.model_copy(update={"url": url})})


def _questions_on_plans(data: Path, url: str, count: int, repeats: int) -> Questions:
    from evaluation.plans.run import labelled
    from evaluation.questions.material import drawn, of_conversations

    return _questions(drawn(of_conversations(labelled(data)), count), url, repeats)


def _questions_on_lines(data: Path, url: str, count: int, repeats: int) -> Questions:
    from evaluation.jsonl import read
    from evaluation.questions.material import drawn, of_lines
    from evaluation.statements.format import StatementLine

    lines = (line for _, line in read(data, StatementLine))
    return _questions(drawn(of_lines(lines), count), url, repeats)


def _questions(found: list[Asked], url: str, repeats: int) -> Questions:
    from evaluation.questions.bench import questions
    from evaluation.questions.put import Questioner

    return questions(found, Questioner(_access(url)), repeats=repeats)


def _show(tables: Sequence[Table], found: BaseModel, json_file: Path | None) -> None:
    from evaluation.jsonl import STANDARD
    from evaluation.report.terminal import show

    if json_file is not None:
        write_json(json_file, found)
    if json_file != STANDARD:
        show(tables)

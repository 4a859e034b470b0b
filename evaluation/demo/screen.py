"""How the demonstration reads on a terminal."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from rich.console import Console
from rich.table import Table
from rich.text import Text

from evaluation.demo.chat import Message, Question
from memgate_core.fields.values import same_value
from memgate_core.model import DecisionType, Fact, Judged, Receipt, StagedItem

Belief = tuple[Question, list[str], list[str]]
"""A question, and what each memory's search returns: alone, and behind the gate."""

console = Console(width=None if Console().is_terminal else 120)


def heading(text: str) -> None:
    """A line that begins a part."""
    console.print()
    console.rule(Text(text, style="bold"), align="left")


def say(text: str) -> None:
    """A plain line."""
    console.print(Text(text))


def heard(message: Message, receipt: Receipt) -> None:
    """One message and what the gate did with it."""
    if message.role != "user":
        return
    console.print(Text(f"{message.at:%d %b}  {message.user}: ", style="bold"), end="")
    console.print(Text(message.content))
    for line, style in _did(receipt):
        console.print(Text(f"        {line}", style=style))


def _did(receipt: Receipt) -> Iterable[tuple[str, str]]:
    for resolved in receipt.resolved:
        if resolved.fact_id:
            yield f"came true  → {resolved.text}", "green"
        else:
            yield f"dropped    → {resolved.text}", "red"
    for judged in receipt.judged:
        yield from _line(judged)


def _line(judged: Judged) -> Iterable[tuple[str, str]]:
    words, field = f"“{judged.candidate.words}”", judged.match.field
    if judged.decision.decision.holds:
        yield f"held       → {words}", "yellow"
    elif judged.decision.corrects:
        yield f"corrected  → {words}", "cyan"
    elif judged.fact_id and judged.decision.decision is DecisionType.COMMIT:
        about = f"{field.attribute.replace('_', ' ')}: {judged.candidate.value}" if field else words
        yield f"{'fact' if field else 'noted':<10} → {about}", "green" if field else "dim"


def beliefs(title: str, rows: Sequence[Belief], *, alone: str = "Mem0") -> None:
    """What each memory returns, best first: green what is true, red what is not."""
    table = Table(title=title, title_justify="left", show_lines=True)
    for column in ("asked", f"{alone} alone", f"{alone} behind the gate", "true now"):
        table.add_column(column)
    for question, without, gated in rows:
        cells = (_marked(question, without), _marked(question, gated))
        table.add_row(Text(question.text), *cells, Text(question.true or "–"))
    console.print(table)


def _marked(question: Question, found: Sequence[str]) -> Text:
    text = Text()
    for number, memory in enumerate(found):
        text.append("\n" if number else "")
        text.append(memory, style=_style(question, memory))
    return text if found else Text("(nothing)", style="dim")


def _style(question: Question, memory: str) -> str:
    if question.false is not None and same_value(memory, question.false):
        return "bold red"
    if question.true is not None and same_value(memory, question.true):
        return "green"
    return "dim"


def held(items: Sequence[StagedItem]) -> None:
    """What is held back, and what would settle it."""
    table = Table(title="Held, not yet facts", title_justify="left", show_lines=True)
    for column in ("who", "would be true", "on the words", "voiced"):
        table.add_column(column)
    for item in items:
        since = f"{item.created_at:%d %b}" + (
            f", {item.times_stated} times" if item.times_stated > 1 else ""
        )
        who = item.key.subject.user_id
        table.add_row(who, Text(item.text), Text(f"“{item.words}”"), since)
    console.print(table if items else Text("Nothing is held."))


def timeline(title: str, facts: Sequence[Fact]) -> None:
    """Every value that a field had."""
    table = Table(title=title, title_justify="left")
    for column in ("value", "holds from", "until", "status", "on the words", "approved by"):
        table.add_column(column)
    for fact in facts:
        until = f"{fact.valid_to:%Y-%m-%d}" if fact.valid_to else "now"
        table.add_row(
            Text(fact.value or fact.text),
            f"{fact.valid_from:%Y-%m-%d}",
            until,
            fact.status,
            Text(f"“{fact.words}”"),
            fact.approved_by,
        )
    console.print(table)

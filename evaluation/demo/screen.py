"""How the demonstration reads on a terminal."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from rich.console import Console
from rich.table import Table
from rich.text import Text

from evaluation.demo.chat import Message
from memgate_core.fields.values import same_value
from memgate_core.model import Fact, Receipt, StagedItem

Belief = tuple[str, str | None, str | None, str | None]
"""Question, what Mem0 alone answers, what it answers behind the gate, what is true."""

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
        text = judged.candidate.words
        if judged.decision.decision.holds:
            yield f"held       → “{text}”", "yellow"
        elif judged.decision.corrects:
            yield f"corrected  → “{text}”", "cyan"
        elif judged.fact_id and judged.decision.decision == "COMMIT":
            yield f"fact       → “{text}”", "green"


def beliefs(title: str, rows: Sequence[Belief]) -> None:
    """What each memory answers."""
    table = Table(title=title, title_justify="left", show_lines=True)
    for column in ("asked", "Mem0 alone answers", "Mem0 behind the gate answers", "true"):
        table.add_column(column)
    for question, alone, gated, true in rows:
        table.add_row(Text(question), _marked(alone, true), _marked(gated, true), Text(true or "–"))
    console.print(table)


def _marked(answer: str | None, true: str | None) -> Text:
    if answer is None:
        return Text("(nothing)", style="dim")
    if true is None:
        return Text(answer)
    return Text(answer, style="green" if same_value(answer, true) else "bold red")


def held(items: Sequence[StagedItem]) -> None:
    """What is held back, and what would settle it."""
    table = Table(title="Held, not yet facts", title_justify="left", show_lines=True)
    for column in ("who", "would be true", "voiced", "becomes a fact when"):
        table.add_column(column)
    for item in items:
        since = f"{item.created_at:%d %b}" + (
            f", {item.times_stated} times" if item.times_stated > 1 else ""
        )
        who = item.key.subject.user_id
        table.add_row(who, Text(item.text), since, Text(item.promote_when))
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

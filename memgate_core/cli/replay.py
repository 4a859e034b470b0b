"""`memgate replay`: recorded messages under another configuration; nothing is written."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any

import typer

from memgate_core.cli import options
from memgate_core.cli.opening import existing_gate, gate_options, settings, subject
from memgate_core.cli.output import day, print_json, print_table

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from memgate_core.cli.settings import Settings
    from memgate_core.replay import TurnDifference


class Extractor(StrEnum):
    """Where the replay's proposals come from."""

    RECORDED = "recorded"
    LOCAL = "local"
    LITERAL = "llm:literal"
    CAUTIOUS = "llm:cautious"

    @property
    def style(self) -> str | None:
        """How a model is to extract, where one does."""
        return self.value.partition(":")[2] or None


def register(app: typer.Typer) -> None:
    """Adds the command."""
    app.command()(replay)


def replay(
    extractor: Annotated[
        Extractor,
        typer.Option(
            "--extractor",
            "--extraction",
            help="Proposals as recorded, or read anew: here, or by the model of the settings.",
        ),
    ] = Extractor.RECORDED,
    classifier: options.Classifier = None,
    threshold: Annotated[
        float | None, typer.Option("--hold-threshold", help="Another threshold, 0 to 1.")
    ] = None,
    user: options.User = None,
    actor: options.Actor = None,
    tenant: options.Tenant = None,
    ledger: options.Ledger = None,
    as_json: options.AsJson = False,
) -> None:
    """Judges every recorded message again and shows what would differ. Writes nothing."""
    from memgate_core.replay import ReplayExtraction, summed_up
    from memgate_core.replay import replay as replayed

    chosen = settings(ledger=ledger, tenant=tenant, classifier=classifier, hold_threshold=threshold)
    changed: list[TurnDifference] = []
    with existing_gate(chosen) as gate:
        differences = replayed(
            gate.ledger,
            subject=subject(chosen, user, actor) if user else None,
            extraction=ReplayExtraction.RECORDED
            if extractor is Extractor.RECORDED
            else ReplayExtraction.LOCAL,
            **_configuration(chosen, extractor),
        )
        summary = summed_up(_kept(differences, changed))
    if as_json:
        changes = [one.model_dump(mode="json") for one in changed]
        print_json({"summary": summary.model_dump(mode="json"), "differences": changes})
        return
    print(f"{summary.turns} turns, {summary.differing} would come out otherwise")
    print_table(("user", "message", "when", "what", "before", "after"), _rows(changed), empty="")


def _configuration(chosen: Settings, extractor: Extractor) -> dict[str, Any]:
    """The other configuration, as options of `MemoryGate.open`."""
    from memgate_core.errors import ConfigurationError

    found = gate_options(chosen)
    if extractor.style is None:
        return found
    if "model" not in found:
        raise ConfigurationError(
            f"extractor {extractor.value} needs a model",
            hint="name one under [model], and --classifier llm, decision or cascade",
        )
    return {**found, "model_options": {**found["model_options"], "extraction": extractor.style}}


def _kept(
    differences: Iterable[TurnDifference], changed: list[TurnDifference]
) -> Iterator[TurnDifference]:
    for one in differences:
        if one.changes:
            changed.append(one)
        yield one


def _rows(changed: list[TurnDifference]) -> Iterator[tuple[object, ...]]:
    for turn in changed:
        for change in turn.changes:
            what = f"{change.what}: {change.value}" if change.value else change.what
            yield (
                turn.subject,
                turn.message_id,
                day(turn.occurred_at),
                what,
                change.before or "nothing",
                change.after or "nothing",
            )

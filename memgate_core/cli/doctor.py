"""`memgate doctor`: is everything there that the gate needs, and does it work?"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from importlib import metadata
from typing import TYPE_CHECKING, Literal

import typer

from memgate_core.cli import options
from memgate_core.cli.output import print_json, print_table

if TYPE_CHECKING:
    from memgate_core.cli.settings import Settings

Verdict = Literal["ok", "note", "fault"]
Finding = tuple[str, Verdict, str]

_TESTED = {
    "mem0ai": "2.2.1",
    "graphiti-core": "0.31.2",
    "langchain-core": "1.8.3",
    "langgraph": "1.2.24",
}
"""Framework releases that this release of the gate was tested with."""


def register(app: typer.Typer) -> None:
    """Adds the command."""
    app.command()(doctor)


def doctor(ledger: options.Ledger = None, as_json: options.AsJson = False) -> None:
    """Checks settings, ledger, judges and frameworks. Exit status 1 when something is at fault."""
    findings = list(_findings(ledger))
    if as_json:
        rows = [{"check": c, "verdict": v, "detail": d} for c, v, d in findings]
        print_json({"findings": rows})
    else:
        print_table(("check", "verdict", "detail"), findings)
    if any(verdict == "fault" for _, verdict, _ in findings):
        raise typer.Exit(1)


def _findings(ledger: str | None) -> Iterator[Finding]:
    from memgate_core.cli.opening import settings
    from memgate_core.cli.settings import config_file
    from memgate_core.errors import MemgateError

    try:
        chosen = settings(ledger=ledger)
    except MemgateError as fault:
        yield "settings", "fault", str(fault)
        return
    path = config_file()
    yield "settings", "ok", f"{path}" if path.is_file() else f"defaults, no {path}"
    checks: tuple[tuple[str, Callable[[Settings], Iterator[Finding]]], ...] = (
        ("ledger", _ledger),
        ("fields", _fields),
        ("judges", _judges),
    )
    for name, check in checks:
        try:
            yield from check(chosen)
        except MemgateError as fault:
            yield name, "fault", str(fault)
    yield from _frameworks()


def _ledger(chosen: Settings) -> Iterator[Finding]:
    from memgate_core.ledger.open import open_ledger

    file = chosen.ledger.removeprefix("sqlite:///")
    if file != chosen.ledger and not _exists(file):
        yield "ledger", "note", f"no ledger at {file} yet; the first turn makes it"
        return
    opened = open_ledger(chosen.ledger)
    try:
        subjects = opened.subjects(chosen.tenant)
        yield "ledger", "ok", f"{opened.url}: {len(subjects)} users of tenant {chosen.tenant}"
        for name, count in opened.projections().items():
            parked = len(opened.parked(name))
            verdict: Verdict = "note" if parked else "ok"
            yield f"projection {name}", verdict, f"{count} undelivered, {parked} of these parked"
    finally:
        opened.close()


def _exists(file: str) -> bool:
    from pathlib import Path

    return Path(file).is_file()


def _fields(chosen: Settings) -> Iterator[Finding]:
    from memgate_core.cli.opening import gate_options
    from memgate_core.fields.catalogue import FieldCatalogue

    fields = gate_options(chosen).get("fields") or FieldCatalogue.default()
    yield "fields", "ok", f"{len(fields)} registered"


def _judges(chosen: Settings) -> Iterator[Finding]:
    from memgate_core.cli.opening import classifier_of
    from memgate_core.model import EvidenceType, Statement

    judge = classifier_of(chosen)
    text = "I might move to Seattle."
    judged = judge.classify([Statement(text=text, message=text)])[0]
    sound = judged.evidence_type is EvidenceType.SPECULATION and judged.fault is None
    detail = f"{judge.name}: a plan is judged as {judged.evidence_type}"
    yield "judges", "ok" if sound else "fault", detail if sound else judged.fault or detail


def _frameworks() -> Iterator[Finding]:
    for package, tested in _TESTED.items():
        try:
            found = metadata.version(package)
        except metadata.PackageNotFoundError:
            yield package, "note", "not installed"
            continue
        same = found == tested
        yield package, "ok" if same else "note", found if same else f"{found}; tested: {tested}"

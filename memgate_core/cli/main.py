"""`memgate`: the command line of the gate.

Exit status: 0 done; 1 a fault (nothing under that id, not allowed, ledger, model or store);
2 bad input (a malformed line, option or setting; nothing was written from there on).
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from memgate_core.cli import (
    approvals,
    bench,
    classify,
    conversations,
    delivery,
    doctor,
    explain,
    importing,
    label,
    metrics,
    policy,
    reads,
    replay,
    revocation,
    rollout,
    staged,
)
from memgate_core.errors import InvalidInputError, MemgateError, OutputError

OK, FAULT, BAD_INPUT = 0, 1, 2

app = typer.Typer(
    name="memgate",
    help="The write gate of an agent's memory: review, explain and measure what it holds.",
    epilog="Exit status: 0 done, 1 a fault, 2 bad input.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
_COMMANDS = (
    conversations,
    classify,
    reads,
    explain,
    revocation,
    delivery,
    metrics,
    replay,
    label,
    importing,
    doctor,
)
for _module in _COMMANDS:
    _module.register(app)
for _group in (staged, approvals, policy, rollout, bench):
    app.add_typer(_group.app)


def _version(asked: bool) -> None:
    if asked:
        from memgate_core import __version__

        print(__version__)
        raise typer.Exit


@app.callback()
def _root(
    config: Annotated[
        Path | None,
        typer.Option("--config", metavar="FILE", help="Settings file; default memgate.toml."),
    ] = None,
    version: Annotated[
        bool, typer.Option("--version", is_eager=True, callback=_version, help="Print it and exit.")
    ] = False,
) -> None:
    """The write gate of an agent's memory: review, explain and measure what it holds."""
    del version
    if config is not None:
        os.environ["MEMGATE_CONFIG"] = str(config)


def status_of(arguments: Sequence[str] | None = None) -> int:
    """Runs one command and returns its exit status; a fault is one line on standard error."""
    try:
        app(args=None if arguments is None else list(arguments))
    except InvalidInputError as fault:
        return _say(fault, BAD_INPUT)
    except MemgateError as fault:
        return _say(fault, FAULT)
    except OSError as fault:  # a report, a page: what a command writes beside its ledger
        what = f"{fault.filename}: {fault.strerror}" if fault.filename else str(fault)
        return _say(OutputError(what), FAULT)
    except SystemExit as done:
        return done.code if isinstance(done.code, int) else OK
    return OK


def run() -> None:
    """The console script `memgate`."""
    sys.exit(status_of())


def _say(fault: MemgateError, status: int) -> int:
    print(f"memgate: {fault}", file=sys.stderr)
    return status


if __name__ == "__main__":
    run()

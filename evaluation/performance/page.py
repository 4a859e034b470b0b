"""Writes docs/performance.md: a table of figures and what must stay flat."""

from __future__ import annotations

import json
import os
import platform
from collections.abc import Sequence
from pathlib import Path

from evaluation.performance.measured import Measured, Series
from evaluation.report.plots import curve
from memgate_core import __version__

_HEAD = """# Performance

Written by `make bench`{full}, not by hand. AgentMemGate {version}, {machine}, {cores} cores,
Python {python}, load {load:.1f} at the start. Ratios are taken within one run, both sides in turn,
so that they mean the same on another machine; absolute times do not.

| part | figure | value | target | |
| --- | --- | ---: | ---: | --- |
"""


def write(
    folder: Path,
    measured: Sequence[Measured],
    series: Sequence[Series],
    *,
    full: bool,
    load: float,
) -> Path:
    """Writes performance.md, performance.json and a plot a series; returns the page's path."""
    folder.mkdir(parents=True, exist_ok=True)
    page = folder / "performance.md"
    head = _HEAD.format(
        full=" and `make bench-full`" if full else "",
        version=__version__,
        machine=platform.machine(),
        cores=os.cpu_count(),
        python=platform.python_version(),
        load=load,
    )
    lines = [head + "\n".join(_row(one) for one in measured), ""]
    lines += [_missed(measured), ""]
    for one in series:
        name = f"performance-{one.name.split()[-1]}.svg"
        (folder / name).write_text(_drawn(one), encoding="utf-8")
        lines += [f"## {one.name.capitalize()}", "", f"![{one.name}]({name})", "", _sizes(one), ""]
    page.write_text("\n".join(lines), encoding="utf-8")
    found = {
        "measured": [{**one.model_dump(), "verdict": one.verdict} for one in measured],
        "series": [one.model_dump() for one in series],
    }
    (folder / "performance.json").write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    return page


def _row(one: Measured) -> str:
    bound = "" if one.target is None else f"{'≥' if one.at_least else '≤'} {one.target:g}"
    note = " ".join(part for part in (one.verdict, f"({one.note})" if one.note else "") if part)
    return f"| {one.part} | {one.name} | {number(one)} | {bound} | {note} |"


def number(one: Measured) -> str:
    """The value with its unit."""
    digits = 0 if abs(one.value) >= 100 else 2
    return f"{one.value:,.{digits}f} {one.unit}".strip()


def _missed(measured: Sequence[Measured]) -> str:
    missed = [one for one in measured if one.verdict == "missed"]
    if not missed:
        return "Every target was met in this run."
    names = "; ".join(f"{one.name} ({number(one)})" for one in missed)
    return f"Missed in this run: {names}."


def _sizes(one: Series) -> str:
    rows = [
        f"| {size:,} | {value:.2f} |" for size, value in zip(one.sizes, one.values, strict=True)
    ]
    return "\n".join([f"| size | {one.unit} |", "| ---: | ---: |", *rows])


def _drawn(one: Series) -> str:
    sizes = [float(size) for size in one.sizes]
    plot = curve(one.name, "", sizes, {one.name: one.values}, "size", one.unit, logarithmic=True)
    return plot.svg

"""The paper's figures 2 and 3, and what else is easier seen than read, as inline SVG."""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel

from evaluation.statistics.proportion import Proportion
from memgate_core.errors import ConfigurationError

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_COLOURS = ("#1b6ca8", "#c8553d", "#588157", "#8a5a83", "#7f7f7f", "#d4a017", "#2a9d8f", "#444444")


class Plot(BaseModel):
    """A drawn figure with its caption."""

    title: str
    caption: str
    svg: str


def levels(
    title: str,
    caption: str,
    names: Sequence[str],
    lines: Mapping[str, Sequence[Proportion | None]],
    *,
    reference: Mapping[str, Sequence[float | None]] | None = None,
) -> Plot:
    """Shares over ordered levels, with Wilson bars; a `reference` for one of them is drawn thin and
    dotted in its colour."""
    figure, axes = _sheet()
    for colour, (name, shares) in zip(_COLOURS, lines.items(), strict=False):
        _line(axes, name, shares, colour)
        values = (reference or {}).get(name, ())
        points = [100 * value if value is not None else float("nan") for value in values]
        axes.plot(range(len(points)), points, ":", color=colour, linewidth=1.2)
    axes.set_xticks(range(len(names)), [name.replace("_", ",\n") for name in names])
    axes.set_ylim(-4, 104)
    axes.set_ylabel("%")
    axes.legend(fontsize=8, loc="best")
    return _plot(title, caption, figure)


def curve(
    title: str,
    caption: str,
    xs: Sequence[float],
    ys: Mapping[str, Sequence[float]],
    x: str,
    y: str,
    *,
    logarithmic: bool = False,
) -> Plot:
    """One or more curves over the same values."""
    figure, axes = _sheet()
    for colour, (name, values) in zip(_COLOURS, ys.items(), strict=False):
        axes.plot(xs, values, "-o" if len(xs) < 20 else "-", color=colour, label=name, markersize=4)
    if logarithmic:
        axes.set_xscale("log")
    axes.set_xlabel(x)
    axes.set_ylabel(y)
    axes.set_ylim(bottom=0 if logarithmic else None)
    axes.legend(fontsize=8)
    return _plot(title, caption, figure)


def _line(axes: Axes, name: str, shares: Sequence[Proportion | None], colour: str) -> None:
    places = [at for at, share in enumerate(shares) if share is not None and share.n]
    rates = [100 * (shares[at].rate or 0.0) for at in places]  # type: ignore[union-attr]
    edges = [shares[at].interval or (0.0, 0.0) for at in places]  # type: ignore[union-attr]
    low = [max(0.0, rate - 100 * edge[0]) for rate, edge in zip(rates, edges, strict=True)]
    high = [max(0.0, 100 * edge[1] - rate) for rate, edge in zip(rates, edges, strict=True)]
    axes.errorbar(
        places, rates, yerr=[low, high], fmt="-o", color=colour, label=name, capsize=3, markersize=4
    )


def _sheet() -> tuple[Figure, Axes]:
    plt = _pyplot()
    figure, axes = plt.subplots(figsize=(7.2, 3.8), layout="constrained")
    axes.grid(axis="y", color="#dddddd", linewidth=0.6)
    axes.spines[["top", "right"]].set_visible(False)
    return figure, axes


def _plot(title: str, caption: str, figure: Figure) -> Plot:
    drawn = io.StringIO()
    figure.savefig(drawn, format="svg", metadata={"Date": None, "Creator": "agentmemgate"})
    _pyplot().close(figure)
    text = drawn.getvalue()
    return Plot(title=title, caption=caption, svg=text[text.index("<svg") :])


def _pyplot() -> Any:
    try:
        import matplotlib as mpl
    except ImportError as fault:
        raise ConfigurationError(
            "plots need matplotlib", hint='pip install "agentmemgate[report]"'
        ) from fault
    mpl.use("svg")
    mpl.rcParams["svg.fonttype"] = "none"  # letters stay letters: small, and can be searched
    mpl.rcParams["svg.hashsalt"] = "agentmemgate"  # the same figures give the same bytes
    mpl.rcParams["font.family"] = "sans-serif"
    import matplotlib.pyplot as plt

    return plt

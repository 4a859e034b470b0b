"""The paper's tables 1 to 7 on scored conversations, with its published figures beside ours."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from evaluation.plans import paper
from evaluation.plans.score import Score
from evaluation.report.table import Cell, Table
from evaluation.statistics.bootstrap import paired_difference
from evaluation.statistics.proportion import Proportion

Scores = Mapping[str, Sequence[Score]]
"""Scores by pipeline name, each over the same conversations in the same order."""

MAIN = ("cautious ungated", "cautious gated", "literal ungated", "literal gated")
GATED = ("cautious gated", "literal gated")
HEDGES = ("strong", "weak", "confident_undated", "scheduled_dated")
WORDINGS = ("verbatim", "paraphrase", "oblique", "situational")
_CONTROLS = ("control_completed", "control_correction")
_CORRECTION = ("control_correction",)


def tables(scores: Scores) -> list[Table]:
    """All tables that the scored pipelines allow."""
    main = [name for name in MAIN if name in scores]
    made = [
        dataset(scores),
        contamination(scores, main),
        accuracy(scores, main),
        plan_typed(scores),
        held_out(scores, main),
        by_hedge(scores, main),
        by_wording(scores),
        controls(scores, main),
        differences(scores),
        ablations(scores),
        cost(scores, main),
    ]
    return [table for table in made if table.rows and table.columns]


def share(scores: Iterable[Score], measure: str) -> Proportion | None:
    """The share of a measure over the conversations that it applies to; None where none does."""
    values = [value for one in scores if (value := getattr(one, measure)) is not None]
    return Proportion.of(values) if values else None


def _where(scores: Iterable[Score], keep: Callable[[Score], bool]) -> list[Score]:
    return [one for one in scores if keep(one)]


def _kinds(*kinds: str) -> Callable[[Score], bool]:
    return lambda one: one.kind in kinds


def _everything(_: Score) -> bool:
    return True


_CORE, _HELD_OUT = _kinds("core"), _kinds("heldout")


def dataset(scores: Scores) -> Table:
    """Table 1: what was measured on."""
    first = next(iter(scores.values()), ())
    kinds = sorted({(one.kind, one.outcome) for one in first})
    rows = [
        (f"{kind}, {outcome}", [sum((s.kind, s.outcome) == (kind, outcome) for s in first)])
        for kind, outcome in kinds
    ]
    return Table.build("Table 1. Conversations", ["n"], [*rows, ("all", [len(first)])])


def _line(
    scores: Scores, names: Sequence[str], measure: str, keep: Callable[[Score], bool]
) -> list[Cell]:
    return [share(_where(scores[name], keep), measure) for name in names]


def contamination(scores: Scores, names: Sequence[str]) -> Table:
    """Table 2: at-risk plans stored as a current fact."""
    pending, end = "pending_contaminated", "end_contaminated"
    rows: list[tuple[str, list[Cell]]] = [
        ("core, while pending", _line(scores, names, pending, _CORE)),
        ("core, at end", _line(scores, names, end, _CORE)),
        ("held out, while pending", _line(scores, names, pending, _HELD_OUT)),
        ("held out, at end", _line(scores, names, end, _HELD_OUT)),
        ("all at-risk plans, while pending", _line(scores, names, pending, _everything)),
        ("all at-risk plans, at end", _line(scores, names, end, _everything)),
        (
            "… contaminating values worded as plans",
            _line(scores, names, "plan_worded", _everything),
        ),
        ("all plans, current before the outcome", _line(scores, names, "exposed", _everything)),
    ]
    return Table.build(
        "Table 2. Contamination: plans stored as a current fact",
        names,
        _filled(rows),
        note="Lower is better. 95 % Wilson intervals, one observation a conversation.",
        theirs=paper.CONTAMINATION,
    )


def accuracy(scores: Scores, names: Sequence[str]) -> Table:
    """Table 3: the probe answered from the final store."""
    rows = [
        ("core", _line(scores, names, "right", _CORE)),
        ("held out", _line(scores, names, "right", lambda s: s.kind in ("heldout", *_CONTROLS))),
        ("all", _line(scores, names, "right", _everything)),
    ]
    return Table.build(
        "Table 3. Task accuracy: one probe a conversation",
        names,
        _filled(rows),
        theirs=paper.ACCURACY,
    )


def plan_typed(scores: Scores) -> Table:
    """Table 4: end-state correctness of came-true plans, plans masked instead of held."""
    columns = {
        "cautious plan-typed": "cautious plan-typed refresh",
        "literal plan-typed": "literal plan-typed refresh",
        "cautious gated": "cautious gated",
        "literal gated": "literal gated",
    }
    columns = {shown: name for shown, name in columns.items() if name in scores}

    def cells(keep: Callable[[Score], bool], *, strict: bool = False) -> list[Cell]:
        names = [n.replace("refresh", "strict") if strict else n for n in columns.values()]
        return [
            share(_where(scores[n], lambda s: s.outcome == "came_true" and keep(s)), "right")
            if n in scores and not (strict and "strict" not in n)
            else None
            for n in names
        ]

    rows = [
        (level, cells(lambda s, level=level: s.wording == level))  # type: ignore[misc]
        for level in WORDINGS
    ]
    rows.append(("all, refresh-confirm reading", cells(_everything)))
    rows.append(("all, strict reading", cells(_everything, strict=True)))
    masked: list[Cell] = [
        share(_where(scores[name], lambda s: s.outcome == "open"), "masked_at_end")
        for name in columns.values()
    ]
    rows.append(("open plans still masked at end", masked))
    return Table.build(
        "Table 4. Came-true plans that end right: plan-typed baseline against the gate",
        list(columns),
        _filled(rows),
        note="Refresh-confirm: a fact of the same value turns the plan into a fact; strict: not.",
        theirs=paper.PLAN_TYPED,
    )


def held_out(scores: Scores, names: Sequence[str]) -> Table:
    """Table 5: the held-out replication."""

    def keep(one: Score) -> bool:
        return one.kind in ("heldout", "control_completed")

    measures = (
        ("contamination at end", "end_contaminated"),
        ("plans staged at the plan turn", "staged"),
        ("came-true plans promoted", "promoted"),
        ("abandoned plans discarded by end", "discarded"),
        ("probes answered right", "right"),
        ("completed changes committed at once", "committed_at_once"),
        ("completed changes held instead", "over_held"),
    )
    gated_only = {"staged", "promoted", "discarded", "over_held"}
    rows = [
        (
            label,
            [
                None
                if measure in gated_only and "ungated" in name
                else share(_where(scores[name], keep), measure)
                for name in names
            ],
        )
        for label, measure in measures
    ]
    return Table.build(
        "Table 5. Held-out conversations", names, _filled(rows), theirs=paper.HELD_OUT
    )


def by_hedge(scores: Scores, names: Sequence[str]) -> Table:
    """Table 6 (figure 2): at-end contamination by how settled the plan sounds."""
    rows = [
        (
            level,
            _line(
                scores,
                names,
                "end_contaminated",
                lambda s, level=level: s.kind == "hedge" and s.hedge == level,  # type: ignore[misc]
            ),
        )
        for level in HEDGES
    ]
    return Table.build(
        "Table 6. At-end contamination by hedge strength",
        names,
        _filled(rows),
        theirs=paper.HEDGES,
    )


def by_wording(scores: Scores) -> Table:
    """Table 7 (figure 3): promotion by how the confirmation is worded."""
    names = [name for name in GATED if name in scores]
    columns = [f"{name.split()[0]}, {part}" for name in names for part in ("all", "among staged")]
    rows = []
    for level in (*WORDINGS, "all"):
        cells: list[Cell] = []
        for name in names:
            came = _where(
                scores[name],
                lambda s, level=level: s.outcome == "came_true" and level in (s.wording, "all"),  # type: ignore[misc]
            )
            staged = _where(came, lambda s: bool(s.staged))
            cells += [share(came, "promoted"), share(staged, "promoted")]
        rows.append((level, cells))
    return Table.build(
        "Table 7. Promotion of plans that came true, by confirmation wording",
        columns,
        _filled(rows),
        note="Valid only at the outcome turn.",
        theirs=paper.PROMOTION,
    )


def controls(scores: Scores, names: Sequence[str]) -> Table:
    """What the gate must not hold up, and how its plans end."""
    gated = [name for name in names if "ungated" not in name]
    rows = [
        (
            "completed changes committed at once",
            _line(scores, names, "committed_at_once", _everything),
        ),
        ("completed changes held instead", _line(scores, names, "over_held", _everything)),
        ("corrections applied", _line(scores, names, "corrected", _everything)),
        ("plans staged at the plan turn", _only(scores, names, gated, "staged")),
        ("… or held as an open item", _only(scores, names, gated, "held_open")),
        ("came-true plans promoted at the outcome turn", _only(scores, names, gated, "promoted")),
        ("came-true plans promoted by the end", _only(scores, names, gated, "settled_by_end")),
        ("abandoned plans discarded", _only(scores, names, gated, "discarded")),
        ("… of those that were held", _only(scores, names, gated, "discarded_of_held")),
        ("promoted while not true", _only(scores, names, gated, "falsely_promoted")),
    ]
    return Table.build("Controls and fates of plans, all conversations", names, _filled(rows))


def _only(scores: Scores, names: Sequence[str], allowed: Sequence[str], measure: str) -> list[Cell]:
    return [share(scores[name], measure) if name in allowed else None for name in names]


def differences(scores: Scores) -> Table:
    """Gate on minus gate off, paired by conversation."""
    styles = [s for s in ("cautious", "literal") if {f"{s} gated", f"{s} ungated"} <= set(scores)]
    measures = (
        ("task accuracy", "right"),
        ("contamination while pending", "pending_contaminated"),
        ("contamination at end", "end_contaminated"),
        ("corrections applied", "corrected"),
    )
    rows = [
        (label, [_paired(scores, style, measure) for style in styles])
        for label, measure in measures
    ]
    return Table.build(
        "Gate on minus gate off, in points",
        styles,
        _filled(rows),
        note="Paired by conversation; 95 % cluster-bootstrap intervals.",
    )


def _paired(scores: Scores, style: str, measure: str) -> Cell:
    on = {one.id: getattr(one, measure) for one in scores[f"{style} gated"]}
    off = {one.id: getattr(one, measure) for one in scores[f"{style} ungated"]}
    return paired_difference(
        (key, on[key], off[key])
        for key in on
        if key in off and on[key] is not None and off[key] is not None
    )


def ablations(scores: Scores) -> Table:
    """What each part of matching does, with and without the gate (paper section 6.3)."""
    names = [name for name in scores if name not in MAIN and "plan-typed" not in name]
    names = [name for name in (*GATED, *names) if name in scores]
    measures = (
        ("plans staged, core", "staged", _CORE),
        ("plans staged, all", "staged", _everything),
        ("contamination while pending", "pending_contaminated", _everything),
        ("contamination at end", "end_contaminated", _everything),
        ("task accuracy", "right", _everything),
    )
    columns = [label for label, _, _ in measures]
    rows = [
        (
            name,
            [
                None
                if measure == "staged" and "ungated" in name
                else share(_where(scores[name], keep), measure)
                for _, measure, keep in measures
            ],
        )
        for name in names
    ]
    if len(rows) <= len(GATED):
        rows = []
    return Table.build("Ablations of field matching", columns, rows, theirs=paper.ABLATIONS)


def cost(scores: Scores, names: Sequence[str]) -> Table:
    """Model calls and time a user message."""
    rows: list[tuple[str, list[Cell]]] = [
        ("model calls per user message", [_calls(scores[name]) for name in names]),
        ("gate milliseconds, median", [_median(scores[name]) for name in names]),
    ]
    return Table.build("Cost", names, rows, theirs=paper.CALLS)


def _calls(scores: Sequence[Score]) -> float:
    turns = sum(one.user_turns for one in scores)
    return sum(one.model_calls for one in scores) / turns if turns else 0.0


def _median(scores: Sequence[Score]) -> float:
    times = sorted(ms for one in scores for ms in one.gate_ms)
    return times[len(times) // 2] if times else 0.0


def _filled(rows: Sequence[tuple[str, Sequence[Cell]]]) -> list[tuple[str, Sequence[Cell]]]:
    return [row for row in rows if any(cell is not None for cell in row[1])]

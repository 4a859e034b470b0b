"""The paper's tables 1 to 7 on scored conversations, with its published figures beside ours."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from evaluation.plans import paper
from evaluation.plans.ablations import ablations
from evaluation.plans.score import Score
from evaluation.plans.shares import (
    CORE,
    GATED,
    HEDGE_SPLIT,
    HELD_OUT,
    MAIN,
    WORDING_SPLIT,
    Keep,
    Scores,
    everything,
    filled,
    paired,
    share,
    where,
)
from evaluation.report.table import Cell, Table

HEDGES = ("strong", "weak", "confident_undated", "scheduled_dated")
WORDINGS = ("verbatim", "paraphrase", "oblique", "situational")
_HELD_OUT_NOTE = "Held out: held-out plans and completed changes, as the paper's n=147."
_SPLIT_NOTE = (
    "Wording levels: the confirmation-wording split, as in the paper; every split: all"
    " conversations whose plan came true."
)


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
        *ablations(scores),
        cost(scores, main),
    ]
    return [table for table in made if table.rows and table.columns]


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
    return [share(where(scores[name], keep), measure) for name in names]


def contamination(scores: Scores, names: Sequence[str]) -> Table:
    """Table 2: at-risk plans stored as a current fact."""
    pending, end = "pending_contaminated", "end_contaminated"
    rows: list[tuple[str, list[Cell]]] = [
        ("core, while pending", _line(scores, names, pending, CORE)),
        ("core, at end", _line(scores, names, end, CORE)),
        ("held out, while pending", _line(scores, names, pending, HELD_OUT)),
        ("held out, at end", _line(scores, names, end, HELD_OUT)),
        ("all at-risk plans, while pending", _line(scores, names, pending, everything)),
        ("all at-risk plans, at end", _line(scores, names, end, everything)),
        (
            "… contaminating values worded as plans",
            _line(scores, names, "plan_worded", everything),
        ),
        ("all plans, current before the outcome", _line(scores, names, "exposed", everything)),
    ]
    return Table.build(
        "Table 2. Contamination: plans stored as a current fact",
        names,
        filled(rows),
        note="Lower is better. 95 % Wilson intervals, one observation a conversation."
        " Cautious ungated is the prompt-only baseline. As in the paper, ungated pipelines match by"
        " meaning as the gated ones do, without the plan-frame retry.",
        theirs=paper.CONTAMINATION,
    )


def accuracy(scores: Scores, names: Sequence[str]) -> Table:
    """Table 3: the probe answered from the final store."""
    rows = [
        ("core", _line(scores, names, "right", CORE)),
        ("held out", _line(scores, names, "right", HELD_OUT)),
        ("all", _line(scores, names, "right", everything)),
    ]
    return Table.build(
        "Table 3. Task accuracy: one probe a conversation",
        names,
        filled(rows),
        note=_HELD_OUT_NOTE,
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
            share(where(scores[n], lambda s: s.outcome == "came_true" and keep(s)), "right")
            if n in scores and not (strict and "strict" not in n)
            else None
            for n in names
        ]

    rows = [
        (level, cells(lambda s, level=level: WORDING_SPLIT(s) and s.wording == level))  # type: ignore[misc]
        for level in WORDINGS
    ]
    totals = (("all levels", WORDING_SPLIT), ("held out", HELD_OUT), ("every split", everything))
    for label, keep in totals:
        rows.append((f"{label}, refresh-confirm reading", cells(keep)))
        rows.append((f"{label}, strict reading", cells(keep, strict=True)))
    at_risk: dict[str, Keep] = {
        "core": CORE,
        "hedge levels": HEDGE_SPLIT,
        "held out": HELD_OUT,
    }
    for name, keep in at_risk.items():
        kept = [where(scores[n], keep) for n in columns.values()]
        rows.append(
            (f"at-risk plans current at end, {name}", [share(k, "end_contaminated") for k in kept])
        )
    masked: list[Cell] = [
        share(
            where(scores[name], lambda s: HEDGE_SPLIT(s) and s.outcome == "open"), "masked_at_end"
        )
        for name in columns.values()
    ]
    rows.append((paper.MASKED, masked))
    return Table.build(
        "Table 4. Came-true plans that end right: plan-typed baseline against the gate",
        list(columns),
        filled(rows),
        note="Refresh-confirm: a fact of the same value turns the plan into a fact; strict: not."
        f" {_SPLIT_NOTE}",
        theirs=paper.PLAN_TYPED,
    )


def held_out(scores: Scores, names: Sequence[str]) -> Table:
    """Table 5: the held-out replication."""
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
                else share(where(scores[name], HELD_OUT), measure)
                for name in names
            ],
        )
        for label, measure in measures
    ]
    return Table.build(
        "Table 5. Held-out conversations",
        names,
        filled(rows),
        note=_HELD_OUT_NOTE,
        theirs=paper.HELD_OUT,
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
                lambda s, level=level: HEDGE_SPLIT(s) and s.hedge == level,  # type: ignore[misc]
            ),
        )
        for level in HEDGES
    ]
    return Table.build(
        "Table 6. At-end contamination by hedge strength",
        names,
        filled(rows),
        theirs=paper.HEDGES,
    )


def by_wording(scores: Scores) -> Table:
    """Table 7 (figure 3): promotion by how the confirmation is worded."""
    names = [name for name in GATED if name in scores]
    columns = [f"{name.split()[0]}, {part}" for name in names for part in ("all", "among staged")]
    kept: list[tuple[str, Keep]] = [
        (level, lambda s, level=level: WORDING_SPLIT(s) and s.wording == level)  # type: ignore[misc]
        for level in WORDINGS
    ]
    kept.append(("all levels", WORDING_SPLIT))
    kept += [
        (f"{level}, every split", lambda s, level=level: s.wording == level)  # type: ignore[misc]
        for level in WORDINGS
    ]
    kept.append(("every split", everything))
    rows = [
        (label, [cell for name in names for cell in _promotion(scores[name], keep)])
        for label, keep in kept
    ]
    return Table.build(
        "Table 7. Promotion of plans that came true, by confirmation wording",
        columns,
        filled(rows),
        note=f"Valid only at the outcome turn. {_SPLIT_NOTE}",
        theirs=paper.PROMOTION,
    )


def _promotion(scores: Sequence[Score], keep: Keep) -> list[Cell]:
    """Promoted among all plans that came true, and among those of them that were staged."""
    came = where(scores, lambda s: s.outcome == "came_true" and keep(s))
    return [share(came, "promoted"), share(where(came, lambda s: bool(s.staged)), "promoted")]


def controls(scores: Scores, names: Sequence[str]) -> Table:
    """What the gate must not hold up, and how its plans end."""
    gated = [name for name in names if "ungated" not in name]
    rows = [
        (
            "completed changes committed at once",
            _line(scores, names, "committed_at_once", everything),
        ),
        ("completed changes held instead", _line(scores, names, "over_held", everything)),
        ("corrections applied", _line(scores, names, "corrected", everything)),
        ("plans staged at the plan turn", _only(scores, names, gated, "staged")),
        ("… or held as an open item", _only(scores, names, gated, "held_open")),
        ("came-true plans promoted at the outcome turn", _only(scores, names, gated, "promoted")),
        ("came-true plans promoted by the end", _only(scores, names, gated, "settled_by_end")),
        ("abandoned plans discarded", _only(scores, names, gated, "discarded")),
        ("… of those that were held", _only(scores, names, gated, "discarded_of_held")),
        ("promoted while not true", _only(scores, names, gated, "falsely_promoted")),
    ]
    return Table.build("Controls and fates of plans, all conversations", names, filled(rows))


def _only(scores: Scores, names: Sequence[str], allowed: Sequence[str], measure: str) -> list[Cell]:
    return [share(scores[name], measure) if name in allowed else None for name in names]


def differences(scores: Scores) -> Table:
    """Gate on minus gate off, paired by conversation."""
    styles = [s for s in ("cautious", "literal") if {f"{s} gated", f"{s} ungated"} <= set(scores)]
    measures = (
        ("task accuracy", "right", everything),
        ("task accuracy, core", "right", CORE),
        ("task accuracy, held out", "right", HELD_OUT),
        ("contamination while pending", "pending_contaminated", everything),
        ("contamination at end", "end_contaminated", everything),
        ("corrections applied", "corrected", everything),
    )
    rows = [
        (
            label,
            [
                paired(scores, f"{style} gated", f"{style} ungated", measure, keep)
                for style in styles
            ],
        )
        for label, measure, keep in measures
    ]
    return Table.build(
        "Gate on minus gate off, in points",
        styles,
        filled(rows),
        note=f"Paired by conversation; 95 % cluster-bootstrap intervals. {_HELD_OUT_NOTE}",
        theirs=paper.DIFFERENCES,
    )


def cost(scores: Scores, names: Sequence[str]) -> Table:
    """Model calls and time a user message."""
    rows: list[tuple[str, list[Cell]]] = [
        ("model calls per user message", [_calls(scores[name]) for name in names]),
        ("gate milliseconds, median", [_median(scores[name]) for name in names]),
        ("user messages (n)", [sum(one.user_turns for one in scores[name]) for name in names]),
    ]
    return Table.build("Cost", names, rows, theirs=paper.CALLS)


def _calls(scores: Sequence[Score]) -> float:
    turns = sum(one.user_turns for one in scores)
    return sum(one.model_calls for one in scores) / turns if turns else 0.0


def _median(scores: Sequence[Score]) -> float:
    times = sorted(ms for one in scores for ms in one.gate_ms)
    return times[len(times) // 2] if times else 0.0

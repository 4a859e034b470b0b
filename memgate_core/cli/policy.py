"""`memgate policy`: the rule matrix, printed whole and explained case by case."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from memgate_core.cli import options
from memgate_core.cli.opening import rules, settings
from memgate_core.cli.output import print_json, print_pairs, print_table

if TYPE_CHECKING:
    from memgate_core.policy.matrix import Matrix
    from memgate_core.policy.table import CaseExplanation, Row

app = typer.Typer(name="policy", help="The rule matrix: show, explain.", no_args_is_help=True)


@app.command()
def show(
    rule: Annotated[
        str | None, typer.Argument(metavar="RULE", help="One row by name; all without it.")
    ] = None,
    as_json: options.AsJson = False,
) -> None:
    """Prints the table in force: the first row that covers a case decides."""
    from memgate_core.policy import table

    matrix = _matrix()
    if rule is not None:
        _print_row(table.row(matrix, rule), as_json)
        return
    shown = table.show(matrix)
    if as_json:
        print_json(shown)
        return
    print(f"policy version {shown.version}")
    rows = ((r.place, r.name, r.origin, _when(r), r.then, r.reason) for r in shown.rows)
    print_table(("", "rule", "origin", "when", "then", "because"), rows)


@app.command()
def explain(
    columns: Annotated[
        list[str],
        typer.Argument(
            metavar="COLUMN=VALUE…",
            help="A case, as in: evidence=speculation source=user registered=true",
        ),
    ],
    as_json: options.AsJson = False,
) -> None:
    """Says which row decides a case, and why no row before it did."""
    from memgate_core.policy import table

    found = table.explain(_matrix(), table.case_of(_case(columns)))
    if as_json:
        print_json(found)
        return
    print_pairs(_decision(found))
    rows = ((s.row, "decides" if s.decides else "; ".join(s.because)) for s in found.steps)
    print_table(("rule", "why"), rows)


def _matrix() -> Matrix:
    from memgate_core.policy.matrix import Matrix

    return Matrix(rules(settings()))


def _case(columns: list[str]) -> dict[str, object]:
    from memgate_core.errors import ConfigurationError

    case: dict[str, object] = {}
    for column in columns:
        name, separator, value = column.partition("=")
        if not separator:
            raise ConfigurationError(f"{column!r} is not COLUMN=VALUE")
        case[name] = {"true": True, "false": False}.get(value, value)
    return case


def _print_row(row: Row, as_json: bool) -> None:
    if as_json:
        print_json(row)
        return
    pairs = (
        ("rule", row.name),
        ("place", row.place),
        ("origin", row.origin),
        ("when", _when(row)),
        ("then", row.then),
        ("because", row.reason),
    )
    print_pairs(pairs)


def _when(row: Row) -> str:
    return "; ".join(f"{column}: {' | '.join(values)}" for column, values in row.when.items())


def _decision(found: CaseExplanation) -> list[tuple[str, object]]:
    decision = found.decision
    return [("decision", decision.decision), ("rule", decision.rule), ("because", decision.reason)]

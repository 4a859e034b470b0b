"""The rule matrix as people read it: printed whole, and explained case by case."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import ValidationError

from memgate_core.errors import ConfigurationError, NotFoundError
from memgate_core.model import Decision, DecisionType, Model
from memgate_core.policy.case import Case
from memgate_core.policy.matrix import HARD_RULES, RULES, Matrix, Rule


class Row(Model):
    """One row of the table."""

    place: int
    """1 is tried first."""
    name: str
    origin: str
    """hard (cannot be overridden), own (the deployment's), built-in."""
    when: dict[str, tuple[str, ...]]
    """Column -> the values it accepts; a column that is not there may be anything."""
    then: DecisionType
    reason: str
    closes: bool
    corrects: bool


class PolicyTable(Model):
    """The table in force; the first row that covers a case decides."""

    version: str
    rows: tuple[Row, ...]


class Step(Model):
    """Why a row did or did not decide a case."""

    row: str
    decides: bool
    because: tuple[str, ...]
    """The columns that spoke against it, with what the case has; empty for the deciding row."""


class CaseExplanation(Model):
    """How the table decides one case."""

    case: Case
    decision: Decision
    steps: tuple[Step, ...]
    """Every row up to the one that decides."""


def show(matrix: Matrix) -> PolicyTable:
    """The whole table, in order."""
    rows = tuple(_row(place, rule) for place, rule in enumerate(matrix.rules, 1))
    return PolicyTable(version=matrix.version, rows=rows)


def row(matrix: Matrix, name: str) -> Row:
    """One row by name.

    Raises:
        NotFoundError: no row has it.
    """
    for found in show(matrix).rows:
        if found.name == name:
            return found
    raise NotFoundError(f"no rule {name!r}", hint="see `memgate policy show`")


def explain(matrix: Matrix, case: Case) -> CaseExplanation:
    """Which row decides a case, and why none before it did."""
    steps = []
    for rule in matrix.rules:
        against = _against(rule, case)
        steps.append(Step(row=rule.name, decides=not against, because=tuple(against)))
        if not against:
            break
    return CaseExplanation(case=case, decision=matrix.decide(case), steps=tuple(steps))


def case_of(columns: Mapping[str, Any]) -> Case:
    """A case from columns by name, as a person types them; `evidence` is needed.

    Raises:
        ConfigurationError: names the column that is unknown, missing or has no such value.
    """
    try:
        return Case.model_validate(dict(columns))
    except ValidationError as fault:
        first = fault.errors()[0]
        column = ".".join(str(part) for part in first["loc"])
        raise ConfigurationError(
            f"case.{column}: {first['msg']}", hint=f"columns are {', '.join(Case.model_fields)}"
        ) from None


def _row(place: int, rule: Rule) -> Row:
    return Row(
        place=place,
        name=rule.name,
        origin=_origin(rule),
        when={column: _words(accepted) for column, accepted in rule.when.items()},
        then=rule.then,
        reason=rule.reason,
        closes=rule.closes,
        corrects=rule.corrects,
    )


def _origin(rule: Rule) -> str:
    if rule in HARD_RULES:
        return "hard"
    return "built-in" if rule in RULES else "own"


def _against(rule: Rule, case: Case) -> list[str]:
    return [
        f"{column} is {_word(getattr(case, column))}, not {' or '.join(_words(accepted))}"
        for column, accepted in rule.when.items()
        if getattr(case, column) not in accepted
    ]


def _words(accepted: frozenset[Any]) -> tuple[str, ...]:
    return tuple(sorted(_word(value) for value in accepted))


def _word(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)

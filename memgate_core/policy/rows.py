"""Rows of your own for the rule matrix, from TOML.

    [[rule]]
    name = "no_politics"
    when = { registered = true, sensitivity = "high" }   # a column of the table, or several values
    then = "NEEDS_CONFIRMATION"
    reason = "asks before it keeps anything sensitive"

They come after the hard rows and before the built-in ones. A row may refuse, hold, ask or ignore
more. One that commits has to say that it commits no speculation and nobody's words but the user's.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from enum import Enum
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from memgate_core.errors import ConfigurationError
from memgate_core.model import DecisionType, EvidenceType, Source
from memgate_core.policy.case import Case
from memgate_core.policy.matrix import Rule

_KEYS = frozenset({"name", "when", "then", "reason", "closes", "corrects"})


def rules_from_toml(path: Path | str) -> tuple[Rule, ...]:
    """The rows of a file, in its order.

    Raises:
        ConfigurationError: names the file, the row and the key that cannot be used.
    """
    try:
        text = Path(path).read_text(encoding="utf-8")
    except OSError as fault:
        raise ConfigurationError(f"{path}: {fault.strerror}") from fault
    return parse_rules(text, str(path))


def parse_rules(text: str, where: str) -> tuple[Rule, ...]:
    """The rows in a TOML text; `where` names it in errors.

    Raises:
        ConfigurationError: as `rules_from_toml`.
    """
    try:
        tables = tomllib.loads(text)
    except tomllib.TOMLDecodeError as fault:
        raise ConfigurationError(f"{where}: {fault}") from fault
    if unknown := sorted(tables.keys() - {"rule"}):
        raise ConfigurationError(f"{where}: unknown key {unknown[0]!r}", hint="rows are [[rule]]")
    rows = tables.get("rule", [])
    if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
        raise ConfigurationError(f"{where}: rule: must be tables", hint="write [[rule]]")
    return tuple(_rule(row, f"{where}: rule {number}") for number, row in enumerate(rows, 1))


def require_safe(rule: Rule, where: str = "policy") -> Rule:
    """The row, unless it would commit what no row may.

    Raises:
        ConfigurationError: it commits and does not rule out speculation and foreign words.
    """
    if rule.then is not DecisionType.COMMIT:
        return rule
    for column, forbidden in (("evidence", EvidenceType.SPECULATION), ("source", Source.ASSISTANT)):
        accepted = rule.when.get(column)
        if accepted is None or forbidden in accepted:
            raise ConfigurationError(
                f"{where}: {rule.name}: a row that commits must name its {column},"
                f" and not {forbidden.value}",
                hint="plans are held, and only the user's own words become facts",
            )
    return rule


def _rule(row: Mapping[str, Any], where: str) -> Rule:
    if unknown := sorted(row.keys() - _KEYS):
        raise ConfigurationError(f"{where}: unknown key {unknown[0]!r}")
    for column, accepted in (row.get("when") or {}).items():
        _check_column(column, accepted, where)
    try:
        rule = Rule(**row)
    except ValidationError as fault:
        first = fault.errors()[0]
        key = ".".join(str(part) for part in first["loc"])
        raise ConfigurationError(f"{where}: {key}: {first['msg']}") from None
    return require_safe(rule, where)


def _check_column(column: str, accepted: object, where: str) -> None:
    field = Case.model_fields.get(column)
    if field is None:
        known = ", ".join(Case.model_fields)
        raise ConfigurationError(f"{where}: when.{column}: no such column", hint=f"one of {known}")
    allowed = _values_of(field.annotation)
    given = accepted if isinstance(accepted, list) else [accepted]
    for value in given:
        if value not in allowed or isinstance(value, bool) is not (True in allowed):
            raise ConfigurationError(
                f"{where}: when.{column}: {value!r} is no value of it",
                hint=f"one of {', '.join(str(one).lower() for one in allowed)}",
            )


def _values_of(annotation: Any) -> list[Any]:
    if isinstance(annotation, type) and issubclass(annotation, Enum):
        return [member.value for member in annotation]
    return [True, False]

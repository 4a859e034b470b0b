"""The registered fields: the built-in catalogue, and what users add to it."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Iterator
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from memgate_core.errors import ConfigurationError
from memgate_core.fields import validators
from memgate_core.model import FieldSpec


class FieldCatalogue:
    """An ordered set of fields by attribute. Immutable: adding gives a new catalogue."""

    def __init__(self, fields: Iterable[FieldSpec] = ()) -> None:
        self._fields: dict[str, FieldSpec] = {}
        for field in fields:
            self._fields[field.attribute] = _checked(field)

    @classmethod
    def builtin(cls) -> FieldCatalogue:
        """The fields that come with the gate."""
        return cls(_builtin())

    @classmethod
    def from_toml(cls, path: Path | str) -> FieldCatalogue:
        """Fields from a TOML file: one table a field, as in the built-in catalogue.toml.

        Raises:
            ConfigurationError: names the file and the field that cannot be used.
        """
        try:
            text = Path(path).read_text(encoding="utf-8")
        except OSError as fault:
            raise ConfigurationError(f"{path}: {fault.strerror}") from fault
        return cls(_parse(text, str(path)))

    def with_fields(self, fields: Iterable[FieldSpec]) -> FieldCatalogue:
        """This catalogue and `fields`; one of the same attribute replaces the old one."""
        return FieldCatalogue([*self._fields.values(), *fields])

    def without(self, *attributes: str) -> FieldCatalogue:
        """This catalogue less some fields.

        Raises:
            ConfigurationError: an attribute that is not in it.
        """
        if unknown := [name for name in attributes if name not in self._fields]:
            raise ConfigurationError(f"no field {', '.join(unknown)} in the catalogue")
        return FieldCatalogue(f for f in self if f.attribute not in attributes)

    def get(self, attribute: str) -> FieldSpec | None:
        """The field of that attribute, if registered."""
        return self._fields.get(attribute)

    def __iter__(self) -> Iterator[FieldSpec]:
        return iter(self._fields.values())

    def __len__(self) -> int:
        return len(self._fields)

    def __contains__(self, attribute: object) -> bool:
        return attribute in self._fields


def _checked(field: FieldSpec) -> FieldSpec:
    if field.validator is not None and field.validator not in validators.known():
        raise ConfigurationError(
            f"field {field.attribute}: validator {field.validator!r} is unknown",
            hint=f"one of {', '.join(validators.known())}",
        )
    if field.phrase is not None and "{value}" not in field.phrase:
        raise ConfigurationError(f"field {field.attribute}: the phrase has no {{value}} in it")
    return field


@cache
def _builtin() -> tuple[FieldSpec, ...]:
    text = files("memgate_core.fields").joinpath("catalogue.toml").read_text(encoding="utf-8")
    return tuple(_parse(text, "catalogue.toml"))


def _parse(text: str, where: str) -> list[FieldSpec]:
    try:
        tables = tomllib.loads(text)
    except tomllib.TOMLDecodeError as fault:
        raise ConfigurationError(f"{where}: {fault}") from fault
    return [_field(name, table, where) for name, table in tables.items()]


def _field(name: str, table: Any, where: str) -> FieldSpec:
    if not isinstance(table, dict):
        raise ConfigurationError(f"{where}: {name}: must be a table", hint=f"write [{name}]")
    try:
        return FieldSpec(attribute=name, **table)
    except ValidationError as fault:
        first = fault.errors()[0]
        key = ".".join(str(part) for part in first["loc"])
        raise ConfigurationError(f"{where}: {name}.{key}: {first['msg']}") from fault
    except TypeError as fault:
        raise ConfigurationError(f"{where}: {name}: {fault}") from fault

"""The registered fields of a profile: the packaged catalogue, and what users add to it."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any, Self

from pydantic import ValidationError

from memgate_core.errors import ConfigurationError
from memgate_core.fields.normalise import normalise
from memgate_core.fields.validators import check_name
from memgate_core.model import FieldSpec

_PACKAGED = "catalogue.toml"


class FieldCatalogue:
    """Fields by attribute name, in the order of registration.

        fields = FieldCatalogue.default()
        fields.register(attribute="kiln", description="the kiln the user fires with")
        fields.load("fields.toml")

    A later registration of the same attribute replaces the earlier one; its synonyms win over
    those of other fields (see `memgate_core.fields.lexical`).
    """

    def __init__(self, specs: Iterable[FieldSpec] = ()) -> None:
        self._specs: dict[str, FieldSpec] = {}
        for spec in specs:
            self.register(spec)

    @classmethod
    def default(cls) -> Self:
        """A fresh copy of the packaged catalogue of common fields."""
        return cls(_packaged())

    builtin = default
    """The same under another name."""

    @classmethod
    def from_toml(cls, path: Path | str) -> Self:
        """The fields of a TOML file alone.

        Raises:
            ConfigurationError: names the file and the key.
        """
        return cls(_read(Path(path)))

    def register(self, spec: FieldSpec | None = None, /, **parts: Any) -> FieldSpec:
        """Adds a field, given as a spec or by its parts.

        Raises:
            ConfigurationError: a part is malformed; names the attribute and the part.
        """
        where = f"field {parts.get('attribute', '?')!s}"
        added = _checked(spec if spec is not None else _spec(parts, where))
        self._specs[added.attribute] = added
        return added

    def load(self, path: Path | str) -> Self:
        """Adds the fields of a TOML file: a table [<attribute>] each, parts as in FieldSpec.

        Raises:
            ConfigurationError: names the file and the key; nothing of the file was added.
        """
        specs = _read(Path(path))
        for spec in specs:
            self._specs[spec.attribute] = spec
        return self

    def merged(self, other: Iterable[FieldSpec]) -> FieldCatalogue:
        """A new catalogue with the other's fields added to, and winning over, this one's."""
        return FieldCatalogue([*self, *other])

    with_fields = merged

    def without(self, *attributes: str) -> FieldCatalogue:
        """A new catalogue less some fields.

        Raises:
            ConfigurationError: an attribute is not registered.
        """
        dropped = {self[attribute].attribute for attribute in attributes}
        return FieldCatalogue(spec for spec in self if spec.attribute not in dropped)

    def only(self, attributes: Iterable[str]) -> FieldCatalogue:
        """A new catalogue with just these fields.

        Raises:
            ConfigurationError: an attribute is not registered.
        """
        return FieldCatalogue(self[attribute] for attribute in attributes)

    def get(self, attribute: str) -> FieldSpec | None:
        """The field of this exact attribute name, spelling folded ("Home city")."""
        return self._specs.get(attribute) or self._specs.get(normalise(attribute))

    def __getitem__(self, attribute: str) -> FieldSpec:
        found = self.get(attribute)
        if found is None:
            raise ConfigurationError(f"no field {attribute!r} is registered")
        return found

    def __contains__(self, attribute: object) -> bool:
        return isinstance(attribute, str) and self.get(attribute) is not None

    def __iter__(self) -> Iterator[FieldSpec]:
        return iter(self._specs.values())

    def __len__(self) -> int:
        return len(self._specs)


@cache
def _packaged() -> tuple[FieldSpec, ...]:
    text = files(__package__).joinpath(_PACKAGED).read_text(encoding="utf-8")
    return tuple(_specs_of(tomllib.loads(text), _PACKAGED))


def completed(spec: FieldSpec) -> FieldSpec:
    """The spec with the synonyms and phrase that the packaged field of the same name has.

    What a user registers under a common name need not spell out how people call it. The user's own
    parts stay as they are.
    """
    packaged = _by_name().get(spec.attribute)
    if packaged is None or (spec.synonyms and spec.phrase):
        return spec
    return spec.model_copy(
        update={
            "synonyms": spec.synonyms or packaged.synonyms,
            "phrase": spec.phrase or packaged.phrase,
        }
    )


@cache
def _by_name() -> dict[str, FieldSpec]:
    return {spec.attribute: spec for spec in _packaged()}


def _read(path: Path) -> list[FieldSpec]:
    try:
        data = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as fault:
        raise ConfigurationError(f"{path}: cannot be read ({fault.strerror})") from fault
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as fault:
        raise ConfigurationError(f"{path}: not valid TOML: {fault}") from fault
    return _specs_of(data, str(path))


def _specs_of(data: Mapping[str, Any], where: str) -> list[FieldSpec]:
    specs = []
    for attribute, parts in data.items():
        place = f"{where}: {attribute}"
        if not isinstance(parts, Mapping):
            raise ConfigurationError(f"{place}: a table is expected", hint=f"write [{attribute}]")
        specs.append(_checked(_spec({"attribute": attribute, **parts}, place), f"{where}: "))
    return specs


def _spec(parts: Mapping[str, Any], where: str) -> FieldSpec:
    try:
        return FieldSpec.model_validate(dict(parts))
    except ValidationError as fault:
        first = fault.errors()[0]
        key = ".".join(str(part) for part in first["loc"]) or "?"
        raise ConfigurationError(f"{where}.{key}: {first['msg']}") from fault


def _checked(spec: FieldSpec, where: str = "") -> FieldSpec:
    place = f"{where}field {spec.attribute}"
    check_name(spec.validator, where=place)
    if spec.phrase is not None and "{value}" not in spec.phrase:
        raise ConfigurationError(f"{place}: phrase has no {{value}} in it")
    return spec

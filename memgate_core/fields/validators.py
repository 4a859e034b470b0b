"""Named validators: a registered field may refuse a malformed value, with a reason.

A validator is given the value's words and answers None, or why it refuses. It never changes the
value. Users register their own under a name and use that name in their catalogue.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache

from memgate_core.errors import ConfigurationError
from memgate_core.model import FieldSpec

Validator = Callable[[str], str | None]

MAX_LENGTH = 300
"""Characters; a longer value is a text, not a value."""

_VALIDATORS: dict[str, Validator] = {}


def register(name: str, validator: Validator) -> None:
    """Adds a validator under a name of your own.

    Raises:
        ConfigurationError: the name is taken.
    """
    if name in _VALIDATORS:
        raise ConfigurationError(f"validator {name!r} is registered already")
    _VALIDATORS[name] = validator


def known() -> tuple[str, ...]:
    """Names of all registered validators."""
    return tuple(sorted(_VALIDATORS))


def refusal(field: FieldSpec | None, value: str | None) -> str | None:
    """Why `field` does not take `value`, or None when it does.

    Raises:
        ConfigurationError: the field names a validator that is not registered.
    """
    if field is None or value is None:
        return None
    if not value.strip():
        return "the value is empty"
    if len(value) > MAX_LENGTH:
        return f"the value has {len(value)} characters, more than {MAX_LENGTH}"
    if field.validator is None:
        return None
    return _named(field)(value.strip())


def _named(field: FieldSpec) -> Validator:
    validator = _VALIDATORS.get(field.validator or "")
    if validator is None:
        raise ConfigurationError(
            f"field {field.attribute}: validator {field.validator!r} is unknown",
            hint=f"one of {', '.join(known())}",
        )
    return validator


def _email(value: str) -> str | None:
    fine = re.fullmatch(r"[^@\s]+@[^@\s]+\.[^@\s.]{2,}", value)
    return None if fine else "not an e-mail address"


def _phone(value: str) -> str | None:
    import phonenumbers

    try:
        parsed = phonenumbers.parse(value, None if value.startswith("+") else "GB")
    except phonenumbers.NumberParseException:
        return "not a telephone number"
    return None if phonenumbers.is_possible_number(parsed) else "not a possible telephone number"


def _timezone(value: str) -> str | None:
    words = value.replace(" ", "_")
    if words in _zones() or re.fullmatch(
        r"(?:UTC|GMT)(?:[+-]\d{1,2}(?::\d\d)?)?|[A-Z]{2,5}", value
    ):
        return None
    return "not a time zone"


@cache
def _zones() -> frozenset[str]:
    from zoneinfo import available_timezones

    names = available_timezones()
    return frozenset(names | {name.rsplit("/", 1)[-1] for name in names})


def _date(value: str) -> str | None:
    import dateparser

    return None if dateparser.parse(value) else "not a date"


def _year(value: str) -> str | None:
    return None if re.search(r"\b(?:18|19|20)\d\d\b", value) else "not a year"


def _blood_type(value: str) -> str | None:
    short = value.upper().replace("POSITIVE", "+").replace("NEGATIVE", "-").replace("MINUS", "-")
    short = re.sub(r"\s|PLUS", "", short.replace("PLUS", "+"))
    return None if re.fullmatch(r"(?:A|B|AB|O|0)(?:RH)?[+\-−–]?", short) else "not a blood group"


def _number(value: str) -> str | None:
    return None if re.search(r"\d", value) else "there is no number in it"


def _words(value: str) -> str | None:
    return None if any(ch.isalpha() for ch in value) else "there is no word in it"


for _name, _validator in (
    ("email", _email),
    ("phone", _phone),
    ("timezone", _timezone),
    ("date", _date),
    ("year", _year),
    ("blood_type", _blood_type),
    ("number", _number),
    ("words", _words),
):
    register(_name, _validator)

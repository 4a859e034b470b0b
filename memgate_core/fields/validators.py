"""Named validators of field values. A malformed value is refused with a reason a person can read.

Validators judge form, never truth: a value that could be right passes. A validator is named in
`FieldSpec.validator`, with arguments behind a colon: "max_length:80", "one_of:metric,imperial".
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache, lru_cache

from memgate_core.errors import ConfigurationError
from memgate_core.language.tokens import fold
from memgate_core.language.words import word_set
from memgate_core.model import FieldSpec

Validator = Callable[[str], str | None]
"""The value -> the reason for refusing it, or None when it passes."""

MAX_LENGTH = 300
"""Characters any value may have; a longer one is a text, not a value."""
_Packaged = Callable[[str, str], str | None]
_NUMBER = re.compile(r"-?\d+(?:[.,]\d+)?")
_BLOOD = re.compile(
    r"(?<![a-z])(?:a|b|ab|o|0)(?![a-z])\s*(?:rh(?:esus)?\s*)?(?:[+-]|pos|neg|plus|minus)?",
    re.IGNORECASE,
)
_PRONOUN = re.compile(
    r"(?:[^\W\d_]+)(?:\s*[/,&]\s*[^\W\d_]+){0,4}|any(?: pronouns?)?|no pronouns?", re.I
)
_OFFSET = re.compile(r"(?:utc|gmt|z)?\s*[+-]?\s*\d{1,2}(?::?\d{2})?|utc|gmt", re.IGNORECASE)
_DAY_WORDS = re.compile(
    r"(?:(?:the )?\d{1,2}(?:st|nd|rd|th)?(?: of)? [a-z]{3,9}\.?|[a-z]{3,9}\.? (?:the )?\d{1,2}"
    r"(?:st|nd|rd|th)?)(?:,? \d{4})?|[a-z]{3,9} \d{4}|\d{4}",
    re.IGNORECASE,
)
_MONTHS = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]
_MORE_LANGUAGES = word_set("mandarin farsi castilian cantonese flemish tagalog scots bsl asl")
_BETWEEN = re.compile(r",|/|;|&|\band\b|\bund\b|\by\b|\bet\b|\+", re.IGNORECASE)
_BRACKETED = re.compile(r"(?<!\s)\s*\([^)]*\)")


def refusal(field: FieldSpec | None, value: str | None) -> str | None:
    """Why a value cannot stand in a field, or None when it may (or there is nothing to judge).

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
    check_name(field.validator, where=f"field {field.attribute}")
    return validate(field.validator, value)


def validate(name: str, value: str) -> str | None:
    """Runs a validator by name; the reason for refusing, or None.

    Raises:
        ConfigurationError: no validator of that name is registered.
    """
    bare, _, argument = name.partition(":")
    if bare in _OWN:
        return _OWN[bare](value.strip())
    if bare not in _PACKAGED:
        raise _unknown("", name)
    return _PACKAGED[bare](value.strip(), argument)


def register(name: str, validator: Validator) -> None:
    """Adds a validator under a name of your own.

    Raises:
        ConfigurationError: the name is taken, or is no plain word.
    """
    if not name.replace("_", "").isalnum():
        raise ConfigurationError(f"validator name {name!r}: letters and underscores are expected")
    if name in known():
        raise ConfigurationError(f"validator {name!r} is registered already")
    _OWN[name] = validator


def known() -> tuple[str, ...]:
    """Names of all registered validators."""
    return tuple(sorted({**_PACKAGED, **_OWN}))


def check_name(name: str | None, *, where: str) -> None:
    """Raises ConfigurationError at `where` when a field names a validator that does not exist."""
    if name is not None and name.partition(":")[0] not in known():
        raise _unknown(f"{where}: ", name)


def _unknown(where: str, name: str) -> ConfigurationError:
    hint = f"one of {', '.join(known())}"
    return ConfigurationError(f"{where}validator {name!r} is unknown", hint=hint)


# --- the checks ---------------------------------------------------------------------------------


def _non_empty(value: str, _: str) -> str | None:
    return None if any(ch.isalnum() for ch in value) else "the value is empty"


def _max_length(value: str, argument: str) -> str | None:
    limit = int(argument or 200)
    return None if len(value) <= limit else f"longer than {limit} characters"


def _one_of(value: str, argument: str) -> str | None:
    allowed = [choice.strip() for choice in argument.split(",")]
    if fold(value) in {fold(choice) for choice in allowed}:
        return None
    return f"not one of {', '.join(allowed)}"


def _number(value: str, argument: str) -> str | None:
    """A number in [low, high]; units and words around it are fine ("EU 43.5")."""
    found = _NUMBER.search(value)
    if found is None:
        return "no number in it"
    low, _, high = argument.partition(",")
    number = float(found.group().replace(",", "."))
    if (low and number < float(low)) or (high and number > float(high)):
        return f"not between {low} and {high}"
    return None


def _words(value: str, _: str) -> str | None:
    return None if any(ch.isalpha() for ch in value) else "there is no word in it"


def _year(value: str, _: str) -> str | None:
    return None if re.search(r"\b(?:18|19|20)\d\d\b", value) else "not a year"


def _date(value: str, _: str) -> str | None:
    """A calendar day, with or without its year; also a bare year or a month with its year."""
    from dateutil import parser

    bare = value.strip().rstrip(".")
    if not any(ch.isdigit() for ch in bare):
        return "not a date"
    if _DAY_WORDS.fullmatch(bare) and not bare.isdigit():
        return None if any(month in bare.lower() for month in _MONTHS) else "not a date"
    try:
        parser.parse(bare)
    except (ValueError, OverflowError):
        return "not a date"
    return None


def _email(value: str, _: str) -> str | None:
    from email_validator import EmailNotValidError, validate_email

    try:
        validate_email(value, check_deliverability=False)
    except EmailNotValidError as fault:
        return f"not an e-mail address: {fault}"
    return None


def _phone(value: str, argument: str) -> str | None:
    """`argument`: a region for national numbers ("GB"); without one only their length is judged."""
    import phonenumbers

    digits = sum(ch.isdigit() for ch in value)
    if any(ch.isalpha() for ch in value) or not 5 <= digits <= 15:
        return "not a telephone number"
    if not argument and not value.startswith("+"):
        return None
    try:
        number = phonenumbers.parse(value, argument or None)
    except phonenumbers.NumberParseException:
        return "not a telephone number"
    return None if phonenumbers.is_possible_number(number) else "not a possible telephone number"


def _timezone(value: str, _: str) -> str | None:
    name = value.replace(" ", "_")
    if _OFFSET.fullmatch(value) or name.lower() in _zones():
        return None
    return "not a known time zone"


@cache
def _zones() -> frozenset[str]:
    from zoneinfo import available_timezones

    keys = {key.lower() for key in available_timezones()}
    places = {key.rpartition("/")[2] for key in keys}
    return frozenset(
        keys | places | {"pst", "pdt", "cst", "cdt", "edt", "bst", "ist", "jst", "cest"}
    )


@lru_cache(maxsize=512)
def _language(value: str, _: str = "") -> str | None:
    """One or several languages, by name in English or their own, or by code."""
    named = (part.strip() for part in _BETWEEN.split(_BRACKETED.sub("", value)))
    parts = [part for part in named if part]
    unknown = [part for part in parts if not _names_language(part)]
    if not parts or unknown:
        return f"not a language: {', '.join(unknown) or value}"
    return None


def _names_language(part: str) -> bool:
    words = re.findall(r"[^\W\d_]+", fold(part))
    return any(word in _languages() for word in words)


@cache
def _languages() -> frozenset[str]:
    from babel import Locale

    english = Locale("en").languages
    names = {fold(name) for name in english.values()}
    words = {word for name in names for word in re.findall(r"[^\W\d_]{3,}", name)}
    own = (Locale(code).get_display_name(code) for code in _OWN_NAMES)
    codes = {str(code).lower() for code in english if len(str(code)) == 2}
    return frozenset(words | {fold(name) for name in own if name} | codes | _MORE_LANGUAGES)


_OWN_NAMES = [
    "de",
    "fr",
    "es",
    "it",
    "pt",
    "nl",
    "sv",
    "da",
    "nb",
    "fi",
    "pl",
    "cs",
    "sk",
    "hu",
    "ro",
    "el",
    "tr",
    "ru",
    "uk",
    "bg",
    "sr",
    "hr",
    "ar",
    "he",
    "ja",
    "ko",
    "zh",
]


@lru_cache(maxsize=512)
def _currency(value: str, _: str = "") -> str | None:
    folded = fold(value)
    return None if any(word in folded for word in _currencies()) else "not a known currency"


@cache
def _currencies() -> frozenset[str]:
    from babel import Locale

    english = Locale("en")
    names = {fold(name) for name in english.currencies.values()}
    last_words = {name.split()[-1] for name in names if len(name.split()[-1]) > 2}
    codes = {str(code).lower() for code in english.currencies}
    return frozenset(names | last_words | codes | {"€", "£", "$", "¥", "pounds", "quid", "bucks"})


def _pronouns(value: str, _: str) -> str | None:
    return None if _PRONOUN.fullmatch(value) and len(value) <= 60 else "not pronouns"


def _blood_type(value: str, _: str) -> str | None:
    bare = value.replace("−", "-").replace("–", "-")
    return None if _BLOOD.search(bare) else "not a blood group"


_PACKAGED: dict[str, _Packaged] = {
    "non_empty": _non_empty,
    "max_length": _max_length,
    "one_of": _one_of,
    "number": _number,
    "words": _words,
    "year": _year,
    "date": _date,
    "email": _email,
    "phone": _phone,
    "timezone": _timezone,
    "language": _language,
    "currency": _currency,
    "pronouns": _pronouns,
    "blood_type": _blood_type,
}
_OWN: dict[str, Validator] = {}

"""Payment data: card numbers (Luhn-checked), IBANs (check digits), security codes."""

from __future__ import annotations

import re
from collections.abc import Iterator

from memgate_core.model import Span

_CARD = re.compile(r"(?<![\w.+-])(?:\d[ -]?){12,18}\d(?![\w-])")
_CARD_STARTS = ("34", "37", "4", "51", "52", "53", "54", "55", "2", "6", "35", "30", "36", "38")
_IBAN = re.compile(r"\b[A-Z]{2}\d{2}(?:[ ]?[A-Z0-9]{2,4}){3,8}\b")
_CVV = re.compile(
    r"\b(?:cvv2?|cvc2?|security code|card verification (?:code|value))\b\W{0,4}"
    r"(?:is |number |of )?\W{0,2}(?P<secret>\d{3,4})\b",
    re.IGNORECASE,
)


def payment_spans(text: str) -> Iterator[tuple[str, Span]]:
    """(reason, span) of each piece of payment data in `text`."""
    if not any(ch.isdigit() for ch in text):
        return
    for match in _CARD.finditer(text):
        if _is_card(match.group()):
            yield "card_number", _span(match)
    for match in _IBAN.finditer(text):
        if (length := _iban_length(match.group())) is not None:
            yield "iban", Span(start=match.start(), end=match.start() + length)
    for match in _CVV.finditer(text):
        yield "card_security_code", Span(start=match.start("secret"), end=match.end("secret"))


def _is_card(text: str) -> bool:
    from stdnum import luhn

    digits = re.sub(r"\D", "", text)
    plausible = 13 <= len(digits) <= 19 and digits.startswith(_CARD_STARTS)
    return plausible and len(set(digits)) > 1 and luhn.is_valid(digits)


def _iban_length(text: str) -> int | None:
    """Length of the longest valid IBAN at the start of `text` (words may follow it)."""
    from stdnum import iban

    for end in range(len(text), 14, -1):
        if text[end - 1] != " " and iban.is_valid(text[:end]):
            return end
    return None


def _span(match: re.Match[str]) -> Span:
    return Span(start=match.start(), end=match.end())

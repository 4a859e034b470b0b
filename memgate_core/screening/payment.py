"""Payment data: card numbers (Luhn), IBANs (country form and checksum), CVVs, bank accounts."""

from __future__ import annotations

import re
from collections.abc import Iterator

from memgate_core.screening.finding import Finding

_DIGITS = re.compile(r"(?<![\w.,/-])\d(?:[ -]?\d){11,18}(?![\w/]|[.,-]\d|-\w)")
_NETWORK = re.compile(
    r"(?:4\d{12}(?:\d{3}){0,2}|(?:5[1-5]\d\d|2(?:2[2-9]\d|[3-6]\d\d|7[01]\d|720)|222[1-9])\d{12}"
    r"|3[47]\d{13}|3(?:0[0-5]|[689]\d)\d{11}|6(?:011|5\d\d|4[4-9]\d)\d{12}|35(?:2[89]|[3-8]\d)\d{12}"
    r"|62\d{14,17}|(?:50|5[6-9]|6[37])\d{10,17})$"
)
"""Issuer prefixes and lengths of the card networks."""
_OTHER_NUMBER = re.compile(
    r"(?:order|tracking|parcel|invoice|reference|ref|booking|imei|serial|ticket|isbn|account id|case"
    r"|confirmation|shipment|consignment|customer|part)(?:\s+(?:number|no\.?|id|nr|code))?"
    r"(?:\s+(?:is|was))?\s*[:#]?\s*$",
    re.IGNORECASE,
)
_IBAN = re.compile(r"(?<![A-Za-z0-9])[A-Za-z]{2}\d{2}(?:[ -]?[A-Za-z0-9]){11,30}(?![A-Za-z0-9])")
_CVV = re.compile(
    r"\b(?:cvv2?|cvc2?|cv2|csc|(?:card )?security (?:code|number) (?:on|of) (?:the|my) (?:back|card))\b"
    r"[^\d\n]{0,20}(?<!\d)(?P<secret>\d{3,4})(?!\d)",
    re.IGNORECASE,
)
_BANK_ACCOUNT = re.compile(
    r"\b(?:sort ?code|routing (?:number|no\.?)|bsb|(?:bank )?account (?:number|no\.?|nr)|acc(?:oun)?t"
    r"(?: no\.?)?)\b[^\d\n]{0,12}(?P<secret>\d{2}[- ]\d{2}[- ]\d{2}|\d{3}-\d{3}|\d{6,12})(?!\d)",
    re.IGNORECASE,
)
_BANKING = re.compile(
    r"\b(?:sort ?code|routing|bsb|bank|banking|iban|swift|bic|direct debit)\b", re.I
)
_DIGIT = re.compile(r"\d")


def payment_data(text: str) -> Iterator[Finding]:
    """Payment data in a text. A number that fails its checksum is none."""
    if not _DIGIT.search(text):
        return
    yield from _cards(text)
    yield from _ibans(text)
    for match in _CVV.finditer(text):
        yield Finding(*match.span("secret"), "payment.cvv")
    if _BANKING.search(text):
        for match in _BANK_ACCOUNT.finditer(text):
            yield Finding(*match.span("secret"), "payment.bank_account")


def _cards(text: str) -> Iterator[Finding]:
    for match in _DIGITS.finditer(text):
        number = re.sub(r"[ -]", "", match.group())
        labelled = _OTHER_NUMBER.search(text, max(0, match.start() - 40), match.start())
        if _NETWORK.match(number) and not labelled and _luhn(number):
            yield Finding(match.start(), match.end(), "payment.card")


def _luhn(number: str) -> bool:
    from stdnum import luhn

    return bool(luhn.is_valid(number))


def _ibans(text: str) -> Iterator[Finding]:
    for match in _IBAN.finditer(text):
        end = _valid_iban_end(match.group())
        if end:
            yield Finding(match.start(), match.start() + end, "payment.iban")


def _valid_iban_end(written: str) -> int:
    """How much of the match is a valid IBAN: the pattern may have run into the next word."""
    from stdnum import iban

    words = list(re.finditer(r"[^ ]+", written))
    for word in reversed(words):
        candidate = written[: word.end()]
        if len(candidate) >= 15 and iban.is_valid(candidate):
            return word.end()
    return 0

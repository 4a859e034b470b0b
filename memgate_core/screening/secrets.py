"""Credentials: keys and tokens by detect-secrets and entropy, spoken passwords by their sentence.

Key formats are the detector library's job. What no such library knows is how people say a
password in chat ("they made me change the netbank one, so from today it's …"): that is here.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator
from functools import cache
from typing import Any

from memgate_core.model import Span

_FORMATS = (
    "aws.AWSKeyDetector",
    "azure_storage_key.AzureStorageKeyDetector",
    "basic_auth.BasicAuthDetector",
    "discord.DiscordBotTokenDetector",
    "github_token.GitHubTokenDetector",
    "gitlab_token.GitLabTokenDetector",
    "jwt.JwtTokenDetector",
    "mailchimp.MailchimpDetector",
    "npm.NpmDetector",
    "openai.OpenAIDetector",
    "private_key.PrivateKeyDetector",
    "pypi_token.PypiTokenDetector",
    "sendgrid.SendGridDetector",
    "slack.SlackDetector",
    "square_oauth.SquareOAuthDetector",
    "stripe.StripeDetector",
    "telegram_token.TelegramBotTokenDetector",
    "twilio.TwilioKeyDetector",
)
_TOKEN = re.compile(r"(?<![\w/@.])[A-Za-z0-9_\-+/=]{20,}(?![\w/@])")
_BITS_OF_A_KEY = 3.8
_PEM = re.compile(
    r"-----BEGIN [A-Z ]*PRIVATE KEY-----.*?(?:-----END [A-Z ]*PRIVATE KEY-----|\Z)", re.S
)

_NAME = (
    r"(?:pass ?words?|pass ?codes?|pass ?phrases?|passwd|pwd|pw|pins?(?: (?:code|number))?|log ?ins?"
    r"|credentials?|api[ _-]?keys?|secret keys?|access tokens?|auth(?:entication)? tokens?|tokens?"
    r"|one[- ]time (?:code|password)s?|otps?|2fa codes?|verification codes?|recovery (?:code|phrase|key)s?"
    r"|seed phrases?|door codes?|gate codes?|alarm codes?|unlock codes?|safe codes?|wi-?fi keys?)"
)
_WORDS_BETWEEN = r"(?:\s+(?:for|to|on|of|at|in|into)\s+(?:[\w'’.&-]+\s+){0,4}?[\w'’.&-]+)?"
_SAYS = r"\s*(?:,|\(|:|=|-|–)?\s*(?:is|was|are|=|:|now|changed to|set to|will be|to|becomes)\s*(?:now |still |just |simply |set to )*[\"'“‘`]?"
_STATED = re.compile(
    rf"\b{_NAME}\b{_WORDS_BETWEEN}{_SAYS}(?P<secret>[^\s\"'”’`,;]{{3,}}(?:[ -]\d[\d -]+)?)",
    re.IGNORECASE,
)
_LABELLED = re.compile(
    rf"\b{_NAME}\b\s*[:=]\s*[\"'“‘`]?(?P<secret>[^\s\"'”’`,;]{{3,}})", re.IGNORECASE
)
_SEED = re.compile(
    r"\b(?:seed|recovery|mnemonic|wallet)(?: (?:phrase|words|starts))?\b[^a-z]{0,6}(?:is|are|starts|begins)?[\s:,-]*[\"'“]?"
    r"(?P<secret>(?:[a-z]{3,8}[ ,]+){5,23}[a-z]{3,8})",
    re.IGNORECASE,
)
_CONTEXT = re.compile(
    rf"\b{_NAME}\b|\b(?:net|online|internet|mobile) ?bank(?:ing)?\b|\b(?:sign|log)(?:ging)? in(?:to)?\b",
    re.IGNORECASE,
)
_REFERRED = re.compile(
    r"\b(?:it['’]?s|it is|its|that['’]?s|new one['’]?s|new one is|the new one(?: is)?|is now|changed it to"
    r"|set it to|use|try|goes|reads)\s+(?:now |just |still |all one word )*[\"'“‘`]?(?P<secret>[^\s\"'”’`,;]{4,})",
    re.IGNORECASE,
)
_LOCKED = re.compile(
    r"\b(?:pins?|puk|key ?pad|key ?safe|combination|combo|padlock|(?:door|gate|alarm|safe|bike|case) lock"
    r"|voice ?mail|lock(?:ed|box)?|cash ?(?:machine|point)|atm|one[- ]time|texted me|log(?:ged)? ?in|log ?on"
    r"|get (?:in|on)|gets? you in|unlocks?|opens?|gateway|portal|ssh|vault|sign ?in|secret|user(?:name)?|pass(?:word)?|pwd"
    r"|recovery|keys?)\b",
    re.IGNORECASE,
)
_CODE = re.compile(
    r"(?<![\w£$€.,:/#-])(?P<secret>\d{4,6}|\d(?:[- ]\d){3,5}|\d{2}-\d{2}-\d{2}|\d{3} \d{3})(?![\w%:/.-]|,\d)"
)
_CODE_NAMES = re.compile(
    r"\b(?:pin|puk|key ?pad|key ?safe|combination|combo|padlock|cash ?(?:machine|point)|atm|voice ?mail"
    r"|texted me|one[- ]time|never share|alarm|the lock|lock ?box|the pad)\b",
    re.IGNORECASE,
)
_CHOSEN = re.compile(r"(?<![\w/@.#-])(?P<secret>(?=\S*[a-zA-Z])(?=\S*\d)\S{8,})(?!\S)")
_ORDINARY = re.compile(r"^[a-z]+(?:['’][a-z]+)?$|^\d{1,2}$|^[A-Z][a-z]+$", re.ASCII)
_TRAILING = ".!?)]}"


def secret_spans(text: str) -> Iterator[tuple[str, Span]]:
    """(reason, span) of each credential in `text`, without overlaps."""
    taken: list[Span] = []
    for reason, span in _all(text):
        if not any(span.overlaps(other) for other in taken):
            taken.append(span)
            yield reason, span


def _all(text: str) -> Iterator[tuple[str, Span]]:
    if "PRIVATE KEY" in text:
        for match in _PEM.finditer(text):
            yield "private_key", Span(start=match.start(), end=match.end())
    yield from _known_formats(text)
    yield from _high_entropy(text)
    if _CONTEXT.search(text):
        yield from _spoken(text)
    if _LOCKED.search(text):
        yield from _loose(text)


def _known_formats(text: str) -> Iterator[tuple[str, Span]]:
    if not any(len(word) >= 12 for word in text.split()):
        return
    for detector in _detectors():
        for found in detector.analyze_string(text):
            at = text.find(found)
            if found and at >= 0:
                yield detector.secret_type.lower().replace(" ", "_"), _whole_word(text, at, found)


def _whole_word(text: str, at: int, found: str) -> Span:
    start, end = at, at + len(found)
    while start > 0 and not text[start - 1].isspace() and text[start - 1] not in "\"'=:":
        start -= 1
    while end < len(text) and not text[end].isspace() and text[end] not in "\"',;":
        end += 1
    return Span(start=start, end=end)


def _high_entropy(text: str) -> Iterator[tuple[str, Span]]:
    for match in _TOKEN.finditer(text):
        word = match.group()
        mixed = sum(c.isdigit() for c in word) >= 3 and any(c.isalpha() for c in word)
        if mixed and _bits(word) >= _BITS_OF_A_KEY and not _is_uuid(word):
            yield "high_entropy", Span(start=match.start(), end=match.end())


def _spoken(text: str) -> Iterator[tuple[str, Span]]:
    for match in _SEED.finditer(text):
        yield "seed_phrase", Span(start=match.start("secret"), end=match.end("secret"))
    for pattern in (_LABELLED, _STATED, _REFERRED):
        for match in pattern.finditer(text):
            span = _trimmed(text, match)
            if _looks_chosen(span.of(text)):
                yield "spoken_credential", span


def _loose(text: str) -> Iterator[tuple[str, Span]]:
    """What is only recognisable beside talk of locks and logins: short codes, mixed words."""
    if _CODE_NAMES.search(text):
        for match in _CODE.finditer(text):
            if not _is_year(match.group("secret")):
                yield "spoken_code", Span(start=match.start("secret"), end=match.end("secret"))
    for match in _CHOSEN.finditer(text):
        span = _trimmed(text, match)
        if _mixed_like_a_password(span.of(text)):
            yield "spoken_credential", span


def _is_year(digits: str) -> bool:
    return len(digits) == 4 and digits.startswith(("19", "20"))


def _mixed_like_a_password(word: str) -> bool:
    """Letters running straight into digits or marks, as people build passwords; no file, url, size."""
    if any(mark in word for mark in ("/", "\\", "@", "..", "—", "–")) or word.count("_") > 1:
        return False
    if re.search(r"\.[A-Za-z]{2,4}$|^\d+(?:[.,]\d+)?[A-Za-z]{1,5}$|^[A-Z]{1,3}\d|^v\d", word):
        return False
    if re.fullmatch(r"\d{1,2}(?:st|nd|rd|th)?[-–]?[A-Za-z]+|[A-Za-z]+-\d{1,3}|\d+-[a-z-]+", word):
        return False
    return bool(re.search(r"[A-Za-z]{3,}[#!$%*&_^]?\d", word)) and sum(map(str.isalpha, word)) >= 5


def _looks_chosen(word: str) -> bool:
    """True for what a person picks as a password or a PIN, false for an ordinary word."""
    if _ORDINARY.match(word):
        return False
    digits = sum(ch.isdigit() for ch in word)
    letters = sum(ch.isalpha() for ch in word)
    marks = len(word) - digits - letters
    if letters == 0:
        return 3 <= digits <= 8 and marks <= 2
    return bool(digits) or (marks > 0 and not word.isascii()) or _joined(word)


def _joined(word: str) -> bool:
    parts = re.split(r"[-_.!$#@%^&*+]", word)
    capitals = sum(part[:1].isupper() for part in parts if part)
    return len(parts) > 1 and (capitals > 1 or any(ch in "!$#@%^&*+_" for ch in word))


def _trimmed(text: str, match: re.Match[str]) -> Span:
    start, end = match.start("secret"), match.end("secret")
    while end > start + 1 and text[end - 1] in _TRAILING and text[end - 1] != "!":
        end -= 1
    return Span(start=start, end=end)


def _bits(word: str) -> float:
    counts = Counter(word)
    return -sum(n / len(word) * math.log2(n / len(word)) for n in counts.values())


def _is_uuid(word: str) -> bool:
    return bool(re.fullmatch(r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}", word))


@cache
def _detectors() -> tuple[Any, ...]:
    from importlib import import_module

    made = []
    for path in _FORMATS:
        module, name = path.split(".")
        made.append(getattr(import_module(f"detect_secrets.plugins.{module}"), name)())
    return tuple(made)

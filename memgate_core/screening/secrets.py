"""Machine credentials: API keys, tokens, private keys, connection strings, random strings.

Known token forms come from detect-secrets' plugins, run in process on strings; newer vendors'
prefixes and an entropy rule stand beside them. Nothing is ever sent anywhere to verify a key.
"""

from __future__ import annotations

import itertools
import math
import re
from collections import Counter
from collections.abc import Iterator
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING

from memgate_core.screening.finding import Finding, trimmed

if TYPE_CHECKING:
    from detect_secrets.plugins.base import RegexBasedDetector

_PLUGINS = {
    "artifactory": "ArtifactoryDetector",
    "aws": "AWSKeyDetector",
    "azure_storage_key": "AzureStorageKeyDetector",
    "basic_auth": "BasicAuthDetector",
    "cloudant": "CloudantDetector",
    "discord": "DiscordBotTokenDetector",
    "github_token": "GitHubTokenDetector",
    "gitlab_token": "GitLabTokenDetector",
    "ibm_cloud_iam": "IbmCloudIamDetector",
    "ibm_cos_hmac": "IbmCosHmacDetector",
    "jwt": "JwtTokenDetector",
    "mailchimp": "MailchimpDetector",
    "npm": "NpmDetector",
    "openai": "OpenAIDetector",
    "pypi_token": "PypiTokenDetector",
    "sendgrid": "SendGridDetector",
    "slack": "SlackDetector",
    "softlayer": "SoftlayerDetector",
    "square_oauth": "SquareOAuthDetector",
    "stripe": "StripeDetector",
    "telegram_token": "TelegramBotTokenDetector",
    "twilio": "TwilioKeyDetector",
}
_WORTH_A_LOOK = re.compile(r"[A-Za-z0-9+/_=.:-]{16}|://[^\s/]*:[^\s/]*@")
"""Ordinary messages stop here: without a long run of token characters no plugin can match."""
_PRIVATE_KEY = re.compile(
    r"-----BEGIN [A-Z0-9 ]*PRIVATE KEY[A-Z ]*-----(?:[\s\S]{0,8000}?-----END [A-Z0-9 ]*-----|[\s\S]*)"
    r"|PuTTY-User-Key-File-\d[\s\S]*"
)
_PREFIXED = re.compile(
    r"(?<![A-Za-z0-9])(?:sk-(?:ant-|proj-|or-|svcacct-)?[A-Za-z0-9_-]{16,}|AIza[A-Za-z0-9_-]{30,}"
    r"|hf_[A-Za-z0-9]{20,}|github_pat_[A-Za-z0-9_]{30,}|gsk_[A-Za-z0-9]{20,}|xai-[A-Za-z0-9]{20,}"
    r"|xapp-[A-Za-z0-9-]{20,}|ya29\.[A-Za-z0-9_-]{20,}|shp(?:at|ca|pa|ss)_[a-fA-F0-9]{20,}"
    r"|whsec_[A-Za-z0-9+/=]{20,}|dop_v1_[a-f0-9]{40,}|(?:r|s|p)k_(?:test|live)_[A-Za-z0-9]{16,}"
    r"|glsa_[A-Za-z0-9_]{20,}|lin_api_[A-Za-z0-9]{20,}|figd_[A-Za-z0-9_-]{20,}|nvapi-[\w-]{20,}"
    r"|eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}(?:\.[A-Za-z0-9_-]+)?|tskey-[\w-]{16,}|AGE-SECRET-KEY-1[A-Z0-9]{40,}|r8_[A-Za-z0-9]{30,})"
)
_RANDOM = re.compile(r"(?<![\w/@.#=&?%+-])[A-Za-z0-9+/_-]{20,}={0,2}(?![\w/@])")
_IN_ADDRESS = re.compile(
    r"[?&](?:access_token|token|api_?key|key|sig|signature|secret|password|pwd|auth)="
    r"(?P<secret>[^&\s#]{8,})",
    re.IGNORECASE,
)
_HARMLESS = re.compile(
    r"[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}$|[0-9a-fA-F]+$|\d[\d-]*$"
    r"|[A-Z]+(?:[_-][A-Z0-9]+)*$|[a-z]+(?:[_-][a-z0-9]+)*$|[A-Za-z]+(?:[-_/][A-Za-z]+)+$"
)
"""UUIDs, hashes, numbers, constants, slugs and paths: long, but no credentials."""
_MIN_BITS = 3.6
"""Shannon entropy a character (bits) from which a mixed string counts as random."""


def machine_secrets(text: str) -> Iterator[Finding]:
    """Machine credentials in a text, possibly overlapping."""
    for match in _PRIVATE_KEY.finditer(text) if "KEY" in text or "Key-File" in text else ():
        yield Finding(match.start(), match.end(), "secret.private_key")
    if not _WORTH_A_LOOK.search(text):
        return
    for match in _PREFIXED.finditer(text):
        yield Finding(match.start(), match.end(), "secret.token")
    for match in _IN_ADDRESS.finditer(text):
        yield Finding(*match.span("secret"), "secret.token")
    yield from _known_forms(text)
    for match in _RANDOM.finditer(text):
        if looks_random(match.group()):
            yield Finding(match.start(), match.end(), "secret.random_string")


def looks_random(word: str) -> bool:
    """True for a long string of mixed characters with much information in each."""
    if _HARMLESS.match(word) or _is_named(word):
        return False
    kinds = [any(test(ch) for ch in word) for test in (str.isdigit, str.islower, str.isupper)]
    changes = sum(_kind(a) != _kind(b) for a, b in itertools.pairwise(word))
    return all(kinds) and changes >= len(word) // 4 and entropy(word) >= _MIN_BITS


def _is_named(word: str) -> bool:
    """ "Customers_FINAL_v9": words joined by marks, with hardly a digit among them."""
    pieces = re.split(r"[_/+-]", word)
    digits = sum(ch.isdigit() for ch in word)
    return len(pieces) > 2 and digits <= len(word) // 10


def entropy(word: str) -> float:
    """Shannon entropy in bits a character."""
    counts = Counter(word).values()
    return -sum(n / len(word) * math.log2(n / len(word)) for n in counts)


def _kind(ch: str) -> int:
    return 0 if ch.isdigit() else 1 if ch.islower() else 2 if ch.isupper() else 3


@cache
def _detectors() -> tuple[RegexBasedDetector, ...]:
    return tuple(
        getattr(import_module(f"detect_secrets.plugins.{module}"), name)()
        for module, name in _PLUGINS.items()
    )


def _known_forms(text: str) -> Iterator[Finding]:
    for detector in _detectors():
        for secret in detector.analyze_string(text):
            # the plugins tell what they found, not where
            at = text.find(secret) if secret else -1
            while at >= 0:
                found = trimmed(text, at, at + len(secret), "secret.token")
                if found is not None and found.end - found.start >= 6:
                    yield found
                at = text.find(secret, at + len(secret))

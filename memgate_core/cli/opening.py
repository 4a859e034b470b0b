"""Opens what a command works on, from the settings in force."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from memgate_core.cli.settings import Settings
    from memgate_core.gate import MemoryGate
    from memgate_core.judgement.protocol import EvidenceClassifier
    from memgate_core.model import Subject
    from memgate_core.policy.approvals import ApprovalPolicy
    from memgate_core.policy.matrix import Rule


def settings(**options: Any) -> Settings:
    """The settings in force (see memgate_core/cli/settings.py).

    Raises:
        ConfigurationError: a file, variable or key that cannot be used.
    """
    from memgate_core.cli.settings import load

    return load(**options)


@contextmanager
def opened_gate(chosen: Settings, **options: Any) -> Iterator[MemoryGate]:
    """The gate as the settings describe it; closed afterwards.

    Raises:
        ConfigurationError: a setting that cannot be used. LedgerError: no ledger there.
    """
    from memgate_core.gate import MemoryGate

    with MemoryGate.open(chosen.ledger, **{**gate_options(chosen), **options}) as gate:
        yield gate


@contextmanager
def existing_gate(chosen: Settings, **options: Any) -> Iterator[MemoryGate]:
    """As `opened_gate`, for a ledger that must be there: a read never makes an empty one.

    Raises:
        LedgerError: there is no such file. Otherwise as `opened_gate`.
    """
    from memgate_core.errors import LedgerError

    file = _file_of(chosen.ledger)
    if file is not None and not file.is_file():
        raise LedgerError(f"no ledger at {file}", hint="name it with --ledger or in memgate.toml")
    with opened_gate(chosen, **options) as gate:
        yield gate


def _file_of(url: str) -> Path | None:
    """The file of a SQLite url; None for a server or an in-memory ledger."""
    prefix = "sqlite:///"
    return Path(url.removeprefix(prefix)) if url.startswith(prefix) else None


def gate_options(chosen: Settings) -> dict[str, Any]:
    """The settings as options of `MemoryGate.open`."""
    from memgate_core.fields.catalogue import FieldCatalogue

    options: dict[str, Any] = {"classifier": chosen.classifier, **model_options(chosen)}
    if chosen.fields is not None:
        options["fields"] = FieldCatalogue.default().load(chosen.fields)
    if chosen.rules is not None:
        options["rules"] = rules(chosen)
    if chosen.approvals.model_dump(exclude_none=True):
        options["approvals"] = _approvals(chosen)
    if chosen.hold_threshold is not None:
        options["hold_threshold"] = chosen.hold_threshold
    return options


def rules(chosen: Settings) -> tuple[Rule, ...]:
    """The deployment's own rows of the rule matrix.

    Raises:
        ConfigurationError: names the file, the row and the key that cannot be used.
    """
    from memgate_core.policy.rows import rules_from_toml

    return rules_from_toml(chosen.rules) if chosen.rules is not None else ()


def _approvals(chosen: Settings) -> ApprovalPolicy:
    from memgate_core.policy.approvals import ApprovalPolicy

    return ApprovalPolicy.model_validate(chosen.approvals.model_dump(exclude_none=True))


def model_options(chosen: Settings) -> dict[str, Any]:
    """What the backends that ask a model need; nothing for the local one."""
    if chosen.classifier == "local" or chosen.model.url is None:
        return {}
    key = chosen.model.key.get_secret_value() if chosen.model.key else None
    options = {"name": chosen.model.name, "api_key": key, "timeout": chosen.model.timeout_seconds}
    return {"model": chosen.model.url, "model_options": options}


def model_access(chosen: Settings, url: str | None = None) -> dict[str, Any] | None:
    """The model that evaluations may ask, at `url` or where the settings say, or None where neither
    names one."""
    if (url := url or chosen.model.url) is None:
        return None
    return {"url": url, "name": chosen.model.name, "key": chosen.model.key}


def classifier_of(chosen: Settings) -> EvidenceClassifier:
    """The evidence classifier that the settings name.

    Raises:
        ConfigurationError: an unknown backend, or one that lacks its model.
    """
    from memgate_core.backends import judges_of

    chosen_model = model_options(chosen)
    return judges_of(
        chosen.classifier, chosen_model.get("model"), chosen_model.get("model_options")
    ).classifier


def subject(chosen: Settings, user: str | None, actor: str | None = None) -> Subject:
    """Whose memory a command is about.

    Raises:
        InvalidTurnError: no user was named; nothing is read across users.
    """
    from memgate_core.intake import subject_of

    return subject_of(user, tenant=chosen.tenant, actor=actor)

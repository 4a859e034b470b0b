"""Settings come from memgate.toml, the environment and options, in that order; typos are named."""

from __future__ import annotations

from pathlib import Path

import pytest

from memgate_core.cli.settings import load
from memgate_core.errors import ConfigurationError
from tests.cli.conftest import Run


@pytest.fixture(autouse=True)
def _folder(run: Run) -> None:
    """Every test runs in a folder of its own."""


def test_defaults_need_no_file() -> None:
    assert load().ledger == "sqlite:///memgate.db"


def test_a_later_place_replaces_an_earlier_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "memgate.toml").write_text(
        'ledger = "sqlite:///file.db"\ntenant = "file"\n[model]\nname = "small"\n'
    )
    monkeypatch.setenv("MEMGATE_TENANT", "environment")
    monkeypatch.setenv("MEMGATE_MODEL__URL", "http://127.0.0.1:1/v1")
    found = load(ledger="sqlite:///option.db", tenant=None)
    assert (found.ledger, found.tenant) == ("sqlite:///option.db", "environment")
    assert (found.model.name, found.model.url) == ("small", "http://127.0.0.1:1/v1")


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("ledgr = 'x'", "ledgr"),
        ("[model]\nnme = 'x'", "model.nme"),
        ("hold_threshold = 2", "hold_threshold"),
        ("tenant = ''", "tenant"),
        ("[approvals]\nunanswered = 'perhaps'", "approvals.unanswered"),
        ("ledger = ", "memgate.toml"),
    ],
)
def test_what_cannot_be_used_is_named(tmp_path: Path, text: str, named: str) -> None:
    (tmp_path / "memgate.toml").write_text(text)
    with pytest.raises(ConfigurationError, match=named):
        load()


def test_a_settings_file_that_is_not_there_is_said(run: Run) -> None:
    refused = run("--config", "none.toml", "staged", "list", "--user", "ana")
    assert refused.status == 2
    assert "none.toml" in refused.err


def test_secrets_are_not_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MEMGATE_MODEL__KEY", "sk-very-secret")
    assert "very-secret" not in repr(load())


def test_a_read_never_makes_an_empty_ledger(run: Run, tmp_path: Path) -> None:
    missing = run("facts", "--user", "ana")
    assert missing.status == 1
    assert "no ledger at memgate.db" in missing.err
    assert not (tmp_path / "memgate.db").exists()


def test_a_mode_can_be_set_before_the_first_turn(run: Run) -> None:
    assert run("rollout", "set", "shadow", "--by", "rita").status == 0
    assert run("rollout", "show", "--json").json["mode"] == "shadow"

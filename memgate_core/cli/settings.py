"""Settings of the command line: `memgate.toml`, then the environment (`MEMGATE_…`), then options.

    # memgate.toml
    ledger = "sqlite:///memgate.db"      # MEMGATE_LEDGER
    classifier = "cascade"               # MEMGATE_CLASSIFIER
    fields = "my_fields.toml"            # fields of your own, beside the built-in ones
    rules = "my_rules.toml"              # rows of your own for the rule matrix

    [approvals]
    unanswered = "expire"                # hold, expire or drop what nobody answers
    days = 30

    [model]                              # MEMGATE_MODEL__URL, MEMGATE_MODEL__NAME, …
    url = "http://127.0.0.1:8080/v1"
    name = "my-model"

    [mem0]                               # the configuration that your service gives Mem0
    config = "mem0.json"

    [graphiti]
    uri = "falkor://127.0.0.1:6379"

What a later place names replaces what an earlier one said. Unknown keys are refused by name.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, SecretStr, ValidationError
from pydantic_settings import (
    BaseSettings,
    PydanticBaseSettingsSource,
    SettingsConfigDict,
    TomlConfigSettingsSource,
)

from memgate_core.errors import ConfigurationError

DEFAULT_FILE = Path("memgate.toml")


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid")


class ModelSettings(_Part):
    """The model behind the `llm`, `decision` and `cascade` classifiers: OpenAI-compatible."""

    url: str | None = None
    name: str | None = None
    key: SecretStr | None = None
    timeout_seconds: float = Field(default=30.0, gt=0)


class Mem0Settings(_Part):
    """Which Mem0 to deliver into. `config` is a JSON file (or a table) that Mem0 itself takes."""

    config: Path | dict[str, Any] | None = None
    folder: Path | None = None
    """Instead of a config: a folder for an embedded Qdrant with the packaged embedder."""


class GraphitiSettings(_Part):
    """Which graph to deliver into: `falkor://host:port`, `bolt://host:port`, or a folder."""

    uri: str | None = None
    user: str | None = None
    password: SecretStr | None = None
    database: str | None = None
    folder: Path | None = None
    """Instead of a uri: a data folder for an embedded FalkorDB."""


class ApprovalSettings(_Part):
    """What becomes of what only a person can decide (`memgate approvals`)."""

    unanswered: Literal["hold", "expire", "drop"] | None = None
    """Wait for ever, end after `days`, or (nobody to ask) refuse at once."""
    days: int | None = Field(default=None, ge=1)
    approvers: tuple[str, ...] | None = None
    """Names that may approve; empty: any person's."""


class Settings(BaseSettings):
    """Everything that commands need to open the same gate as the service does."""

    model_config = SettingsConfigDict(
        env_prefix="MEMGATE_", env_nested_delimiter="__", extra="forbid", frozen=True
    )

    ledger: str = "sqlite:///memgate.db"
    tenant: str = Field(default="default", min_length=1)
    classifier: str = "local"
    fields: Path | None = None
    rules: Path | None = None
    hold_threshold: float | None = Field(default=None, gt=0, le=1)
    approvals: ApprovalSettings = ApprovalSettings()
    model: ModelSettings = ModelSettings()
    mem0: Mem0Settings = Mem0Settings()
    graphiti: GraphitiSettings = GraphitiSettings()

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """Options first, then the environment, then the file named by MEMGATE_CONFIG."""
        del dotenv_settings, file_secret_settings  # nothing is read from places nobody named
        file = TomlConfigSettingsSource(settings_cls, toml_file=config_file())
        return init_settings, env_settings, file


def config_file() -> Path:
    """The settings file: MEMGATE_CONFIG (also set by `memgate --config`), else memgate.toml."""
    return Path(os.environ.get("MEMGATE_CONFIG") or DEFAULT_FILE)


def load(**options: Any) -> Settings:
    """The settings in force; options that are None do not count.

    Raises:
        ConfigurationError: names the file or variable, and the key, that cannot be used.
    """
    path = config_file()
    if "MEMGATE_CONFIG" in os.environ and not path.is_file():
        raise ConfigurationError(f"{path}: no such settings file")
    try:
        return Settings(**{key: value for key, value in options.items() if value is not None})
    except ValidationError as fault:
        first = fault.errors(include_url=False, include_input=False)[0]
        key = ".".join(str(part) for part in first["loc"]) or "settings"
        raise ConfigurationError(
            f"{key}: {first['msg']}", hint=f"see {path} and the MEMGATE_ environment"
        ) from None
    except ValueError as fault:  # tomllib.TOMLDecodeError is one
        raise ConfigurationError(f"{path}: {fault}") from None

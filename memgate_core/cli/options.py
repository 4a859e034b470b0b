"""Options that many commands share, so that they read the same everywhere."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from typing import Annotated

import typer

Ledger = Annotated[
    str | None,
    typer.Option(
        "--ledger", metavar="URL", help="The ledger: sqlite:///FILE or postgresql+psycopg://…"
    ),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")]
RevokedWords = Annotated[
    bool,
    typer.Option("--revoked-words", help="For an audit: the words of what was revoked, too."),
]
User = Annotated[
    str | None,
    typer.Option("--user", metavar="ID", help="Whose memory: the user id that your service uses."),
]
Actor = Annotated[
    str | None,
    typer.Option("--actor", metavar="ID", help="Who of several people under one user id."),
]
Tenant = Annotated[
    str | None,
    typer.Option("--tenant", metavar="NAME", help="The tenant; default from the settings."),
]
By = Annotated[
    str, typer.Option("--by", metavar="NAME", help="Who acts; goes into the audit trail.")
]
Classifier = Annotated[
    str | None,
    typer.Option("--classifier", help="local, decision, llm or cascade."),
]
InFile = Annotated[
    Path, typer.Option("--in", metavar="FILE", help="JSONL to read; - is standard input.")
]
DataFile = Annotated[
    Path, typer.Option("--data", metavar="FILE", help="Labelled JSONL to measure on.")
]
JsonFile = Annotated[
    Path | None,
    typer.Option("--json", metavar="FILE", help="Write all figures as JSON; - is standard output."),
]
Llm = Annotated[
    str | None,
    typer.Option(
        "--llm",
        metavar="URL",
        help="A model to ask: an OpenAI-compatible service; name and key as in the settings.",
    ),
]
AsOf = Annotated[
    datetime | None,
    typer.Option(
        "--as-of",
        metavar="TIME",
        formats=["%Y-%m-%d", "%Y-%m-%dT%H:%M:%S", "%Y-%m-%dT%H:%M:%SZ", "%Y-%m-%dT%H:%M:%S%z"],
        help="A time in UTC: what held then.",
    ),
]

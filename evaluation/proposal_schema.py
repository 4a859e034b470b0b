"""The JSON Schema of a proposal as a file, for extractors in any language.

Written by `make docs` from the pydantic model that the gate itself holds proposals to.
"""

from __future__ import annotations

import json
from pathlib import Path

from memgate_core.ledger.identity import proposal_schema

NAME = "proposal.schema.json"


def text() -> str:
    """What the file has to hold."""
    return json.dumps(proposal_schema(), indent=2, ensure_ascii=False) + "\n"


def write(folder: Path) -> Path:
    """Writes the file into a folder that exists, and returns its path."""
    path = folder / NAME
    path.write_text(text(), encoding="utf-8")
    return path

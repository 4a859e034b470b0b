"""The python blocks of a page of docs."""

from __future__ import annotations

import re
from pathlib import Path

_BLOCK = re.compile(r"^```python\n(.*?)^```", re.DOTALL | re.MULTILINE)


def blocks(page: Path) -> list[str]:
    """The code of each block, in order."""
    return _BLOCK.findall(page.read_text(encoding="utf-8"))

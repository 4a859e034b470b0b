"""What has to be settled before any framework is imported: no usage reports, no home folder; and
that no test passes or fails by the clock of a busy machine."""

from __future__ import annotations

import os
import tempfile

os.environ["MEM0_TELEMETRY"] = "False"
os.environ.setdefault("MEM0_DIR", tempfile.mkdtemp(prefix="memgate-mem0-"))
os.environ["GRAPHITI_TELEMETRY_ENABLED"] = "false"

from hypothesis import settings

settings.register_profile("unhurried", deadline=None)
settings.load_profile("unhurried")

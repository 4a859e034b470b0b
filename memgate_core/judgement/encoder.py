"""The local encoders at run time: numpy, onnxruntime, tokenizers; loaded at first use."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from memgate_core.errors import ConfigurationError
from memgate_core.judgement.inputs import Encoded, Layout

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float32]
    Outputs = dict[str, Floats]

WEIGHTS = Path(__file__).parent / "weights"

_MAX_TOKENS = 320
_ROWS_AT_ONCE = 16


class Encoders:
    """The graphs of one weights folder, with the word table and the tokeniser they share.

    Safe to share between threads. Nothing is read from disk before the first question.
    """

    def __init__(self, folder: Path = WEIGHTS) -> None:
        self.folder = folder
        self._graphs: dict[str, Any] = {}
        self._lock = threading.Lock()

    @cached_property
    def layout(self) -> Layout:
        """Lays questions out as tokens.

        Raises:
            ConfigurationError: the weights folder is not complete.
        """
        from tokenizers import Tokenizer

        return Layout(Tokenizer.from_file(str(self._file("tokenizer.json"))))

    @cached_property
    def card(self) -> dict[str, Any]:
        """The model card: figures, data hashes, calibration."""
        import json

        card: dict[str, Any] = json.loads(self._file("card.json").read_text(encoding="utf-8"))
        return card

    def run(self, graph: str, rows: Sequence[Encoded], outputs: Sequence[str]) -> Outputs:
        """Answers of one graph for many rows, in order. `span` comes padded to the longest row.

        Raises:
            ConfigurationError: the weights folder is not complete.
        """
        import numpy as np

        order = sorted(range(len(rows)), key=lambda at: len(rows[at].ids))
        parts = [order[at : at + _ROWS_AT_ONCE] for at in range(0, len(order), _ROWS_AT_ONCE)]
        session = self._graph(graph)
        answers = [session.run(outputs, self._feed([rows[at] for at in part])) for part in parts]
        back = np.argsort(np.array(order, dtype=np.int64))
        return {
            name: _stacked([answer[at] for answer in answers])[back]
            for at, name in enumerate(outputs)
        }

    def _feed(self, rows: Sequence[Encoded]) -> dict[str, Any]:
        import numpy as np

        width = min(_MAX_TOKENS, max(len(row.ids) for row in rows))
        ids = np.zeros((len(rows), width), np.int64)
        types = np.zeros((len(rows), width), np.int64)
        mask = np.zeros((len(rows), width), np.int32)
        for at, row in enumerate(rows):
            length = min(width, len(row.ids))
            ids[at, :length] = row.ids[:length]
            types[at, :length] = row.types[:length]
            mask[at, :length] = 1
        table, scale = self._words
        words = unpacked(table[ids]) * scale[ids].astype(np.float32)
        return {"words": words, "types": types, "mask": mask}

    @cached_property
    def _words(self) -> tuple[NDArray[np.uint8], NDArray[np.float16]]:
        """Word vectors in four bits, two numbers a byte, and a scale for each word."""
        import numpy as np

        with np.load(self._file("words.npz")) as stored:
            return stored["table"], stored["scale"]

    def _graph(self, name: str) -> Any:
        with self._lock:
            if name not in self._graphs:
                self._graphs[name] = _session(self._file(f"{name}.onnx"))
            return self._graphs[name]

    def _file(self, name: str) -> Path:
        path = self.folder / name
        if not path.is_file():
            raise ConfigurationError(
                f"{path} is missing", hint="reinstall agentmemgate, or run evaluation.training"
            )
        return path


def unpacked(packed: NDArray[np.uint8]) -> Floats:
    """The four-bit numbers of the word table, around zero; the last axis doubles."""
    import numpy as np

    numbers = np.empty((*packed.shape[:-1], 2 * packed.shape[-1]), np.float32)
    numbers[..., ::2] = packed & 15
    numbers[..., 1::2] = packed >> 4
    numbers -= 7.5
    return numbers


def _session(path: Path) -> Any:
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.log_severity_level = 3
    return onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])


def _stacked(parts: Sequence[Floats]) -> Floats:
    """One array of all rows; token-wise answers are padded to the widest."""
    import numpy as np

    if parts[0].ndim < 3:
        return np.concatenate(parts)
    width = max(part.shape[1] for part in parts)
    padded = [np.pad(p, ((0, 0), (0, width - p.shape[1]), (0, 0))) for p in parts]
    return np.concatenate(padded)

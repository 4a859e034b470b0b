"""The output of the frozen lowest layers, computed once a row and kept.

It is computed by the very int8 graph that ships, so that training sees what will be seen later.
"""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from pathlib import Path
from weakref import WeakKeyDictionary

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from evaluation.training.export import write_prefix, write_words
from evaluation.training.network import WIDTH, Judge
from memgate_core.judgement.encoder import Encoders
from memgate_core.judgement.inputs import Encoded

_Key = tuple[tuple[int, ...], tuple[int, ...]]


class Prefix:
    """States of rows after the frozen layers."""

    def __init__(self, model: Judge) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="memgate-prefix-")
        folder = Path(self._folder.name)
        write_prefix(model, model.frozen, folder / "prefix.onnx")
        write_words(model, folder / "words.npz")
        self._encoders = Encoders(folder)
        self._kept: dict[_Key, NDArray[np.float16]] = {}

    def states(self, rows: Sequence[Encoded]) -> Tensor:
        """Rows, tokens (padded to the longest), 384."""
        missing = [row for row in rows if (row.ids, row.types) not in self._kept]
        if missing:
            self._compute(missing)
        width = max(len(row.ids) for row in rows)
        padded = np.zeros((len(rows), width, WIDTH), np.float32)
        for at, row in enumerate(rows):
            padded[at, : len(row.ids)] = self._kept[row.ids, row.types]
        return torch.from_numpy(padded)

    def _compute(self, rows: Sequence[Encoded]) -> None:
        states = self._encoders.run("prefix", rows, ["states"])["states"]
        for row, found in zip(rows, states, strict=True):
            self._kept[row.ids, row.types] = found[: len(row.ids)].astype(np.float16)


_PREFIXES: WeakKeyDictionary[Judge, Prefix] = WeakKeyDictionary()


def prefix_of(model: Judge) -> Prefix:
    """The model's own store, made at first use."""
    if model not in _PREFIXES:
        _PREFIXES[model] = Prefix(model)
    return _PREFIXES[model]

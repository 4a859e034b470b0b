"""Vectors that are kept: bounded, and never missing from the answer that asked for them."""

from __future__ import annotations

import pytest

from memgate_core.judgement import vectors
from memgate_core.judgement.encoder import Encoders
from memgate_core.judgement.vectors import VectorStore


def test_a_full_store_still_answers_for_all_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(vectors, "_KEPT", 4)
    encoders = Encoders()
    store = VectorStore(encoders)
    rows = [encoders.layout.utterance(f"the {name} line") for name in ("red", "blue", "grey")]
    more = [encoders.layout.utterance(f"a {name} cat") for name in ("tall", "fat", "old")]
    first = store.kept(rows)
    store.kept(more)
    again = store.kept([*rows, *more])
    assert again.shape == (6, first.shape[1])
    assert (again[:3] * first).sum(axis=1).min() > 0.98  # int8 rounds by batch

"""The graphs that ship say what the trained models say."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pytest

from tests.support.needs import needs

needs("torch")

import torch  # noqa: E402

from evaluation.training.export import write_encoder, write_words  # noqa: E402
from evaluation.training.fit import logits_of, tensors_of, vectors_of  # noqa: E402
from evaluation.training.glance import Glance, glance_logits, write_glance  # noqa: E402
from evaluation.training.network import Judge, pretrained  # noqa: E402
from memgate_core.judgement.encoder import Encoders  # noqa: E402
from memgate_core.judgement.inputs import Budget, Encoded  # noqa: E402
from memgate_core.model import Statement  # noqa: E402

pytestmark = pytest.mark.slow  # torch comes with the wider ring alone

TEXTS = ("hello there", "I might move to Leeds next year, who knows", "no", "we sold it on Friday")


@pytest.fixture(scope="module")
def model() -> Judge:
    torch.manual_seed(1)
    return Judge(2, ("statement", "claim")).eval()


@pytest.fixture(scope="module")
def encoders(tmp_path_factory: pytest.TempPathFactory, model: Judge) -> Encoders:
    folder: Path = tmp_path_factory.mktemp("weights")
    shutil.copyfile(pretrained() / "tokenizer.json", folder / "tokenizer.json")
    write_encoder(model, folder / "statements.onnx")
    write_words(model, folder / "words.npz")
    return Encoders(folder)


def rows_of(encoders: Encoders) -> list[Encoded]:
    return [encoders.layout.statement(Statement(text=t, message=t), Budget()) for t in TEXTS]


def test_the_int8_graph_follows_the_model(model: Judge, encoders: Encoders) -> None:
    rows = rows_of(encoders)
    said = encoders.run("statements", rows, ["statement", "vector", "span"])
    wanted = logits_of(model, "statement", rows)
    assert np.abs(said["statement"] - wanted).max() < 0.1 * np.abs(wanted).max() + 0.02
    vectors = said["vector"] / np.linalg.norm(said["vector"], axis=1, keepdims=True)
    assert (vectors * vectors_of(model, rows)).sum(axis=1).min() > 0.98
    assert said["span"].shape == (len(rows), max(len(row.ids) for row in rows), 2)


def test_padding_changes_nothing(encoders: Encoders) -> None:
    rows = rows_of(encoders)
    together = encoders.run("statements", rows, ["statement"])["statement"]
    alone = np.concatenate(
        [encoders.run("statements", [row], ["statement"])["statement"] for row in rows]
    )
    assert np.abs(together - alone).max() < 0.05


def test_the_glance_graph_follows_the_glance(encoders: Encoders) -> None:
    torch.manual_seed(2)
    glance = Glance().eval()
    write_glance(glance, encoders.folder / "glance.onnx")
    rows = rows_of(encoders)
    said = encoders.run("glance", rows, ["statement"])["statement"]
    wanted = glance_logits(glance, rows)  # with its words in full; the file has four bits
    assert np.abs(said - wanted).max() < 0.05
    assert said.argmax(1).tolist() == wanted.argmax(1).tolist()


def test_rows_are_padded_and_masked(encoders: Encoders) -> None:
    ids, types, mask = tensors_of(rows_of(encoders))
    assert ids.shape == types.shape == mask.shape
    assert mask.sum(1).tolist() == [len(row.ids) for row in rows_of(encoders)]

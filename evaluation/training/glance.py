"""The first glance: small convolutions over word vectors that settle the plain statements.

It learns from the labelled statements and from what the big encoder says of many unlabelled ones.
A hundred times cheaper than the encoder, it is only believed where it is sure.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import torch
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper
from torch import Tensor, nn
from torch.nn import functional as fn

from evaluation.training.fit import tensors_of
from evaluation.training.network import WIDTH, pretrained
from memgate_core.judgement.inputs import Encoded

_WIDTHS = (1, 2, 3, 4)
_FILTERS = 96
_MEMBERS = 3
_PADDING = max(_WIDTHS) - 1
_SCALE = 10.0
_LARGE = 1024
"""Numbers in a constant from which it is worth writing it in sixteen bits."""

Soft = tuple[Encoded, NDArray[np.float32], float]
"""A row, the probabilities it should get, and its weight."""


class Glance(nn.Module):
    """A few small networks over the word vectors, whose logits are averaged."""

    def __init__(self) -> None:
        super().__init__()
        from safetensors.torch import load_file

        given = load_file(pretrained() / "model.safetensors")
        table = given["embeddings.word_embeddings.weight"]
        self.words = nn.Embedding(table.shape[0], WIDTH, _weight=table, _freeze=True)
        self.members = nn.ModuleList(Member() for _ in range(_MEMBERS))

    @property
    def parts(self) -> list[Member]:
        """The members."""
        return [member for member in self.members if isinstance(member, Member)]

    def forward(self, ids: Tensor, mask: Tensor) -> Tensor:
        """Logits of the four classes, a member each: members, rows, classes."""
        words = self.words(ids) * _SCALE * mask.unsqueeze(-1)
        return torch.stack([member(words) for member in self.members])


class Member(nn.Module):
    """Convolutions of several widths, the strongest answer of each filter, two linear layers."""

    def __init__(self) -> None:
        super().__init__()
        self.filters = nn.ModuleList(nn.Conv1d(WIDTH, _FILTERS, width) for width in _WIDTHS)
        self.inner = nn.Linear(_FILTERS * len(_WIDTHS), 96)
        self.outer = nn.Linear(96, 4)

    @property
    def convolutions(self) -> list[nn.Conv1d]:
        """The filters of each width."""
        return [part for part in self.filters if isinstance(part, nn.Conv1d)]

    def forward(self, words: Tensor) -> Tensor:
        """Logits of the four classes."""
        padded = fn.pad(fn.dropout(words, 0.2, self.training).transpose(1, 2), (0, _PADDING))
        strongest = [fn.relu(filters(padded)).amax(2) for filters in self.filters]
        pooled = fn.dropout(torch.cat(strongest, 1), 0.4, self.training)
        logits: Tensor = self.outer(fn.relu(self.inner(pooled)))
        return logits


def train_glance(samples: Sequence[Soft], epochs: int, seed: int) -> Glance:
    """Fits the glance to soft labels."""
    torch.manual_seed(seed)
    rng = random.Random(seed)
    model = Glance()
    free = [parameter for parameter in model.parameters() if parameter.requires_grad]
    optimiser = torch.optim.AdamW(free, lr=1e-3, weight_decay=0.01)
    steps = epochs * (len(samples) // 64 + 1)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimiser, 2e-3, total_steps=steps)
    for _ in range(epochs):
        order = list(samples)
        rng.shuffle(order)
        for start in range(0, len(order), 64):
            loss = _loss(model, order[start : start + 64])
            optimiser.zero_grad()
            loss.backward()  # type: ignore[no-untyped-call]
            optimiser.step()
            schedule.step()
    return model.eval()


def _loss(model: Glance, batch: Sequence[Soft]) -> Tensor:
    ids, _, mask = tensors_of([row for row, _, _ in batch])
    target = torch.from_numpy(np.stack([probabilities for _, probabilities, _ in batch]))
    weight = torch.tensor([share for _, _, share in batch])
    each = -(target * model(ids, mask).log_softmax(2)).sum(2).mean(0)
    loss: Tensor = (each * weight).sum() / weight.sum()
    return loss


def glance_logits(model: Glance, rows: Sequence[Encoded]) -> NDArray[np.float32]:
    """Logits for many rows, in order."""
    parts = []
    with torch.inference_mode():
        for start in range(0, len(rows), 256):
            ids, _, mask = tensors_of(rows[start : start + 256])
            parts.append(model(ids, mask).mean(0).numpy())
    return np.concatenate(parts)


def write_glance(model: Glance, path: Path) -> int:
    """Writes the glance as ONNX over word vectors; returns its size in bytes."""
    nodes, constants = halved(*_graph(model))
    rows: list[str | int] = ["rows", "tokens"]
    inputs = [
        helper.make_tensor_value_info("words", TensorProto.FLOAT, [*rows, WIDTH]),
        helper.make_tensor_value_info("types", TensorProto.INT64, rows),
        helper.make_tensor_value_info("mask", TensorProto.INT32, rows),
    ]
    outputs = [helper.make_tensor_value_info("statement", TensorProto.FLOAT, ["rows", 4])]
    body = helper.make_graph(nodes, "glance", inputs, outputs, constants)
    onnx.save(
        helper.make_model(body, opset_imports=[helper.make_opsetid("", 18)], ir_version=9),
        str(path),
    )
    return path.stat().st_size


def halved(
    nodes: Sequence[onnx.NodeProto], constants: Sequence[onnx.TensorProto]
) -> tuple[list[onnx.NodeProto], list[onnx.TensorProto]]:
    """The graph with its large constants in sixteen bits, widened when the graph is loaded."""
    casts: list[onnx.NodeProto] = []
    kept: list[onnx.TensorProto] = []
    for constant in constants:
        value = numpy_helper.to_array(constant)
        if value.dtype != np.float32 or value.size < _LARGE:
            kept.append(constant)
            continue
        narrow = f"{constant.name}_half"
        kept.append(numpy_helper.from_array(value.astype(np.float16), narrow))
        casts.append(helper.make_node("Cast", [narrow], [constant.name], to=TensorProto.FLOAT))
    return [*casts, *nodes], kept


class _Nodes:
    """Collects nodes and constants under given names."""

    def __init__(self) -> None:
        self.nodes: list[onnx.NodeProto] = []
        self.constants: list[onnx.TensorProto] = []

    def constant(self, name: str, value: NDArray[np.generic]) -> str:
        """A constant's name."""
        self.constants.append(numpy_helper.from_array(np.ascontiguousarray(value), name))
        return name

    def op(self, kind: str, name: str, *inputs: str, **attributes: Any) -> str:
        """Adds a node that gives `name`."""
        self.nodes.append(helper.make_node(kind, list(inputs), [name], **attributes))
        return name

    def linear(self, name: str, x: str, layer: nn.Linear) -> str:
        """A linear layer."""
        weight = self.constant(f"{name}w", layer.weight.detach().numpy().T)
        bias = self.constant(f"{name}b", layer.bias.detach().numpy())
        return self.op("Gemm", name, x, weight, bias)


def _graph(model: Glance) -> tuple[list[onnx.NodeProto], list[onnx.TensorProto]]:
    graph = _Nodes()
    last = graph.constant("last", np.array([2], np.int64))
    padded = _padded_words(graph, last)
    answers = [
        _member(graph, f"m{at}", member, padded, last) for at, member in enumerate(model.parts)
    ]
    graph.op("Mean", "statement", *answers)
    return graph.nodes, graph.constants


def _member(graph: _Nodes, name: str, member: Member, padded: str, last: str) -> str:
    strongest = []
    for at, filters in enumerate(member.convolutions):
        part = f"{name}f{at}"
        given = [
            graph.constant(f"{part}.{key}", value.detach().numpy())
            for key, value in filters.named_parameters()
        ]
        answer = graph.op("Relu", f"{part}r", graph.op("Conv", part, padded, *given))
        strongest.append(graph.op("ReduceMax", f"{part}m", answer, last, keepdims=0))
    pooled = graph.op("Concat", f"{name}pooled", *strongest, axis=1)
    hidden = graph.op("Relu", f"{name}hidden", graph.linear(f"{name}in", pooled, member.inner))
    return graph.linear(f"{name}out", hidden, member.outer)


def _padded_words(graph: _Nodes, last: str) -> str:
    seen = graph.op("Cast", "seen", "mask", to=TensorProto.FLOAT)
    scale = graph.constant("scale", np.array([_SCALE], np.float32))
    weight = graph.op("Mul", "weight", graph.op("Unsqueeze", "wide", seen, last), scale)
    words = graph.op("Mul", "kept", "words", weight)
    turned = graph.op("Transpose", "turned", words, perm=[0, 2, 1])
    pads = graph.constant("pads", np.array([0, 0, 0, 0, 0, _PADDING], np.int64))
    return graph.op("Pad", "padded", turned, pads)

"""Writes a trained judge as an int8 ONNX graph, and the word table that all graphs share.

The graph takes word vectors instead of ids, so that the table (half of a small BERT) is stored
once. Weights are int8 by output column and kept within seven bits: processors without VNNI add
pairs of products in sixteen bits and would saturate. Activations are quantised as they come.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import onnx
import torch
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper

from evaluation.training.network import WIDTH, Judge, Layer

MAX_TOKENS = 320
_EPSILON = 1e-12
_WEIGHT_RANGE = 63
_MS = "com.microsoft"


class _Graph:
    """Collects nodes and constants."""

    def __init__(self) -> None:
        self.nodes: list[onnx.NodeProto] = []
        self.constants: list[onnx.TensorProto] = []
        self.outputs: list[onnx.ValueInfoProto] = []

    def constant(self, value: NDArray[np.generic]) -> str:
        """A constant's name."""
        name = f"c{len(self.constants)}"
        dense = np.ascontiguousarray(value).reshape(value.shape)  # keeps scalars scalar
        self.constants.append(numpy_helper.from_array(dense, name))
        return name

    def op(self, kind: str, *inputs: str, outputs: int = 1, **attributes: Any) -> list[str]:
        """Adds a node; returns the names of what it gives."""
        names = [f"n{len(self.nodes)}_{at}" for at in range(outputs)]
        domain = str(attributes.pop("domain", ""))
        self.nodes.append(helper.make_node(kind, list(inputs), names, domain=domain, **attributes))
        return names

    def output(self, name: str, inner: str, shape: list[str | int]) -> None:
        """Gives an inner value out under a name."""
        self.nodes.append(helper.make_node("Identity", [inner], [name]))
        self.outputs.append(helper.make_tensor_value_info(name, TensorProto.FLOAT, shape))

    def linear(self, x: str, layer: torch.nn.Linear) -> str:
        """A quantised linear layer."""
        weight = layer.weight.detach().numpy().T
        scale = np.maximum(np.abs(weight).max(axis=0), 1e-8).astype(np.float32) / _WEIGHT_RANGE
        whole = np.round(weight / scale).astype(np.int8)
        zero = np.zeros(scale.shape, np.int8)
        bias = layer.bias.detach().numpy()
        parts = [self.constant(part) for part in (whole, scale, zero, bias)]
        return self.op("DynamicQuantizeMatMul", x, *parts, domain=_MS)[0]

    def exact(self, x: str, layer: torch.nn.Linear) -> str:
        """A small linear layer in full precision (the heads)."""
        product = self.op("MatMul", x, self.constant(layer.weight.detach().numpy().T))[0]
        return self.op("Add", product, self.constant(layer.bias.detach().numpy()))[0]

    def normed_sum(self, x: str, y: str, norm: torch.nn.LayerNorm) -> str:
        """LayerNorm(x + y)."""
        gain, shift = (self.constant(p.detach().numpy()) for p in (norm.weight, norm.bias))
        parts = (x, y, gain, shift)
        return self.op("SkipLayerNormalization", *parts, domain=_MS, epsilon=_EPSILON)[0]


def write_encoder(model: Judge, path: Path) -> int:
    """Writes the graph with every head of the model; returns its size in bytes."""
    graph = _Graph()
    states = _embedded(graph, model)
    for layer in model.stack:
        states = _layer(graph, states, layer)
    _heads(graph, model, states)
    _save(graph, path)
    return path.stat().st_size


def write_prefix(model: Judge, layers: int, path: Path) -> None:
    """Writes the lowest layers alone; the graph gives their token states as `states`."""
    graph = _Graph()
    states = _embedded(graph, model)
    for layer in model.stack[:layers]:
        states = _layer(graph, states, layer)
    graph.output("states", states, ["rows", "tokens", WIDTH])
    _save(graph, path)


def _save(graph: _Graph, path: Path) -> None:
    rows: list[str | int] = ["rows", "tokens"]
    inputs = [
        helper.make_tensor_value_info("words", TensorProto.FLOAT, [*rows, WIDTH]),
        helper.make_tensor_value_info("types", TensorProto.INT64, rows),
        helper.make_tensor_value_info("mask", TensorProto.INT32, rows),
    ]
    body = helper.make_graph(graph.nodes, "judge", inputs, graph.outputs, graph.constants)
    versions = [helper.make_opsetid("", 18), helper.make_opsetid(_MS, 1)]
    onnx.save(helper.make_model(body, opset_imports=versions, ir_version=9), str(path))


def _embedded(graph: _Graph, model: Judge) -> str:
    places = model.places.weight.detach().numpy()[:MAX_TOKENS].astype(np.float16)
    table = graph.op("Cast", graph.constant(places), to=TensorProto.FLOAT)[0]
    length = graph.op("Shape", "types", start=1, end=2)[0]
    first, axis = (graph.constant(np.array([0], np.int64)) for _ in range(2))
    position = graph.op("Slice", table, first, length, axis)[0]
    kind = graph.op("Gather", graph.constant(model.kinds.weight.detach().numpy()), "types")[0]
    context = graph.op("Add", kind, position)[0]
    return graph.normed_sum("words", context, model.opening)


def _layer(graph: _Graph, x: str, layer: Layer) -> str:
    q, k, v = graph.op("Split", graph.linear(x, layer.asked), outputs=3, axis=2, num_outputs=3)
    parts = (q, k, v, "", "mask")
    heads = graph.op("MultiHeadAttention", *parts, domain=_MS, num_heads=12)[0]
    x = graph.normed_sum(graph.linear(heads, layer.mixed), x, layer.norm)
    wide = graph.op("Gelu", graph.linear(x, layer.wide), domain=_MS)[0]
    return graph.normed_sum(graph.linear(wide, layer.narrow), x, layer.closing)


def _heads(graph: _Graph, model: Judge, states: str) -> None:
    axis = graph.constant(np.array([1], np.int64))
    first = graph.op("Gather", states, graph.constant(np.array(0, np.int64)), axis=1)[0]
    mean = _mean(graph, states, axis)
    pooled = graph.op("Concat", first, mean, axis=1)[0]
    for name, layer in model.answers.items():
        graph.output(name, graph.exact(pooled, layer), ["rows", layer.out_features])
    graph.output("vector", mean, ["rows", 384])
    if "claim" in model.heads:
        graph.output("span", graph.exact(states, model.span), ["rows", "tokens", 2])


def _mean(graph: _Graph, states: str, axis: str) -> str:
    """Mean of the marked tokens, or of all where none is marked."""
    marked = graph.op("Cast", "types", to=TensorProto.FLOAT)[0]
    every = graph.op("Cast", "mask", to=TensorProto.FLOAT)[0]
    count = graph.op("ReduceSum", marked, axis, keepdims=1)[0]
    some = graph.op("Greater", count, graph.constant(np.array(0, np.float32)))[0]
    weight = graph.op("Where", some, marked, every)[0]
    last = graph.constant(np.array([2], np.int64))
    weighted = graph.op("Mul", states, graph.op("Unsqueeze", weight, last)[0])[0]
    total = graph.op("ReduceSum", weighted, axis, keepdims=0)[0]
    return graph.op("Div", total, graph.op("ReduceSum", weight, axis, keepdims=1)[0])[0]


def write_words(model: Judge, path: Path) -> int:
    """Writes the word table in four bits with a scale a word; returns its size in bytes.

    The scale is the one of ten that loses least. Against eight bits nothing measurable is lost
    (docs/decisions/0003-local-judgement.md), and the file is half as large.
    """
    table = model.words.weight.detach().numpy()
    most = np.maximum(np.abs(table).max(axis=1, keepdims=True), 1e-8)
    found, scale = _quantised(table, most, 1.0)
    loss = _lost(table, found, scale)
    for share in np.linspace(0.55, 0.95, 9):
        numbers, narrower = _quantised(table, most, float(share))
        lost = _lost(table, numbers, narrower)
        better = lost < loss
        found, scale = np.where(better, numbers, found), np.where(better, narrower, scale)
        loss = np.minimum(loss, lost)
    packed = (found[:, ::2] | (found[:, 1::2] << 4)).astype(np.uint8)
    np.savez(path, table=packed, scale=scale.astype(np.float16))
    return path.stat().st_size


_Numbers = NDArray[np.uint8]
_Floats = NDArray[np.float32]


def _quantised(table: _Floats, most: _Floats, share: float) -> tuple[_Numbers, _Floats]:
    scale = (most * share / 7.5).astype(np.float16).astype(np.float32)
    return np.clip(np.round(table / scale + 7.5), 0, 15).astype(np.uint8), scale


def _lost(table: _Floats, numbers: _Numbers, scale: _Floats) -> _Floats:
    lost: _Floats = np.square((numbers - np.float32(7.5)) * scale - table).sum(1, keepdims=True)
    return lost

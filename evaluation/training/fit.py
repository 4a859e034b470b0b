"""The training loop: batches of one question each, of like length, in a fixed random order."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn import functional as fn

from evaluation.training.network import Judge, mean_of
from evaluation.training.prefix import prefix_of
from evaluation.training.samples import Sample
from memgate_core.judgement.inputs import Encoded

Batch = tuple[Tensor, Tensor, Tensor]


@dataclass(frozen=True)
class Settings:
    """What a training run is made of; all of it stands in the model card."""

    layers: int = 6
    frozen: int = 0
    """Lowest layers that stay as pre-training left them."""
    epochs: float = 4.0
    batch: int = 32
    rate: float = 1e-4
    head_rate: float = 5e-4
    smoothing: float = 0.05
    seed: int = 7
    average_from: float = 0.5
    """From this share of the steps on, the weights are averaged."""
    vector_share: float = 0.1
    """Share of steps spent on keeping row vectors comparable."""


@dataclass
class Course:
    """What is taught in one run: samples a head, and pairs of rows whose vectors must meet."""

    samples: dict[str, list[Sample]]
    vectors: list[tuple[Encoded, Encoded]] = field(default_factory=list)


def _states(model: Judge, rows: Sequence[Encoded]) -> Batch:
    """Token states, types and mask; the frozen layers' output comes from the model's store."""
    ids, types, mask = tensors_of(rows)
    if model.frozen:
        return model.states(prefix_of(model).states(rows), mask, model.frozen), types, mask
    return model.states(model.embedded(ids, types), mask), types, mask


def tensors_of(rows: Sequence[Encoded]) -> Batch:
    """Ids, types and mask, padded to the longest row."""
    width = max(len(row.ids) for row in rows)
    ids, types, mask = (torch.zeros(len(rows), width, dtype=torch.long) for _ in range(3))
    for at, row in enumerate(rows):
        ids[at, : len(row.ids)] = torch.tensor(row.ids)
        types[at, : len(row.ids)] = torch.tensor(row.types)
        mask[at, : len(row.ids)] = 1
    return ids, types, mask


def chunks(samples: Sequence[Sample], size: int, rng: random.Random) -> list[list[Sample]]:
    """The samples in batches of like length, shuffled."""
    order = list(samples)
    rng.shuffle(order)
    batches = []
    for start in range(0, len(order), size * 20):
        near = sorted(order[start : start + size * 20], key=lambda s: len(s.row.ids))
        batches += [near[at : at + size] for at in range(0, len(near), size)]
    rng.shuffle(batches)
    return batches


def train(
    course: Course,
    settings: Settings,
    watch: Callable[[Judge, float], None] | None = None,
    model: Judge | None = None,
) -> Judge:
    """Fits a judge. `watch` is called after each epoch with the epochs done."""
    torch.manual_seed(settings.seed)
    rng = random.Random(settings.seed)
    model = model or Judge(settings.layers, tuple(course.samples), settings.frozen)
    optimiser = _optimiser(model, settings)
    steps = _total_steps(course, settings)
    schedule = torch.optim.lr_scheduler.LambdaLR(optimiser, _warm_then_fall(steps))
    done, epoch, started = 0, 0, time.perf_counter()
    total, average = 0.0, _Average(model)
    while done < steps:
        model.train()
        for loss in _epoch(model, course, settings, rng):
            optimiser.zero_grad()
            loss.backward()  # type: ignore[no-untyped-call]
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimiser.step()
            schedule.step()
            if done >= settings.average_from * steps:
                average.take(model)
            done, total = done + 1, total + loss.item()
            if done % 50 == 0:
                clock = time.perf_counter() - started
                print(f"step {done}/{steps} loss {total / 50:.3f} {clock:.0f}s", flush=True)
                total = 0.0
            if done >= steps:
                break
        epoch += 1
        if watch is not None:
            model.eval()
            watch(model, epoch)
    average.give(model)
    return model.eval()


class _Average:
    """Mean of the trained weights over the last part of a run: steadier than its last step."""

    def __init__(self, model: Judge) -> None:
        parts = [p for p in model.parameters() if p.requires_grad]
        self._sums = [torch.zeros_like(part) for part in parts]
        self._count = 0

    def take(self, model: Judge) -> None:
        """Adds the weights as they are now."""
        self._count += 1
        with torch.no_grad():
            parts = (p for p in model.parameters() if p.requires_grad)
            for total, part in zip(self._sums, parts, strict=True):
                total.add_(part)

    def give(self, model: Judge) -> None:
        """Puts the mean into the model, if anything was taken."""
        if not self._count:
            return
        with torch.no_grad():
            parts = (p for p in model.parameters() if p.requires_grad)
            for total, part in zip(self._sums, parts, strict=True):
                part.copy_(total / self._count)


def _epoch(
    model: Judge, course: Course, settings: Settings, rng: random.Random
) -> Iterator[Tensor]:
    plan: list[tuple[str, list[Sample]]] = [
        (head, batch)
        for head, samples in course.samples.items()
        for batch in chunks(samples, settings.batch, rng)
    ]
    rng.shuffle(plan)
    for head, batch in plan:
        yield _loss(model, head, batch, settings.smoothing)
        if course.vectors and rng.random() < settings.vector_share:
            yield _vector_loss(model, rng.sample(course.vectors, min(16, len(course.vectors))))


def _loss(model: Judge, head: str, batch: Sequence[Sample], smoothing: float) -> Tensor:
    states, types, mask = _states(model, [sample.row for sample in batch])
    logits = model.answer(head, states, types, mask)
    target = torch.tensor([sample.target for sample in batch])
    weight = torch.tensor([sample.weight for sample in batch])
    each = fn.cross_entropy(logits, target, reduction="none", label_smoothing=smoothing)
    for at, sample in enumerate(batch):
        if sample.also:
            each[at] = -logits[at].log_softmax(0)[list(sample.also)].logsumexp(0)
    loss = (each * weight).sum() / weight.sum()
    spans = [(at, sample.span) for at, sample in enumerate(batch) if sample.span is not None]
    return loss + 0.5 * _span_loss(model, states, mask, spans) if spans else loss


def _span_loss(
    model: Judge, states: Tensor, mask: Tensor, spans: Sequence[tuple[int, tuple[int, int]]]
) -> Tensor:
    rows = torch.tensor([at for at, _ in spans])
    ends = torch.tensor([span for _, span in spans])
    logits = model.span(states[rows]).masked_fill(mask[rows].unsqueeze(-1) == 0, -1e4)
    return fn.cross_entropy(logits[:, :, 0], ends[:, 0]) + fn.cross_entropy(
        logits[:, :, 1], ends[:, 1]
    )


def _vector_loss(model: Judge, pairs: Sequence[tuple[Encoded, Encoded]]) -> Tensor:
    left, right = (_vectors(model, [pair[side] for pair in pairs]) for side in (0, 1))
    scores = left @ right.T / 0.05
    target = torch.arange(len(pairs))
    return (fn.cross_entropy(scores, target) + fn.cross_entropy(scores.T, target)) / 4


def _vectors(model: Judge, rows: Sequence[Encoded]) -> Tensor:
    return fn.normalize(mean_of(*_states(model, rows)), dim=1)


def vectors_of(model: Judge, rows: Sequence[Encoded]) -> NDArray[np.float32]:
    """Unit vectors of many rows, in order."""
    parts = []
    with torch.inference_mode():
        for start in range(0, len(rows), 64):
            parts.append(_vectors(model, rows[start : start + 64]).numpy())
    return np.concatenate(parts)


def _optimiser(model: Judge, settings: Settings) -> torch.optim.Optimizer:
    body = model.trained_body()
    heads = [*model.heads.parameters(), *model.span.parameters()]
    groups = [{"params": body, "lr": settings.rate}, {"params": heads, "lr": settings.head_rate}]
    return torch.optim.AdamW(groups, weight_decay=0.01)


def _total_steps(course: Course, settings: Settings) -> int:
    batches = sum(-(-len(samples) // settings.batch) for samples in course.samples.values())
    share = 1 + (settings.vector_share if course.vectors else 0.0)
    return int(batches * share * settings.epochs)


def _warm_then_fall(steps: int) -> Callable[[int], float]:
    return lambda step: min(1.0, step / (0.1 * steps)) * max(0.02, 1 - step / steps)


def logits_of(model: Judge, head: str, rows: Sequence[Encoded]) -> NDArray[np.float32]:
    """Logits of one head for many rows, in order."""
    order = sorted(range(len(rows)), key=lambda at: len(rows[at].ids))
    out: NDArray[np.float32] | None = None
    with torch.inference_mode():
        for start in range(0, len(order), 64):
            part = order[start : start + 64]
            answer = model.answer(head, *_states(model, [rows[at] for at in part])).numpy()
            out = np.zeros((len(rows), answer.shape[1]), np.float32) if out is None else out
            out[part] = answer
    return np.zeros((0, 1), np.float32) if out is None else out

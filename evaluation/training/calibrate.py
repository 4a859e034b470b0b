"""Fits how sure a head may be: one temperature and one shift a class, on held-out own data."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch.nn import functional as fn


@dataclass(frozen=True)
class Calibrated:
    """logits / temperature + shifts."""

    temperature: float
    shifts: list[float]

    def apply(self, logits: NDArray[np.float32]) -> NDArray[np.floating]:
        """Calibrated logits."""
        scaled: NDArray[np.floating] = logits / self.temperature + np.asarray(self.shifts)
        return scaled


def calibrate(
    logits: NDArray[np.float32], truth: Sequence[int], shifting: bool = False
) -> Calibrated:
    """Minimises the log loss over the temperature, and over class shifts when asked."""
    given, target = torch.tensor(logits), torch.tensor(list(truth))
    log_temperature = torch.zeros(1, requires_grad=True)
    shifts = torch.zeros(given.shape[1], requires_grad=shifting)
    fitted = [log_temperature, shifts] if shifting else [log_temperature]
    optimiser = torch.optim.LBFGS(fitted, max_iter=100)

    def loss() -> torch.Tensor:
        optimiser.zero_grad()
        value = fn.cross_entropy(given / log_temperature.exp() + shifts, target)
        value = value + 0.01 * (shifts**2).sum()
        value.backward()  # type: ignore[no-untyped-call]
        return value

    optimiser.step(loss)  # type: ignore[no-untyped-call]
    return Calibrated(float(log_temperature.detach().exp()), [float(s) for s in shifts.detach()])

"""From logits to probabilities that mean what they say."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


@dataclass(frozen=True)
class Calibration:
    """A temperature and a shift a class, fitted on statements that were not trained on."""

    temperature: float = 1.0
    shifts: tuple[float, ...] = ()

    @classmethod
    def from_card(cls, stored: Mapping[str, Any]) -> Calibration:
        """As the model card has it."""
        return cls(float(stored["temperature"]), tuple(float(s) for s in stored["shifts"]))

    def probabilities(self, logits: NDArray[np.float32]) -> NDArray[np.float64]:
        """Calibrated probabilities, row by row."""
        import numpy as np

        scaled = logits.astype(np.float64) / self.temperature
        if self.shifts:
            scaled = scaled + np.asarray(self.shifts)
        shifted = np.exp(scaled - scaled.max(axis=1, keepdims=True))
        total: NDArray[np.float64] = shifted / shifted.sum(axis=1, keepdims=True)
        return total

"""Row vectors: which of many fields or held items a text is near, without a pair check on each."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping, Sequence
from threading import Lock
from typing import TYPE_CHECKING

from memgate_core.judgement.encoder import Encoders
from memgate_core.judgement.inputs import Encoded
from memgate_core.model import FieldSpec
from memgate_core.per_catalogue import per_catalogue

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float32]

_GRAPH = "claims"
_KEPT = 4096


class VectorStore:
    """Unit vectors of rows; those of things asked about again are kept. Thread-safe."""

    def __init__(self, encoders: Encoders) -> None:
        self._encoders = encoders
        self._kept: OrderedDict[tuple[int, ...], Floats] = OrderedDict()
        self._lock = Lock()
        self._slots = per_catalogue(self._vectors_of)

    def slots(self, fields: Sequence[FieldSpec]) -> Floats:
        """Vectors of registered fields, in order: computed once for a set of them."""
        return self._slots(fields)

    def of(self, rows: Sequence[Encoded]) -> Floats:
        """Vectors of rows that will not come again."""
        import numpy as np

        vectors = self._encoders.run(_GRAPH, rows, ["vector"])["vector"]
        unit: Floats = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
        return unit

    def kept(self, rows: Sequence[Encoded]) -> Floats:
        """Vectors of rows that will come again: each is computed once."""
        import numpy as np

        with self._lock:
            found = {row.ids: self._kept[row.ids] for row in rows if row.ids in self._kept}
            for ids in found:
                self._kept.move_to_end(ids)
        missing = [row for row in rows if row.ids not in found]
        if missing:
            found |= {row.ids: v for row, v in zip(missing, self.of(missing), strict=True)}
            self._keep({row.ids: found[row.ids] for row in missing})
        return np.stack([found[row.ids] for row in rows])

    def _keep(self, fresh: Mapping[tuple[int, ...], Floats]) -> None:
        with self._lock:
            self._kept.update(fresh)
            while len(self._kept) > _KEPT:
                self._kept.popitem(last=False)

    def _vectors_of(self, fields: Sequence[FieldSpec]) -> Floats:
        layout = self._encoders.layout
        return self.kept([layout.slot(field) for field in fields])


def nearest(scores: Floats, most: int, floor: float = -1.0) -> list[int]:
    """Positions of the highest scores, best first, none below the floor."""
    import numpy as np

    order = np.argsort(-scores, kind="stable")[:most]
    return [int(at) for at in order if scores[at] >= floor]

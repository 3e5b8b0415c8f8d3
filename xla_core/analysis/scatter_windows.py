"""ScatterWindows: which element of its operands each element of a scatter's updates goes to."""

from __future__ import annotations

import math
from collections.abc import Sequence

from xla_core.analysis.indexing import Index, IndexExpr, Variable
from xla_core.hlo.ir.combiner import combiner
from xla_core.hlo.ir.instruction import HloInstruction
from xla_core.target import ParallelModel


class ScatterWindows:
    """The windows of a scatter, and how a target may combine their elements.

    Attributes:
        batch: the dimensions of the updates that aren't the window's: there is a window for each index in them.
        window: the sizes of a window, in the dimensions `kept` of the operands.
        sizes: the sizes of a window in all dimensions of the operands.
        starts: the variables of a window's start, by the operands' dimension.
    """

    def __init__(self, scatter: HloInstruction, parallel: ParallelModel) -> None:
        self.scatter, self._parallel = scatter, parallel
        count = len(scatter.operands) // 2
        self.operands, self.updates = scatter.operands[:count], scatter.operands[count + 1 :]
        self.indices = scatter.operands[count]
        self.dims = self.operands[0].shape.dimensions
        self.update_dims = self.updates[0].shape.dimensions
        self.window_dims: list[int] = list(scatter.attribute("update_window_dims"))
        self.batching: dict[int, int] = dict(
            zip(
                scatter.attribute("input_batching_dims"),
                scatter.attribute("scatter_indices_batching_dims"),
                strict=True,
            )
        )
        removed = {*scatter.attribute("inserted_window_dims"), *self.batching}
        self.kept = [d for d in range(len(self.dims)) if d not in removed]
        self.window = [self.update_dims[d] for d in self.window_dims]
        self.sizes = [1] * len(self.dims)
        for dimension, size in zip(self.kept, self.window, strict=True):
            self.sizes[dimension] = size
        self.batch = [n for d, n in enumerate(self.update_dims) if d not in self.window_dims]
        scattered: Sequence[int] = scatter.attribute("scatter_dims_to_operand_dims")
        self.starts = {
            d: Variable((scatter, "start", d), self.dims[d] - self.sizes[d] + 1, f"start{d}") for d in scattered
        }

    @property
    def count(self) -> int:
        """How many windows there are."""
        return math.prod(self.batch)

    @property
    def is_empty(self) -> bool:
        """Whether there are no updates."""
        return math.prod(self.update_dims) == 0

    @property
    def are_few(self) -> bool:
        """Whether the windows are so few that a thread combines all elements that may go to one place, in order."""
        return self.count * math.prod(self.window[n] for n in self.moved) <= self._parallel.serial_updates

    @property
    def moved(self) -> list[int]:
        """The positions in `window` of dimensions in which two windows may overlap in part."""
        if self.count == 1:
            return []
        return [n for n, d in enumerate(self.kept) if d in self.starts and self.window[n] > 1]

    @property
    def are_unique(self) -> bool:
        """Whether each element of the operands is updated once."""
        return self.count == 1 or (self.scatter.attribute("unique_indices") and not self.moved)

    @property
    def are_sorted(self) -> bool:
        """Whether windows that have elements in common are neighbours, and have all elements in common."""
        return bool(self.scatter.attribute("indices_are_sorted")) and not self.moved and not self.batching

    def commutes(self, *, floats: bool) -> bool:
        """Whether updates may be combined by atomics in any order; those of floats, if `floats` may be so combined."""
        op = combiner(self.scatter.attribute("to_apply"))
        element_type = self.scatter.shape.element_type if op is not None and len(self.operands) == 1 else None
        bits = self._parallel.atomic_bits
        if element_type is None or element_type.is_complex or element_type.bit_width > bits[-1]:
            return False
        if self.operands[0].shape.num_elements * element_type.byte_width % (bits[0] // 8):
            return False  # the last word has bytes that aren't the array's
        same = self.operands[0].shape.element_type is element_type is self.updates[0].shape.element_type
        return same and (floats or not element_type.is_floating)

    def start_place(self, number: int, batch: Index) -> Index:
        """Returns where the indices have the `number`-th part of the start of a window."""
        place, vector_dim = list(batch), self.scatter.attribute("index_vector_dim")
        if vector_dim < self.indices.shape.rank:
            place.insert(vector_dim, IndexExpr.of(number))
        return tuple(place)

    def source(self, batch: Index, window: Index) -> Index:
        """Returns the index in the updates of an element of a window."""
        batches, windows = iter(batch), dict(zip(self.window_dims, window, strict=True))
        return tuple(windows[d] if d in windows else next(batches) for d in range(len(self.update_dims)))

    def target(self, batch: Index, window: Index) -> Index:
        """Returns the index in the operands of an element of a window."""
        vector_dim = self.scatter.attribute("index_vector_dim")
        found = [IndexExpr.of(0)] * len(self.dims)
        for dimension, expr in zip(self.kept, window, strict=True):
            found[dimension] = expr
        for dimension, start in self.starts.items():
            found[dimension] = found[dimension] + IndexExpr.of(start)
        for dimension, source in self.batching.items():
            found[dimension] = batch[source - (source > vector_dim)]
        return tuple(found)

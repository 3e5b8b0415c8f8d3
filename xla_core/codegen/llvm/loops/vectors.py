"""Vectors: loads and stores of several neighbouring elements of an array in one access."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from xla_core.analysis.indexing import Index, IndexExpr, memory_position
from xla_core.codegen.llvm.loops.context import EmissionContext
from xla_core.codegen.llvm.loops.index_values import IndexValues
from xla_core.codegen.llvm.loops.ir_array import ElementValue, IrArray


class Vectors:
    """The vectors of a thread, which computes groups of `width` neighbouring elements.

    Args:
        context, indices: the kernel under construction.
        width: elements of a vector, a power of two.
        firsts: see `add`.
    """

    def __init__(
        self, context: EmissionContext, indices: IndexValues, width: int, firsts: Iterable[IndexExpr] = ()
    ) -> None:
        self._context, self._indices = context, indices
        self._width, self._firsts = width, set[IndexExpr]()
        self._floor = context.floor
        self.add(firsts)

    def add(self, firsts: Iterable[IndexExpr]) -> None:
        """Adds positions of groups' first elements. The others of a group are its neighbours in memory.

        All elements of a group are needed, so that all may be loaded, except under a condition. Positions that aren't
        known to be multiples of the width are left out.
        """
        self._firsts.update(first for first in firsts if self._width > 1 and first.is_multiple_of(self._width))

    def load(self, array: IrArray, position: IndexExpr) -> ElementValue:
        """Loads the element at a position, from its vector if there is one."""
        lane = position.constant % self._width
        first = position - lane
        b, is_conditional = self._context.builder, self._context.floor > self._floor
        if is_conditional or array.bits or first not in self._firsts:
            return array.load(b, self._indices.value(position))
        key = ("vector", array.pointer.name, first)
        vector = self._context.find(key)
        if not isinstance(vector, list):
            with self._context.hoisted(self._indices.level(first)):
                vector = array.load_vector(b, self._indices.value(first), self._width)
                self._context.remember(key, vector)
        element: ElementValue = vector[lane]
        return element

    def store(self, lanes: Sequence[Sequence[tuple[IrArray, Index, ElementValue]]]) -> None:
        """Writes the elements (array, index, value) of each lane. Neighbours in an array are written as a vector.

        All of them are computed before the first is written, since a result may be in an operand's buffer.
        """
        b = self._context.builder
        for elements in zip(*lanes, strict=True):
            array, values = elements[0][0], [value for _, _, value in elements]
            positions = [memory_position(array.shape, index) for _, index, _ in elements]
            first = positions[0]
            neighbours = all(position == first + k for k, position in enumerate(positions))
            if len(values) > 1 and neighbours and first.is_multiple_of(len(values)) and not array.bits:
                array.store_vector(b, self._indices.value(first), values)
                continue
            for position, value in zip(positions, values, strict=True):
                array.store(b, self._indices.value(position), value)

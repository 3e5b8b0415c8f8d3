"""Loads of small matrices from tiles in shared memory by the lanes of a group together."""

from __future__ import annotations

from collections.abc import Sequence

from xla_core.codegen.llvm.blocks.tile_copy import TileLayout
from xla_core.codegen.llvm.ir.builder import IrBuilder
from xla_core.codegen.llvm.ir.module import Value
from xla_core.codegen.llvm.target_abi import TargetAbi
from xla_core.hlo.values.element_type import ElementType
from xla_core.target import Fragment, LanePlace

_ROWS = 8
_MOST = 4  # matrices of one load


def has_rows(fragment: Fragment, element_type: ElementType) -> bool:
    """Whether each register of a fragment is a lane's part of a matrix as `ParallelModel.matrix_loads` describes it."""
    is_word = fragment.elements * element_type.byte_width == 4
    return is_word and fragment.line == LanePlace(4, 8) and fragment.term == LanePlace(1, 4, fragment.elements)


class MatrixLoader:
    """Loads the small matrices of an operand.

    Args:
        b: writes the kernel.
        lane: the number of this thread in its group, i64.
        type_: the register type in which shared memory holds an element.
        layout: of the operand's tiles. If neighbouring lines are adjacent there, the matrices are transposed when they
            are loaded.
        fragment: the elements of a matrix that a lane holds.
    """

    def __init__(self, b: IrBuilder, lane: Value, type_: str, layout: TileLayout, fragment: Fragment) -> None:
        self._b, self._type, self._layout = b, type_, layout
        self._is_transposed = layout.line_stride == 1
        self._matrix = b.udiv(lane, b.int_(_ROWS))
        stride = layout.depth_stride if self._is_transposed else layout.line_stride
        self._row = b.mul(b.urem(lane, b.int_(_ROWS)), b.int_(stride))
        self._offsets: dict[tuple[int, ...], Value] = {}

    def load(self, abi: TargetAbi, array: Value, start: Value, places: Sequence[tuple[int, int]]) -> list[Value]:
        """Returns this lane's register of each matrix. `places` are their first (line, term), from `start` on."""
        b, layout = self._b, self._layout
        offsets = [line * layout.line_stride + term * layout.depth_stride for line, term in places]
        found: list[Value] = []
        while offsets:
            count = next(size for size in (_MOST, 2, 1) if size <= len(offsets))
            some, offsets = offsets[:count], offsets[count:]
            own = self._offset(tuple(offset - some[0] for offset in some))
            row = b.gep(self._type, array, b.add(b.add(start, own), b.int_(some[0])))
            found += abi.load_matrices(b, row, count, transposed=self._is_transposed)
        return found

    def _offset(self, of_matrices: tuple[int, ...]) -> Value:
        """Where this lane's row lies, for matrices at these offsets."""
        b = self._b
        if of_matrices not in self._offsets:
            found = b.int_(0)
            for number, offset in enumerate(of_matrices):
                found = b.select(b.icmp("eq", self._matrix, b.int_(number)), b.int_(offset), found)
            self._offsets[of_matrices] = b.add(found, self._row)
        return self._offsets[of_matrices]

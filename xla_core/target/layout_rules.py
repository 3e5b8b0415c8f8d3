"""How arrays lie in a device's memory: the layouts that it wants, and the bytes that they take."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable

from xla_core.checked_model import CheckedModel
from xla_core.hlo.instruction import HloInstruction
from xla_core.hlo.shape import Layout, Shape

__all__ = ["InstructionLayouts", "LayoutRules", "array_size_bytes", "keeps_layout"]


@dataclasses.dataclass(frozen=True, slots=True)
class InstructionLayouts:
    """Layouts that an instruction must have: one of its result (an array) and one per operand; None leaves it open."""

    result: Layout | None = None
    operands: tuple[Layout | None, ...] = ()


class LayoutRules(CheckedModel):
    """The layouts of a target. By default every array is row-major, and elements have a byte at least.

    Attributes:
        default: shape -> layout of an array that nothing else decides; None is row-major.
        instruction: what an instruction demands; None, or an answer of None, demands nothing.
        packed: elements of 2 and 4 bits are packed, four or two a byte (`element_size_in_bits` is their width).
    """

    default: Callable[[Shape], Layout] | None = None
    instruction: Callable[[HloInstruction], InstructionLayouts | None] | None = None
    packed: bool = False

    def layout(self, shape: Shape) -> Layout:
        """The layout of an array of `shape` that nothing else decides."""
        layout = Layout.row_major(shape.rank) if self.default is None else self.default(shape)
        if self.packed and shape.element_type.bit_width in (2, 4) and not layout.element_size_in_bits:
            layout = dataclasses.replace(layout, element_size_in_bits=shape.element_type.bit_width)
        return layout

    def with_layout(self, shape: Shape) -> Shape:
        """`shape` with the default layouts where it has none."""
        if shape.is_tuple:
            return dataclasses.replace(shape, tuple_shapes=tuple(self.with_layout(s) for s in shape.tuple_shapes))
        if shape.layout is not None or not shape.is_array:
            return shape
        return shape.with_layout(self.layout(shape))


def array_size_bytes(shape: Shape) -> int:
    """Bytes of an array in its layout: the padding of tiles and the packing of elements included. 0 for a token."""
    if not shape.is_array:
        return 0
    layout = shape.layout
    if layout is None or not (layout.tiles or layout.element_size_in_bits):
        return shape.num_elements * shape.element_type.byte_width
    dimensions = tuple(shape.dimensions[d] for d in reversed(layout.minor_to_major))
    for tile in layout.tiles:
        # The minor-most dimensions become counts of tiles, then the tile.
        padded = (1,) * (len(tile) - len(dimensions)) + dimensions
        outer, inner = padded[: len(padded) - len(tile)], padded[len(padded) - len(tile) :]
        dimensions = (*outer, *(-(-d // t) for d, t in zip(inner, tile, strict=True)), *tile)
    bits = layout.element_size_in_bits or 8 * shape.element_type.byte_width
    return -(-math.prod(dimensions) * bits // 8)


def keeps_layout(copy: HloInstruction) -> bool:
    """Whether a `copy` moves bytes as they are. The core runs it then, in any type; else it is the target's op."""
    before = copy.operand(0).shape.with_default_layout().leaves()
    return list(before) == list(copy.shape.with_default_layout().leaves())

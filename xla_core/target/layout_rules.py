"""The layouts that a target requires, and the sizes of arrays in them."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable

from xla_core.checked_model import CheckedModel
from xla_core.hlo.ir.instruction import HloInstruction
from xla_core.hlo.table.opcode import Opcode
from xla_core.hlo.values.shape import Layout, Shape
from xla_core.sizes import ceil_div
from xla_core.target.device_layout import tiled_dimensions


@dataclasses.dataclass(frozen=True, slots=True)
class InstructionLayouts:
    """The layouts that an instruction requires for its result (an array) and its operands; None allows any."""

    result: Layout | None = None
    operands: tuple[Layout | None, ...] = ()


class LayoutRules(CheckedModel):
    """The layouts of a target. By default every array is row-major, and each element takes at least one byte.

    Attributes:
        default: shape -> layout of an array for which no instruction requires one; None means row-major.
        instruction: instruction -> the layouts that it requires; a result of None requires nothing.
        packed: whether elements of 2 and 4 bits are packed, four or two to a byte (`element_size_in_bits` is set).
    """

    default: Callable[[Shape], Layout] | None = None
    instruction: Callable[[HloInstruction], InstructionLayouts | None] | None = None
    packed: bool = False

    def layout(self, shape: Shape) -> Layout:
        """The default layout of an array of `shape`."""
        layout = Layout.row_major(shape.rank) if self.default is None else self.default(shape)
        if self.packed and shape.element_type.bit_width in (2, 4) and not layout.element_size_in_bits:
            layout = dataclasses.replace(layout, element_size_in_bits=shape.element_type.bit_width)
        return layout

    def with_layout(self, shape: Shape) -> Shape:
        """`shape`, with the default layout in each leaf that has no layout."""
        if shape.is_tuple:
            return dataclasses.replace(shape, tuple_shapes=tuple(self.with_layout(s) for s in shape.tuple_shapes))
        if shape.layout is not None or not shape.is_array:
            return shape
        return shape.with_layout(self.layout(shape))


def array_size_bytes(shape: Shape) -> int:
    """Bytes of an array in its layout, with the padding of tiles and the packing of elements; 0 for a token."""
    if not shape.is_array:
        return 0
    layout = shape.layout
    if layout is None or not (layout.tiles or layout.element_size_in_bits):
        return shape.num_elements * shape.element_type.byte_width
    dimensions = tuple(shape.dimensions[d] for d in reversed(layout.minor_to_major))
    for tile in layout.tiles:
        dimensions = tiled_dimensions(dimensions, tile)
    bits = layout.element_size_in_bits or 8 * shape.element_type.byte_width
    return ceil_div(math.prod(dimensions) * bits, 8)


def keeps_layout(copy: HloInstruction) -> bool:
    """Whether a `copy` keeps the layout. The core runs such copies for every type; the target runs the others."""
    before = copy.operand(0).shape.with_default_layout().leaves()
    return list(before) == list(copy.shape.with_default_layout().leaves())


def copies_bits(instruction: HloInstruction) -> bool:
    """Whether the result has the bits of the operand in their order, so that the core runs it as a copy.

    This holds for a bitcast-convert between integers of one width, and for a reshape of arrays whose elements lie in
    row-major order. Layout assignment makes most such reshapes bitcasts, which cost nothing.
    """
    if instruction.opcode not in (Opcode.BITCAST_CONVERT, Opcode.RESHAPE):
        return False
    before, after = instruction.operand(0).shape.with_default_layout(), instruction.shape.with_default_layout()
    if instruction.opcode == Opcode.RESHAPE:
        return is_plain(before) and is_plain(after)
    types = (before.element_type, after.element_type)
    return all(t.is_integral for t in types) and before.with_element_type(after.element_type) == after


COPIES_BEGINNING = ("_xla_copies_beginning", "true")
"""The frontend attribute of instructions for which `copies_beginning` is true."""


def copies_beginning(instruction: HloInstruction) -> bool:
    """Whether the core cuts a 1-D array at its end, or extends it there by zeros, by copying its first bytes.

    Only devices that compute in 32-bit types alone get such instructions (a slice, or a concatenate with zeros), for
    arguments and results of narrower types.
    """
    if COPIES_BEGINNING not in (instruction.attribute("frontend_attributes") or ()) or instruction.shape.rank != 1:
        return False
    if instruction.opcode == Opcode.SLICE:
        (dimension,) = instruction.attribute("slice")
        return bool(dimension.start == 0 and dimension.stride == 1)
    return instruction.opcode == Opcode.CONCATENATE


def is_plain(shape: Shape) -> bool:
    """Whether the elements of an array lie in row-major order, without tiles."""
    layout = shape.layout
    return not shape.is_dynamic and layout is not None and layout.is_row_major and not layout.tiles

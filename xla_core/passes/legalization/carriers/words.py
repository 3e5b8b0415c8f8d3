"""Reads arrays of 8- and 16-bit types as words of s32, and writes them so, for devices that lack these types.

The first element of a word is in its lowest bits. An array that doesn't fill its last word is extended by zeros when it
is read, and cut to its size when it is written: the core copies these bytes.
"""

from __future__ import annotations

import numpy as np

from xla_core.hlo.decompositions.expression import HloExpression
from xla_core.hlo.ir.builder import Builder
from xla_core.hlo.ir.instruction import HloInstruction
from xla_core.hlo.table.attributes import SliceDimension
from xla_core.hlo.table.opcode import Opcode
from xla_core.hlo.values.element_type import ElementType
from xla_core.hlo.values.shape import Shape
from xla_core.passes.legalization.carriers.conversions import CARRIERS, joined, split
from xla_core.target.layout_rules import COPIES_BEGINNING

_S32 = ElementType.S32


def read_words(b: Builder, value: HloInstruction) -> HloInstruction:
    """The numbers of an array of a narrow type, in the type that carries them."""
    shape = value.shape
    kind, order = shape.element_type, shape.minor_to_major()[::-1]
    if not shape.num_elements:
        return b.constant(np.zeros(shape.dimensions, CARRIERS[kind].dtype))
    in_word = 32 // kind.bit_width
    flat = _flat(b, value, shape.num_elements)
    missing = -shape.num_elements % in_word
    if missing:
        zeros = b.constant(np.zeros(missing, kind.dtype), flat.shape.with_dimensions((missing,)))
        flat = b.add(Opcode.CONCATENATE, flat, zeros, dimensions=(0,), frontend_attributes=(COPIES_BEGINNING,))
    count = -(-shape.num_elements // in_word)
    words = b.add(Opcode.BITCAST, flat, shape=flat.shape.with_element_type(_S32).with_dimensions((count,)))
    numbers = split(kind, HloExpression(b, words), 32).reshape((count * in_word,)).i
    numbers = b.slice_in_dim(numbers, 0, 0, shape.num_elements)
    physical = b.reshape(numbers, [shape.dimensions[d] for d in order])
    return b.transpose(physical, np.argsort(order).tolist())


def write_words(b: Builder, value: HloInstruction, shape: Shape) -> HloInstruction:
    """The array of `shape`, of a narrow type, of numbers in the type that carries them."""
    kind, in_word = shape.element_type, 32 // shape.element_type.bit_width
    if not shape.num_elements:
        return b.constant(np.zeros(shape.dimensions, kind.dtype), shape)
    count = -(-shape.num_elements // in_word)
    physical = b.transpose(value, shape.minor_to_major()[::-1])
    flat = b.reshape(physical, (shape.num_elements,))
    flat = b.pad_in_dim(flat, 0, 0, count * in_word - shape.num_elements)
    made = joined(kind, HloExpression(b, flat).reshape((count, in_word))).i
    if shape.num_elements % in_word:
        whole = made.shape.with_element_type(kind).with_dimensions((count * in_word,))
        made = b.add(Opcode.BITCAST, made, shape=whole)
        part = (SliceDimension(0, shape.num_elements),)
        made = b.add(Opcode.SLICE, made, slice=part, frontend_attributes=(COPIES_BEGINNING,))
    return made if made.shape == shape else b.add(Opcode.BITCAST, made, shape=shape)


def _flat(b: Builder, value: HloInstruction, size: int) -> HloInstruction:
    """The elements in the order of memory."""
    if value.shape.rank == 1:
        return value
    return b.add(Opcode.BITCAST, value, shape=value.shape.without_layout().with_dimensions((size,)))


def fills_words(kind: ElementType) -> bool:
    """Whether words of s32 hold numbers of this type without a rest."""
    return kind in CARRIERS and kind.bit_width in (8, 16)

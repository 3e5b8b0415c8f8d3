"""Reads arrays of types of 16 bits and less as words of s32, and writes them so, for devices that lack these types.

The first element of a word is in its lowest bits. An element of less than a byte has a byte of its own, unless the
layout packs it. An array that doesn't fill its last word is extended by zeros when it is read, and cut to its size when
it is written: the core copies these bytes.
"""

from __future__ import annotations

import numpy as np

from xla_core.hlo.decompositions.expression import HloExpression
from xla_core.hlo.ir.builder import Builder
from xla_core.hlo.ir.instruction import HloInstruction
from xla_core.hlo.table.attributes import SliceDimension
from xla_core.hlo.table.opcode import Opcode
from xla_core.hlo.values.element_type import ElementType
from xla_core.hlo.values.shape import Layout, Shape
from xla_core.passes.legalization.carriers.conversions import CARRIERS, joined, split
from xla_core.sizes import ceil_div
from xla_core.target.layout_rules import COPIES_BEGINNING

_S32 = ElementType.S32


def read_words(b: Builder, value: HloInstruction) -> HloInstruction:
    """The numbers of an array of a narrow type, which has a layout, in the type that carries them."""
    shape = value.shape
    kind, order, apart = shape.element_type, shape.minor_to_major()[::-1], _bits_apart(shape)
    if not shape.num_elements:
        return b.constant(np.zeros(shape.dimensions, CARRIERS[kind].dtype))
    in_word, flat = 32 // apart, value
    if shape.rank != 1:
        flat = b.add(Opcode.BITCAST, value, shape=_flat(shape, shape.num_elements))
    count = ceil_div(shape.num_elements, in_word)
    missing = count * in_word - shape.num_elements
    if missing:
        zeros = b.constant(np.zeros(missing, kind.dtype), flat.shape.with_dimensions((missing,)))
        flat = b.add(Opcode.CONCATENATE, flat, zeros, dimensions=(0,), frontend_attributes=(COPIES_BEGINNING,))
        flat.shape = _flat(shape, count * in_word)
    words = b.add(Opcode.BITCAST, flat, shape=Shape(_S32, (count,)))
    numbers = split(kind, HloExpression(b, words), 32, apart).reshape((count * in_word,)).i
    numbers = b.slice_in_dim(numbers, 0, 0, shape.num_elements)
    physical = b.reshape(numbers, [shape.dimensions[d] for d in order])
    return b.transpose(physical, np.argsort(order).tolist())


def write_words(b: Builder, value: HloInstruction, shape: Shape) -> HloInstruction:
    """The array of `shape`, of a narrow type and with a layout, of numbers in the type that carries them."""
    kind, apart = shape.element_type, _bits_apart(shape)
    if not shape.num_elements:
        return b.constant(np.zeros(shape.dimensions, kind.dtype), shape)
    in_word = 32 // apart
    count = ceil_div(shape.num_elements, in_word)
    physical = b.transpose(value, shape.minor_to_major()[::-1])
    flat = b.reshape(physical, (shape.num_elements,))
    flat = b.pad_in_dim(flat, 0, 0, count * in_word - shape.num_elements)
    made = joined(kind, HloExpression(b, flat).reshape((count, in_word)), apart).i
    if shape.num_elements % in_word:
        made = b.add(Opcode.BITCAST, made, shape=_flat(shape, count * in_word))
        part = (SliceDimension(0, shape.num_elements),)
        made = b.add(Opcode.SLICE, made, slice=part, frontend_attributes=(COPIES_BEGINNING,))
        made.shape = _flat(shape, shape.num_elements)
    return made if made.shape == shape else b.add(Opcode.BITCAST, made, shape=shape)


def _bits_apart(shape: Shape) -> int:
    """The distance in memory, in bits, from one element to the next."""
    packed = 0 if shape.layout is None else shape.layout.element_size_in_bits
    return packed or 8 * shape.element_type.byte_width


def _flat(shape: Shape, size: int) -> Shape:
    """The 1-D shape of `size` elements that are as wide in memory as those of `shape`."""
    packed = 0 if shape.layout is None else shape.layout.element_size_in_bits
    return Shape(shape.element_type, (size,), layout=Layout((0,), element_size_in_bits=packed))


def read_bits(b: Builder, value: HloInstruction, kind: ElementType) -> HloInstruction:
    """The array's bits as numbers of another type of the same width, in any order of dimensions."""
    shape, order = value.shape.without_layout().with_element_type(kind), value.shape.minor_to_major()[::-1]
    physical = shape.with_dimensions([shape.dimensions[d] for d in order])
    return b.transpose(b.add(Opcode.BITCAST, value, shape=physical), np.argsort(order).tolist())


def write_bits(b: Builder, value: HloInstruction, shape: Shape) -> HloInstruction:
    """The array of `shape`, with its layout, that has the bits of an array of another type of the same width."""
    return b.add(Opcode.BITCAST, b.transpose(value, shape.minor_to_major()[::-1]), shape=shape)

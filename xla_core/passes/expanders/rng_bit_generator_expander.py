"""rng_bit_generator_expander: expands counter-based random number generators to integer arithmetic.

Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", SC 2011. The bits are equal to those of the reference
evaluator, and counters are assigned to elements as in XLA. (XLA: xla/service/rng_bit_generator_expander.h.)
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from xla_core.hlo.decompositions.expression import HloExpression
from xla_core.hlo.ir.builder import Builder
from xla_core.hlo.ir.instruction import HloInstruction
from xla_core.hlo.ops.bit_generators import join, philox_4x32, split, three_fry_2x32
from xla_core.hlo.table.opcode import Opcode
from xla_core.hlo.values.element_type import ElementType
from xla_core.hlo.values.shape import Shape
from xla_core.passes.expanders.expander import OpExpander
from xla_core.sizes import ceil_div


class RngBitGeneratorExpander(OpExpander):
    """Expands Threefry-2x32 and Philox-4x32, which is also the default algorithm, for every element type of bits."""

    opcodes = frozenset({Opcode.RNG_BIT_GENERATOR})

    def expand(self, instruction: HloInstruction, b: Builder) -> HloInstruction:
        state, bits = HloExpression(b, instruction.operand(0)), instruction.shape.tuple_shapes[1]
        if not bits.num_elements:
            return b.tuple([state.i, b.constant(0, bits)])
        is_narrow = state.shape.element_type is ElementType.U32
        words = state.shape.num_elements * state.shape.element_type.bit_width // 64
        if is_narrow:
            pairs = b.reshape(state.i, (words, 2))
            state = HloExpression(b, b.add(Opcode.BITCAST_CONVERT, pairs, shape=Shape(ElementType.U64, (words,))))
        parts = [HloExpression(b, b.slice_in_dim(state.i, 0, n, n + 1)).reshape(()) for n in range(words)]
        generate = _three_fry if instruction.attribute("algorithm") == "rng_three_fry" else _philox
        new, result = generate(parts, bits.dimensions, bits.element_type.bit_width)
        whole = _concatenate([n.reshape((1,)) for n in new], 0).i
        if is_narrow:
            whole = b.add(Opcode.BITCAST_CONVERT, whole, shape=Shape(ElementType.U32, (words, 2)))
            whole = b.reshape(whole, (2 * words,))
        return b.tuple([whole, _as_type(result, bits.element_type).reshape(bits.dimensions).i])


def _first(x: HloExpression, axis: int, count: int) -> HloExpression:
    return HloExpression(x.b, x.b.slice_in_dim(x.i, axis, 0, count))


def _concatenate(parts: Sequence[HloExpression], axis: int) -> HloExpression:
    return parts[0].op(Opcode.CONCATENATE, *parts[1:], dimensions=(axis,))


def _counters(start: HloExpression, sizes: Sequence[int]) -> HloExpression:
    """An array of the numbers start, start + 1, ... in row-major order."""
    shape = Shape(ElementType.U64, (math.prod(sizes),))
    return (HloExpression(start.b, start.b.add(Opcode.IOTA, shape=shape, iota_dimension=0)) + start).reshape(sizes)


def _as_type(x: HloExpression, element_type: ElementType) -> HloExpression:
    """Reinterprets the low bits of words as an element type."""
    width = element_type.bit_width
    unsigned = ElementType(f"u{width}") if width >= 8 else element_type
    if x.shape.element_type is not unsigned:
        x = (x & ((1 << width) - 1)).astype(unsigned)
    return x if element_type is unsigned else x.bits(element_type)


def _three_fry(
    state: Sequence[HloExpression], sizes: Sequence[int], width: int
) -> tuple[list[HloExpression], HloExpression]:
    """Generates bits with Threefry; returns the new state and the bits.

    A counter gives one 64-bit number, or two smaller ones that are adjacent along the first dimension of even size (the
    largest dimension if none is even).
    """
    key_word, start = state

    def words(shape: Sequence[int]) -> tuple[HloExpression, HloExpression]:
        return three_fry_2x32(split(key_word), split(_counters(start, shape)))

    if width == 64:
        return [key_word, start + math.prod(sizes)], join(*words(sizes))
    if not sizes:
        return [key_word, start + 1], words((1,))[0].reshape(())
    even = [d for d, size in enumerate(sizes) if size % 2 == 0]
    axis = even[0] if even else max(range(len(sizes)), key=lambda d: (sizes[d], -d))
    half = list(sizes)
    half[axis] = (sizes[axis] + 1) // 2
    both = _concatenate([x.reshape([*half[: axis + 1], 1, *half[axis + 1 :]]) for x in words(half)], axis + 1)
    whole = both.reshape([*half[:axis], 2 * half[axis], *half[axis + 1 :]])
    return [key_word, start + math.prod(half)], _first(whole, axis, sizes[axis])


def _philox(
    state: Sequence[HloExpression], sizes: Sequence[int], width: int
) -> tuple[list[HloExpression], HloExpression]:
    """Generates bits with Philox; returns the new state and the bits.

    A counter of 128 bits gives four 32-bit words, or two 64-bit numbers, in row-major order.
    """
    key_word, start, *rest = state
    count = math.prod(sizes)
    blocks = ceil_div(count * (2 if width == 64 else 1), 4)
    low = _counters(start, (blocks,))
    # In a state of two words, the key is also the high half of the counter.
    high = (low < start).astype(ElementType.U64) + (rest[0] if rest else key_word)
    words = philox_4x32(split(key_word), (*split(low), *split(high)))
    last = start + blocks
    new = [key_word, last, *(n + (last < start).astype(ElementType.U64) for n in rest)]
    if width == 64:
        words = (join(words[0], words[1]), join(words[2], words[3]))
    flat = _concatenate([x.reshape((blocks, 1)) for x in words], 1).reshape((blocks * len(words),))
    return new, _first(flat, 0, count).reshape(sizes)

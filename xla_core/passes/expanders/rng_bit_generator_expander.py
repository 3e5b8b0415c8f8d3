"""rng_bit_generator_expander: expands counter-based random number generators to integer arithmetic.

Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", SC 2011. The bits are equal to those of the reference
evaluator, and counters are assigned to elements as in XLA. (XLA: xla/service/rng_bit_generator_expander.h.)
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from xla_core.hlo.attributes import SliceDimension
from xla_core.hlo.element_type import ElementType
from xla_core.hlo.instruction import HloInstruction
from xla_core.hlo.opcode import Opcode
from xla_core.hlo.shape import Shape
from xla_core.passes.expanders.expander import OpExpander
from xla_core.passes.rewriter import Builder

__all__ = ["RngBitGeneratorExpander"]

_U32, _U64 = ElementType.U32, ElementType.U64


class RngBitGeneratorExpander(OpExpander):
    """Expands Threefry-2x32 and Philox-4x32, which is also the default algorithm, for every element type of bits."""

    name = "rng-bit-generator-expander"
    opcodes = frozenset({Opcode.RNG_BIT_GENERATOR})

    def expand(self, instruction: HloInstruction, b: Builder) -> HloInstruction:
        w = _Words(b)
        state, bits = instruction.operands[0], instruction.shape.tuple_shapes[1]
        if not bits.num_elements:
            return b.add(Opcode.TUPLE, state, b.constant(0, bits))
        words = state.shape.num_elements * state.shape.element_type.bit_width // 64
        if state.shape.element_type is _U32:
            pairs = b.reshape(state, (words, 2))
            numbers = b.add(Opcode.BITCAST_CONVERT, pairs, shape=Shape(_U64, (words,)))
        else:
            numbers = state
        parts = [b.reshape(b.add(Opcode.SLICE, numbers, slice=(SliceDimension(n, n + 1),)), ()) for n in range(words)]
        generate = _three_fry if instruction.attributes["algorithm"] == "rng_three_fry" else _philox
        new, result = generate(w, parts, bits.dimensions, bits.element_type.bit_width)
        result = w.as_type(result, bits.element_type)
        whole = b.add(Opcode.CONCATENATE, *[b.reshape(n, (1,)) for n in new], dimensions=(0,))
        if state.shape.element_type is _U32:
            whole = b.add(Opcode.BITCAST_CONVERT, whole, shape=Shape(_U32, (words, 2)))
            whole = b.reshape(whole, (2 * words,))
        return b.add(Opcode.TUPLE, whole, b.reshape(result, bits.dimensions))


class _Words:
    """Arithmetic on arrays of 32-bit and 64-bit words."""

    def __init__(self, b: Builder) -> None:
        self.b = b

    def constant(self, value: int, like: HloInstruction) -> HloInstruction:
        return self.b.constant(value, like.shape)

    def to(self, x: HloInstruction, element_type: ElementType) -> HloInstruction:
        return self.b.convert(x, Shape(element_type))

    def split(self, x: HloInstruction) -> tuple[HloInstruction, HloInstruction]:
        """Splits 64-bit numbers into low and high 32-bit words."""
        high = self.b.add(Opcode.SHIFT_RIGHT_LOGICAL, x, self.constant(32, x))
        return self.to(x, _U32), self.to(high, _U32)

    def join(self, low: HloInstruction, high: HloInstruction) -> HloInstruction:
        high = self.to(high, _U64)
        return self.b.add(Opcode.OR, self.to(low, _U64), self.b.add(Opcode.SHIFT_LEFT, high, self.constant(32, high)))

    def add(self, x: HloInstruction, y: HloInstruction | int) -> HloInstruction:
        return self._binary(Opcode.ADD, x, y)

    def xor(self, x: HloInstruction, y: HloInstruction | int) -> HloInstruction:
        return self._binary(Opcode.XOR, x, y)

    def _binary(self, opcode: Opcode, x: HloInstruction, y: HloInstruction | int) -> HloInstruction:
        other = self.constant(y, x) if isinstance(y, int) else y
        rank, wide = max((x.shape.rank, x.shape.dimensions), (other.shape.rank, other.shape.dimensions))
        del rank
        left, right = (v if v.shape.dimensions == wide else self.b.broadcast(v, wide) for v in (x, other))
        return self.b.add(opcode, left, right)

    def rotate(self, x: HloInstruction, distance: int) -> HloInstruction:
        left = self.b.add(Opcode.SHIFT_LEFT, x, self.constant(distance, x))
        right = self.b.add(Opcode.SHIFT_RIGHT_LOGICAL, x, self.constant(32 - distance, x))
        return self.b.add(Opcode.OR, left, right)

    def counters(self, start: HloInstruction, sizes: Sequence[int]) -> HloInstruction:
        """An array of the numbers start, start + 1, ... in row-major order."""
        count = math.prod(sizes)
        numbers = self.b.add(Opcode.IOTA, shape=Shape(_U64, (count,)), iota_dimension=0)
        return self.b.reshape(self.add(numbers, start), sizes)

    def as_type(self, x: HloInstruction, element_type: ElementType) -> HloInstruction:
        """Reinterprets the low bits of words as an element type."""
        width = element_type.bit_width
        if width < 8:
            mask = self.constant((1 << width) - 1, x)
            return self.b.convert(self.b.add(Opcode.AND, x, mask), Shape(element_type))
        unsigned = {8: ElementType.U8, 16: ElementType.U16, 32: _U32, 64: _U64}[width]
        if x.shape.element_type is not unsigned:
            mask = self.constant((1 << width) - 1, x)
            x = self.to(self.b.add(Opcode.AND, x, mask), unsigned)
        if element_type is unsigned:
            return x
        return self.b.add(Opcode.BITCAST_CONVERT, x, shape=x.shape.without_layout().with_element_type(element_type))


_Pair = tuple[HloInstruction, HloInstruction]


def _three_fry_2x32(w: _Words, key: _Pair, counter: _Pair) -> _Pair:
    """Twenty rounds of Threefry-2x32."""
    keys = (*key, w.xor(w.xor(key[0], key[1]), 0x1BD11BDA))
    rotations = ((13, 15, 26, 6), (17, 29, 16, 24))
    x, y = w.add(counter[0], keys[0]), w.add(counter[1], keys[1])
    for group in range(5):
        for distance in rotations[group % 2]:
            x = w.add(x, y)
            y = w.xor(w.rotate(y, distance), x)
        x = w.add(x, keys[(group + 1) % 3])
        y = w.add(w.add(y, keys[(group + 2) % 3]), group + 1)
    return x, y


def _three_fry(
    w: _Words, state: Sequence[HloInstruction], sizes: Sequence[int], width: int
) -> tuple[list[HloInstruction], HloInstruction]:
    """Generates bits with Threefry; returns the new state and the bits.

    A counter gives one 64-bit number, or two smaller ones that are adjacent along the first dimension of even size (the
    largest dimension if none is even).
    """
    b, (key_word, start) = w.b, state
    key = w.split(key_word)

    def words(shape: Sequence[int]) -> _Pair:
        return _three_fry_2x32(w, key, w.split(w.counters(start, shape)))

    if width == 64:
        result = w.join(*words(sizes))
        return [key_word, w.add(start, math.prod(sizes))], result
    if not sizes:
        return [key_word, w.add(start, 1)], b.reshape(words((1,))[0], ())
    even = [d for d, size in enumerate(sizes) if size % 2 == 0]
    axis = even[0] if even else max(range(len(sizes)), key=lambda d: (sizes[d], -d))
    half = list(sizes)
    half[axis] = (sizes[axis] + 1) // 2
    apart = [*half[: axis + 1], 1, *half[axis + 1 :]]
    pair = [b.reshape(x, apart) for x in words(half)]
    both = b.add(Opcode.CONCATENATE, *pair, dimensions=(axis + 1,))
    whole = b.reshape(both, [*half[:axis], 2 * half[axis], *half[axis + 1 :]])
    if sizes[axis] % 2:
        kept = [SliceDimension(0, n) for n in sizes]
        whole = b.add(Opcode.SLICE, whole, slice=tuple(kept))
    return [key_word, w.add(start, math.prod(half))], whole


def _philox_4x32(w: _Words, key: _Pair, counter: Sequence[HloInstruction]) -> list[HloInstruction]:
    """Ten rounds of Philox-4x32."""
    first, second = key
    x = list(counter)
    for _ in range(10):
        low0, high0 = _multiply(w, x[0], 0xD2511F53)
        low1, high1 = _multiply(w, x[2], 0xCD9E8D57)
        x = [w.xor(w.xor(high1, x[1]), first), low1, w.xor(w.xor(high0, x[3]), second), low0]
        first, second = w.add(first, 0x9E3779B9), w.add(second, 0xBB67AE85)
    return x


def _multiply(w: _Words, x: HloInstruction, factor: int) -> _Pair:
    wide = w.to(x, _U64)
    return w.split(w.b.add(Opcode.MULTIPLY, wide, w.constant(factor, wide)))


def _philox(
    w: _Words, state: Sequence[HloInstruction], sizes: Sequence[int], width: int
) -> tuple[list[HloInstruction], HloInstruction]:
    """Generates bits with Philox; returns the new state and the bits.

    A counter of 128 bits gives four 32-bit words, or two 64-bit numbers, in row-major order.
    """
    b, key_word, start = w.b, state[0], state[1]
    key = w.split(key_word)
    count = math.prod(sizes)
    blocks = -(-count * (2 if width == 64 else 1) // 4)
    low = w.counters(start, (blocks,))
    carried = w.to(b.add(Opcode.COMPARE, low, b.broadcast(start, (blocks,)), direction="LT"), _U64)
    # In a state of two words, the key is also the high half of the counter.
    high = w.add(carried, state[2] if len(state) > 2 else key_word)
    words = _philox_4x32(w, key, [*w.split(low), *w.split(high)])
    last = w.add(start, blocks)
    new = [key_word, last]
    if len(state) > 2:
        new.append(w.add(state[2], w.to(b.add(Opcode.COMPARE, last, start, direction="LT"), _U64)))
    if width == 64:
        words = [w.join(words[0], words[1]), w.join(words[2], words[3])]
    columns = [b.reshape(x, (blocks, 1)) for x in words]
    flat = b.reshape(b.add(Opcode.CONCATENATE, *columns, dimensions=(1,)), (blocks * len(words),))
    if blocks * len(words) != count:
        flat = b.add(Opcode.SLICE, flat, slice=(SliceDimension(0, count),))
    return new, b.reshape(flat, sizes)

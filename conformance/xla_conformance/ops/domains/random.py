"""Domains of random bits and numbers.

A program of rng returns properties that don't depend on the single numbers: whether they are in their range, and
whether their mean, their spread and their neighbours fit the distribution within six standard deviations.
"""

from __future__ import annotations

import itertools
import math

import numpy as np

from xla_conformance.accuracy.real_functions.formats import epsilon
from xla_conformance.ops.choices import Choice, Group
from xla_conformance.ops.comparison import EXACT
from xla_conformance.ops.domain import domain
from xla_conformance.ops.fills import Fill, exactly
from xla_conformance.ops.program import Program, unsigned_type
from xla_conformance.ops.sizes import dimensions
from xla_core.hlo import ElementType, HloComputation, HloInstruction, Opcode, Shape, SliceDimension

_T = ElementType


@domain(
    Opcode.RNG_BIT_GENERATOR,
    rank=(2, 1, 3, Group(4, 6)),
    algorithm=("rng_three_fry", "rng_philox", "rng_default"),
    state=("u64[2]", "u64[3]", "u32[4]"),
    counter=("any", "low carries", "all carry"),
    types_in_turns=True,
)
def _rng_bit_generator(p: Program, c: Choice) -> HloInstruction:
    sizes = dimensions(c.rank, c.size, c.place, 1 << 16)
    form = "u64[2]" if c.algorithm == "rng_three_fry" and c.state == "u64[3]" else c.state
    state = p.parameter((int(form[4]),), ElementType(form[:3]), _state(c.counter))
    shape = Shape.tuple([state.shape, p.shape(sizes)])
    return p.add(Opcode.RNG_BIT_GENERATOR, state, shape=shape, algorithm=c.algorithm)


def _state(counter: str) -> Fill:
    """Makes a state whose counter, the words after the key, is about to carry from a word to the next."""

    def fill(shape: Shape, random: np.random.Generator) -> np.ndarray:
        words = np.frombuffer(random.bytes(shape.num_elements * shape.element_type.byte_width), np.uint32).copy()
        if counter != "any":
            words[2 : 3 if counter == "low carries" else None] = 0xFFFFFFFF
        return words.view(shape.dtype)

    return fill


_COUNT = 40_000


@domain(
    Opcode.RNG,
    rule=EXACT,
    types=[_T.F32, _T.F64, _T.BF16, _T.F16, _T.S8, _T.S16, _T.S32, _T.S64, _T.U8, _T.U16, _T.U32, _T.U64],
    sizes=(),
    bounds=((0, 1), (-4, 12), (100, 104), (0, 96), "wide"),
    form=((_COUNT,), (200, 200), (40, 10, 100), (65, 641)),
    pairs=False,
)
def _rng(p: Program, c: Choice) -> HloInstruction:
    """Returns preds that are true of almost all numbers that the distributions give."""
    low, high = _bounds(p.type, c.bounds)
    bounds = [p.parameter(fill=exactly(n)) for n in (low, high)]
    checks = []
    for distribution in ("rng_uniform", "rng_normal") if p.type.is_floating else ("rng_uniform",):
        shape = p.shape(c.form)
        flat = []
        for _ in range(2 if distribution == "rng_uniform" else 1):
            made = p.add(Opcode.RNG, *bounds, shape=shape, distribution=distribution)
            flat.append(p.add(Opcode.RESHAPE, p.add(Opcode.OPT_BARRIER, made), shape=p.shape((shape.num_elements,))))
        numbers = p.add(Opcode.CONVERT, flat[0], shape=Shape(_T.F32, (shape.num_elements,)))
        checks += [_takes_all_bits(p, flat[0]), *(_differ(p, flat[0], other) for other in flat[1:])]
        step = epsilon(p.type) * max(abs(low), abs(high))
        if distribution == "rng_normal":
            checks += _checks(p, numbers, low, float(high) ** 2, step)
            continue
        whole = not p.type.is_floating
        checks += _checks(p, numbers, (low + high - whole) / 2, ((high - low) ** 2 - whole) / 12, step)
        checks += _in_bounds(p, numbers, low, high, step)
    return p.add(Opcode.TUPLE, *checks)


def _bounds(element: ElementType, bounds: tuple[int, int] | str) -> tuple[int, int]:
    """Returns bounds that an element type has. Wide ones of integers are half of the range."""
    if isinstance(bounds, str) and element.is_floating:
        return -512, 512
    if element.is_floating:
        return int(bounds[0]), int(bounds[1])
    if isinstance(bounds, str):
        quarter = 1 << (element.bit_width - 2)
        return (0, 2 * quarter) if element.is_unsigned else (-quarter, quarter)
    return max(bounds[0], 0 if element.is_unsigned else bounds[0]), bounds[1] + 7


def _checks(p: Program, numbers: HloInstruction, mean: float, variance: float, step: float) -> list[HloInstruction]:
    """Adds whether the mean, the spread and the likeness of neighbours are right, for numbers rounded to a step."""
    count, shape = numbers.shape.num_elements, numbers.shape
    centered = p.add(Opcode.SUBTRACT, numbers, p.entry.constant(_f32(mean), shape))
    scaled = p.add(Opcode.MULTIPLY, centered, p.entry.constant(_f32(1 / math.sqrt(variance)), shape))
    squares = p.add(Opcode.MULTIPLY, scaled, scaled)
    turned = p.add(Opcode.CONCATENATE, *_cut(p, scaled), dimensions=(0,))
    margin = 6 / math.sqrt(count) + 0.02 + step / math.sqrt(variance)
    return [
        _near(p, _mean(p, scaled), 0, margin),
        _near(p, _mean(p, squares), 1, 2 * margin),
        _near(p, _mean(p, p.add(Opcode.MULTIPLY, scaled, turned)), 0, margin),
    ]


_LOW_BITS = 3


def _differ(p: Program, first: HloInstruction, second: HloInstruction) -> HloInstruction:
    """Adds whether two draws have other numbers, as the state advances between them."""
    other = p.add(Opcode.COMPARE, first, second, direction="NE")
    ones = p.add(Opcode.CONVERT, other, shape=Shape(_T.F32, other.shape.dimensions))
    return p.add(Opcode.COMPARE, _mean(p, ones), p.entry.constant(_f32(0.5)), direction="GT")


def _takes_all_bits(p: Program, numbers: HloInstruction) -> HloInstruction:
    """Adds whether the last bits but a few of the numbers vary: each number is a multiple of few of the type's steps.

    For floats, these are the bits of a number of full precision in [0, 1); all but the largest numbers have more.
    """
    element, unsigned = p.type, unsigned_type(p.type)
    bits = p.add(Opcode.BITCAST_CONVERT, numbers, shape=numbers.shape.with_element_type(unsigned))
    last = _LOW_BITS if element.is_floating else 1
    mask = p.entry.constant(np.asarray((1 << last) - 1).astype(unsigned.dtype), bits.shape)
    kept = p.add(Opcode.AND, bits, mask)
    zero = p.entry.constant(np.asarray(0).astype(unsigned.dtype), bits.shape)
    other = p.add(Opcode.COMPARE, kept, zero, direction="NE")
    ones = p.add(Opcode.CONVERT, other, shape=Shape(_T.F32, other.shape.dimensions))
    return p.add(Opcode.COMPARE, _mean(p, ones), p.entry.constant(_f32(0.2)), direction="GT")


def _in_bounds(p: Program, numbers: HloInstruction, low: int, high: int, step: float) -> list[HloInstruction]:
    """Adds whether all numbers are in their range, and some in the outer five-hundredth of it at both ends."""
    checks = []
    margin = max((high - low) / 500, step, 1.0 if not p.type.is_floating else 0.0)
    inside = (Opcode.MINIMUM, math.inf, low, low + margin), (Opcode.MAXIMUM, -math.inf, high - margin, high)
    for opcode, start, least, most in inside:

        def end(made: HloComputation, a: HloInstruction, b: HloInstruction, opcode: Opcode = opcode) -> HloInstruction:
            return made.add(opcode, a, b)

        ends = p.computation(opcode.value, [_T.F32, _T.F32], end)
        found = p.add(Opcode.REDUCE, numbers, p.entry.constant(_f32(start)), dimensions=(0,), to_apply=ends)
        checks.append(p.add(Opcode.COMPARE, found, p.entry.constant(_f32(least)), direction="GE"))
        is_exact = p.type.bit_width <= (32 if p.type.is_floating else 16)  # others may round to the bound in f32
        below = "LT" if is_exact and opcode is Opcode.MAXIMUM else "LE"
        checks.append(p.add(Opcode.COMPARE, found, p.entry.constant(_f32(most)), direction=below))
    return checks


def _f32(value: float) -> np.float32:
    return np.float32(value)


def _cut(p: Program, numbers: HloInstruction) -> list[HloInstruction]:
    """Returns the parts that put together are the numbers, each at its neighbour's place."""
    count = numbers.shape.num_elements
    parts = (SliceDimension(1, count), SliceDimension(0, 1))
    return [p.add(Opcode.SLICE, numbers, slice=(part,)) for part in parts]


def _mean(p: Program, numbers: HloInstruction) -> HloInstruction:
    """Adds the mean, as a sum of sums, which rounds less."""
    count = numbers.shape.num_elements
    plus = p.computation("plus", [_T.F32, _T.F32], lambda made, a, b: made.add(Opcode.ADD, a, b))
    total = p.add(Opcode.REDUCE, numbers, p.entry.constant(_f32(0)), dimensions=(0,), to_apply=plus)
    return p.add(Opcode.DIVIDE, total, p.entry.constant(_f32(count)))


def _near(p: Program, value: HloInstruction, wanted: float, margin: float) -> HloInstruction:
    apart = p.add(Opcode.ABS, p.add(Opcode.SUBTRACT, value, p.entry.constant(_f32(wanted))))
    return p.add(Opcode.COMPARE, apart, p.entry.constant(_f32(margin)), direction="LE")


@domain(Opcode.RNG_GET_AND_UPDATE_STATE, types=(_T.U64,), sizes=(), delta=(1, 0, 2, 7, 64, 1 << 40), count=(2, 3))
def _rng_get_and_update_state(p: Program, c: Choice) -> HloInstruction:
    """Returns by how much the state advances from one use to the next."""
    states: list[HloInstruction] = []
    for number in range(c.count):
        made = p.add(Opcode.RNG_GET_AND_UPDATE_STATE, shape=p.shape((2,)), delta=c.delta + 3 * number)
        made.control_predecessors = states[-1:]
        states.append(made)
    pairs = itertools.pairwise(states)
    return p.add(Opcode.TUPLE, *(p.add(Opcode.SUBTRACT, after, before) for before, after in pairs))

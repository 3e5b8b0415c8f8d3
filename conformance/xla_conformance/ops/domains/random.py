"""Domains of random bits and numbers.

A program of rng gives what doesn't depend on the numbers: whether they are in their range, and whether their mean,
their spread and their neighbours are what the distribution says, within six standard deviations.
"""

from __future__ import annotations

import itertools
import math

import numpy as np

from xla_conformance.ops.choices import Choice
from xla_conformance.ops.comparison import EXACT
from xla_conformance.ops.domain import domain
from xla_conformance.ops.fills import Fill, exactly
from xla_conformance.ops.program import Program
from xla_conformance.ops.sizes import dimensions
from xla_core.hlo import ElementType, HloInstruction, Opcode, Shape, SliceDimension

__all__: list[str] = []

_T = ElementType


@domain(
    Opcode.RNG_BIT_GENERATOR,
    rank=(2, 1, 3, 4),
    algorithm=("rng_three_fry", "rng_philox", "rng_default"),
    state=("u64[2]", "u64[3]", "u32[4]"),
    counter=("any", "low carries", "all carry"),
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
    distribution=("rng_uniform", "rng_normal"),
    bounds=((0, 1), (-4, 12), (100, 104), (0, 96)),
    form=((_COUNT,), (200, 200), (40, 10, 100), (65, 641)),
    pairs=False,
)
def _rng(p: Program, c: Choice) -> HloInstruction:
    """Returns preds that are true of almost all numbers that the distribution gives."""
    normal = c.distribution == "rng_normal" and p.type.is_floating
    low, high = c.bounds
    if not p.type.is_floating:
        low, high = max(low, 0 if p.type.is_unsigned else low), high + 7
    first, second = p.parameter(fill=exactly(low)), p.parameter(fill=exactly(high))
    shape = p.shape(c.form)
    made = p.add(Opcode.RNG, first, second, shape=shape, distribution=c.distribution if normal else "rng_uniform")
    count = shape.num_elements
    flat = p.add(Opcode.RESHAPE, p.add(Opcode.OPT_BARRIER, made), shape=p.shape((count,)))
    numbers = p.add(Opcode.CONVERT, flat, shape=Shape(_T.F32, (count,)))
    mean = low if normal else (low + high - (not p.type.is_floating)) / 2
    width = high - low
    variance = float(high) ** 2 if normal else (width**2 - (not p.type.is_floating)) / 12
    return p.add(Opcode.TUPLE, *_checks(p, numbers, mean, variance, (None, None) if normal else (low, high)))


def _checks(
    p: Program, numbers: HloInstruction, mean: float, variance: float, bounds: tuple[float | None, float | None]
) -> list[HloInstruction]:
    count, shape = numbers.shape.num_elements, numbers.shape
    centered = p.add(Opcode.SUBTRACT, numbers, p.entry.constant(_f32(mean), shape))
    scaled = p.add(Opcode.MULTIPLY, centered, p.entry.constant(_f32(1 / math.sqrt(variance)), shape))
    squares = p.add(Opcode.MULTIPLY, scaled, scaled)
    turned = p.add(Opcode.CONCATENATE, *_cut(p, scaled), dimensions=(0,))
    margin = 6 / math.sqrt(count) + 0.02  # and the rounding of narrow types
    checks = [
        _near(p, _mean(p, scaled), 0, margin),
        _near(p, _mean(p, squares), 1, 2 * margin),
        _near(p, _mean(p, p.add(Opcode.MULTIPLY, scaled, turned)), 0, margin),
    ]
    low, high = bounds
    if low is not None and high is not None:
        above = p.add(Opcode.COMPARE, numbers, p.entry.constant(_f32(low), shape), direction="GE")
        below = p.add(Opcode.COMPARE, numbers, p.entry.constant(_f32(high), shape), direction="LT")
        inside = p.add(Opcode.AND, above, below)
        every = p.computation("every", [_T.PRED, _T.PRED], lambda made, a, b: made.add(Opcode.AND, a, b))
        checks.append(p.add(Opcode.REDUCE, inside, p.entry.constant(True), dimensions=(0,), to_apply=every))
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

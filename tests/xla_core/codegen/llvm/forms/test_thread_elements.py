"""Elements that the threads of a grid compute: vectors, rows of one thread, and 32-bit indices."""

from __future__ import annotations

import functools
import re

import numpy as np
import pytest

from tests.xla_core.codegen.llvm.kernels import (
    Loaded,
    array,
    assert_same,
    f32,
    fuse,
    host_abi,
    random_array,
    scalar,
    single_elements,
)
from xla_core.codegen.llvm import LoopAbi
from xla_core.hlo import HloComputation, HloInstruction
from xla_core.hlo.evaluator import evaluate_computation
from xla_core.hlo.table.attributes import PaddingDimension, SliceDimension
from xla_core.hlo.values.element_type import ElementType as T
from xla_core.hlo.values.shape import Shape
from xla_core.target import ParallelModel

GRID = ParallelModel(units=1, resident_threads=48, index_bits=32)
"""A device so small that its threads go from row to row."""


def scaled(c: HloComputation, x: HloInstruction, s: HloInstruction) -> HloInstruction:
    wide = c.add("broadcast", s, shape=x.shape, dimensions=(x.shape.rank - 1,))
    return c.add("multiply", x, wide)


def scaled_rows(c: HloComputation, x: HloInstruction, s: HloInstruction) -> HloInstruction:
    return c.add("multiply", x, c.add("broadcast", s, shape=x.shape, dimensions=(0,)))


def compared(c: HloComputation, x: HloInstruction, y: HloInstruction) -> list[HloInstruction]:
    """Roots of several types, one of them of other dimensions."""
    narrow = c.add("convert", x, shape=Shape.array(T.BF16, x.shape.dimensions))
    flat = c.add("reshape", c.add("abs", y), shape=f32(x.shape.num_elements))
    return [c.add("compare", x, y, direction="LT"), narrow, c.add("add", x, y), flat]


def joined(c: HloComputation, x: HloInstruction, y: HloInstruction) -> HloInstruction:
    return c.add("concatenate", c.add("negate", x), y, dimensions=(1,))


def padded(c: HloComputation, x: HloInstruction) -> HloInstruction:
    edges = (PaddingDimension(1, 0), PaddingDimension(4, 3))
    return c.add("negate", c.add("pad", x, scalar(c, 1), padding=edges))


def sliced(c: HloComputation, x: HloInstruction) -> HloInstruction:
    return c.add("negate", c.add("slice", x, slice=(SliceDimension(1, 30, 1), SliceDimension(3, 64, 2))))


def same(c: HloComputation, x: HloInstruction) -> HloInstruction:
    return c.add("not" if x.shape.element_type is T.PRED else "negate", x)


def load(instruction: HloInstruction, model: ParallelModel = GRID) -> Loaded:
    host = host_abi()
    abi = LoopAbi(host.triple, host.cpu, host.features, parallel=model)
    return Loaded(instruction, abi, opt_level=1, planner=single_elements())


CASES = {
    "a vector for all rows": (scaled, f32(40, 64), f32(64)),
    "a vector for all rows of odd length": (scaled, f32(40, 63), f32(63)),
    "a vector for all of two dimensions": (scaled, f32(5, 8, 64), f32(64)),
    "a scalar for each row": (scaled_rows, f32(33, 64), f32(33)),
    "roots of several types": (compared, f32(32, 64), f32(32, 64)),
    "parts": (joined, f32(32, 64), f32(32, 20)),
    "padding": (padded, f32(32, 64)),
    "strides": (sliced, f32(32, 64)),
    **{t.value: (same, array(t, 37, 64)) for t in (T.BF16, T.F16, T.S8, T.PRED, T.F64, T.C64, T.C128, T.U4, T.S64)},
    "one element": (same, f32()),
    "a prime number of elements": (same, f32(2039)),
}


@pytest.mark.parametrize("name", CASES)
def test_results_are_the_evaluators(name: str) -> None:
    build, *shapes = CASES[name]
    instruction = fuse(build, *shapes)
    arguments = [random_array(s, n) for n, s in enumerate(shapes)]
    got = load(instruction)(*arguments)
    for result, want in zip(got, evaluate_computation(instruction.attribute("calls"), arguments), strict=True):
        assert_same(result, np.asarray(want), 0)


@pytest.mark.parametrize(
    ("name", "loads", "stores", "plan"),
    [
        ("a vector for all rows", ["<4 x float>"] * 2, ["<4 x float>"], "; 40 rows of 64, 14 x 4 elements a thread"),
        ("a vector for all rows of odd length", ["float"] * 2, ["float"], "; 40 rows of 63, 40 x 1 elements a thread"),
        (
            "a scalar for each row",
            ["float", "<4 x float>"],
            ["<4 x float>"],
            "; 33 rows of 64, 11 x 4 elements a thread",
        ),
        ("parts", ["<4 x float>"] * 2, ["<4 x float>"] * 2, None),
        ("bf16", ["<8 x i16>"], ["<8 x i16>"], None),
        ("s8", ["<16 x i8>"], ["<16 x i8>"], None),
        ("pred", ["<16 x i8>"], ["<16 x i8>"], None),
        ("c64", ["<4 x float>"], ["<4 x float>"], None),
        ("c128", ["double", "double"], ["double", "double"], None),
        ("a prime number of elements", ["float"], ["float"], None),
    ],
)
def test_neighbours_are_loaded_and_stored_at_once(
    name: str, loads: list[str], stores: list[str], plan: str | None
) -> None:
    build, *shapes = CASES[name]
    loaded = load(fuse(build, *shapes))
    assert sorted(re.findall(r"= load (.*), ptr %\w+, align \d+, !(?:alias|noalias)", loaded.text)) == sorted(loads)
    assert sorted(re.findall(r"store (.*) %\w+, ptr", loaded.text)) == sorted(stores)
    assert plan is None or loaded.kernel.plan.endswith(plan)


def test_a_thread_loads_what_all_its_rows_need_once() -> None:
    """The vector is loaded before the loop over rows."""
    before, _, body = load(fuse(scaled, f32(40, 64), f32(64))).text.partition("\nrow.body")
    assert before.count("load <4 x float>") == body.count("load <4 x float>") == 1


def test_an_operand_in_the_results_buffer_is_read_first() -> None:
    instruction = fuse(scaled, f32(40, 64), f32(64))
    host = host_abi()
    abi = LoopAbi(host.triple, host.cpu, host.features, parallel=GRID)
    x, s = random_array(f32(40, 64)), random_array(f32(64), 1)
    (got,) = Loaded(instruction, abi, aliasing={(0, 0)}, planner=single_elements())(x.copy(), s)
    np.testing.assert_array_equal(got, x * s)


def test_a_large_body_is_not_repeated_for_each_lane() -> None:
    def chain(c: HloComputation, x: HloInstruction) -> HloInstruction:
        return functools.reduce(lambda value, _: c.add("sine", value), range(400), x)

    assert " x 1 elements a thread" in load(fuse(chain, f32(4096))).kernel.plan

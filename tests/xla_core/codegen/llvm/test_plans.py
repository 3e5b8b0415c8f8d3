"""The plan of a kernel, in words."""

from __future__ import annotations

import numpy as np
import pytest

from tests.xla_core.codegen.llvm.kernels import Loaded, emit, f32, fuse, host_abi, random_array, scalar, scalar_body
from xla_core.codegen.llvm import LoopAbi
from xla_core.hlo import HloComputation, HloInstruction
from xla_core.hlo.table.attributes import PaddingDimension
from xla_core.target import ParallelModel


def transposed(c: HloComputation, x: HloInstruction) -> HloInstruction:
    return c.add("transpose", x, dimensions=(1, 0))


def padded(c: HloComputation, x: HloInstruction) -> HloInstruction:
    edges = (PaddingDimension(0, 0), PaddingDimension(2, 3))
    return c.add("negate", c.add("pad", x, scalar(c, 1), padding=edges))


def summed(c: HloComputation, x: HloInstruction) -> HloInstruction:
    return c.add("reduce", x, scalar(c, 0), dimensions=(0,), to_apply=scalar_body("add"))


@pytest.mark.parametrize(
    ("build", "plan"),
    [
        (transposed, "loop: 8 units; loops 64 (tiled) x 128 (tiled)"),
        (padded, "loop: 128 units; loops 128 x 69 (cut at 2, 66)"),
        (summed, "tiles: 1 unit; loops 1 x 64, of which the last is accumulated in tiles of 64"),
    ],
)
def test_plans_name_form_units_and_loops(build, plan: str) -> None:
    assert emit(fuse(build, f32(128, 64)))[0].plan == plan


@pytest.mark.parametrize(("columns", "units"), [(300, 1), (600, 2), (2048, 8)])
def test_tiles_read_long_pieces_of_rows(columns: int, units: int) -> None:
    assert emit(fuse(summed, f32(128, columns)))[0].partition_count == units


def test_the_plan_of_a_grid() -> None:
    flat = LoopAbi(host_abi().triple, parallel=ParallelModel(threads=64))
    assert emit(fuse(transposed, f32(128, 64)), flat)[0].plan.startswith("thread elements: ")


def test_loops_over_multiples_of_the_grain_have_no_rest() -> None:
    """LLVM otherwise writes a loop of shorter vectors and a loop of single elements behind the loop of vectors."""
    whole, rest = (Loaded(fuse(lambda c, x: c.add("negate", x), f32(count))) for count in (4096, 4099))
    assert whole.compiled.ir().count("fneg float") == 0
    assert rest.compiled.ir().count("fneg float") > 0
    for kernel, count in ((whole, 4096), (rest, 4099)):
        x = random_array(f32(count))
        for parts in (1, 3, 7):
            np.testing.assert_array_equal(kernel(x, parts=parts)[0], -x)

"""Fusion puts no reduction where it is computed again for each element, at a cost that the fusion does not save."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

import xla_core as xla
from tests.xla_core.codegen.llvm.loop_counts import reduction_steps
from xla_core.hlo import HloInstruction, HloModule, Opcode
from xla_core.target import FusionCosts

PROGRAMS = sorted(Path("tests/programs/text").glob("*.mlir")) + sorted(Path("benchmarks/programs").glob("*.mlir"))

SUM = """add {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT s = f32[] add(a, b)
}
"""

NORM = """
  zero = f32[] constant(0)
  square = f32[{shape}] multiply(x, x)
  sum = f32[{kept}] reduce(square, zero), dimensions={{{reduced}}}, to_apply=add
  scale = f32[{kept}] rsqrt(sum)
  scales = f32[{shape}] broadcast(scale), dimensions={{{dimensions}}}
  y = f32[{shape}] multiply(x, scales)
"""
IMAGES = NORM.format(shape="2,8,8,8", kept="2", reduced="1,2,3", dimensions="0")
ROWS = NORM.format(shape="64,200", kept="64", reduced="1", dimensions="0")

CASES = {
    "a pad of an inner dimension": (
        "2,8,8,8",
        f"{IMAGES} ROOT r = f32[2,10,10,8] pad(y, zero), padding=0_0x1_1x1_1x0_0",
    ),
    "a pad of rows": ("64,200", f"{ROWS} ROOT r = f32[66,204] pad(y, zero), padding=1_1x2_2"),
    "a part of a concatenation that is no result": (
        "64,200",
        f"{ROWS} c = f32[64,400] concatenate(y, x), dimensions={{1}}\n ROOT r = f32[64,400] exponential(c)",
    ),
    "a bias along a loop that divides the work": (
        "8,100,32",
        NORM.format(shape="8,100,32", kept="8", reduced="1,2", dimensions="0")
        + """ bias = f32[100] parameter(1)
  biases = f32[8,100,32] broadcast(bias), dimensions={1}
  ROOT r = f32[8,100,32] add(y, biases)""",
    ),
    "a transpose": ("64,200", f"{ROWS} ROOT r = f32[200,64] transpose(y), dimensions={{1,0}}"),
}


def _fusions(module: HloModule) -> Iterator[HloInstruction]:
    for computation in module.computations:
        yield from (i for i in computation.instructions if i.opcode == Opcode.FUSION)


def _check(program: str) -> None:
    costs = FusionCosts()
    for fusion in _fusions(xla.parse(xla.Client("cpu").compile(program).as_text())):
        reductions = [i for i in fusion.attribute("calls").instructions if i.opcode == Opcode.REDUCE]
        if not reductions:
            continue
        needed = sum(i.operand(0).shape.num_elements for i in reductions)
        saved = len(reductions) * costs.kernel + costs.byte * sum(
            leaf.byte_size for i in reductions for leaf in i.shape.leaves()
        )
        steps = reduction_steps(fusion)
        assert steps <= 2 * needed + saved, f"{fusion.name}: {steps} steps for {needed} elements"


@pytest.mark.parametrize(("shape", "lines"), CASES.values(), ids=CASES)
def test_a_reduction_is_not_computed_for_each_element(shape: str, lines: str) -> None:
    _check(f"HloModule m\n{SUM}\nENTRY e {{\n  x = f32[{shape}] parameter(0)\n{lines}\n}}\n")


@pytest.mark.slow
@pytest.mark.parametrize("path", PROGRAMS, ids=lambda path: path.stem)
def test_programs_compute_their_reductions_once(path: Path) -> None:
    _check(path.read_text(encoding="utf-8"))

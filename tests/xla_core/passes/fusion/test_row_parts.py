"""Kernels that reduce rows and the columns of their parts: how the rows are divided, and what is merged."""

from __future__ import annotations

import numpy as np
import pytest

from xla_core.analysis.indexing import reduced_rows
from xla_core.hlo.evaluator import evaluate
from xla_core.hlo.ir.fused import fused_roots
from xla_core.hlo.ir.instruction import HloInstruction
from xla_core.hlo.ir.module import HloModule
from xla_core.hlo.parsing.parser import parse_hlo
from xla_core.hlo.verifier import verify
from xla_core.passes import create_pass
from xla_core.passes.fusion import FusionPolicy
from xla_core.target import ParallelModel

MODEL = ParallelModel(threads=64, lanes=4, units=32, registers=8, split_reduction_elements=256)
"""Blocks keep 512 values, and 4 parts are enough for the device."""

SUM = "sum {\n a = f32[] parameter(0)\n b = f32[] parameter(1)\n ROOT c = f32[] add(a, b)\n}\n"


def program(body: str, rows: int = 64, columns: int = 16) -> HloModule:
    text = f"""HloModule m
{SUM}ENTRY e {{
  x = f32[$R,$C] parameter(0)
  zero = f32[] constant(0)
{body}
}}
"""
    return parse_hlo(text.replace("$R", str(rows)).replace("$C", str(columns)))


ROWS = """  s = f32[$R] reduce(x, zero), dimensions={1}, to_apply=sum
  wide = f32[$R,$C] broadcast(s), dimensions={0}
  y = f32[$R,$C] subtract(x, wide)
"""
COLUMNS = """  t = f32[$C] reduce(y, zero), dimensions={0}, to_apply=sum
  ROOT r = (f32[$R,$C], f32[$C]) tuple(y, t)
"""
BESIDE = """  z = f32[$R,$C] multiply(x, x)
  t = f32[$C] reduce(z, zero), dimensions={0}, to_apply=sum
  ROOT r = (f32[$R,$C], f32[$C]) tuple(y, t)
"""
UNUSED = """  t = f32[$C] reduce(y, zero), dimensions={0}, to_apply=sum
  ROOT r = (f32[$R], f32[$C]) tuple(s, t)
"""


def fused(module: HloModule, model: ParallelModel = MODEL) -> list[HloInstruction]:
    """Divides and fuses a module, and returns its kernels. The results stay the same."""
    x = np.random.default_rng(0).integers(-4, 4, module.parameter_shapes[0].dimensions).astype(np.float32)
    expected = evaluate(module, x)
    policy = FusionPolicy(parallel=model)
    for made in (
        create_pass("reduction-splitter", parallel=model),
        create_pass("instruction-fusion", policy=policy),
        create_pass("multi-output-fusion", policy=policy),
    ):
        made.run(module)
        verify(module)
    for got, want in zip(evaluate(module, x), expected, strict=True):
        assert np.array_equal(got, want)
    return [i for i in module.entry.post_order() if i.opcode in ("fusion", "reduce")]


def reduces_both(kernel: HloInstruction) -> bool:
    """Whether a kernel reduces rows and columns."""
    members = kernel.attribute("calls").instructions if kernel.opcode == "fusion" else [kernel]
    return len({rows.inner > 1 for rows in map(reduced_rows, members) if rows is not None}) > 1


def results(kernel: HloInstruction) -> list[str]:
    return sorted(f"{root.opcode} {list(root.shape.dimensions)}" for root in fused_roots(kernel))


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (ROWS + COLUMNS, ["reduce [8, 16]", "subtract [64, 16]"]),
        (ROWS + BESIDE, ["reduce [8, 16]", "subtract [64, 16]"]),
        (ROWS + UNUSED, ["reduce [64]", "reduce [8, 16]"]),
    ],
)
def test_the_kernel_of_the_rows_reduces_their_columns(body: str, expected: list[str]) -> None:
    first, second = fused(program(body))
    assert reduces_both(first)
    assert results(first) == expected
    assert results(second) == ["reduce [16]"]


@pytest.mark.parametrize(("rows", "parts"), [(64, 8), (72, 9), (40, 5), (2048, 32), (99, 11)])
def test_parts_have_eight_rows_or_more_and_are_no_more_than_fill_the_device(rows: int, parts: int) -> None:
    first, _ = fused(program(ROWS + COLUMNS, rows))
    assert f"reduce [{parts}, 16]" in results(first)


@pytest.mark.parametrize(
    ("rows", "columns"),
    [
        (24, 16),  # three parts of eight rows are too few
        (61, 16),  # there are no equal parts
        (64, 512),  # a block can't keep a row and a column's sum
    ],
)
def test_other_columns_have_a_kernel_of_their_own(rows: int, columns: int) -> None:
    assert not any(map(reduces_both, fused(program(ROWS + COLUMNS, rows, columns))))


def test_rows_that_depend_on_all_columns_are_another_kernel() -> None:
    body = """  t = f32[$C] reduce(x, zero), dimensions={0}, to_apply=sum
  wide = f32[$R,$C] broadcast(t), dimensions={1}
  y = f32[$R,$C] subtract(x, wide)
  s = f32[$R] reduce(y, zero), dimensions={1}, to_apply=sum
  ROOT r = (f32[$R,$C], f32[$R]) tuple(y, s)
"""
    assert not any(map(reduces_both, fused(program(body))))


def test_a_target_without_blocks_has_no_such_kernels() -> None:
    kernels = fused(program(ROWS + COLUMNS), ParallelModel(split_reduction_elements=256))
    assert not any(root.shape.dimensions == (8, 16) for k in kernels for root in fused_roots(k))

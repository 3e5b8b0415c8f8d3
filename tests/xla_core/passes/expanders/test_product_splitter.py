from __future__ import annotations

import numpy as np
import pytest

from xla_core.hlo.evaluator import evaluate
from xla_core.hlo.ir.module import HloModule
from xla_core.hlo.parsing.parser import parse_hlo
from xla_core.hlo.values.element_type import ElementType
from xla_core.hlo.verifier import verify
from xla_core.passes import create_pass
from xla_core.target import FusionCosts, ParallelModel

DEVICE = ParallelModel(units=512, threads=1024, lanes=32)


def _split(text: str, parallel: ParallelModel = DEVICE) -> HloModule:
    module = parse_hlo(f"HloModule m\nENTRY e {{\n{text}\n}}\n")
    create_pass("product-splitter", parallel=parallel, costs=FusionCosts(kernel=1e5, byte=8.0)).run(module)
    verify(module)
    return module


def _product(rows: int, columns: int, depth: int, operand: str = "f32", result: str = "f32") -> str:
    return f"""x = {operand}[{rows},{depth}] parameter(0)
  y = {operand}[{depth},{columns}] parameter(1)
  ROOT d = {result}[{rows},{columns}] dot(x, y), lhs_contracting_dims={{1}}, rhs_contracting_dims={{0}}"""


def _opcodes(module: HloModule) -> list[str]:
    return [i.opcode for i in module.entry.post_order() if i.opcode not in ("parameter", "constant")]


@pytest.mark.parametrize(
    ("rows", "columns", "depth", "parts"),
    [
        (32, 32, 65536, 128),
        (32, 32, 1024, 8),  # a part has at least 128 terms
        (64, 64, 32768, 32),  # four tiles
        (32, 32, 37 * 1024, 128),
        (32, 32, 7 * 4001, 7),  # the only divisor
        (32, 32, 32771, 1),  # a prime
        (32, 32, 128, 1),
        (4096, 4096, 65536, 1),  # enough tiles
    ],
)
def test_long_sums_of_few_results_are_divided(rows: int, columns: int, depth: int, parts: int) -> None:
    module = _split(_product(rows, columns, depth))
    assert _opcodes(module) == (["reshape", "reshape", "dot", "reduce"] if parts > 1 else ["dot"])
    if parts > 1:
        (dot,) = (i for i in module.entry.instructions if i.opcode == "dot")
        assert dot.shape.dimensions == (parts, rows, columns)


def test_a_target_without_blocks_keeps_the_product() -> None:
    assert _opcodes(_split(_product(32, 32, 65536), ParallelModel())) == ["dot"]


def test_sums_of_parts_are_rounded_once() -> None:
    module = _split(_product(32, 32, 65536, "bf16", "bf16"))
    assert _opcodes(module) == ["reshape", "reshape", "dot", "reduce", "convert"]
    assert all(
        i.shape.element_type is ElementType.F32 for i in module.entry.instructions if i.opcode in ("dot", "reduce")
    )


def test_batches_and_several_contracting_dimensions_keep_their_order() -> None:
    text = """x = f32[3,512,2,4,5] parameter(0)
  y = f32[4,2,6,3,512] parameter(1)
  ROOT d = f32[4,2,5,6] dot(x, y), lhs_batch_dims={3,2}, rhs_batch_dims={0,1}, lhs_contracting_dims={0,1},
    rhs_contracting_dims={3,4}"""
    module = _split(text.replace(",\n    rhs", ", rhs"))
    (dot,) = (i for i in module.entry.instructions if i.opcode == "dot")
    assert dot.shape.dimensions == (4, 2, 8, 5, 6)
    rng = np.random.default_rng(0)
    arguments = [rng.integers(-3, 4, p.shape.dimensions).astype(np.float32) for p in module.entry.parameters]
    np.testing.assert_array_equal(evaluate(module, *arguments)[0], np.einsum("kjbac,abdkj->abcd", *arguments))


def test_a_product_without_sums_stays() -> None:
    text = """x = f32[4096,2,5] parameter(0)
  y = f32[4096,4] parameter(1)
  ROOT d = f32[4096,2,5,4] dot(x, y), lhs_batch_dims={0}, rhs_batch_dims={0}, lhs_contracting_dims={}, rhs_contracting_dims={}"""
    assert _opcodes(_split(text)) == ["dot"]

"""Composites that JAX's portable artifacts have in place of ops of CHLO are lowered as those ops."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import xla_core as xla
from xla_core.hlo import Opcode

jax = pytest.importorskip("jax")
export = pytest.importorskip("jax.export")
lax = jax.lax

X = np.linspace(1.25, 2, 8, dtype=np.float32)
OPS: dict[Opcode, Callable[[Any], Any]] = {
    Opcode.ACOS: lambda x: lax.acos(x - 1),
    Opcode.ACOSH: lax.acosh,
    Opcode.ASIN: lambda x: lax.asin(x - 1),
    Opcode.ASINH: lax.asinh,
    Opcode.ATANH: lambda x: lax.atanh(x - 1.1),
    Opcode.COSH: lax.cosh,
    Opcode.ERF: lax.erf,
    Opcode.SINH: lax.sinh,
    Opcode.TOPK: lambda x: lax.top_k(x, 3),
}


@pytest.mark.parametrize("opcode", OPS, ids=str)
def test_an_exported_program_has_the_op(opcode: Opcode) -> None:
    exported = export.export(jax.jit(OPS[opcode]))(X)
    module = xla.parse(exported.mlir_module_serialized)
    opcodes = [i.opcode for c in module.computations for i in c.instructions]
    assert opcodes.count(opcode) == 1
    assert Opcode.CALL not in opcodes
    for ours, theirs in zip(xla.evaluate(module, X), jax.tree.leaves(jax.jit(exported.call)(X)), strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-6)


def test_another_release_of_an_op_is_its_decomposition() -> None:
    text = """
    func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
      %0 = stablehlo.composite "chlo.erf" %x {composite_attributes = {}, decomposition = @by_hand, version = 9 : i32}
        : (tensor<4xf32>) -> tensor<4xf32>
      %1 = stablehlo.composite "chlo.top_k" %0 {composite_attributes = {largest = 4 : i64}, decomposition = @by_hand}
        : (tensor<4xf32>) -> tensor<4xf32>
      return %1 : tensor<4xf32>
    }
    func.func private @by_hand(%x: tensor<4xf32>) -> tensor<4xf32> {
      %0 = stablehlo.add %x, %x : tensor<4xf32>
      return %0 : tensor<4xf32>
    }"""
    opcodes = [i.opcode for i in xla.parse(text).entry.instructions]
    assert opcodes == [Opcode.PARAMETER, Opcode.ERF, Opcode.CALL]

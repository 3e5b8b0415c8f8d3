"""Which computations combine in any order, and from which value."""

from __future__ import annotations

import numpy as np
import pytest

from tests.xla_core.hlo.ops.ops_testing import run
from xla_core.hlo import ElementType, HloComputation, Opcode, Shape, lookup, scalar_computation
from xla_core.hlo.ir.combiner import combiner

BITWISE = (Opcode.AND, Opcode.OR, Opcode.XOR)
ARITHMETIC = (Opcode.ADD, Opcode.MULTIPLY, Opcode.MAXIMUM, Opcode.MINIMUM)
IDENTITIES = [
    (opcode, t)
    for opcode in (*ARITHMETIC, *BITWISE)
    for t in ElementType
    if t.is_array and (opcode in ARITHMETIC or not (t.is_floating or t.is_complex))
]


@pytest.mark.parametrize(("opcode", "t"), IDENTITIES, ids=str)
def test_the_identity_leaves_every_value_as_it_is(opcode: Opcode, t: ElementType) -> None:
    identity = lookup(opcode).identity(t)
    if identity is None:
        assert t.is_complex or not t.has_zero
        return
    parts = np.array([0.0, -0.0, 1, 2, 0.5, np.inf, -np.inf, np.nan, -1])
    if t.is_complex:
        x = parts[:5].astype(t.dtype)
        x.imag = parts[:5]
        x = x[2:] if opcode == Opcode.MULTIPLY else x
    else:
        x = (parts if t.is_floating else np.arange(4) % 2).astype(t.dtype)
    result = run(opcode, x, np.full(x.shape, identity).astype(t.dtype))
    same = (result.view(np.uint8) == x.view(np.uint8)).reshape(len(x), -1).all(axis=1)
    assert (same | np.isnan(x.astype(complex))).all()


def test_an_op_that_depends_on_the_order_is_no_combiner() -> None:
    scalar = Shape(ElementType.PRED)
    xnor = HloComputation("xnor")
    xnor.add(Opcode.COMPARE, xnor.parameter(0, scalar), xnor.parameter(1, scalar), direction="EQ")
    assert combiner(xnor) is None  # it has an attribute, which a rule would lose
    assert combiner(scalar_computation(Opcode.SUBTRACT, ElementType.F32)) is None
    op = combiner(scalar_computation(Opcode.ADD, ElementType.F32))
    assert op is not None
    assert op.opcode == Opcode.ADD
    twice = HloComputation("twice")
    x = twice.parameter(0, scalar)
    twice.parameter(1, scalar)
    twice.add(Opcode.OR, x, x)
    assert combiner(twice) is None

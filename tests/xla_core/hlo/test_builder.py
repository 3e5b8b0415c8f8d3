"""The conveniences for building HLO."""

from __future__ import annotations

import numpy as np
import pytest

from tests.xla_core.hlo.ops_testing import F32, PRED, S32, U32, run, run_built
from xla_core.errors import InvalidArgumentError
from xla_core.hlo import ElementType, HloComputation, HloInstruction, Shape, builder

X = np.array([[1.0, -2.0, 3.0], [4.0, 5.0, -6.0]], np.float32)


def test_zeros_ones_iota() -> None:
    def root(c: HloComputation, x: HloInstruction) -> HloInstruction:
        return c.add("tuple", builder.zeros_like(x), builder.ones_like(x), builder.iota(c, x.shape, 1))

    zeros, ones, iota = run_built(root, X)
    np.testing.assert_array_equal(zeros, np.zeros((2, 3)))
    np.testing.assert_array_equal(ones, np.ones((2, 3)))
    np.testing.assert_array_equal(iota, [[0, 1, 2]] * 2)


def test_broadcast_scalar_of_a_scalar_is_a_constant() -> None:
    c = HloComputation("c")
    assert builder.broadcast_scalar(c, 3, Shape(S32)).opcode == "constant"
    array = builder.broadcast_scalar(c, 3, Shape.array(S32, (2,)))
    assert (array.opcode, array.operand(0).opcode) == ("broadcast", "constant")


BITWISE = ("and", "or", "xor")
IDENTITIES = [
    (opcode, t)
    for opcode in ("add", "multiply", "maximum", "minimum", *BITWISE)
    for t in ElementType
    if t.is_integral or t is PRED or (t.is_floating and t.bit_width >= 16 and opcode not in BITWISE)
]


@pytest.mark.parametrize(("opcode", "t"), IDENTITIES, ids=str)
def test_identities(opcode: str, t: ElementType) -> None:
    x = np.array([0, 1, 1, 0]).astype(t.dtype)
    identity = np.full(4, builder.identity_of(opcode, t)).astype(t.dtype)
    np.testing.assert_array_equal(run(opcode, x, identity).astype(float), x.astype(float))


def test_reduce() -> None:
    np.testing.assert_array_equal(run_built(lambda c, x: builder.reduce(x, "maximum", (1,)), X)[0], X.max(1))
    total = run_built(lambda c, x: builder.reduce(x, "add", (0, 1), initial=10), X)
    assert total[0] == 10 + X.sum()


def test_scalar_computation_and_comparator() -> None:
    body = builder.scalar_computation("xor", U32)
    assert [p.shape for p in body.parameters] == [Shape(U32)] * 2
    order = builder.comparator("GT", S32, F32, key=1, type="TOTALORDER")
    assert [p.shape.element_type for p in order.parameters] == [S32, S32, F32, F32]
    assert order.root.shape == Shape(PRED)
    assert [o.parameter_number for o in order.root.operands] == [2, 3]


def test_get_tuple_elements() -> None:
    c = HloComputation("c")
    x = c.parameter(0, Shape(F32))
    assert builder.get_tuple_elements(c.add("tuple", x, x)) == [x, x]
    pair = c.parameter(1, Shape.tuple([Shape(F32), Shape(S32)]))
    assert [e.shape for e in builder.get_tuple_elements(pair)] == [Shape(F32), Shape(S32)]


def test_add_refuses_what_the_table_does_not_have() -> None:
    c = HloComputation("c")
    x = c.parameter(0, Shape(F32))
    with pytest.raises(InvalidArgumentError, match="add takes 2 operands, not 1"):
        c.add("add", x)
    with pytest.raises(InvalidArgumentError, match="negate has no attribute dims"):
        c.add("negate", x, dims=(0,))
    with pytest.raises(InvalidArgumentError, match="unknown HLO opcode 'negat'") as caught:
        c.add("negat", x)
    assert "did you mean negate" in str(caught.value)

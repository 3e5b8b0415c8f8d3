"""The conveniences for building HLO."""

from __future__ import annotations

import pytest

from tests.xla_core.hlo.ops.ops_testing import F32, PRED, S32, U32
from xla_core.errors import InvalidArgumentError
from xla_core.hlo import HloComputation, Shape
from xla_core.hlo.ir import builder


def test_scalar_computation_and_comparator() -> None:
    body = builder.scalar_computation("xor", U32)
    assert [p.shape for p in body.parameters] == [Shape(U32)] * 2
    order = builder.comparator("GT", S32, F32, key=1, type="TOTALORDER")
    assert [p.shape.element_type for p in order.parameters] == [S32, S32, F32, F32]
    assert order.root.shape == Shape(PRED)
    assert [o.parameter_number for o in order.root.operands] == [2, 3]


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


def test_the_post_order_follows_every_change() -> None:
    c = HloComputation("c")
    x = c.parameter(0, Shape(F32))
    a, b = c.add("negate", x), c.add("abs", x)
    assert c.post_order() == [x, a, b]
    a.replace_operand(0, b)
    assert c.post_order() == [x, b, a]
    a.replace_operand(0, x)
    b.control_predecessors = [a]
    assert c.post_order() == [x, a, b]
    b.control_predecessors = []
    late = c.add("sine", x)
    a.replace_operand(0, late)
    assert c.post_order() == [x, late, a, b]
    late.replace_all_uses_with(b)
    assert c.post_order() == [x, b, a, late]
    c.set_root(a)
    c.remove(late)
    assert c.post_order() == [x, b, a]

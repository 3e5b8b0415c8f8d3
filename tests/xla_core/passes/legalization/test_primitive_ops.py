"""Legalization of every elementwise op for devices that have few ops."""

from __future__ import annotations

import pytest

import xla_core as xla
from tests.xla_core.passes.legalization.devices import DEVICES
from xla_core.hlo.ir.computation import HloComputation
from xla_core.hlo.table.op_table import OPS
from xla_core.hlo.values.element_type import ElementType
from xla_core.hlo.values.shape import Shape
from xla_core.hlo.verifier import verify
from xla_core.passes.legalization import legalize, unsupported_instructions

T = ElementType
TYPED_APART = (
    "convert",
    "bitcast-convert",
    "stochastic-convert",
    "map",
    "complex",
)  # operands or results of other types
ATTRIBUTES = {"compare": {"direction": "EQ"}, "reduce-precision": {"exponent_bits": 4, "mantissa_bits": 3}}


def _program(opcode: str, kind: ElementType) -> xla.HloModule | None:
    """The op on arrays of a type; None where it isn't of that type."""
    module, op = xla.HloModule("m"), OPS[opcode]
    entry = module.add_computation(HloComputation("e"), entry=True)
    count = op.arity if isinstance(op.arity, int) else op.arity[0]
    shapes = [Shape.array(T.PRED if n == op.predicate_operand else kind, [4]) for n in range(count)]
    operands = [entry.parameter(n, shape) for n, shape in enumerate(shapes)]
    try:
        entry.set_root(entry.add(opcode, *operands, **ATTRIBUTES.get(opcode, {})))
    except xla.InvalidArgumentError:
        return None
    return module


@pytest.mark.parametrize(
    ("opcode", "element_type"),
    [
        (n, t)
        for n, op in OPS.items()
        for t in DEVICES
        # reduce-precision works on the bits of a narrow float, which need integers as narrow
        if op.is_elementwise and n not in TYPED_APART and (n, t) != ("reduce-precision", "f16")
        if _program(n, T(t)) is not None
    ],
)
def test_every_op_reaches_the_primitive_ones(opcode: str, element_type: str) -> None:
    module, capabilities = _program(opcode, T(element_type)), DEVICES[element_type]
    assert module is not None
    legalize(module, capabilities.check)
    verify(module)
    assert not unsupported_instructions(module, capabilities.check)

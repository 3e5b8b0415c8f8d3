"""Checks an instruction's operands against its entry in the table."""

from __future__ import annotations

import types

from xla_backend_gpu.emulator.ptx.program import (
    Address,
    Immediate,
    Instruction,
    Label,
    Negation,
    Operand,
    Register,
    SpecialRegister,
    Symbol,
    Vector,
)
from xla_backend_gpu.emulator.ptx.types import PRED, PtxType
from xla_backend_gpu.emulator.table.definition import Effect, OperandSpec

_WIDE_REGISTERS = frozenset({Effect.LOAD, Effect.STORE})

_UNTYPED: dict[str, tuple[type | types.UnionType, str]] = {
    "mem": (Address, "an address"),
    "label": (Label, "a label"),
    "labels": (Vector, "the name of .branchtargets"),
    "any": (Register | Vector | Immediate | Symbol | Address, "registers"),
}


def verify(instruction: Instruction) -> str | None:
    """Says what is wrong with an instruction's operands. Returns None if they are valid."""
    for spec, operand in zip(instruction.definition.operands, instruction.operands, strict=True):
        problem = _operand(instruction, spec, operand)
        if problem is not None:
            return f"operand {spec.name} of {instruction.definition.base}: {problem}"
    return None


def _operand(instruction: Instruction, spec: OperandSpec, operand: Operand) -> str | None:
    if operand is None:
        return None  # optional, or `_`
    if not spec.is_typed:
        wanted, words = _UNTYPED[spec.kind]
        return None if isinstance(operand, wanted) else f"expected {words}"
    type_ = spec.type_of(instruction.types)
    if isinstance(operand, Vector):
        count = len(operand.elements)
        if instruction.has("vec"):
            element, expected = type_, instruction.vector_length
            if instruction.has("vec") and count != expected:
                return f"a vector of {expected} elements is needed, not of {count}"
        else:
            if type_.bits % count:
                return f"{count} registers can't hold {type_.bits} bits"
            element = PtxType("b", "b", type_.bits // count)
        return next(filter(None, (_scalar(instruction, spec, e, element) for e in operand.elements)), None)
    if instruction.has("vec"):
        return f"a vector of {instruction.vector_length} elements is needed"
    return _scalar(instruction, spec, operand, type_)


def _scalar(instruction: Instruction, spec: OperandSpec, operand: Operand, type_: PtxType) -> str | None:
    if operand is None:
        return None
    if spec.written and not isinstance(operand, Register):
        return "the result must be a register"
    register = operand.register if isinstance(operand, Negation) else operand
    if isinstance(register, Register):
        may_be_wider = instruction.definition.effect in _WIDE_REGISTERS or instruction.definition.base == "cvt"
        if (register.bits == 1) != (type_ is PRED):
            return f"{register.name} {'is' if register.bits == 1 else 'is not'} a predicate"
        if register.bits < type_.bits or (register.bits > type_.bits and not may_be_wider):
            return f"{register.name} has {register.bits} bits, and type .{type_.name} {type_.bits}"
        return None
    if isinstance(register, Immediate | Symbol | SpecialRegister):
        return None
    if isinstance(register, Label):
        return f"{register.name} is not declared"
    return "expected a register or a constant"

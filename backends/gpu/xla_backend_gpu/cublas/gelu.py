"""Recognizes GELU in its approximation by tanh, in whatever order a program multiplies and adds."""

from __future__ import annotations

import math
from collections.abc import Mapping

from xla_backend_gpu.cublas.call import GELU_CUBIC, GELU_SCALE
from xla_core.hlo import ElementType, HloInstruction, Opcode

Polynomial = Mapping[tuple[int, int], float]
"""The coefficients of powers of x and of tanh(GELU_SCALE (x + GELU_CUBIC x^3)), by their exponents."""

_MOST_STEPS = 24  # instructions of the expression
_MOST_POWER = 4
_ROUNDING = {ElementType.BF16: 5e-3, ElementType.F16: 1e-3}
"""How far the coefficients may be off, relatively, where the constants have few bits; else 1e-5."""
_INNER: Polynomial = {(1, 0): GELU_SCALE, (3, 0): GELU_SCALE * GELU_CUBIC}
_GELU: Polynomial = {(1, 0): 0.5, (1, 1): 0.5}


def gelu_of(x: HloInstruction) -> HloInstruction | None:
    """Returns the instruction that computes GELU of `x`, if nothing else uses x or a step in between."""
    known: dict[HloInstruction, Polynomial] = {x: {(1, 0): 1.0}}
    for _ in range(_MOST_STEPS):
        ready = [u for value in known for u in value.users if u not in known and _operands(u, known) is not None]
        if not ready:
            return None
        for user in ready:
            found = _applied(user, known)
            if found is None:
                return None
            known[user] = found
            if len(known) > 2 and _equal(found, _GELU, user.shape.element_type) and _is_closed(known, user):
                return user
    return None


def scalar_of(instruction: HloInstruction) -> float | None:
    """Returns the value of which an array consists, if it is a constant scalar, or a broadcast one."""
    while instruction.opcode in (Opcode.BROADCAST, Opcode.CONVERT) and instruction.operand(0).shape.num_elements == 1:
        instruction = instruction.operand(0)
    if instruction.opcode != Opcode.CONSTANT or instruction.shape.num_elements != 1 or instruction.shape.is_tuple:
        return None
    value = instruction.literal.array.reshape(-1)[0]
    return None if instruction.shape.element_type.is_complex else float(value)


def _is_closed(known: Mapping[HloInstruction, Polynomial], root: HloInstruction) -> bool:
    return all(step is root or (not step.is_root and all(u in known for u in step.users)) for step in known)


def _operands(user: HloInstruction, known: Mapping[HloInstruction, Polynomial]) -> list[Polynomial] | None:
    """Returns the operands as polynomials, or None if one of them is something else."""
    found = []
    for operand in user.operands:
        if operand in known:
            found.append(known[operand])
            continue
        value = scalar_of(operand)
        if value is None:
            return None
        found.append({(0, 0): value})
    return found


def _applied(user: HloInstruction, known: Mapping[HloInstruction, Polynomial]) -> Polynomial | None:
    operands = _operands(user, known)
    if operands is None:
        return None
    match user.opcode:
        case Opcode.ADD:
            return _sum(operands[0], operands[1], 1.0)
        case Opcode.SUBTRACT:
            return _sum(operands[0], operands[1], -1.0)
        case Opcode.NEGATE:
            return _sum({}, operands[0], -1.0)
        case Opcode.MULTIPLY:
            return _product(operands[0], operands[1])
        case Opcode.DIVIDE if set(operands[1]) == {(0, 0)} and operands[1][0, 0]:
            return _product(operands[0], {(0, 0): 1 / operands[1][0, 0]})
        case Opcode.POWER if operands[1] == {(0, 0): 3.0}:
            square = _product(operands[0], operands[0])
            return None if square is None else _product(square, operands[0])
        case Opcode.TANH if _equal(operands[0], _INNER, user.shape.element_type):
            return {(0, 1): 1.0}
    return None


def _sum(left: Polynomial, right: Polynomial, factor: float) -> Polynomial:
    return {key: left.get(key, 0.0) + factor * right.get(key, 0.0) for key in {*left, *right}}


def _product(left: Polynomial, right: Polynomial) -> Polynomial | None:
    made: dict[tuple[int, int], float] = {}
    for (a, b), x in left.items():
        for (c, d), y in right.items():
            made[a + c, b + d] = made.get((a + c, b + d), 0.0) + x * y
    return made if all(sum(key) <= _MOST_POWER for key in made) else None


def _equal(found: Polynomial, wanted: Polynomial, element_type: ElementType) -> bool:
    off = _ROUNDING.get(element_type, 1e-5)
    return all(math.isclose(found.get(k, 0.0), wanted.get(k, 0.0), rel_tol=off) for k in {*found, *wanted})

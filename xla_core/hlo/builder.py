"""Builds computations that ops apply to scalars: combiners of two values, comparators of sorts."""

from __future__ import annotations

from typing import Any

from xla_core.hlo.computation import HloComputation
from xla_core.hlo.element_type import ElementType
from xla_core.hlo.module import HloModule
from xla_core.hlo.opcode import Opcode
from xla_core.hlo.shape import Shape

__all__ = ["comparator", "scalar_computation"]


def scalar_computation(
    opcode: Opcode, element_type: ElementType, *, module: HloModule | None = None, name: str | None = None
) -> HloComputation:
    """Makes a computation of a binary op on two scalars, as reduce takes it; adds it to `module` if given."""
    computation = HloComputation(name or f"{opcode}_{element_type}")
    scalar = Shape(element_type)
    computation.set_root(computation.add(opcode, computation.parameter(0, scalar), computation.parameter(1, scalar)))
    return computation if module is None else module.add_computation(computation)


def comparator(
    direction: str, *element_types: ElementType, key: int = 0, type: str | None = None, module: HloModule | None = None
) -> HloComputation:
    """Makes a comparator for sort. It compares the scalars of operand number `key`; the other operands don't matter.

    Args:
        direction: LT sorts in ascending order, GT in descending order.
        element_types: the element types of the sorted operands.
        type: TOTALORDER orders NaNs and puts -0 before +0.
    """
    computation = HloComputation(f"compare_{direction.lower()}")
    parameters = [
        computation.parameter(i, Shape(t)) for i, t in enumerate(t for each in element_types for t in (each, each))
    ]
    attributes: dict[str, Any] = {"direction": direction} | ({"type": type} if type else {})
    computation.set_root(computation.add(Opcode.COMPARE, parameters[2 * key], parameters[2 * key + 1], **attributes))
    return computation if module is None else module.add_computation(computation)

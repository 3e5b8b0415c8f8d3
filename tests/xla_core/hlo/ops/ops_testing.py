"""Runs a single op, or a small computation, through the evaluator."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from xla_core.hlo import ElementType, HloComputation, HloInstruction, HloModule, Shape, evaluate, verify

F32, F64, S32, U32, PRED = ElementType.F32, ElementType.F64, ElementType.S32, ElementType.U32, ElementType.PRED


def build(build_root: Callable[..., HloInstruction], *arrays: np.ndarray) -> HloModule:
    """A module whose entry has a parameter an array; `build_root(computation, *parameters)` adds the rest."""
    module = HloModule("test")
    computation = module.add_computation(HloComputation("main"), entry=True)
    parameters = [computation.parameter(i, Shape.of(np.asarray(a))) for i, a in enumerate(arrays)]
    computation.set_root(build_root(computation, *parameters))
    return module


def run_built(build_root: Callable[..., HloInstruction], *arrays: np.ndarray) -> list[np.ndarray]:
    module = build(build_root, *arrays)
    verify(module)
    return list(evaluate(module, *arrays))


def run(opcode: str, *arrays: np.ndarray, shape: Shape | None = None, **attributes: Any) -> Any:
    """The result of one op; several results come as a list."""

    def root(computation: HloComputation, *parameters: HloInstruction) -> HloInstruction:
        for value in attributes.values():
            for called in value if isinstance(value, tuple) else (value,):
                if isinstance(called, HloComputation):
                    assert computation.module is not None
                    computation.module.add_computation(called)
        return computation.add(opcode, *parameters, shape=shape, **attributes)

    results = run_built(root, *arrays)
    return results[0] if len(results) == 1 else results


def body(
    element_types: list[ElementType], build_root: Callable[..., HloInstruction], name: str = "body"
) -> HloComputation:
    """A computation of scalars."""
    computation = HloComputation(name)
    parameters = [computation.parameter(i, Shape(t)) for i, t in enumerate(element_types)]
    computation.set_root(build_root(computation, *parameters))
    return computation


def bounds(t: ElementType) -> tuple[int, int]:
    """The smallest and the largest integer of a type."""
    return (-(1 << (t.bit_width - 1)), (1 << (t.bit_width - 1)) - 1) if t.is_signed else (0, (1 << t.bit_width) - 1)

"""Evaluates the small integer values from which a program computes sizes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from xla_core.errors import XlaError
from xla_core.hlo.values.shape import INT_MAX
from xla_core.stablehlo import ir
from xla_core.stablehlo.lower.entry import lower_static
from xla_core.stablehlo.table import op_table
from xla_core.stablehlo.table.op_table import Trait
from xla_core.stablehlo.table.type_constraints import Elements, elements_of

_MAX_KNOWN = 1024  # elements: shape arithmetic is on short vectors
_MAX_KNOWN_FLOATS = 64
_MAX_STEPS = 100_000  # of one op, its regions included
_MAX_STEPS_OF_ALL = 1_000_000  # of all ops with regions
_STEPS_TO_LOWER = 10  # one op
_MAX_BYTES = 64 << 20
_UNKNOWN = frozenset((Trait.SIDE_EFFECT, Trait.COLLECTIVE, Trait.PER_DEVICE))


class ValueFolder:
    """Evaluates ops on known values and caches the results, because programs repeat such computations."""

    def __init__(self) -> None:
        self._computed: dict[Any, list[np.ndarray] | None] = {}
        self._steps = _MAX_STEPS_OF_ALL

    def computed(self, op: ir.Op) -> list[np.ndarray] | None:
        """Evaluates an op. Returns None if an operand is unknown, the op has effects or its results can't be sizes."""
        if not _may_compute(op):
            return None
        if op.name == "stablehlo.get_dimension_size":
            type = op.operands[0].type
            size = type.shape[int(op.attributes["dimension"])] if isinstance(type, ir.TensorType) else ir.DYNAMIC
            # The lowering raises the error for a size that doesn't fit i32.
            return None if size == ir.DYNAMIC or size > INT_MAX else [np.asarray(size, np.int32)]
        needed = [*op.operands, *(value for region in op.regions for value in ir.captured_values(region))]
        values = [known_value(v) for v in needed]
        if not values or any(k is None for k in values):
            return None
        if op.regions:
            return self._evaluate(op, needed)
        operands = tuple((v.type, k.tobytes()) for v, k in zip(needed, values, strict=True) if k is not None)
        try:
            key = (op.name, frozenset(op.attributes.items()), operands, tuple(r.type for r in op.results))
            if key not in self._computed:
                self._computed[key] = self._evaluate(op, needed)
            return self._computed[key]
        except TypeError:  # an attribute is not hashable
            return self._evaluate(op, needed)

    def _evaluate(self, op: ir.Op, needed: Sequence[ir.Value]) -> list[np.ndarray] | None:
        # Only programs with computed shapes need it.
        from xla_core.hlo.evaluation.evaluation_context import EvaluationContext
        from xla_core.hlo.evaluator import evaluate_computation

        if op.regions and self._steps <= 0:
            return None
        module = _alone(op, needed)
        context = EvaluationContext(max_steps=_MAX_STEPS, max_bytes=_MAX_BYTES)
        try:
            return list(evaluate_computation(lower_static(module, module.functions["main"]).entry, (), context))
        except XlaError:
            return None  # the lowering raises this error with its location
        finally:
            if op.regions:
                self._steps -= context.steps + _STEPS_TO_LOWER * sum(1 for _ in op.walk())


def constant_like(type: ir.Type, value: np.ndarray, like: ir.Op) -> ir.Op:
    assert isinstance(type, ir.TensorType)
    elements = ir.DenseElements(ir.TensorType(value.shape, type.element), np.array(value))
    return ir.Op("stablehlo.constant", [], [elements.type], {"value": elements}, [], like.location)


def known_value(value: ir.Value) -> np.ndarray | None:
    """Returns the elements of a constant whose type may hold sizes; None for any other value."""
    return ir.constant_of(value) if _is_shape_like(value.type) else None


def _is_shape_like(type: ir.Type) -> bool:
    """Tells whether a type may hold sizes: few integers or booleans, or very few floats.

    Floats are included because some programs compute sizes from them.
    """
    if not isinstance(type, ir.TensorType) or not type.is_static:
        return False
    count, elements = math.prod(type.shape), elements_of(type.element)
    if elements & (Elements.INTEGER | Elements.INDEX | Elements.PRED):
        return count <= _MAX_KNOWN
    return count <= _MAX_KNOWN_FLOATS and bool(elements & Elements.FLOAT)


def _may_compute(op: ir.Op) -> bool:
    """Tells whether an op has no effects and all its results may be sizes."""
    definition = op_table.OPS.get(op.name)
    if definition is None or definition.lower is None or op.name == "stablehlo.constant" or not op.results:
        return False
    if Trait.TERMINATOR in definition.traits or not all(_is_shape_like(r.type) for r in op.results):
        return False
    inside = [op_table.OPS.get(nested.name) for nested in op.walk()]
    return all(d is not None and not d.traits & _UNKNOWN for d in inside)


def _alone(op: ir.Op, needed: Sequence[ir.Value]) -> ir.Module:
    """Makes a module whose function contains the op and the constants that it needs."""
    sources = list(dict.fromkeys(v.owner for v in needed if isinstance(v.owner, ir.Op)))
    block = ir.Block()
    block.ops = [*sources, op, ir.Op("func.return", list(op.results), [])]
    return ir.Module.of_function(block)

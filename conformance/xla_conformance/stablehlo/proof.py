"""Proves that the value which a file expects is wrong, by computing the same program in float64.

After a comparison fails, its program is converted to float64 and runs on the reference evaluator. The file is wrong if
every element that differs is within 1 ULP of that result and the expected value is further from it, but near enough to
differ only by rounding.
"""

from __future__ import annotations

import dataclasses
from typing import Any

import ml_dtypes
import numpy as np

from xla_conformance.stablehlo.checks import differing, ulp_difference
from xla_core.errors import XlaError
from xla_core.hlo import evaluate
from xla_core.stablehlo import Block, DenseElements, FunctionType, Module, Op, Region, TensorType, Value, lower

_WIDE = {"f16": "f64", "bf16": "f64", "f32": "f64", "complex<f32>": "complex<f64>"}
_ON_BITS = ("bitcast_convert", "custom_call", "reduce_precision", "rng", "next_after", "quantize", "composite")
_EPSILON = {np.dtype(np.float32): 2.0**-23, np.dtype(np.float16): 2.0**-10, np.dtype(ml_dtypes.bfloat16): 2.0**-7}
_ROUNDING = 64
"""The largest relative error, in units of the type's epsilon, that may be due to rounding."""


@dataclasses.dataclass(frozen=True)
class Computed:
    """A result of a program's `main`, and the program's arguments."""

    module: Module
    arguments: list[np.ndarray]
    index: int


def prove(computed: Computed, got: np.ndarray, want: np.ndarray, **allowed: Any) -> str:
    """Returns a sentence about the result in float64 if that shows that `want` is wrong and `got` right; else "".

    `allowed` is the difference that the file allows, as in `differing`. The parts of complex numbers are compared
    separately.
    """
    if got.shape != want.shape or got.dtype != want.dtype or got.real.dtype not in _EPSILON:
        return ""
    exact = _in_float64(computed)
    if exact is None:
        return ""
    got, want, exact = (_in_parts(a) for a in (got, want, exact))
    wrong = differing(got, want, **allowed)
    with np.errstate(all="ignore"):
        nearest = exact.astype(got.dtype)
        off = np.abs(want.astype(np.float64) - exact) / np.abs(exact)
    ours, theirs = ulp_difference(got, nearest), ulp_difference(want, nearest)
    is_rounding = (ours <= 1) & (theirs > ours) & (off <= _ROUNDING * _EPSILON[got.dtype])
    if not wrong.any() or not is_rounding[wrong].all():
        return ""
    worst = np.unravel_index(int(np.argmax(np.where(wrong, theirs, 0))), got.shape)
    return (
        f"in float64 the element {[int(i) for i in worst]} is {exact[worst]}; the file expects {want[worst]}, "
        f"{theirs[worst]} ULP from that, and got {got[worst]}, {ours[worst]} ULP from it"
    )


def _in_parts(array: np.ndarray) -> np.ndarray:
    """Converts complex numbers to pairs in a new last dimension of size 2."""
    return np.stack([array.real, array.imag], -1) if array.dtype.kind == "c" else array


def _in_float64(computed: Computed) -> np.ndarray | None:
    wide = _widened(computed.module)
    if wide is None:
        return None
    try:
        program = lower(wide)
        arguments = [a.astype(s.dtype) for a, s in zip(computed.arguments, program.parameter_shapes, strict=True)]
        result: np.ndarray = evaluate(program, *arguments)[computed.index]
        return result
    except XlaError:  # an op that float64 has no meaning for: nothing is shown
        return None


def _widened(module: Module) -> Module | None:
    """The module with its floats in float64, or None if it uses their bits."""
    if any(any(word in op.name for word in _ON_BITS) for op in module.walk()):
        return None
    functions = {name: _op(function, {}) for name, function in module.functions.items()}
    return dataclasses.replace(module, functions=functions)


def _type(type: Any) -> Any:
    if isinstance(type, FunctionType):
        return FunctionType(tuple(map(_type, type.inputs)), tuple(map(_type, type.results)))
    if isinstance(type, TensorType) and isinstance(type.element, str):
        return dataclasses.replace(type, element=_WIDE.get(type.element, type.element))
    return type


def _attribute(value: Any) -> Any:
    if isinstance(value, DenseElements):
        type = _type(value.type)
        if type != value.type:
            return DenseElements(type, value.array.astype("c16" if value.array.dtype.kind == "c" else "f8"))
    return _type(value)


def _op(op: Op, values: dict[Value, Value]) -> Op:
    attributes = {name: _attribute(value) for name, value in op.attributes.items()}
    regions = [Region([_block(block, values) for block in region.blocks]) for region in op.regions]
    made = Op(op.name, [values[v] for v in op.operands], [_type(r.type) for r in op.results], attributes, regions)
    values.update(zip(op.results, made.results, strict=True))
    return made


def _block(block: Block, values: dict[Value, Value]) -> Block:
    made = Block([_type(a.type) for a in block.arguments])
    values.update(zip(block.arguments, made.arguments, strict=True))
    made.ops = [_op(op, values) for op in block.ops]
    return made

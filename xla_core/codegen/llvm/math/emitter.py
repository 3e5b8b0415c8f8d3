"""MathEmitter: elementary functions of f32 and f64 values."""

from __future__ import annotations

from collections.abc import Callable

from xla_core.codegen.llvm.builder import IrBuilder, Value
from xla_core.codegen.llvm.target_abi import TargetAbi

__all__ = ["MATH", "MathEmitter", "MathFunction", "math_function"]

MathFunction = Callable[..., Value]
"""(math emitter, operands, all f32 or all f64) -> value of that type."""

MATH: dict[str, MathFunction] = {}
"""HLO opcode -> our implementation."""


def math_function(*opcodes: str) -> Callable[[MathFunction], MathFunction]:
    """Registers the implementation of some opcodes."""

    def register(function: MathFunction) -> MathFunction:
        for opcode in opcodes:
            MATH[opcode] = function
        return function

    return register


class MathEmitter:
    """Emits elementary functions where its builder stands; the target's own come first."""

    def __init__(self, builder: IrBuilder, abi: TargetAbi) -> None:
        self.b = builder
        self.abi = abi

    def emit(self, name: str, *operands: Value) -> Value:
        """The function that an HLO opcode names."""
        own = self.abi.math(self.b, name, operands)
        return MATH[name](self, *operands) if own is None else own


for _name, _intrinsic in {
    "exponential": "exp",
    "log": "log",
    "sine": "sin",
    "cosine": "cos",
    "tan": "tan",
    "tanh": "tanh",
    "power": "pow",
    "atan2": "atan2",
    "rsqrt": "",
}.items():
    if _intrinsic:
        MATH[_name] = lambda m, *x, i=_intrinsic: m.b.intrinsic(i, *x)
MATH["logistic"] = lambda m, x: m.b.fdiv(
    m.b.like(1.0, x), m.b.fadd(m.b.like(1.0, x), m.b.intrinsic("exp", m.b.fneg(x)))
)
MATH["rsqrt"] = lambda m, x: m.b.fdiv(m.b.like(1.0, x), m.b.intrinsic("sqrt", x))

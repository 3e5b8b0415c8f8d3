"""The custom call of a product: its `backend_config`, its meaning, and the ops that compute the same."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from pydantic import ValidationError

from xla_backend_gpu.cublas.matmul import Matmul, MatmulConfig, bias_dimensions, matmul_of
from xla_core.errors import InvalidArgumentError
from xla_core.hlo import (
    EvaluationContext,
    HloComputation,
    HloInstruction,
    Opcode,
    Shape,
    Value,
    evaluate_computation,
)

if TYPE_CHECKING:
    from xla_core.passes import Builder

TARGET = "__cublas$lt$matmul"
"""The target of the calls, by XLA's name. Their `backend_config` is a `MatmulConfig`."""

GELU_SCALE, GELU_CUBIC = math.sqrt(2 / math.pi), 0.044715
"""GELU(x) = x / 2 (1 + tanh(GELU_SCALE (x + GELU_CUBIC x^3)))."""


def is_matmul(instruction: HloInstruction) -> bool:
    return instruction.opcode == Opcode.CUSTOM_CALL and instruction.attribute("custom_call_target") == TARGET


def config_of(instruction: HloInstruction) -> MatmulConfig:
    """Returns the `backend_config` of a call.

    Raises:
        InvalidArgumentError: it is damaged.
    """
    try:
        return MatmulConfig.model_validate_json(instruction.attribute("backend_config") or "{}")
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        where = ".".join(map(str, first["loc"])) or "the text"
        raise _refused(instruction, f"its backend_config is none of this backend: {where}: {first['msg']}") from error


def matmul_of_call(instruction: HloInstruction) -> Matmul:
    """Returns the product that a call computes.

    Raises:
        InvalidArgumentError: its operands don't fit, or cuBLASLt doesn't take them.
    """
    config = config_of(instruction)
    expected = 2 + bool(config.beta) + config.has_bias
    if len(instruction.operands) != expected:
        raise _refused(instruction, f"it has {len(instruction.operands)} operands, not {expected}")
    lhs, rhs = (operand.shape for operand in instruction.operands[:2])
    _check_dimensions(instruction, config, lhs, rhs)
    matmul = matmul_of(config, lhs, rhs, instruction.shape)
    if matmul is None:
        raise _refused(instruction, f"cuBLASLt does not multiply {lhs} and {rhs} to {instruction.shape}")
    if config.beta and instruction.operand(2).shape != instruction.shape:
        raise _refused(instruction, f"what is added is {instruction.operand(2).shape}, not {instruction.shape}")
    if config.has_bias:
        bias, dimensions = instruction.operands[-1].shape, instruction.shape.dimensions
        wanted = tuple(dimensions[d] for d in bias_dimensions(matmul, lhs.rank, len(dimensions)))
        if bias.dimensions != wanted or bias.element_type is not instruction.shape.element_type:
            raise _refused(instruction, f"the bias is {bias}, but the rows of the product are {wanted}")
    return matmul


def _check_dimensions(instruction: HloInstruction, config: MatmulConfig, lhs: Shape, rhs: Shape) -> None:
    """Checks that the dimensions of the dot are those of its operands, and the result is the dot's."""
    try:
        scratch = HloComputation("dot")
        parameters = [scratch.parameter(n, shape.without_layout()) for n, shape in enumerate((lhs, rhs))]
        inferred = scratch.add(Opcode.DOT, *parameters, **config.dot_attributes).shape.dimensions
    except InvalidArgumentError as error:
        raise _refused(instruction, error.message) from error
    if inferred != instruction.shape.dimensions:
        raise _refused(instruction, f"its result is {instruction.shape}, but the product's dimensions are {inferred}")


def _refused(instruction: HloInstruction, why: str) -> InvalidArgumentError:
    return InvalidArgumentError(f"{instruction.name}: {why}", op=TARGET, location=instruction.location)


def expand(call: HloInstruction, operands: Sequence[HloInstruction], b: Builder) -> HloInstruction:
    """Adds the ops that compute what a call does, of other operands of the same shapes; returns the last one.

    Each step is in the type of the sums, and the result is rounded once, as cuBLASLt does it.
    """
    matmul, shape = matmul_of_call(call), call.shape.without_layout()
    config, wide = matmul.config, shape.with_element_type(matmul.scale_type)
    algorithm = {"algorithm": "dot_tf32_tf32_f32"} if config.compute_type == "tf32" else {}
    value = b.add(Opcode.DOT, *operands[:2], shape=wide, **config.dot_attributes, **algorithm)

    def number(x: float) -> HloInstruction:
        scalar = b.constant(wide.element_type.dtype.type(x), Shape(wide.element_type))
        return b.add(Opcode.BROADCAST, scalar, shape=wide, dimensions=())

    if config.alpha != 1.0:
        value = b.add(Opcode.MULTIPLY, value, number(config.alpha))
    if config.beta:
        added = b.convert(operands[2], wide)
        added = added if config.beta == 1.0 else b.add(Opcode.MULTIPLY, added, number(config.beta))
        value = b.add(Opcode.ADD, value, added)
    if config.has_bias:
        dimensions = bias_dimensions(matmul, call.operand(0).shape.rank, shape.rank)
        bias = b.add(Opcode.BROADCAST, b.convert(operands[-1], wide), shape=wide, dimensions=dimensions)
        value = b.add(Opcode.ADD, value, bias)
    if "RELU" in config.epilogue:
        value = b.add(Opcode.MAXIMUM, value, number(0.0))
    if "GELU" in config.epilogue:
        cube = b.add(Opcode.MULTIPLY, b.add(Opcode.MULTIPLY, value, value), value)
        inner = b.add(Opcode.ADD, value, b.add(Opcode.MULTIPLY, cube, number(GELU_CUBIC)))
        slope = b.add(Opcode.TANH, b.add(Opcode.MULTIPLY, inner, number(GELU_SCALE)))
        value = b.add(
            Opcode.MULTIPLY, b.add(Opcode.MULTIPLY, value, number(0.5)), b.add(Opcode.ADD, slope, number(1.0))
        )
    return b.convert(value, shape)


def expanded(call: HloInstruction) -> HloComputation:
    """Returns a computation that computes what a call does, without it. It is in no module."""
    from xla_core.passes import Builder  # deferred, because a run needs no passes

    computation = HloComputation(call.name)
    parameters = [computation.parameter(n, o.shape) for n, o in enumerate(call.operands)]
    computation.set_root(expand(call, parameters, Builder(computation)))
    return computation


def evaluate(context: EvaluationContext, instruction: HloInstruction, values: Sequence[Value]) -> Value:
    """The meaning of a call, for the reference evaluator; an entry point names it."""
    (result,) = evaluate_computation(expanded(instruction), values, context)
    return result

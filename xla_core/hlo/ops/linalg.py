"""cholesky, triangular-solve and fft."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from xla_core.errors import InvalidArgumentError
from xla_core.hlo.evaluation.environment import Value
from xla_core.hlo.evaluation.evaluation_context import EvaluationContext
from xla_core.hlo.ir.instruction import HloInstruction
from xla_core.hlo.ops.numerics import round_to, widen
from xla_core.hlo.ops.rules import OpGroup, array, attr, check
from xla_core.hlo.table.op_table import Attributes, Trait
from xla_core.hlo.table.opcode import Opcode
from xla_core.hlo.values.element_type import ElementType
from xla_core.hlo.values.shape import Shape

entry = OpGroup("linalg").entry


def _check_square(shape: Shape) -> Shape:
    if array(shape).rank < 2 or shape.dimensions[-1] != shape.dimensions[-2]:
        raise InvalidArgumentError(f"the operand is {shape.without_layout()}; expected square matrices")
    if not (shape.element_type.is_floating or shape.element_type.is_complex):
        raise InvalidArgumentError(f"the operand is {shape.element_type}; expected a floating or complex type")
    return shape


def _cholesky(context: EvaluationContext, instruction: HloInstruction, values: list[Value]) -> Value:
    """Reads one triangle and zeroes the other in the result. A matrix that is not positive definite gives NaN."""
    lower = instruction.attribute("lower")
    wide = widen(values[0])
    half = np.tril(wide, -1) if lower else np.triu(wide, 1)
    diagonal = np.einsum("...ii->...i", wide).real
    full = half + np.conj(half).swapaxes(-1, -2)
    np.einsum("...ii->...i", full)[...] = diagonal
    result = np.empty_like(full)
    for index in np.ndindex(*full.shape[:-2]):
        try:
            factor = np.linalg.cholesky(full[index])
        except np.linalg.LinAlgError:
            factor = np.full(full.shape[-2:], np.nan, full.dtype)
        result[index] = factor if lower else np.conj(factor).T
    return round_to(result, values[0].dtype)


def _triangular_solve_shape(operands: Sequence[Shape], attributes: Attributes, declared: Shape | None) -> Shape:
    a, b = operands
    _check_square(a)
    left = attributes["left_side"]
    if (
        array(b).element_type is not a.element_type
        or b.rank != a.rank
        or b.dimensions[:-2] != a.dimensions[:-2]
        or b.dimensions[-2 if left else -1] != a.dimensions[-1]
    ):
        raise InvalidArgumentError(
            f"{b.without_layout()} cannot be the right side of systems with matrices {a.without_layout()}"
        )
    return b.without_layout()


def _triangular_solve(context: EvaluationContext, instruction: HloInstruction, values: list[Value]) -> Value:
    """Solves by substitution, row by row, in double precision."""
    attribute = instruction.attribute
    a, b = widen(values[0]), widen(values[1])
    lower, transpose = attribute("lower"), attribute("transpose_a")
    if transpose != "NO_TRANSPOSE":
        a, lower = a.swapaxes(-1, -2), not lower
    if transpose == "ADJOINT":
        a = np.conj(a)
    if not attribute("left_side"):  # x a = b is equivalent to a^T x^T = b^T
        a, b, lower = a.swapaxes(-1, -2), b.swapaxes(-1, -2), not lower
    x = np.zeros_like(b)
    n = a.shape[-1]
    for row in range(n) if lower else range(n - 1, -1, -1):
        known = slice(0, row) if lower else slice(row + 1, n)
        rest = b[..., row, :] - np.einsum("...k,...kj->...j", a[..., row, known], x[..., known, :])
        x[..., row, :] = rest if attribute("unit_diagonal") else rest / a[..., row, row, None]
    return round_to(x if attribute("left_side") else x.swapaxes(-1, -2), values[1].dtype)


def _fft_shape(operands: Sequence[Shape], attributes: Attributes, declared: Shape | None) -> Shape:
    operand, kind, length = array(operands[0]), attributes["fft_type"], tuple(attributes["fft_length"])
    rank = len(length)
    check(1 <= rank <= min(3, operand.rank), lambda: f"fft_length of {rank} dimensions for {operand.without_layout()}")
    tail = operand.dimensions[-rank:]
    if kind == "RFFT":
        check(operand.element_type.is_floating, lambda: f"RFFT of {operand.element_type}; expected a floating type")
        check(tail == length, lambda: f"RFFT of {operand.without_layout()} with fft_length {length}")
        last = length[-1] // 2 + 1 if length[-1] else 0
        return operand.with_element_type(operand.element_type.complex).with_dimensions((*operand.dimensions[:-1], last))
    check(operand.element_type.is_complex, lambda: f"{kind} of {operand.element_type}; expected a complex type")
    if kind == "IRFFT":
        expected = (*length[:-1], length[-1] // 2 + 1 if length[-1] else 0)
        check(tail == expected, lambda: f"IRFFT to length {length} takes dimensions {expected}, not {tail}")
        return Shape(ElementType(operand.element_type.component), (*operand.dimensions[:-rank], *length))
    check(tail == length, lambda: f"{kind} of {operand.without_layout()} with fft_length {length}")
    return operand.without_layout()


def _fft(context: EvaluationContext, instruction: HloInstruction, values: list[Value]) -> Value:
    kind, length = instruction.attribute("fft_type"), instruction.attribute("fft_length")
    axes = list(range(-len(length), 0))
    if instruction.shape.num_elements == 0 or values[0].size == 0:
        return np.zeros(instruction.shape.dimensions, instruction.shape.dtype)
    result = _TRANSFORMS[kind](widen(values[0]), s=list(length), axes=axes)
    return np.asarray(result).astype(instruction.shape.dtype)


_TRANSFORMS: dict[str, Callable[..., Any]] = {
    "FFT": np.fft.fftn,
    "IFFT": np.fft.ifftn,
    "RFFT": np.fft.rfftn,
    "IRFFT": np.fft.irfftn,
}


entry(
    Opcode.CHOLESKY,
    1,
    lambda operands, attributes, declared: _check_square(operands[0]).without_layout(),
    _cholesky,
    Trait.SUPERLINEAR,
    doc="The triangular factor of each Hermitian matrix.",
    flops=lambda i: i.shape.num_elements * i.shape.dimensions[-1] / 3,
    lower=attr("bool", False),
)
entry(
    Opcode.TRIANGULAR_SOLVE,
    2,
    _triangular_solve_shape,
    _triangular_solve,
    Trait.SUPERLINEAR,
    doc="Solves op(a) x = b (left side) or x op(a) = b for triangular a.",
    flops=lambda i: i.shape.num_elements * i.operand(0).shape.dimensions[-1],
    left_side=attr("bool", False),
    lower=attr("bool", False),
    unit_diagonal=attr("bool", False),
    transpose_a=attr("enum", "NO_TRANSPOSE", values="NO_TRANSPOSE TRANSPOSE ADJOINT"),
)
entry(
    Opcode.FFT,
    1,
    _fft_shape,
    _fft,
    doc="The Fourier transform over the last dimensions; the inverse is normalized.",
    flops=lambda i: 5.0 * i.shape.num_elements * math.log2(max(math.prod(i.attribute("fft_length")), 2)),
    fft_type=attr("enum", values="FFT IFFT RFFT IRFFT"),
    fft_length=attr("ints"),
)

"""cholesky, triangular-solve, fft."""

from __future__ import annotations

from collections.abc import Sequence

from xla_core.errors import InvalidArgumentError
from xla_core.hlo.element_type import ElementType
from xla_core.hlo.op_table import Attributes
from xla_core.hlo.ops.rules import array, attr, check, entry, normalize
from xla_core.hlo.shape import Shape

__all__: list[str] = []


def _check_square(shape: Shape) -> None:
    if array(shape).rank < 2 or shape.dimensions[-1] != shape.dimensions[-2]:
        raise InvalidArgumentError(f"the operand is {shape.without_layout()}; expected square matrices")
    if not (shape.element_type.is_floating or shape.element_type.is_complex):
        raise InvalidArgumentError(f"the operand is {shape.element_type}; expected a floating or complex type")


def _cholesky(operands: Sequence[Shape], attributes: Attributes, declared: Shape | None) -> Shape:
    _check_square(operands[0])
    return normalize(operands[0])


def _triangular_solve(operands: Sequence[Shape], attributes: Attributes, declared: Shape | None) -> Shape:
    a, b = operands
    _check_square(a)
    left = attributes.get("left_side", False)
    if (
        array(b).element_type is not a.element_type
        or b.rank != a.rank
        or b.dimensions[:-2] != a.dimensions[:-2]
        or b.dimensions[-2 if left else -1] != a.dimensions[-1]
    ):
        raise InvalidArgumentError(f"{b.without_layout()} is no right side for matrices {a.without_layout()}")
    transpose = attributes.get("transpose_a", "NO_TRANSPOSE")
    check(transpose in ("NO_TRANSPOSE", "TRANSPOSE", "ADJOINT"), lambda: f"transpose_a {transpose} is unknown")
    return normalize(b)


def _fft(operands: Sequence[Shape], attributes: Attributes, declared: Shape | None) -> Shape:
    operand, kind, length = array(operands[0]), attributes["fft_type"], tuple(attributes["fft_length"])
    rank = len(length)
    check(kind in ("FFT", "IFFT", "RFFT", "IRFFT"), lambda: f"fft_type {kind} is unknown")
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
    return normalize(operand)


entry("cholesky", 1, _cholesky, None, doc="The triangular factor of Hermitian matrices.", lower=attr("bool", False))
entry(
    "triangular-solve",
    2,
    _triangular_solve,
    None,
    doc="Solves op(a) x = b (left side) or x op(a) = b for triangular a.",
    left_side=attr("bool", False),
    lower=attr("bool", False),
    unit_diagonal=attr("bool", False),
    transpose_a=attr("enum", "NO_TRANSPOSE"),
)
entry(
    "fft",
    1,
    _fft,
    None,
    doc="The Fourier transform over the last dimensions; the inverse is normalized.",
    fft_type=attr("enum"),
    fft_length=attr("ints"),
)

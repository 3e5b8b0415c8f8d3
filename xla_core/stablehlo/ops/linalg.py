"""cholesky, triangular_solve and fft."""

from __future__ import annotations

from collections.abc import Sequence

from xla_core.hlo.table.opcode import Opcode
from xla_core.stablehlo import ir
from xla_core.stablehlo.ops.common import FALSE, INTS, OneOp, enum, ints, tensor
from xla_core.stablehlo.ops.reducers import element_text
from xla_core.stablehlo.table.op_table import Attribute, Kind, OpGroup
from xla_core.stablehlo.table.type_constraints import FLOAT_OR_COMPLEX, PLAIN_FLOAT_OR_COMPLEX, Elements, elements_of
from xla_core.stablehlo.verify.compatibility import (
    compatible_dimensions,
    compatible_elements,
    compatible_shapes,
    list_text,
    shape_text,
)

define = OpGroup("linalg").define

_BOOL = Attribute(Kind.BOOL)


def _cholesky_rule(op: ir.Op, module: ir.Module) -> Sequence[ir.Type]:
    a = tensor(op, 0)
    if a.rank < 2:
        op.fail(f"argument 'a' must have rank >= 2, got shape {shape_text(a.shape)}.")
    if not compatible_dimensions(a.shape[-1], a.shape[-2]):
        op.fail(f"minor dimensions of 'a' must have equal size, got shape {shape_text(a.shape)}.")
    return [a]


define(
    "stablehlo.cholesky",
    "a",
    rule=_cholesky_rule,
    lower=OneOp(Opcode.CHOLESKY, "lower"),
    types=FLOAT_OR_COMPLEX,
    attributes={"lower": FALSE},
    assembly="% (? , lower = lower:bool ?) attr-dict : :same:",
    doc=(
        "The lower (or upper) triangular L with L L^H = a (or U^H U = a), for each matrix of a batch; NaN where a "
        "is not positive definite. Only one triangle of a is read."
    ),
    type_traits=("compatible-element-types",),
)


def _triangular_solve_rule(op: ir.Op, module: ir.Module) -> Sequence[ir.Type]:
    a, b = tensor(op, 0), tensor(op, 1)
    if not compatible_elements(a.element, b.element):
        op.fail("requires the same element type for all operands")
    if a.rank < 2:
        op.fail(f"operand 'a' must have rank >= 2, but got '{a}'")
    if not compatible_dimensions(a.shape[-1], a.shape[-2]):
        op.fail(f"two minor dimensions of operand 'a' must be compatible, but got '{a}'")
    if a.rank != b.rank:
        op.fail(f"operands must have equal rank, but got '{a}' and '{b}'")
    if not compatible_dimensions(a.shape[-1], b.shape[-2 if op.attributes["left_side"] else -1]):
        op.fail(f"shared dimension of operands 'a' and 'b' must be compatible, but got '{a}' and '{b}'")
    if not compatible_shapes(a.shape[:-2], b.shape[:-2]):
        op.fail(f"batch dimensions of the operands must be compatible, but got '{a}' and '{b}'")
    if op.attributes["transpose_a"] == "TRANSPOSE_INVALID":
        op.fail("Invalid transpose option value for triangular solve")
    return [b]


define(
    "stablehlo.triangular_solve",
    "a b",
    rule=_triangular_solve_rule,
    lower=OneOp(Opcode.TRIANGULAR_SOLVE, "left_side", "lower", "unit_diagonal", "transpose_a"),
    types=PLAIN_FLOAT_OR_COMPLEX,
    attributes={
        "left_side": _BOOL,
        "lower": _BOOL,
        "unit_diagonal": _BOOL,
        "transpose_a": enum("transpose"),
    },
    doc=(
        "The x with op(a) x = b (`left_side`) or x op(a) = b, for triangular matrices a; op is the operation that "
        "`transpose_a` names. Only one triangle of a is read, without its diagonal if `unit_diagonal`."
    ),
    type_traits=("compatible-element-types",),
)


def _fft_rule(op: ir.Op, module: ir.Module) -> Sequence[ir.Type]:
    operand, kind, lengths = tensor(op, 0), str(op.attributes["fft_type"]), ints(op, "fft_length")
    element, rank = operand.element, len(lengths)
    assert isinstance(element, str)
    is_complex = elements_of(element) is Elements.COMPLEX
    if not 1 <= rank <= 3:
        op.fail(f"rank must be between 1 and 3, but got {rank}.")
    if kind == "RFFT" and element not in ("f32", "f64"):
        op.fail(f"RFFT requires f32 or f64 input type, but is given '{element_text(operand)}'.")
    if kind != "RFFT" and not is_complex:
        op.fail(f"FFT/IFFT/IRFFT take a complex tensor as input, but is given '{operand}'.")
    if operand.rank < rank:
        op.fail(f"operand rank must not be less than fft rank of {rank} for operand of type '{operand}'.")
    inner = operand.shape[-rank:]
    sizes = shape_text(operand.shape)
    bounds = (*operand.bounds[:-1], None) if any(operand.bounds[:-1]) else ()
    if kind == "IRFFT":
        if not compatible_shapes(inner[:-1], lengths[:-1]):
            bad = next((a, b) for a, b in zip(inner, lengths, strict=True) if not compatible_dimensions(a, b))
            op.fail(
                f"IRFFT requires non-final dimensions to be compatible with fft_length. Got: {sizes} but wanted "
                f"{list_text(lengths)}, and {bad[0]} != {bad[1]}."
            )
        if not compatible_dimensions(inner[-1], lengths[-1] // 2 + 1) and not (inner[-1] == lengths[-1] == 0):
            op.fail(
                f"IRFFT requires innermost dimension to be compatible with fft_length[-1]/2+1. Got: {inner[-1]} but "
                f"fft_length is {list_text(lengths)}."
            )
        return [ir.TensorType((*operand.shape[:-1], lengths[-1]), element[8:-1], bounds)]
    if kind == "RFFT":
        if not compatible_shapes(inner, lengths):
            op.fail(
                f"RFFT requires innermost dimensions to be compatible with fft_length. Got: "
                f"{sizes} but wanted {list_text(lengths)}."
            )
        last = lengths[-1] // 2 + 1 if lengths[-1] else operand.shape[-1]
        return [ir.TensorType((*operand.shape[:-1], last), f"complex<{element}>", bounds)]
    return [operand]


define(
    "stablehlo.fft",
    "operand",
    rule=_fft_rule,
    lower=OneOp(Opcode.FFT, "fft_type", "fft_length"),
    types=PLAIN_FLOAT_OR_COMPLEX,
    attributes={
        "fft_type": enum("fft_type", says="XLA fast fourier transform type."),
        "fft_length": INTS,
    },
    assembly="% , type = fft_type:fft_type , length = fft_length:dims attr-dict : :functional:",
    doc=(
        "The discrete Fourier transform of the last dimensions (one to three, of lengths `fft_length`): FFT and "
        "its inverse IFFT of complex numbers, RFFT from real numbers to the half of the spectrum that isn't "
        "redundant, and its inverse IRFFT."
    ),
)

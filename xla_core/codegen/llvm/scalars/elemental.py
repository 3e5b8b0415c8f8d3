"""ElementalIrEmitter: one element of an elementwise op from the operands' elements.

(XLA: xla/service/elemental_ir_emitter.h.) `ELEMENTAL` maps opcodes to emitters. The emitters for integers, floats and
complex numbers are in tables of their own (`integer_ops`, `float_ops`, `complex_ops`). Floats below 32 bits are
computed in f32, and each op's result is rounded.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from xla_core.codegen.llvm.ir.builder import IrBuilder
from xla_core.codegen.llvm.ir.module import Value
from xla_core.codegen.llvm.ir.types import register_type, type_bits
from xla_core.codegen.llvm.loops.context import EmissionContext
from xla_core.codegen.llvm.loops.ir_array import Complex, ElementValue, as_register
from xla_core.codegen.llvm.scalars.complex_ops import COMPLEX_OPS
from xla_core.codegen.llvm.scalars.conversions import (
    narrow_from_f32,
    round_to_bf16,
    round_to_odd,
    truncate_to_bf16,
    widen_to_f32,
)
from xla_core.codegen.llvm.scalars.float_ops import ARITHMETIC_OPS, FLOAT_OPS, reduce_precision
from xla_core.codegen.llvm.scalars.integer_ops import INTEGER_OPS, compare_integers
from xla_core.codegen.llvm.scalars.math import MathEmitter
from xla_core.codegen.llvm.scalars.number_order import compared_numbers
from xla_core.errors import UnimplementedError
from xla_core.hlo.ir.instruction import HloInstruction
from xla_core.hlo.table.op_table import Trait
from xla_core.hlo.table.opcode import Opcode
from xla_core.hlo.values.element_type import ElementType
from xla_core.hlo.values.float_format import LEAST_POWER
from xla_core.registration import registers_in

ElementalEmitter = Callable[["ElementalIrEmitter", HloInstruction, Sequence[ElementValue]], ElementValue]
"""(emitter, instruction, elements of its `element_operands`) -> the element."""

ELEMENTAL: dict[Opcode, ElementalEmitter] = {}
elemental = registers_in(ELEMENTAL)


def element_operands(instruction: HloInstruction) -> Sequence[HloInstruction]:
    """Returns the instructions whose elements an elementwise op needs: its operands, or what they are made of."""
    return compared_numbers(instruction) or instruction.operands


class ElementalIrEmitter:
    """Emits elementwise ops where its context's builder stands."""

    def __init__(self, context: EmissionContext) -> None:
        self.context = context
        self.b = context.builder
        self.math = MathEmitter(context.builder, context.abi)

    def emit(self, instruction: HloInstruction, operands: Sequence[ElementValue]) -> ElementValue:
        """Returns the element of an elementwise instruction."""
        return ELEMENTAL[instruction.opcode](self, instruction, operands)

    # -- floats ------------------------------------------------------------------------------------------------------

    def widen(self, value: Value, element_type: ElementType) -> Value:
        """Converts a float exactly to the type that it is computed in: f64 for f64, else f32."""
        if element_type in (ElementType.F32, ElementType.F64):
            return value
        if element_type in self.context.abi.native_floats:
            return self.b.cast("fpext", self.b.bitcast(value, _ir_float(element_type)), "float")
        return widen_to_f32(self.b, value, element_type)

    def narrow(self, value: Value, element_type: ElementType) -> Value:
        """Rounds an f32 or f64 once to an element type, ties to even."""
        if element_type is ElementType.F64:
            return self.b.cast("fpext", value, "double")
        if element_type is ElementType.F32:
            return self.b.cast("fptrunc", value, "float") if value.type == "double" else value
        if value.type == "double":
            value = round_to_odd(self.b, value)
        if element_type in self.context.abi.native_floats:
            narrow = self.b.cast("fptrunc", value, _ir_float(element_type))
            return self.b.bitcast(narrow, register_type(element_type))
        return narrow_from_f32(self.b, value, element_type)

    # -- conversion --------------------------------------------------------------------------------------------------

    def convert(self, value: ElementValue, source: ElementType, target: ElementType) -> ElementValue:
        """HLO's convert.

        Floats are truncated to integers, and saturate; NaN becomes 0. A number becomes the pred "is not 0".
        """
        if source is target:
            return value
        if target.is_complex:
            part = target.component
            if isinstance(value, Complex):
                real, imag = (self._real(v, source.component, part) for v in value)
                return Complex(real, imag)
            return Complex(self._real(value, source, part), self.b.float_(0.0, register_type(part)))
        if isinstance(value, Complex):
            if target is ElementType.PRED:
                zero = self.b.like(0.0, value.real)
                return self.b.or_(self.b.fcmp("une", value.real, zero), self.b.fcmp("une", value.imag, zero))
            return self._real(value.real, source.component, target)
        return self._real(value, source, target)

    def _real(self, value: Value, source: ElementType, target: ElementType) -> Value:
        b = self.b
        if source is target:
            return value
        if source.is_floating:
            wide = self.widen(value, source)
            if target.is_floating:
                return self.narrow(wide, target)
            if target is ElementType.PRED:
                return b.fcmp("une", wide, b.like(0.0, wide))
            return self._float_to_integer(wide, target)
        signed = source.is_signed
        if target.is_floating:
            to = (
                "double" if target is ElementType.F64 or (source.bit_width == 32 and target.bit_width < 32) else "float"
            )
            if source.bit_width == 64 and target.bit_width < 32:
                to, value = "double", self._fold_low_bits(value, signed)
            wide = b.cast("sitofp" if signed else "uitofp", value, to)
            return self.narrow(wide, target)
        if target is ElementType.PRED:
            return b.icmp("ne", value, b.int_(0, value.type))
        return as_register(b, b.resize(b.held(value), register_type(target), signed=signed), target)

    def _fold_low_bits(self, value: Value, signed: bool) -> Value:
        """Rounds a 64-bit integer to odd, to one that f64 can hold, so that rounding the f64 is correct."""
        b = self.b
        shifted = b.add(value, b.int_(1 << 53, "i64")) if signed else value
        large = b.icmp("ugt", shifted, b.int_((2 << 53) if signed else 1 << 53, "i64"))
        inexact = b.icmp("ne", b.binary("and", value, b.int_(0xFFF, "i64")), b.int_(0, "i64"))
        folded = b.or_(b.binary("and", value, b.int_(-0x1000, "i64")), b.int_(0x800, "i64"))
        return b.select(b.and_(large, inexact), folded, value)

    def _float_to_integer(self, value: Value, target: ElementType) -> Value:
        b, bits = self.b, target.bit_width
        through = max(bits, 32)  # narrower results saturate as integers, which vectorizes better
        signed = target.is_signed or bits < 32
        low, high = (-(1 << through - 1), (1 << through - 1) - 1) if signed else (0, (1 << through) - 1)
        wide_type = f"i{through}"
        # The plain conversion is undefined outside its range: 0 is converted instead. (llvm.fptosi.sat is slower.)
        above = b.fcmp("oge", value, b.like(float(high + 1), value))
        inside = b.and_(b.fcmp("olt", value, b.like(float(high + 1), value)), b.fcmp("oge", value, b.like(low, value)))
        safe = b.select(inside, value, b.like(0.0, value))
        wide = b.cast("fptosi" if signed else "fptoui", safe, wide_type)
        wide = b.select(above, b.int_(high if high < 1 << through - 1 else -1, wide_type), wide)
        if low:
            wide = b.select(b.fcmp("olt", value, b.like(low, value)), b.int_(low, wide_type), wide)
        if through == bits:
            return wide
        low = -(1 << bits - 1) if target.is_signed else 0
        high = (1 << bits - 1) - 1 if target.is_signed else (1 << bits) - 1
        return b.cast("trunc", b.clamp(b.int_(low, "i32"), wide, b.int_(high, "i32")), register_type(target))


def _not_emitted(what: str, instruction: HloInstruction) -> UnimplementedError:
    return UnimplementedError(
        f"the LLVM emitter has no code for {what}",
        op=instruction.opcode,
        location=instruction.location,
        hint="leave it out of the target's capabilities, so that the core rewrites it",
    )


def _by_category(opcode: Opcode) -> ElementalEmitter:
    """Returns an emitter that looks the op up in the table of integers, floats or complex numbers."""

    def emit(e: ElementalIrEmitter, instruction: HloInstruction, operands: Sequence[ElementValue]) -> ElementValue:
        element_type = instruction.operand(0).shape.element_type
        if element_type.is_complex:
            complex_op = COMPLEX_OPS.get(opcode)
            if complex_op is not None:
                return complex_op(e.math, *(o for o in operands if isinstance(o, Complex)))
        elif element_type.is_floating:
            float_op = FLOAT_OPS.get(opcode)
            if float_op is not None:
                wide = [e.widen(o, element_type) for o in operands if isinstance(o, Value)]
                if not element_type.has_zero:  # products of its small values underflow in f32
                    wide = [e.b.cast("fpext", o, "double") for o in wide]
                result = float_op(e.math, *wide)
                if not element_type.has_zero and Trait.POSITIVE in instruction.op.traits:  # powers underflow in f64 too
                    underflowed = e.b.fcmp("oeq", result, e.b.like(0.0, result))
                    result = e.b.select(underflowed, e.b.like(LEAST_POWER, result), result)
                if element_type is ElementType.BF16 and Trait.KEEPS_PRECISION in instruction.op.traits:
                    return truncate_to_bf16(e.b, result)
                if element_type is ElementType.BF16 and opcode in ARITHMETIC_OPS and e.context.abi.has_short_nans:
                    return round_to_bf16(e.b, result)
                return e.narrow(result, element_type)
        else:
            integer_op = INTEGER_OPS.get(opcode)
            if integer_op is not None:
                return integer_op(e.b, element_type, *(o for o in operands if isinstance(o, Value)))
        raise _not_emitted(f"{opcode} of {element_type}", instruction)

    return emit


for _opcode in {*INTEGER_OPS, *FLOAT_OPS, *COMPLEX_OPS}:
    ELEMENTAL[_opcode] = _by_category(_opcode)


ELEMENTAL[Opcode.COPY] = lambda e, instruction, operands: operands[0]


@elemental(Opcode.CONVERT)
def _convert(e: ElementalIrEmitter, instruction: HloInstruction, operands: Sequence[ElementValue]) -> ElementValue:
    return e.convert(operands[0], instruction.operand(0).shape.element_type, instruction.shape.element_type)


@elemental(Opcode.COMPLEX)
def _complex(e: ElementalIrEmitter, instruction: HloInstruction, operands: Sequence[ElementValue]) -> ElementValue:
    real, imag = (o for o in operands if isinstance(o, Value))
    return Complex(real, imag)


@elemental(Opcode.REAL)
def _real(e: ElementalIrEmitter, instruction: HloInstruction, operands: Sequence[ElementValue]) -> ElementValue:
    value = operands[0]
    return value.real if isinstance(value, Complex) else value


@elemental(Opcode.IMAG)
def _imag(e: ElementalIrEmitter, instruction: HloInstruction, operands: Sequence[ElementValue]) -> ElementValue:
    value = operands[0]
    if isinstance(value, Complex):
        return value.imag
    element_type = instruction.shape.element_type
    return e.narrow(e.b.float_(0.0), element_type)


@elemental(Opcode.IS_FINITE)
def _is_finite(e: ElementalIrEmitter, instruction: HloInstruction, operands: Sequence[ElementValue]) -> ElementValue:
    value = operands[0]
    assert isinstance(value, Value)
    wide = e.widen(value, instruction.operand(0).shape.element_type)
    return e.b.fcmp("one", e.b.intrinsic("fabs", wide), e.b.like(float("inf"), wide))


@elemental(Opcode.SELECT)
def _select(e: ElementalIrEmitter, instruction: HloInstruction, operands: Sequence[ElementValue]) -> ElementValue:
    condition, a, c = operands
    assert isinstance(condition, Value)
    if isinstance(a, Complex) and isinstance(c, Complex):
        return Complex(e.b.select(condition, a.real, c.real), e.b.select(condition, a.imag, c.imag))
    assert isinstance(a, Value)
    assert isinstance(c, Value)
    return e.b.select(condition, a, c)


@elemental(Opcode.CLAMP)
def _clamp(e: ElementalIrEmitter, instruction: HloInstruction, operands: Sequence[ElementValue]) -> ElementValue:
    low, value, high = (o for o in operands if isinstance(o, Value))
    element_type = instruction.shape.element_type
    if element_type.is_floating:
        low, value, high = (e.widen(v, element_type) for v in (low, value, high))
        larger = FLOAT_OPS[Opcode.MAXIMUM](e.math, low, value)
        return e.narrow(FLOAT_OPS[Opcode.MINIMUM](e.math, larger, high), element_type)
    larger = INTEGER_OPS[Opcode.MAXIMUM](e.b, element_type, low, value)
    return INTEGER_OPS[Opcode.MINIMUM](e.b, element_type, larger, high)


_FLOAT_PREDICATES = {"EQ": "oeq", "NE": "une", "LT": "olt", "LE": "ole", "GT": "ogt", "GE": "oge"}


@elemental(Opcode.COMPARE)
def _compare(e: ElementalIrEmitter, instruction: HloInstruction, operands: Sequence[ElementValue]) -> ElementValue:
    b = e.b
    direction = instruction.attribute("direction")
    element_type = instruction.operand(0).shape.element_type
    if compared_numbers(instruction) is not None:
        x, y = (e.widen(v, element_type) for v in operands if isinstance(v, Value))
        return b.and_(b.fcmp("ord", x, x), b.fcmp("ult", x, y))
    lhs, rhs = operands
    if isinstance(lhs, Complex) and isinstance(rhs, Complex):
        real = b.fcmp(_FLOAT_PREDICATES[direction], lhs.real, rhs.real)
        imag = b.fcmp(_FLOAT_PREDICATES[direction], lhs.imag, rhs.imag)
        return b.and_(real, imag) if direction == "EQ" else b.or_(real, imag)
    assert isinstance(lhs, Value)
    assert isinstance(rhs, Value)
    if not element_type.is_floating:
        return compare_integers(b, direction, lhs, rhs, signed=element_type.is_signed)
    if instruction.attribute("type") == "TOTALORDER":
        lhs, rhs = (total_order(b, v, element_type) for v in (lhs, rhs))
        return compare_integers(b, direction, lhs, rhs, signed=True)
    return b.fcmp(_FLOAT_PREDICATES[direction], e.widen(lhs, element_type), e.widen(rhs, element_type))


def _ir_float(element_type: ElementType) -> str:
    """LLVM's own type of a 16-bit float."""
    return "bfloat" if element_type is ElementType.BF16 else "half"


def total_order(b: IrBuilder, value: Value, element_type: ElementType) -> Value:
    """Returns a signed integer that orders floats as -NaN < -inf < ... < -0 < +0 < ... < inf < NaN."""
    bits = type_bits(value.type)
    integer = b.bitcast(value, f"i{bits}")
    if not element_type.has_sign_bit:  # the unsigned order of the bits, as a signed one
        return b.xor(integer, Value(integer.type, str(-(2 ** (bits - 1)))))
    integer = b.wrap(integer, element_type.bit_width, signed=True)
    # The bits of negative numbers increase with their magnitude: all but the sign are flipped.
    flip = b.lshr(b.ashr(integer, bits - 1), 1)
    return b.xor(integer, flip)


@elemental(Opcode.REDUCE_PRECISION)
def _reduce_precision(
    e: ElementalIrEmitter, instruction: HloInstruction, operands: Sequence[ElementValue]
) -> ElementValue:
    element_type = instruction.shape.element_type
    value = operands[0]
    assert isinstance(value, Value)
    exponent, mantissa = instruction.attribute("exponent_bits"), instruction.attribute("mantissa_bits")
    if element_type.bit_width < 16:  # rounded as an f32
        rounded = reduce_precision(e.b, e.widen(value, element_type), ElementType.F32, exponent, mantissa)
        return e.narrow(rounded, element_type)
    return reduce_precision(e.b, value, element_type, exponent, mantissa)


@elemental(Opcode.STOCHASTIC_CONVERT)
def _stochastic_convert(
    e: ElementalIrEmitter, instruction: HloInstruction, operands: Sequence[ElementValue]
) -> ElementValue:
    """Returns the truncated magnitude, plus one if the random fraction is below the fraction that was cut off."""
    b = e.b
    value, random = (o for o in operands if isinstance(o, Value))
    source, target = (instruction.operand(0).shape.element_type, instruction.shape.element_type)
    wide = e.widen(value, source)
    magnitude = b.intrinsic("fabs", wide)
    whole = b.intrinsic("trunc", magnitude)
    fraction = b.fsub(magnitude, whole)
    scale = 2.0 ** instruction.operand(1).shape.element_type.bit_width
    fraction = b.select(b.fcmp("ord", fraction, fraction), fraction, b.like(0.0, wide))
    scaled = b.cast("fptoui", b.intrinsic("ceil", b.fmul(fraction, b.like(scale, wide))), random.type)
    up = b.select(b.icmp("ult", random, scaled), b.like(1.0, wide), b.like(0.0, wide))
    rounded = b.intrinsic("copysign", b.fadd(whole, up), wide)
    return e.convert(rounded, ElementType.F64 if wide.type == "double" else ElementType.F32, target)

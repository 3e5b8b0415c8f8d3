"""C expressions of LLVM's operations on scalars.

Integers are held in unsigned types, zero-extended, so that arithmetic wraps around without undefined behaviour of C.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Mapping

from xla_core.codegen.c.ir_types import IrType

Binary = Callable[[IrType, str, str], str]


def masked(type_: IrType, expression: str) -> str:
    """The bits of an expression that belong to an integer type; the C type cuts off the others where it can."""
    if type_.bits == 1:
        return f"({expression}) & 1"
    return expression if type_.has_whole_storage else f"({expression}) & {number(type_, (1 << type_.bits) - 1)}"


def signed_value(type_: IrType, expression: str) -> str:
    """An integer as C's signed integer of the same value."""
    if type_.bits == 1:
        return f"({expression} ? -1 : 0)"
    if type_.has_whole_storage:
        return f"({type_.signed_c_name}){expression}"
    rest = type_.storage_bits - type_.bits
    return f"(({type_.signed_c_name})({type_.c_name})({expression} << {rest}) >> {rest})"


def number(type_: IrType, bits: int) -> str:
    """A number of a scalar type by its bits, as a constant expression of C; a NaN is not one."""
    if type_.is_int:
        if type_.bits == 1:
            return str(bits)
        if type_.storage_bits < 32:
            return str(bits)
        if type_.storage_bits == 128:
            return f"((xla_u128){bits >> 64:#x}ull << 64 | {bits & (1 << 64) - 1:#x}ull)"
        ending = "u" if type_.storage_bits == 32 else "ull"
        return f"{bits}{ending}" if bits < 1 << 20 else f"{bits:#x}{ending}"
    if type_.bits == 16:
        return f"{bits:#x}"
    value: float = struct.unpack(
        *(("<d", struct.pack("<Q", bits)) if type_.bits == 64 else ("<f", struct.pack("<I", bits)))
    )[0]
    ending = "" if type_.bits == 64 else "f"
    text = repr(value) if abs(value) < 1e6 and value * 256 == int(value * 256) else value.hex()
    return f"({text}{ending})" if text.startswith("-") else text + ending


def is_finite(type_: IrType, bits: int) -> bool:
    """Whether bits are those of a finite number, which C has a literal for."""
    exponent = 0x7FF << 52 if type_.bits == 64 else 0xFF << 23
    return bits & exponent != exponent


# -- integers --------------------------------------------------------------------------------------------------------


def _wrapping(operator: str) -> Binary:
    def expression(t: IrType, a: str, b: str) -> str:
        if t.bits == 1:
            return f"{a} {'&' if operator == '*' else '^'} {b}"
        if operator == "*" and t.storage_bits < 32:
            return masked(t, f"(uint32_t){a} * {b}")
        return masked(t, f"{a} {operator} {b}")

    return expression


def _bitwise(operator: str) -> Binary:
    return lambda t, a, b: f"{a} {operator} {b}"


def _shift_amount(t: IrType, b: str) -> str:
    """A shift's amount, reduced below the width: the result of a larger shift is poison, which may be any value."""
    if b.rstrip("ul").isdigit():
        return str(int(b.rstrip("ul")) % max(t.bits, 1))
    return f"({b} & {t.storage_bits - 1})"


def _shl(t: IrType, a: str, b: str) -> str:
    return masked(t, f"{a} << {_shift_amount(t, b)}")


def _lshr(t: IrType, a: str, b: str) -> str:
    return f"{a} >> {_shift_amount(t, b)}"


def _ashr(t: IrType, a: str, b: str) -> str:
    if t.bits == 1:
        return a
    return masked(t, f"({t.c_name})({signed_value(t, a)} >> {_shift_amount(t, b)})")


def _signed_quotient(operator: str) -> Binary:
    return lambda t, a, b: masked(t, f"({t.c_name})({signed_value(t, a)} {operator} {signed_value(t, b)})")


def _float(operator: str) -> Binary:
    return lambda t, a, b: f"{a} {operator} {b}"


BINARY: Mapping[str, Binary] = {
    "add": _wrapping("+"),
    "sub": _wrapping("-"),
    "mul": _wrapping("*"),
    "and": _bitwise("&"),
    "or": _bitwise("|"),
    "xor": _bitwise("^"),
    "udiv": lambda t, a, b: f"{a} / {b}",
    "urem": lambda t, a, b: f"{a} % {b}",
    "sdiv": _signed_quotient("/"),
    "srem": _signed_quotient("%"),
    "shl": _shl,
    "lshr": _lshr,
    "ashr": _ashr,
    "fadd": _float("+"),
    "fsub": _float("-"),
    "fmul": _float("*"),
    "fdiv": _float("/"),
    "frem": lambda t, a, b: f"{'fmod' if t.bits == 64 else 'fmodf'}({a}, {b})",
}
"""The instructions with two operands of one type."""

NATIVE = {
    "add": "+", "sub": "-", "mul": "*", "and": "&", "or": "|", "xor": "^",
    "fadd": "+", "fsub": "-", "fmul": "*", "fdiv": "/",
}  # fmt: skip
"""The instructions that are operators on vectors too."""

_SIGNED = {"slt": "<", "sle": "<=", "sgt": ">", "sge": ">="}
_UNSIGNED = {"eq": "==", "ne": "!=", "ult": "<", "ule": "<=", "ugt": ">", "uge": ">="}
_ORDERED = {"oeq": "==", "ogt": ">", "oge": ">=", "olt": "<", "ole": "<=", "une": "!="}
_UNORDERED = {"ugt": "<=", "uge": "<", "ult": ">=", "ule": ">"}  # the opposite of the ordered comparison


def compare(predicate: str, t: IrType, a: str, b: str) -> str:
    """The expression of an icmp or an fcmp."""
    if t.kind == "ptr":
        a, b = f"(uintptr_t){a}", f"(uintptr_t){b}"
    if not t.is_float:
        if predicate in _UNSIGNED:
            return f"{a} {_UNSIGNED[predicate]} {b}"
        return f"{signed_value(t, a)} {_SIGNED[predicate]} {signed_value(t, b)}"
    if predicate in _ORDERED:
        return f"{a} {_ORDERED[predicate]} {b}"
    if predicate in _UNORDERED:
        return f"!({a} {_UNORDERED[predicate]} {b})"
    return {
        "one": f"({a} < {b}) | ({a} > {b})",
        "ueq": f"!(({a} < {b}) | ({a} > {b}))",
        "ord": f"({a} == {a}) & ({b} == {b})",
        "uno": f"({a} != {a}) | ({b} != {b})",
        "true": "1",
        "false": "0",
    }[predicate]


COMPARISONS = frozenset((*_SIGNED, *_UNSIGNED, *_ORDERED, *_UNORDERED, "one", "ueq", "ord", "uno", "true", "false"))


def to_integer(source: IrType, target: IrType, *, is_signed: bool, saturates: bool) -> str:
    """The body of a function that converts the floating-point number `a` to an integer.

    In C, the conversion of a value out of the integer's range is undefined. Here the result is the nearest value of the
    range if `saturates` (zero for NaN), else zero.
    """
    low = -(1 << (target.bits - 1)) if is_signed else 0
    high = (1 << (target.bits - 1 if is_signed else target.bits)) - 1
    ending = "" if source.bits == 64 else "f"
    digits = 53 if source.bits == 64 else 24
    above = f"a > {float(low - 1)}{ending}" if (low - 1).bit_length() <= digits else f"a >= {float(low).hex()}{ending}"
    below = f"a < {float(high + 1).hex()}{ending}"
    whole = target.signed_c_name if is_signed else target.c_name
    number_or_zero = f"({whole})(fits ? a : 0.0{ending})"
    lines = f"int fits = ({above}) & ({below});\n{target.c_name} r = ({target.c_name}){number_or_zero};\n"
    if saturates:
        least, most = (number(target, n & (1 << target.bits) - 1) for n in (low, high))
        lines += f"r = fits || a != a ? r : a < 0 ? {least} : {most};\n"
    return lines + f"return {masked(target, 'r')};"

"""Mutants whose kernels are wrong for some values: special values, pairs of them, ranges, roundings, ties."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np

from tests.conformance.zoo.kernels import Arrays, Fault, kernel_mutant, recomputed
from tests.conformance.zoo.mutant import Mutant
from tests.conformance.zoo.reasons import example, kernel_ops, reason, shows
from xla_core.hlo import ElementType, HloInstruction, evaluate_computation

Mask = Callable[..., Any]
Wrong = Callable[..., Any]


def _type(array: np.ndarray) -> ElementType:
    return ElementType.from_numpy(array.dtype)


def is_float(array: np.ndarray) -> bool:
    return _type(array).is_floating


def has_infinity(array: np.ndarray) -> bool:
    return is_float(array) and _type(array).has_infinity


def is_signed(array: np.ndarray) -> bool:
    return _type(array).is_signed and _type(array).is_integral


def is_integer(array: np.ndarray) -> bool:
    return _type(array).is_integral


def wide(array: np.ndarray) -> np.ndarray:
    """The values in a type that holds them all."""
    if is_float(array):
        return array.astype(np.float64)
    return array.astype(object) if is_integer(array) else array


def negative(array: np.ndarray) -> np.ndarray:
    """Whether the sign bit is set."""
    return np.signbit(array.astype(np.float64))


def least(array: np.ndarray) -> Any:
    return _type(array).integer_range[0]


def bits_of(array: np.ndarray) -> np.ndarray:
    """The bits of an array's elements. It is a view."""
    return array.view(np.dtype(f"u{array.dtype.itemsize}"))


def is_denormal(array: np.ndarray) -> np.ndarray:
    element = _type(array)
    smallest = 2.0 ** (2 - (1 << (element.exponent_bits - 1)))
    values = np.abs(array.astype(np.float64))
    return (values > 0) & (values < smallest)


def largest(array: np.ndarray) -> Any:
    element = _type(array)
    return (
        np.finfo(array.dtype).max
        if element.bit_width > 8 and element.dtype.kind == "f"
        else ml_dtypes.finfo(array.dtype).max
    )


def where(kind: Callable[[np.ndarray], bool], mask: Mask, value: Wrong) -> Fault:
    """Elements for which `mask(*operands)` holds become `value(*operands)`, where the first operand is of a kind."""

    def wrong(instruction: HloInstruction, operands: Arrays, right: Arrays) -> Arrays | None:
        if not operands or not right or not kind(operands[0]):
            return None
        chosen = np.broadcast_to(mask(*operands), right[0].shape)
        if chosen.any():
            values = np.broadcast_to(np.asarray(value(*operands)), right[0].shape)
            right[0][chosen] = values[chosen].astype(right[0].dtype)
        return right

    return wrong


def result(kind: Callable[[np.ndarray], bool], mask: Mask, value: Wrong) -> Fault:
    """Result elements for which `mask(result)` holds become `value(result)`, where the result is of a kind."""

    def wrong(instruction: HloInstruction, operands: Arrays, right: Arrays) -> Arrays | None:
        for array in right:
            if kind(array) and (chosen := np.asarray(mask(array))).any():
                array[chosen] = np.broadcast_to(np.asarray(value(array)), array.shape)[chosen].astype(array.dtype)
        return right

    return wrong


def swapped(instruction: HloInstruction, operands: Arrays, right: Arrays) -> Arrays | None:
    """The first two operands are exchanged."""
    if len(operands) < 2 or operands[0].shape != operands[1].shape or operands[0].dtype != operands[1].dtype:
        return None
    values = evaluate_computation(instruction.parent, [operands[1], operands[0], *operands[2:]])
    return [v.reshape(r.shape).astype(r.dtype) for v, r in zip(values, right, strict=True)]


def on_inputs(change: Callable[[np.ndarray], np.ndarray]) -> Fault:
    """The op is computed right, of operands that were changed."""

    def wrong(instruction: HloInstruction, operands: Arrays, right: Arrays) -> Arrays | None:
        return list(evaluate_computation(instruction.parent, [change(a) for a in operands]))

    return wrong


def other(opcode: str) -> Fault:
    """Another op is computed."""
    return lambda instruction, operands, right: recomputed(instruction, operands, right, opcode)


def _flushed(array: np.ndarray) -> np.ndarray:
    return np.where(is_denormal(array), np.zeros_like(array), array) if is_float(array) else array


def _saturated(name: str) -> Fault:
    """Integer arithmetic that ends at the range's limits instead of wrapping."""

    def exact(*operands: np.ndarray) -> np.ndarray:
        a = [wide(o) for o in operands]
        return {"add": sum, "subtract": lambda v: v[0] - v[1], "multiply": lambda v: v[0] * v[1]}[name](a)

    def beyond(*operands: np.ndarray) -> np.ndarray:
        low, high = _type(operands[0]).integer_range
        values = exact(*operands)
        return ((values < low) | (values > high)).astype(bool)

    def limit(*operands: np.ndarray) -> np.ndarray:
        low, high = _type(operands[0]).integer_range
        return np.where((exact(*operands) < 0).astype(bool), low, high).astype(operands[0].dtype)

    return where(is_integer, beyond, limit)


def _any(array: np.ndarray) -> bool:
    return True


def _f32(array: np.ndarray) -> bool:
    return array.dtype == np.float32


def _both_zero(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    return (a == 0) & (b == 0)


def _nan(array: np.ndarray) -> np.ndarray:
    return np.isnan(array.astype(np.float64))


def _magnitude(low: float, high: float = np.inf) -> Mask:
    return lambda a, *_: (np.abs(wide(a)) >= low) & (np.abs(wide(a)) < high)


def _off(part: float) -> Wrong:
    return lambda r: r.astype(np.float64) * (1 + part)


_BY_OP: list[tuple[str, str, str, Fault]] = [
    # arithmetic of integers
    ("divide", "min-by-minus-one", "INT_MIN / -1 is 0", where(is_signed, lambda a, b: (wide(a) == least(a)) & (wide(b) == -1), lambda a, b: a * 0)),
    ("divide", "by-zero", "an integer divided by 0 is 0", where(is_integer, lambda a, b: b == 0, lambda a, b: a * 0)),
    ("divide", "floors", "integers are divided towards minus infinity", where(is_signed, lambda a, b: (b != 0) & ((wide(a) < 0) != (wide(b) < 0)) & (wide(a) % np.where(b == 0, 1, wide(b)) != 0), lambda a, b: (wide(a) // np.where(b == 0, 1, wide(b))).astype(np.int64))),
    ("divide", "unsigned-as-signed", "large unsigned numbers are divided as negative ones", where(lambda a: is_integer(a) and not is_signed(a), lambda a, b: (wide(a) > _type(a).integer_range[1] // 2) & (b > 1), lambda a, b: a * 0)),
    ("divide", "reciprocal", "floats are multiplied by the reciprocal", where(_f32, lambda a, b: np.isfinite(a) & np.isfinite(b), lambda a, b: a * (np.float32(1) / b))),
    ("divide", "zero-by-zero", "0 / 0 is 0", where(is_float, _both_zero, lambda a, b: np.zeros_like(a))),
    ("divide", "sign-of-infinity", "x / -0 is the infinity of the sign of x", where(is_float, lambda a, b: (b == 0) & negative(b) & (a != 0) & ~_nan(a), lambda a, b: np.where(negative(a), -np.inf, np.inf))),
    ("remainder", "min-by-minus-one", "INT_MIN % -1 is -1", where(is_signed, lambda a, b: (wide(a) == least(a)) & (wide(b) == -1), lambda a, b: b)),
    ("remainder", "by-zero", "an integer % 0 is 0", where(is_integer, lambda a, b: b == 0, lambda a, b: a * 0)),
    ("remainder", "sign", "the remainder has the divisor's sign", where(lambda a: is_float(a) or is_signed(a), lambda a, b: (wide(b) != 0) & ((wide(a) < 0) != (wide(b) < 0)) & ~_nan(a) & ~_nan(b) if is_float(a) else (b != 0) & ((wide(a) < 0) != (wide(b) < 0)), lambda a, b: (wide(a) % np.where(b == 0, 1, wide(b))).astype(np.float64 if is_float(a) else np.int64))),
    ("remainder", "of-infinity", "x % infinity is NaN", where(is_float, lambda a, b: np.isfinite(wide(a)) & np.isinf(wide(b)), lambda a, b: a * np.nan)),
    ("remainder", "zero-sign", "-x % x is +0", result(is_float, lambda r: (r == 0) & negative(r), lambda r: np.zeros_like(r))),
    ("abs", "min", "abs(INT_MIN) is INT_MAX", where(is_signed, lambda a: wide(a) == least(a), lambda a: np.full_like(a, _type(a).integer_range[1]))),
    ("abs", "minus-zero", "abs(-0) is -0", where(is_float, lambda a: (a == 0) & negative(a), lambda a: a)),
    ("negate", "min", "-INT_MIN is INT_MAX", where(is_signed, lambda a: wide(a) == least(a), lambda a: np.full_like(a, _type(a).integer_range[1]))),
    ("negate", "from-zero", "it is 0 - x, so that -0 is lost", where(is_float, lambda a: (a == 0) & ~negative(a), lambda a: np.zeros_like(a))),
    ("negate", "keeps-sign-of-nan", "the sign of NaN stays", where(is_float, _nan, lambda a: a)),
    ("sign", "minus-zero", "sign(-0) is +0", where(is_float, lambda a: (a == 0) & negative(a), lambda a: np.zeros_like(a))),
    ("sign", "nan", "sign(NaN) is 0", where(is_float, _nan, lambda a: np.zeros_like(a))),
    ("sign", "denormal", "the sign of a denormal is 0", where(is_float, is_denormal, lambda a: np.zeros_like(a))),
    ("add", "saturates", "integers end at the limits of their range", _saturated("add")),
    ("subtract", "saturates", "integers end at the limits of their range", _saturated("subtract")),
    ("multiply", "saturates", "integers end at the limits of their range", _saturated("multiply")),
    ("multiply", "zero-by-infinity", "0 * infinity is 0", where(is_float, lambda a, b: ((a == 0) & np.isinf(wide(b))) | ((b == 0) & np.isinf(wide(a))), lambda a, b: np.zeros_like(a))),
    ("multiply", "sign-of-zero", "-x * 0 is +0", result(is_float, lambda r: (r == 0) & negative(r), lambda r: np.zeros_like(r))),
    ("add", "sum-of-zeros", "-0 + -0 is +0", where(is_float, lambda a, b: _both_zero(a, b) & negative(a) & negative(b), lambda a, b: np.zeros_like(a))),
    ("subtract", "of-equal-infinities", "infinity - infinity is 0", where(is_float, lambda a, b: np.isinf(wide(a)) & (a == b), lambda a, b: np.zeros_like(a))),
    ("add", "round-to-odd", "sums are rounded towards zero", where(_f32, lambda a, b: np.isfinite(a) & np.isfinite(b), lambda a, b: _truncated(a.astype(np.float64) + b))),
    ("multiply", "truncated", "products are rounded towards zero", where(_f32, lambda a, b: np.isfinite(a) & np.isfinite(b), lambda a, b: _truncated(a.astype(np.float64) * b))),
    # order
    ("maximum", "zeros", "maximum(-0, +0) is its first operand", where(is_float, _both_zero, lambda a, b: a)),
    ("minimum", "zeros", "minimum(+0, -0) is its first operand", where(is_float, _both_zero, lambda a, b: a)),
    ("maximum", "nan-first", "a NaN in the first operand is ignored", where(is_float, lambda a, b: _nan(a) & ~_nan(b), lambda a, b: b)),
    ("maximum", "nan-second", "a NaN in the second operand is ignored", where(is_float, lambda a, b: _nan(b) & ~_nan(a), lambda a, b: a)),
    ("minimum", "nan-first", "a NaN in the first operand is ignored", where(is_float, lambda a, b: _nan(a) & ~_nan(b), lambda a, b: b)),
    ("minimum", "nan-second", "a NaN in the second operand is ignored", where(is_float, lambda a, b: _nan(b) & ~_nan(a), lambda a, b: a)),
    ("maximum", "unsigned-as-signed", "large unsigned numbers count as negative", where(lambda a: is_integer(a) and not is_signed(a), lambda a, b: (wide(a) > _type(a).integer_range[1] // 2) != (wide(b) > _type(a).integer_range[1] // 2), lambda a, b: np.minimum(wide(a), wide(b)).astype(np.uint64))),
    ("compare", "zeros", "-0 is less than +0", lambda i, a, r: where(is_float, lambda x, y: _both_zero(x, y) & (negative(x) != negative(y)), lambda x, y: i.attribute("direction") in ("NE", "LT", "LE"))(i, a, r) if i.attribute("direction") in ("EQ", "NE") else None),
    ("compare", "nan-is-equal", "NaN equals NaN", lambda i, a, r: where(is_float, lambda x, y: _nan(x) & _nan(y), lambda x, y: i.attribute("direction") in ("EQ", "GE", "LE"))(i, a, r)),
    ("compare", "unsigned-as-signed", "large unsigned numbers count as negative", lambda i, a, r: where(lambda x: is_integer(x) and not is_signed(x), lambda x, y: (wide(x) > _type(x).integer_range[1] // 2) != (wide(y) > _type(x).integer_range[1] // 2), lambda x, y: ~r[0])(i, a, r) if i.attribute("direction") not in ("EQ", "NE") else None),
    ("compare", "denormals-equal", "denormals equal zero", lambda i, a, r: where(is_float, lambda x, y: is_denormal(x) & (y == 0), lambda x, y: i.attribute("direction") in ("EQ", "GE", "LE"))(i, a, r)),
    ("compare", "by-difference", "integers are compared by the sign of their difference", lambda i, a, r: where(is_signed, lambda x, y: np.abs(wide(x) - wide(y)) > _type(x).integer_range[1], lambda x, y: ~r[0])(i, a, r) if i.attribute("direction") not in ("EQ", "NE") else None),
    ("compare", "total-order", "a total order is the usual one", lambda i, a, r: recomputed(i, a, r, type=None)),
    ("clamp", "nan-operand", "clamp of NaN is its lower bound", lambda i, a, r: result(is_float, _nan, lambda x: np.broadcast_to(a[0], x.shape))(i, a, r)),
    ("clamp", "bounds-crossed", "where the bounds cross, the lower one wins", lambda i, a, r: _clamped(a, r)),
    ("clamp", "no-upper", "the upper bound is ignored", lambda i, a, r: [np.broadcast_to(np.maximum(a[1], a[0]), r[0].shape).copy()]),
    ("select", "scalar-predicate", "a scalar predicate is taken as true", lambda i, a, r: [a[1].copy()] if a[0].ndim == 0 and a[1].ndim else None),
    ("is-finite", "infinity", "an infinity is finite", where(is_float, lambda a: np.isinf(wide(a)), lambda a: True)),
    ("is-finite", "negative-infinity", "minus infinity is finite", where(is_float, lambda a: np.isinf(wide(a)) & (wide(a) < 0), lambda a: True)),
    # bits
    ("shift-left", "masks", "the shift count is taken modulo the width", where(is_integer, lambda a, b: wide(b) >= _type(a).bit_width, lambda a, b: (wide(a) << (wide(b) % _type(a).bit_width)).astype(object) % (1 << 63))),
    ("shift-left", "by-width", "a shift by exactly the width leaves the number", where(is_integer, lambda a, b: wide(b) == _type(a).bit_width, lambda a, b: a)),
    ("shift-right-logical", "masks", "the shift count is taken modulo the width", where(is_integer, lambda a, b: wide(b) >= _type(a).bit_width, lambda a, b: a)),
    ("shift-right-logical", "arithmetic", "negative numbers keep their sign", other("shift-right-arithmetic")),
    ("shift-right-arithmetic", "logical", "the sign is not kept", other("shift-right-logical")),
    ("shift-right-arithmetic", "beyond-width", "shifts of the width or more give 0", where(is_integer, lambda a, b: (wide(b) >= _type(a).bit_width) | (wide(b) < 0), lambda a, b: a * 0)),
    ("shift-right-arithmetic", "by-width", "a shift by exactly the width gives 0", where(is_signed, lambda a, b: wide(b) == _type(a).bit_width, lambda a, b: a * 0)),
    ("shift-left", "negative-count", "a negative count leaves the number", where(is_signed, lambda a, b: wide(b) < 0, lambda a, b: a)),
    ("popcnt", "sign-bit", "the sign bit isn't counted", where(is_signed, lambda a: wide(a) < 0, lambda a: _popcount(a) - 1)),
    ("count-leading-zeros", "zero", "of 0 it is one too small", where(is_integer, lambda a: a == 0, lambda a: np.full_like(a, _type(a).bit_width - 1))),
    ("not", "bit-of-pred", "`not` of pred inverts all bits of the byte", lambda i, a, r: None if r[0].dtype != bool else [np.ones_like(r[0])]),
    ("not", "logical", "`not` of integers is logical", where(is_integer, lambda a: a == a, lambda a: a == 0)),
    ("mulhi", "low", "it is the low half of the product", other("multiply")),
    ("mulhi", "unsigned", "negative numbers count as unsigned", where(is_signed, lambda a, b: (wide(a) < 0) != (wide(b) < 0), lambda a, b: a * 0)),
    # rounding
    ("round-nearest-even", "away", "halfway cases go away from zero", other("round-nearest-afz")),
    ("round-nearest-afz", "even", "halfway cases go to even", other("round-nearest-even")),
    ("round-nearest-afz", "adds-half", "it is floor(x + 0.5)", where(_f32, lambda a: np.isfinite(a), lambda a: np.copysign(np.floor(np.abs(a) + np.float32(0.5)), a))),
    ("round-nearest-even", "minus-zero", "-0.25 is rounded to +0", result(is_float, lambda r: (r == 0) & negative(r), lambda r: np.zeros_like(r))),
    ("floor", "truncates", "negative numbers are rounded towards zero", where(_f32, lambda a: np.isfinite(a), np.trunc)),
    ("floor", "minus-zero", "floor(-0) is +0", result(is_float, lambda r: (r == 0) & negative(r), lambda r: np.zeros_like(r))),
    ("ceil", "minus-zero", "ceil(-0.5) is +0", result(is_float, lambda r: (r == 0) & negative(r), lambda r: np.zeros_like(r))),
    ("floor", "by-integer", "numbers beyond 2^31 come from an s32", where(is_float, _magnitude(2.0**31), lambda a: np.full(a.shape, -(2.0**31)))),
    ("reduce-precision", "truncates", "it truncates instead of rounding", lambda i, a, r: _reduced(i, a, r)),
    ("reduce-precision", "denormals", "denormals stay", where(is_float, is_denormal, lambda a: a)),
    ("reduce-precision", "overflow", "what is too large becomes the largest number", lambda i, a, r: result(is_float, lambda x: np.isinf(wide(x)) & np.isfinite(wide(a[0])), lambda x: np.where(negative(x), -1, 1) * 2.0 ** ((1 << (i.attribute("exponent_bits") - 1)) - 1))(i, a, r)),
    # conversions
    ("convert", "nan-to-integer", "NaN becomes the least integer", lambda i, a, r: None if not is_integer(r[0]) else where(is_float, _nan, lambda x: np.full(x.shape, max(least(r[0]), -(2**62)) or 1))(i, a, r)),
    ("convert", "float-to-integer-wraps", "floats beyond the integer's range wrap", lambda i, a, r: _wrapped(a, r)),
    ("convert", "float-to-integer-rounds", "floats are rounded to the nearest integer", lambda i, a, r: None if not is_integer(r[0]) else where(is_float, lambda x: np.abs(wide(x)) < 100, lambda x: np.rint(wide(x)))(i, a, r)),
    ("convert", "truncates", "floats are rounded towards zero", lambda i, a, r: _narrowed(a, r)),
    ("convert", "overflow", "a float that is too large becomes the largest", lambda i, a, r: None if not (is_float(r[0]) and is_float(a[0]) and _type(r[0]).has_infinity) else where(is_float, lambda x: np.isfinite(wide(x)) & np.isinf(wide(r[0])), lambda x: np.where(wide(x) < 0, -1.0, 1.0) * float(largest(r[0])))(i, a, r)),
    ("convert", "double-rounding", "f64 goes through f32", lambda i, a, r: [a[0].astype(np.float32).astype(r[0].dtype)] if a[0].dtype == np.float64 and is_float(r[0]) else None),
    ("convert", "large-integer", "64-bit integers go through f32", lambda i, a, r: [a[0].astype(np.float32).astype(np.float64).astype(r[0].dtype)] if a[0].dtype.itemsize == 8 and is_integer(a[0]) and r[0].dtype == np.float64 else None),
    ("convert", "u64-as-s64", "u64 beyond 2^63 becomes negative", where(lambda a: a.dtype == np.uint64, lambda a: a > np.uint64(2**63), lambda a: a.view(np.int64))),
    ("convert", "pred", "every byte but 1 becomes false", lambda i, a, r: [a[0] == 1] if r[0].dtype == bool and a[0].dtype != bool else None),
    ("convert", "denormals", "denormals become 0", lambda i, a, r: None if not is_float(r[0]) else result(is_float, is_denormal, lambda x: np.zeros_like(x))(i, a, r)),
    ("convert", "minus-zero", "-0 becomes +0", lambda i, a, r: None if not is_float(r[0]) else result(is_float, lambda x: (x == 0) & negative(x), lambda x: np.zeros_like(x))(i, a, r)),
    ("convert", "sign-extension", "signed numbers are extended by zeros", lambda i, a, r: [bits_of(a[0]).astype(r[0].dtype)] if is_signed(a[0]) and a[0].dtype.kind == "i" and r[0].dtype.itemsize > a[0].dtype.itemsize and is_integer(r[0]) else None),
    ("convert", "complex-to-real", "the imaginary part is taken", lambda i, a, r: [a[0].imag.astype(r[0].dtype)] if a[0].dtype.kind == "c" and r[0].dtype.kind == "f" else None),
    # functions
    ("exponential", "overflow", "beyond 88 it is infinite", where(_f32, lambda a: a > 88, lambda a: np.full_like(a, np.inf))),
    ("exponential", "underflow", "below -87 it is 0", where(_f32, lambda a: a < -87, np.zeros_like)),
    ("exponential", "range", "between 40 and 41 it is 10 ppm off", lambda i, a, r: where(_f32, lambda x: (x > 40) & (x < 41), lambda x: r[0] * np.float32(1.00001))(i, a, r)),
    ("exponential", "negative-range", "between -20 and -19 it is 10 ppm off", lambda i, a, r: where(_f32, lambda x: (x > -20) & (x < -19), lambda x: r[0] * np.float32(1.00001))(i, a, r)),
    ("exponential", "negative-infinity", "of minus infinity it is NaN", where(is_float, lambda a: np.isinf(wide(a)) & (wide(a) < 0), lambda a: a * 0)),
    ("exponential-minus-one", "cancels", "it is exp(x) - 1", where(_f32, np.isfinite, lambda a: np.exp(a) - np.float32(1))),
    ("exponential-minus-one", "minus-zero", "of -0 it is +0", result(is_float, lambda r: (r == 0) & negative(r), lambda r: np.zeros_like(r))),
    ("log", "denormals", "of denormals it is minus infinity", where(is_float, lambda a: is_denormal(a) & (wide(a) > 0), lambda a: np.full(a.shape, -np.inf))),
    ("log", "near-one", "near 1 it is 10 ppm off", lambda i, a, r: where(_f32, lambda x: np.abs(x - 1) < 1e-3, lambda x: r[0] * np.float32(1.00001))(i, a, r)),
    ("log", "negative", "of a negative number it is minus infinity", where(is_float, lambda a: wide(a) < 0, lambda a: np.full(a.shape, -np.inf))),
    ("log-plus-one", "cancels", "it is log(1 + x)", where(_f32, lambda a: a > -1, lambda a: np.log(np.float32(1) + a))),
    ("log-plus-one", "minus-one", "of -1 it is NaN", where(is_float, lambda a: wide(a) == -1, lambda a: np.full(a.shape, np.nan))),
    ("tanh", "saturates-early", "beyond 7 it is 1", where(_f32, lambda a: np.abs(a) > 7, np.sign)),
    ("tanh", "small", "below 1e-3 it is x - x^3", where(_f32, lambda a: np.abs(a) < 1e-3, lambda a: a - a**3)),
    ("tanh", "nan", "of NaN it is 1", where(is_float, _nan, lambda a: np.ones_like(a))),
    ("logistic", "negative-tail", "below -30 it is 0", where(_f32, lambda a: a < -30, np.zeros_like)),
    ("sine", "large", "beyond 10,000 the reduction is in f32", where(_f32, lambda a: np.isfinite(a) & (np.abs(a) > 1e4), lambda a: np.sin(a - np.float32(2 * np.pi) * np.rint(a / np.float32(2 * np.pi))))),
    ("cosine", "large", "beyond 100,000 it is 1", where(_f32, lambda a: np.isfinite(a) & (np.abs(a) > 1e5), np.ones_like)),
    ("sine", "near-pi", "near multiples of pi it is 0", where(_f32, lambda a: (np.abs(a) > 3) & (np.abs(a) < 1e4) & (np.abs(np.sin(a.astype(np.float64))) < 1e-6), np.zeros_like)),
    ("sine", "minus-zero", "of -0 it is +0", result(is_float, lambda r: (r == 0) & negative(r), lambda r: np.zeros_like(r))),
    ("sine", "infinity", "of an infinity it is 0", where(is_float, lambda a: np.isinf(wide(a)), lambda a: np.zeros_like(a))),
    ("tan", "near-pole", "near its poles it is 10 ppm off", lambda i, a, r: where(_f32, lambda x: np.abs(r[0]) > 100, lambda x: r[0] * np.float32(1.00001))(i, a, r)),
    ("sqrt", "denormals", "of denormals it is 0", where(is_float, is_denormal, np.zeros_like)),
    ("sqrt", "minus-zero", "of -0 it is NaN", where(is_float, lambda a: (a == 0) & negative(a), lambda a: np.full(a.shape, np.nan))),
    ("sqrt", "one-ulp", "it is x * rsqrt(x)", where(_f32, lambda a: (a > 0) & np.isfinite(a), lambda a: a * (np.float32(1) / np.sqrt(a)))),
    ("rsqrt", "zero", "of 0 it is the largest number", where(is_float, lambda a: a == 0, lambda a: np.full(a.shape, float(largest(a))))),
    ("rsqrt", "denormals", "of denormals it is infinite", where(is_float, lambda a: is_denormal(a) & (wide(a) > 0), lambda a: np.full(a.shape, np.inf))),
    ("cbrt", "negative", "of negative numbers it is NaN", where(is_float, lambda a: wide(a) < 0, lambda a: np.full(a.shape, np.nan))),
    ("cbrt", "denormals", "of denormals it is 0", where(_f32, is_denormal, np.zeros_like)),
    ("power", "zero-to-zero", "0^0 is 0", where(is_float, _both_zero, lambda a, b: np.zeros_like(a))),
    ("power", "negative-base", "a negative base gives NaN", where(is_float, lambda a, b: (wide(a) < 0) & np.isfinite(wide(a)) & np.isfinite(wide(b)), lambda a, b: np.full(a.shape, np.nan))),
    ("power", "odd-sign", "an odd power of a negative number is positive", where(is_float, lambda a, b: (wide(a) < 0) & (np.abs(wide(b)) % 2 == 1), lambda a, b: np.abs(wide(a)) ** wide(b))),
    ("power", "one", "1^NaN is NaN", where(is_float, lambda a, b: (wide(a) == 1) & _nan(b), lambda a, b: b)),
    ("power", "negative-exponent", "integers to negative powers are 1", where(is_signed, lambda a, b: wide(b) < 0, lambda a, b: a * 0 + 1)),
    ("power", "precision", "it is exp(y log x) in f32", where(_f32, lambda a, b: (a > 0) & np.isfinite(a) & np.isfinite(b), lambda a, b: np.exp(b * np.log(a)))),
    ("atan2", "zeros", "atan2(0, -0) is 0", where(is_float, lambda a, b: _both_zero(a, b) & negative(b), lambda a, b: np.zeros_like(a))),
    ("atan2", "infinities", "of two infinities it is NaN", where(is_float, lambda a, b: np.isinf(wide(a)) & np.isinf(wide(b)), lambda a, b: np.full(a.shape, np.nan))),
    ("atan2", "negative-x", "of x below 0 it is atan(y / x)", where(is_float, lambda a, b: (wide(b) < 0) & np.isfinite(wide(a)) & np.isfinite(wide(b)), lambda a, b: np.arctan(wide(a) / wide(b)))),
    ("erf", "tail", "beyond 3 it is 1", where(_f32, lambda a: np.abs(a) > 3, np.sign)),
    ("erf", "range", "between 1 and 1.2 it is 10 ppm off", lambda i, a, r: where(_f32, lambda x: (x > 1) & (x < 1.2), lambda x: r[0] * np.float32(1.00001))(i, a, r)),
    ("atanh", "near-one", "near 1 it is 10 ppm off", lambda i, a, r: where(_f32, lambda x: np.abs(np.abs(x) - 1) < 1e-3, lambda x: r[0] * np.float32(1.00001))(i, a, r)),
    ("asinh", "large", "beyond 1e19 it is infinite", where(_f32, lambda a: np.isfinite(a) & (np.abs(a) > 1.9e19), lambda a: np.copysign(np.inf, a))),
    ("acosh", "one", "near 1 it is 0.1% off", lambda i, a, r: where(_f32, lambda x: (x > 1) & (x < 1.001), lambda x: r[0] * np.float32(1.001))(i, a, r)),
    ("acos", "near-one", "near 1 it is 0.1% off", lambda i, a, r: where(_f32, lambda x: (x > 0.999) & (x < 1), lambda x: r[0] * np.float32(1.001))(i, a, r)),
    ("asin", "small", "below 1e-4 it is 0", where(_f32, lambda a: np.abs(a) < 1e-4, lambda a: a * 0)),
    ("atan", "large", "beyond 1e6 it is 1.57", where(_f32, lambda a: np.abs(a) > 1e6, lambda a: np.copysign(np.float32(1.57), a))),
    ("cosh", "overflow", "beyond 88.5 it is infinite", where(_f32, lambda a: np.abs(a) > 88.5, lambda a: np.full_like(a, np.inf))),
    ("sinh", "small", "below 0.01 it is (exp(x) - exp(-x)) / 2", where(_f32, lambda a: np.abs(a) < 0.01, lambda a: (np.exp(a) - np.exp(-a)) / 2)),
    ("complex", "swapped", "real and imaginary part are exchanged", swapped),
    ("imag", "of-real", "the imaginary part is the real one", other("real")),
    ("multiply", "complex-conjugate", "complex products take the conjugate", lambda i, a, r: [(a[0] * np.conj(a[1])).astype(r[0].dtype)] if a[0].dtype.kind == "c" else None),
    ("abs", "complex-overflow", "|z| overflows where |z|^2 does", lambda i, a, r: [np.sqrt(a[0].real ** 2 + a[0].imag ** 2)] if a[0].dtype == np.complex64 else None),
    ("divide", "complex-range", "complex quotients overflow where the divisor's square does", lambda i, a, r: [(a[0] * np.conj(a[1]) / (a[1].real ** 2 + a[1].imag ** 2)).astype(np.complex64)] if a[0].dtype == np.complex64 else None),
]  # fmt: skip


def _truncated(exact: np.ndarray) -> np.ndarray:
    """f32 numbers rounded towards zero."""
    near = exact.astype(np.float32)
    away = np.abs(near.astype(np.float64)) > np.abs(exact)
    return np.where(away, np.nextafter(near, np.float32(0)), near)


def _clamped(operands: Arrays, right: Arrays) -> Arrays | None:
    low, _, high = (np.broadcast_to(a, right[0].shape) for a in operands)
    crossed = np.asarray(low > high)
    right[0][crossed] = low[crossed]
    return right


def _popcount(array: np.ndarray) -> np.ndarray:
    width = _type(array).bit_width
    return np.vectorize(lambda n: (int(n) % (1 << width)).bit_count(), otypes=[np.int64])(wide(array))


def _reduced(instruction: HloInstruction, operands: Arrays, right: Arrays) -> Arrays | None:
    """Cuts the mantissa's last bits off where the exponent is unchanged."""
    if operands[0].dtype != np.float32:
        return None
    cut = 23 - instruction.attribute("mantissa_bits")
    if cut <= 0:
        return None
    bits = operands[0].view(np.uint32) >> np.uint32(cut) << np.uint32(cut)
    plain = np.isfinite(right[0]) & (right[0] != 0)
    right[0][plain] = bits.view(np.float32)[plain]
    return right


def _wrapped(operands: Arrays, right: Arrays) -> Arrays | None:
    if not (is_integer(right[0]) and is_float(operands[0])):
        return None
    low, high = _type(right[0]).integer_range
    values = operands[0].astype(np.float64)
    beyond = np.isfinite(values) & ((values < low) | (values > high))
    right[0][beyond] = np.fmod(np.trunc(values[beyond]), 128).astype(np.int64).astype(right[0].dtype)
    return right


def _narrowed(operands: Arrays, right: Arrays) -> Arrays | None:
    """Rounds f32 to bf16 towards zero."""
    if not (operands[0].dtype == np.float32 and right[0].dtype == ml_dtypes.bfloat16):
        return None
    cut = (operands[0].view(np.uint32) >> np.uint32(16)).astype(np.uint16).view(ml_dtypes.bfloat16)
    finite = np.isfinite(operands[0]) & np.isfinite(right[0].astype(np.float32))
    right[0][finite] = cut[finite]
    return right


def _payload(array: np.ndarray) -> np.ndarray:
    """Whether NaNs have bits that another NaN may not have."""
    quiet = bits_of(np.asarray(np.nan).astype(array.dtype).reshape(1))
    return _nan(array) & (bits_of(array) != quiet)


_GENERAL: dict[str, tuple[Callable[[np.ndarray], bool], str, Fault]] = {
    "minus-zero": (is_float, "gives +0 for -0", result(is_float, lambda r: (r == 0) & negative(r), lambda r: np.zeros_like(r))),
    "denormal-results": (is_float, "gives 0 for denormal results", result(is_float, is_denormal, lambda r: np.zeros_like(r))),
    "denormal-operands": (is_float, "takes denormal operands as 0", on_inputs(_flushed)),
    "infinity": (has_infinity, "gives the largest number for infinity", result(has_infinity, lambda r: np.isinf(wide(r)), lambda r: np.where(wide(r) < 0, -1.0, 1.0) * float(largest(r)))),
    "nan": (is_float, "gives 0 for NaN", result(is_float, _nan, lambda r: np.zeros_like(r))),
}  # fmt: skip
"""(the kind of results that it changes, what it does, the fault)."""

_MOVES = (
    *(
        "broadcast",
        "concatenate",
        "copy",
        "dynamic-slice",
        "dynamic-update-slice",
        "gather",
        "pad",
        "reshape",
        "reverse",
    ),
    *("scatter", "select", "slice", "sort", "transpose", "bitcast-convert", "select-and-scatter", "iota"),
)
_COMMUTATIVE = ("add", "multiply", "and", "or", "xor", "maximum", "minimum", "mulhi", "complex")
_PAYLOAD = "does not keep the bits of NaN"


def _has_like_operands(opcode: str) -> bool:
    """Whether the first two operands may have one type and one shape."""
    for element in (ElementType.F32, ElementType.S32, ElementType.PRED):
        found = example(opcode, element)
        if found is not None and len(found.operands) > 1:
            first, second = (operand.shape for operand in found.operands[:2])
            return first.element_type is second.element_type and first.rank == second.rank
    return False


def _mutants() -> list[Mutant]:
    mutants = []
    for opcode, name, what, wrong in _BY_OP:
        mutants.append(
            kernel_mutant(f"values/{opcode}/{name}", f"{opcode}:values", f"`{opcode}`: {what}.", opcode, wrong)
        )
    known = {m.name for m in mutants}
    for opcode in kernel_ops():
        for name, (kind, what, wrong) in _GENERAL.items():
            label = f"values/{opcode}/all-{name}"
            if f"values/{opcode}/{name}" not in known and not reason(label) and shows(opcode, kind, wrong):
                mutants.append(kernel_mutant(label, f"{opcode}:values", f"`{opcode}` {what}.", opcode, wrong))
        if opcode not in _COMMUTATIVE and _has_like_operands(opcode):
            fault = f"`{opcode}` exchanges its operands."
            label = f"values/{opcode}/operands-swapped"
            mutants.append(kernel_mutant(label, f"{opcode}:operands", fault, opcode, swapped))
    for opcode in kernel_ops():
        if opcode not in _MOVES or reason(f"values/{opcode}/nan-payload"):
            continue
        wrong = result(is_float, _payload, lambda r: np.full(r.shape, np.nan))
        mutants.append(
            kernel_mutant(f"values/{opcode}/nan-payload", f"{opcode}:values", f"`{opcode}` {_PAYLOAD}.", opcode, wrong)
        )
    return mutants


MUTANTS = _mutants()

"""Faults of a port to a new chip, in the arithmetic of single elements: each is wrong at a few values alone."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from tests.conformance.zoo.kernels import Arrays, kernel_mutant
from tests.conformance.zoo.mutant import Mutant
from xla_core.hlo import HloInstruction

MUTANTS: list[Mutant] = []


def _chip(opcode: str, fault: str, *operands: str, result: str = "") -> Callable[..., Callable[..., object]]:
    """Adds a mutant whose kernels take `wrong(right, *operands)`, for operands and a result of these types.

    A type is numpy's name of it, or names of several with | between; "" stands for any.
    """

    def add(wrong: Callable[..., object]) -> Callable[..., object]:
        def changed(instruction: HloInstruction, arrays: Arrays, right: Arrays) -> Arrays | None:
            given = (*arrays, right[0])
            wanted = (*operands, *[""] * (len(arrays) - len(operands)), result)
            if any(w and a.dtype.name not in w.split("|") for w, a in zip(wanted, given, strict=True)):
                return None
            return [np.asarray(wrong(right[0], *arrays)).astype(right[0].dtype)]

        kind = f"chip-{wrong.__name__.strip('_').replace('_', '-')}"
        MUTANTS.append(kernel_mutant(f"values/{opcode}/{kind}", opcode, f"`{opcode}` {fault}.", opcode, changed))
        return wrong

    return add


# -- conversions ---------------------------------------------------------------------------------------------------------


@_chip(
    "convert", "halves numbers above the largest signed one without the lost bit", "uint64", result="float64|float32"
)
def _without_the_lost_bit(right, x):
    high = x > np.uint64(np.iinfo(np.int64).max)
    return np.where(high, (x >> np.uint64(1)).astype(np.int64).astype(right.dtype) * 2, right)


@_chip(
    "convert",
    "ends at the ends of 32 bits and then cuts narrower ones",
    "float32|float64",
    result="int8|int16|uint8|uint16",
)
def _through_32_bits(right, x):
    wide = np.clip(np.nan_to_num(x.astype(np.float64)), -(2.0**31), 2.0**31 - 1).astype(np.int32)
    return wide.astype(right.dtype)


@_chip("convert", "cuts the fraction off on the way to a truth value", result="bool")
def _fraction_is_false(right, x):
    return np.where(abs(x.astype(np.float64)) < 1, False, right) if x.dtype.kind == "f" else right


@_chip("convert", "takes the denormal numbers of 16 bits for zeros", "float16", result="float32|float64")
def _no_half_denormals(right, x):
    return np.where(abs(x) < np.float16(2**-14), np.copysign(right.dtype.type(0), right), right)


# -- functions -----------------------------------------------------------------------------------------------------------


@_chip("exponential", "has no denormal results", "float32")
def _no_denormal_results(right, x):
    return np.where(right < np.finfo(np.float32).tiny, 0, right)


@_chip("exponential", "is infinite above 88, and not only above 88.7", "float32")
def _infinite_too_early(right, x):
    return np.where(x > 88, np.inf, right)


@_chip("exponential-minus-one", "subtracts 1 from the exponential of small numbers", "float32")
def _cancels(right, x):
    return np.exp(x) - np.float32(1)


@_chip("log-plus-one", "takes the logarithm of the rounded sum", "float32")
def _rounded_sum(right, x):
    return np.log(np.float32(1) + x)


@_chip("tanh", "divides infinity by infinity from 44.4 on", "float32")
def _nan_of_large(right, x):
    return np.where(x > 44.4, np.nan, right)


@_chip("logistic", "is zero where the exponential of the negative argument overflows", "float32")
def _overflows_inside(right, x):
    return np.where(x < -88.73, 0, right)


@_chip("power", "takes NaN to the power of 0 for a NaN", "float32|float64")
def _nan_to_zero(right, x, y):
    return np.where(np.isnan(x) & (y == 0), np.nan, right)


@_chip("floor", "goes through whole numbers of 32 bits", "float32|float64")
def _through_integers(right, x):
    return np.where(abs(x) < 2.0**31, right, np.clip(x, -(2.0**31), 2.0**31 - 1))


@_chip("sqrt", "multiplies by the reciprocal root, also where that is infinite", "float32")
def _root_of_zero(right, x):
    return np.where((x == 0) | np.isinf(x), np.nan, right)


@_chip("rsqrt", "takes denormal numbers for zeros", "float32")
def _denormal_root(right, x):
    return np.where(abs(x) < np.finfo(np.float32).tiny, np.copysign(np.float32(np.inf), x), right)


@_chip("cbrt", "takes denormal numbers for zeros", "float32")
def _denormal_cube_root(right, x):
    return np.where(abs(x) < np.finfo(np.float32).tiny, np.copysign(np.float32(0), x), right)


@_chip("asinh", "takes the logarithm of a difference for large negative numbers", "float32")
def _difference_of_large(right, x):
    return np.log(x + np.sqrt(x * x + np.float32(1)))


@_chip("acosh", "squares its argument, which overflows", "float32")
def _squares_overflow(right, x):
    return np.where(x > 1.9e19, np.inf, right)


@_chip("cosh", "halves an exponential that has overflowed", "float32")
def _half_of_infinity(right, x):
    return np.where(abs(x) > 88.73, np.inf, right)


@_chip("sinh", "subtracts the exponentials of small numbers", "float32")
def _difference_of_exponentials(right, x):
    return np.where(abs(x) < 1, (np.exp(x) - np.exp(-x)) / np.float32(2), right)


@_chip("erfc", "is 1 minus the error function, which leaves nothing for large arguments", "float32")
def _one_minus(right, x):
    return np.where(x > 4, 0, right)


@_chip("erf-inv", "is finite at 1", "float32")
def _finite_at_one(right, x):
    return np.where(np.isinf(right), np.copysign(np.float32(5.4), right), right)


@_chip("sine", "reduces large arguments by a rounded multiple of pi", "float32")
def _rounded_pi(right, x):
    pi = np.float32(np.pi)
    n = np.round(x / pi)
    return np.where(abs(x) > 1e5, np.sin(x - n * pi) * np.where(n % 2, -1, 1), right)


@_chip("is-finite", "compares with the largest number, which it leaves out", "float32|float64|float16")
def _largest_is_not(right, x):
    return right & (abs(x) < np.finfo(x.dtype).max)


@_chip("sign", "is 0 for a NaN", "float32|float64|float16")
def _sign_of_nan(right, x):
    return np.where(np.isnan(x), 0, right)


# -- whole numbers, and two operands ---------------------------------------------------------------------------------------


@_chip("divide", "divides numbers of 64 bits in floating point of 53", "int64|uint64")
def _by_double(right, x, y):
    quotient = np.trunc(x.astype(np.float64) / y.astype(np.float64))
    small = (y != 0) & np.isfinite(quotient) & (abs(quotient) < 2.0**63)
    return np.where(small, np.where(small, quotient, 0).astype(right.dtype), right)


@_chip("divide", "multiplies by a reciprocal, which is zero for the largest numbers", "float32")
def _by_reciprocal(right, x, y):
    reciprocal = np.float32(1) / y
    flushed = np.where(abs(reciprocal) < np.finfo(np.float32).tiny, np.copysign(np.float32(0), y), reciprocal)
    return np.where(flushed == 0, x * flushed, right)


@_chip("multiply", "leaves out a product of halves of 64 bits", "int64|uint64")
def _without_a_cross_product(right, x, y):
    low = np.uint64(0xFFFFFFFF)
    a, b = x.view(np.uint64), y.view(np.uint64)
    return ((a & low) * (b & low) + (((a >> np.uint64(32)) * (b & low)) << np.uint64(32))).view(right.dtype)


@_chip("multiply", "rounds a product to 64 bits of fraction before it rounds it to 53", "float64")
def _rounds_products_twice(right, x, y):
    return (x.astype(np.longdouble) * y.astype(np.longdouble)).astype(np.float64)


@_chip("divide", "rounds a quotient to 64 bits of fraction before it rounds it to 53", "float64")
def _rounds_quotients_twice(right, x, y):
    return (x.astype(np.longdouble) / y.astype(np.longdouble)).astype(np.float64)


@_chip("add", "rounds a sum to 64 bits of fraction before it rounds it to 53", "float64")
def _rounds_sums_twice(right, x, y):
    return (x.astype(np.longdouble) + y.astype(np.longdouble)).astype(np.float64)


@_chip("subtract", "has no guard bit below a power of two", "float32")
def _no_guard_bit(right, x, y):
    near = (abs(y) > abs(x) * 2.0**-25) & (abs(y) < abs(x) * 2.0**-24) & np.isfinite(x)
    return np.where(near & (x.view(np.uint32) & 0x7FFFFF == 0) & (np.sign(x) == np.sign(y)), x, right)


@_chip("compare", "compares doubles after rounding them to floats", "float64", "float64")
def _as_floats(right, x, y):
    equal = x.astype(np.float32) == y.astype(np.float32)
    return np.where(equal & (x != y), ~right, right)


@_chip("compare", "compares the low halves of 64 bits as signed numbers", "int64|uint64")
def _low_halves_signed(right, x, y):
    a, b = x.view(np.uint64), y.view(np.uint64)
    same = (a >> np.uint64(32)) == (b >> np.uint64(32))
    differ = ((a ^ b) >> np.uint64(31)) & np.uint64(1) != 0
    return np.where(same & differ & (x != y), ~right, right)


@_chip("count-leading-zeros", "takes 0 for 1", "")
def _zeros_of_zero(right, x):
    return np.where(x == 0, right - 1, right)


@_chip("shift-right-arithmetic", "fills with zeros from a shift by all bits but one on", "int16|int8")
def _fills_with_zeros(right, x, n):
    return np.where(n == 8 * x.dtype.itemsize - 1, 0, right)


@_chip("mulhi", "multiplies unsigned numbers of 64 bits as signed ones", "uint64")
def _signed_product(right, x, y):
    a, b = x.view(np.int64), y.view(np.int64)
    high = [((int(i) * int(j)) >> 64) & ((1 << 64) - 1) for i, j in zip(a.reshape(-1), b.reshape(-1), strict=True)]
    return np.array(high, np.uint64).reshape(right.shape)


# -- complex numbers -------------------------------------------------------------------------------------------------------


@_chip("tanh", "divides by an infinite cosine for large real parts of complex numbers", "complex64")
def _complex_large(right, z):
    return np.where(abs(z.real) > 45, complex(np.nan, np.nan), right)


@_chip("reduce-precision", "stays finite where rounding carries over the largest exponent", "float32")
def _carries_into_infinity(right, x):
    grown = np.isinf(right) & np.isfinite(x)
    return np.where(grown, x, right)

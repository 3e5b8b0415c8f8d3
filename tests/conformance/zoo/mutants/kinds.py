"""Mutants that are wrong for one kind of numbers, in one type, from one size, or on the second device."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

import ml_dtypes
import numpy as np
from xla_conformance.ops.kinds import identity

from tests.conformance.zoo.kernels import Arrays, Fault, kernel_mutant, recomputed
from tests.conformance.zoo.mutant import Mutant
from tests.conformance.zoo.mutants.values import is_denormal, is_float
from tests.conformance.zoo.parts import HloKernel, template
from xla_core.hlo import ElementType, Environment, HloInstruction, Opcode

_Change = Callable[[np.ndarray], np.ndarray]


def _of_operands(change: _Change, instruction: HloInstruction, operands: Arrays, right: Arrays) -> Arrays | None:
    """The results for operands that are changed."""
    with np.errstate(all="ignore"):
        return recomputed(instruction, [change(o) for o in operands], right)


def _of_results(change: _Change, instruction: HloInstruction, operands: Arrays, right: Arrays) -> Arrays | None:
    return [change(r) for r in right]


def _flushed(values: np.ndarray) -> np.ndarray:
    if values.dtype.kind == "c":
        return (_flushed(values.real) + 1j * _flushed(values.imag)).astype(values.dtype)
    return np.where(is_denormal(values), np.zeros_like(values), values) if is_float(values) else values


def _finite_identity(name: str, instruction: HloInstruction, operands: Arrays, right: Arrays) -> Arrays | None:
    """A reduction starts from an end of the finite range."""
    if not is_float(operands[0]) or instruction.attribute("to_apply").root.opcode != name:
        return None
    limit = float(ml_dtypes.finfo(operands[0].dtype).max)
    (result,) = right
    wide, end = result.astype(np.float64), -limit if name == "maximum" else limit
    return [np.where(wide == (-np.inf if name == "maximum" else np.inf), end, wide).astype(result.dtype)]


def _ignores_start(type_name: str, instruction: HloInstruction, operands: Arrays, right: Arrays) -> Arrays | None:
    """Reductions in one type start from the identity instead of the initial value that they are given."""
    opcode, element = instruction.attribute("to_apply").root.opcode, ElementType(type_name)
    if len(right) > 1 or {o.dtype for o in operands} != {element.dtype} or opcode is Opcode.TUPLE:
        return None
    start = np.asarray(identity(opcode.value, element)).astype(element.dtype)
    return recomputed(instruction, [operands[0], start], right)


def _other_order(
    name: str, type_name: str, axis: int, instruction: HloInstruction, operands: Arrays, right: Arrays
) -> Arrays | None:
    """Rows (or columns) of integers of one type are compared with the other signedness."""
    values = operands[0]
    if instruction.shape.is_tuple or instruction.attribute("to_apply").root.opcode != name or values.ndim != 2:
        return None
    if str(ElementType.from_numpy(values.dtype)) != type_name or instruction.attribute("dimensions") != (axis,):
        return None
    if not values.shape[axis]:
        return None
    kind = "u" if values.dtype.kind == "i" else "i"
    other = values.view(f"{kind}{values.itemsize}")
    return [(other.max(axis) if name == "maximum" else other.min(axis)).view(values.dtype)]


def _low_words(instruction: HloInstruction, operands: Arrays, right: Arrays) -> Arrays | None:
    """Keys of 64 bits are ordered by their low words."""
    keys, axis = operands[0], instruction.attribute("dimensions")[0]
    if keys.dtype.kind not in "iu" or keys.itemsize < 8 or keys.ndim == 0:
        return None
    order = np.argsort(keys.astype(np.uint32), axis=axis, kind="stable")
    return [np.take_along_axis(o, order, axis) for o in operands]


def _loses_order(type_name: str, instruction: HloInstruction, operands: Arrays, right: Arrays) -> Arrays | None:
    """A stable sort of one type exchanges two neighbours with equal keys."""
    keys, axis = right[0], instruction.attribute("dimensions")[0]
    if not instruction.attribute("is_stable") or len(right) < 2 or keys.shape[axis] < 2:
        return None
    if str(ElementType.from_numpy(keys.dtype)) != type_name:
        return None
    for result in right:
        rows = np.moveaxis(result, axis, -1)
        same = np.moveaxis(keys, axis, -1)
        equal = same[..., -1] == same[..., -2]
        rows[equal, -2:] = rows[equal, -2:][..., ::-1]
    return right


def _coarse(bits: int, instruction: HloInstruction, operands: Arrays, right: Arrays) -> Arrays | None:
    """Uniform numbers have few random bits."""
    if not is_float(right[0]) or instruction.attribute("distribution") != "rng_uniform":
        return None
    low, high = (o.astype(np.float64) for o in operands)
    parts = (right[0].astype(np.float64) - low) / (high - low)
    return [(low + np.floor(parts * 2.0**bits) / 2.0**bits * (high - low)).astype(right[0].dtype)]


def _past_the_bound(instruction: HloInstruction, operands: Arrays, right: Arrays) -> Arrays | None:
    """The upper bound is given too."""
    if right[0].dtype.kind not in "iu" or not right[0].size:
        return None
    right[0].reshape(-1)[::97] = operands[1]
    return right


def _empty_updates(instruction: HloInstruction, operands: Arrays, right: Arrays) -> Arrays | None:
    """Without an update, the results are zeros."""
    return [np.zeros_like(r) for r in right] if not operands[-1].size else None


def _narrow_replacements(name: str, instruction: HloInstruction, operands: Arrays, right: Arrays) -> Arrays | None:
    """What replaces elements of a 16-bit type loses the last bit."""
    if instruction.attribute("to_apply").root.opcode != "parameter" or right[0].dtype != ElementType(name).dtype:
        return None
    updates = [o.copy() for o in operands]
    updates[-1] = (updates[-1].view(np.uint16) & np.uint16(0xFFFE)).view(right[0].dtype)
    return recomputed(instruction, updates, right)


def _imprecise(instruction: HloInstruction, operands: Arrays, right: Arrays) -> Arrays | None:
    """Transforms of 1,024 points and more have an error of some eps of their size."""
    if instruction.attribute("fft_length")[-1] < 1024:
        return None
    eps = 2.0 ** -(52 if operands[0].dtype in (np.float64, np.complex128) else 23)
    noise = np.random.default_rng(0).standard_normal(right[0].shape)
    return [(right[0] + 8 * eps * np.abs(right[0]).max() * noise).astype(right[0].dtype)]


def _in_bf16(name: str, instruction: HloInstruction, operands: Arrays, right: Arrays) -> Arrays | None:
    """An algorithm of several parts computes in one part of 8 bits."""
    if instruction.attribute("algorithm") != name:
        return None
    return _of_operands(lambda o: o.astype(ml_dtypes.bfloat16).astype(o.dtype), instruction, operands, right)


def _naive_quotient(instruction: HloInstruction, operands: Arrays, right: Arrays) -> Arrays | None:
    """Complex quotients are the product with the conjugate, divided by the square of the magnitude."""
    a, b = operands
    if a.dtype.kind != "c":
        return None
    square = b.real * b.real + b.imag * b.imag
    real, imag = a.real * b.real + a.imag * b.imag, a.imag * b.real - a.real * b.imag
    return [((real / square) + 1j * (imag / square)).astype(a.dtype)]


def _other_side(instruction: HloInstruction, operands: Arrays, right: Arrays) -> Arrays | None:
    """On the branch cut, the sign of a zero imaginary part is lost."""
    (z,) = operands
    if z.dtype.kind != "c":
        return None
    values = right[0].copy()
    cut = (z.imag == 0) & (z.real < 0) & np.signbit(z.imag)
    values[cut] = np.conj(values[cut])
    return [values]


def _unscaled(instruction: HloInstruction, operands: Arrays, right: Arrays) -> Arrays | None:
    """The magnitude is the root of a sum of squares, which overflows."""
    (z,) = operands
    return [np.sqrt(z.real * z.real + z.imag * z.imag)] if z.dtype.kind == "c" else None


def _faults() -> Iterator[tuple[Opcode, str, str, Fault]]:
    for opcode in (Opcode.REDUCE, Opcode.REDUCE_WINDOW, Opcode.DOT, Opcode.CONVOLUTION):
        yield opcode, "flushed-operands", "reads denormal numbers as zeros", partial(_of_operands, _flushed)
        yield opcode, "flushed-results", "writes zeros for denormal numbers", partial(_of_results, _flushed)
    for opcode in (Opcode.REDUCE, Opcode.REDUCE_WINDOW):
        for name in ("maximum", "minimum"):
            yield opcode, f"finite-{name}", f"starts a {name} from a finite number", partial(_finite_identity, name)
        for element in ("s8", "u16", "s64", "bf16", "f8e5m2", "f64", "c64"):
            fault = partial(_ignores_start, element)
            yield opcode, f"ignores-start-{element}", f"ignores initial values of {element}", fault
    for name in ("maximum", "minimum"):
        for element in ("s8", "u8", "s16", "u16", "s32", "u32", "s64", "u64"):
            for axis, what in ((1, "rows"), (0, "columns")):
                fault = partial(_other_order, name, element, axis)
                yield Opcode.REDUCE, f"{name}-{what}-{element}", f"takes a {name} of {what} of {element} wrong", fault
    yield Opcode.SORT, "low-words", "orders 64-bit keys by their low words", _low_words
    for element in ("s8", "u8", "s16", "u16", "bf16", "f16", "s32", "f32", "u64"):
        fault = partial(_loses_order, element)
        yield Opcode.SORT, f"unstable-{element}", f"exchanges equal keys of {element} in a stable order", fault
    yield Opcode.SCATTER, "empty-updates", "gives zeros if there is no update", _empty_updates
    for element in ("f16", "bf16"):
        yield Opcode.SCATTER, f"replaces-{element}", f"cuts {element}", partial(_narrow_replacements, element)
    yield Opcode.FFT, "long", "is imprecise from 1,024 points", _imprecise
    for algorithm in ("dot_tf32_tf32_f32_x3", "dot_bf16_bf16_f32_x3", "dot_bf16_bf16_f32_x6", "dot_f32_f32_f32"):
        yield Opcode.DOT, algorithm, f"computes {algorithm} in bf16", partial(_in_bf16, algorithm)
    yield Opcode.DIVIDE, "complex-naive", "divides complex numbers without scaling", _naive_quotient
    for opcode in (Opcode.LOG, Opcode.SQRT):
        yield opcode, "branch-cut", "takes the other side of the branch cut", _other_side
    yield Opcode.ABS, "complex-unscaled", "squares parts of complex numbers", _unscaled
    for bits in (16, 23, 32):
        yield Opcode.RNG, f"coarse-{bits}", f"gives {bits} random bits", partial(_coarse, bits)
    yield Opcode.RNG, "past-the-bound", "gives the upper bound", _past_the_bound


class _WrongOnTheSecond(HloKernel):
    """Adds wrong on the second device."""

    def __init__(self, instruction: HloInstruction, environment: Environment | None = None) -> None:
        super().__init__(instruction, environment)
        self._opcode = instruction.opcode

    def launch(self, stream, arguments, dimensions):
        if stream.executor.ordinal == 1 and self._opcode == self.wrong:
            stream.memset(arguments[-1], 7)
            return
        super().launch(stream, arguments, dimensions)


def _second_device() -> Iterator[Mutant]:
    for opcode in ("add", "negate", "transpose", "dot", "reduce", "sort", "gather", "exponential"):
        kernel = type("WrongOnTheSecond", (_WrongOnTheSecond,), {"wrong": opcode})
        yield Mutant(
            name=f"values/{opcode}/second-device",
            breaks=f"{opcode}:values",
            fault=f"`{opcode}` is wrong on the second device.",
            make=partial(template, kernel=kernel),
            opcode=opcode,
            select="ops",
        )


MUTANTS: list[Mutant] = [
    *(
        kernel_mutant(f"values/{o}/{name}", f"{o}:values", f"`{o}` {what}.", o.value, f)
        for o, name, what, f in _faults()
    ),
    *_second_device(),
]

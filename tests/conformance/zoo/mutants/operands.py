"""Mutants that are wrong for some values of operands: one array twice, far indices, NaN in sums, more bits than are
read.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

import numpy as np

from tests.conformance.zoo.kernels import Arrays, Fault, kernel_mutant, recomputed
from tests.conformance.zoo.mutant import Mutant
from xla_core.hlo import OPS, ElementType, HloInstruction, Opcode

_Change = Callable[[np.ndarray], np.ndarray]


def repeated(instruction: HloInstruction, operands: Arrays, right: Arrays) -> Arrays | None:
    """The last element is wrong if all operands of one type are one array."""
    last = operands[-1]
    alike = [o for o in operands if o.dtype == last.dtype]
    if len(alike) < 2 or last.size < 2 or any(o.tobytes() != last.tobytes() for o in alike):
        return None
    for result in right:
        flat = result.reshape(-1).view(np.uint8)
        flat[-result.dtype.itemsize :] ^= 1
    return right


def with_operands(
    numbers: Callable[[int], range], change: _Change, instruction: HloInstruction, operands: Arrays, right: Arrays
) -> Arrays | None:
    """The results for operands of which some are changed."""
    chosen = numbers(len(operands))
    with np.errstate(all="ignore"):
        given = [change(o).astype(o.dtype) if i in chosen else o for i, o in enumerate(operands)]
    return recomputed(instruction, given, right)


def _half_width(indices: np.ndarray) -> np.ndarray:
    return indices.astype({8: np.int32, 4: np.int16, 2: np.int8}.get(indices.itemsize, indices.dtype))


def _other_sign(indices: np.ndarray) -> np.ndarray:
    """Reads unsigned indices as signed ones, of which the negative ones are 0."""
    return np.where(indices > np.iinfo(indices.dtype).max // 2, 0, indices) if indices.dtype.kind == "u" else indices


def _finite(values: np.ndarray) -> np.ndarray:
    element = ElementType.from_numpy(values.dtype)
    return np.where(np.isfinite(values.astype(np.float64)), values, 0) if element.is_floating else values


def _half_mantissa(values: np.ndarray) -> np.ndarray:
    """Keeps the upper half of the bits of floats."""
    if values.dtype not in (np.float64, np.float32):
        return values
    bits = values.view(f"u{values.itemsize}")
    return (bits >> (4 * values.itemsize) << (4 * values.itemsize)).view(values.dtype)


_INDEXED = {
    Opcode.GATHER: lambda n: range(1, 2),
    Opcode.SCATTER: lambda n: range(n // 2, n // 2 + 1),
    Opcode.DYNAMIC_SLICE: lambda n: range(1, n),
    Opcode.DYNAMIC_UPDATE_SLICE: lambda n: range(2, n),
}
_SUMS = (Opcode.DOT, Opcode.CONVOLUTION, Opcode.REDUCE, Opcode.REDUCE_WINDOW)
_PRODUCTS = (Opcode.DOT, Opcode.RAGGED_DOT, Opcode.CONVOLUTION)


def _faults() -> Iterator[tuple[Opcode, str, str, Fault]]:
    several = [o for o, op in OPS.items() if op.is_elementwise and isinstance(op.arity, int) and op.arity > 1]
    for opcode in (*several, Opcode.DOT, Opcode.CONCATENATE):
        if opcode is not Opcode.STOCHASTIC_CONVERT:  # its operands differ in type
            yield opcode, "repeated", "is wrong if all operands are one array", repeated
    for opcode, numbers in _INDEXED.items():
        yield opcode, "half-index", "reads half of an index's bits", partial(with_operands, numbers, _half_width)
        yield opcode, "signed-index", "reads unsigned indices as signed", partial(with_operands, numbers, _other_sign)
    for opcode in _SUMS:
        yield opcode, "skips-nan", "leaves out NaN and infinities", partial(with_operands, range, _finite)
    for opcode in _PRODUCTS:
        for number, side in enumerate(("lhs", "rhs")):
            only = partial(_only, number)
            fault = partial(with_operands, only, _half_mantissa)
            yield opcode, f"half-{side}", f"reads half of the bits of {side}", fault


def _only(number: int, count: int) -> range:
    return range(number, number + 1)


MUTANTS: list[Mutant] = [
    kernel_mutant(f"values/{opcode}/{name}", f"{opcode}:values", f"`{opcode}` {what}.", opcode.value, wrong)
    for opcode, name, what, wrong in _faults()
]

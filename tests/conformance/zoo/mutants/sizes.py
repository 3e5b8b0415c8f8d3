"""Mutants that are wrong for arrays of some size or rank: tiles, tails, counters, dimensions."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Iterator
from functools import partial

import numpy as np

from tests.conformance.zoo.kernels import Arrays, Fault, kernel_mutant, recomputed
from tests.conformance.zoo.mutant import Mutant
from tests.conformance.zoo.reasons import kernel_ops, reason
from xla_core.hlo import HloInstruction


def _flat(result: np.ndarray) -> np.ndarray:
    return result.reshape(-1)  # a view: the results are contiguous


def _more(count: int) -> Callable[[tuple[int, ...]], bool]:
    return lambda dimensions: math.prod(dimensions) > count


def last_beyond(count: int, instruction: HloInstruction, operands: Arrays, right: Arrays) -> Arrays | None:
    """The last element of a result of more than `count` elements is 0."""
    return _zero(right, lambda flat: slice(flat.size - 1, None) if flat.size > count else None)


def tail(width: int, instruction: HloInstruction, operands: Arrays, right: Arrays) -> Arrays | None:
    """The elements after the last whole vector of `width` are not computed."""
    return _zero(right, lambda flat: slice(flat.size // width * width, None) if flat.size > width else None)


def row_tail(width: int, instruction: HloInstruction, operands: Arrays, right: Arrays) -> Arrays | None:
    """The elements of each row after its last whole vector of `width` are not computed."""
    for result in right:
        if result.ndim > 1 and result.shape[-1] > width:
            result[..., result.shape[-1] // width * width :] = _nothing(
                result[..., result.shape[-1] // width * width :]
            )
    return right


def counter(bits: int, instruction: HloInstruction, operands: Arrays, right: Arrays) -> Arrays | None:
    """A counter of `bits` bits runs over: the elements beyond it are not computed."""
    return _zero(right, lambda flat: slice(1 << bits, None))


def edge_of_tile(
    rows: int, columns: int, instruction: HloInstruction, operands: Arrays, right: Arrays
) -> Arrays | None:
    """The last element of a matrix that ends within a second tile is not computed."""
    for result in right:
        if result.ndim >= 2 and result.shape[-2] > rows and result.shape[-1] > columns:
            result[..., -1, -1] = _nothing(result[..., -1, -1])
    return right


def of_rank(rank: int, instruction: HloInstruction, operands: Arrays, right: Arrays) -> Arrays | None:
    """Arrays of a rank are not computed beyond their first element."""
    _zero([r for r in right if r.ndim == rank], lambda flat: slice(1, None))
    return right


def scalar(instruction: HloInstruction, operands: Arrays, right: Arrays) -> Arrays | None:
    """Scalars are not computed."""
    for result in right:
        if result.ndim == 0:
            result[...] = _nothing(result)
    return right


def single(instruction: HloInstruction, operands: Arrays, right: Arrays) -> Arrays | None:
    """Arrays of one element are not computed."""
    _zero([r for r in right if r.ndim and r.size == 1], lambda flat: slice(None))
    return right


def _zero(results: Arrays, where: Callable[[np.ndarray], slice | None]) -> Arrays:
    for result in results:
        part = where(flat := _flat(result))
        if part is not None:
            flat[part] = _nothing(flat[part])
    return results


def _nothing(right: np.ndarray) -> object:
    """The value of cells that nobody wrote."""
    return np.frombuffer(b"\xa5" * right.dtype.itemsize, right.dtype)[0] if right.dtype != bool else ~right


_FAULTS: dict[str, tuple[str, Fault, Callable[[tuple[int, ...]], bool]]] = {
    "last-beyond-64": ("does not write the last of more than 64 elements", partial(last_beyond, 64), _more(64)),
    "last-beyond-1024": (
        "does not write the last of more than 1,024 elements",
        partial(last_beyond, 1024),
        _more(1024),
    ),
    "last-beyond-4096": (
        "does not write the last of more than 4,096 elements",
        partial(last_beyond, 4096),
        _more(4096),
    ),
    "tail-4": ("does not write what follows the last whole vector of 4 elements", partial(tail, 4), _more(4)),
    "tail-16": ("does not write what follows the last whole vector of 16 elements", partial(tail, 16), _more(16)),
    "tail-256": ("does not write what follows the last whole block of 256 elements", partial(tail, 256), _more(256)),
    "row-tail-8": ("does not write what follows the last whole vector of 8 in a row", partial(row_tail, 8), _more(8)),
    "counter-16": ("counts elements in 16 bits", partial(counter, 16), _more(1 << 16)),
    "edge-8x128": (
        "does not write the last element of the second tile of 8 x 128",
        partial(edge_of_tile, 8, 128),
        _more(1024),
    ),
    "rank-1": ("writes only the first element of vectors", partial(of_rank, 1), lambda d: len(d) == 1),
    "rank-4": ("writes only the first element of arrays of rank 4", partial(of_rank, 4), lambda d: len(d) == 4),
    "rank-6": ("writes only the first element of arrays of rank 6", partial(of_rank, 6), lambda d: len(d) == 6),
    "scalar": ("writes nothing to scalars", scalar, lambda d: not d),
    "single": ("writes nothing to arrays of one element", single, lambda d: bool(d) and math.prod(d) == 1),
}


def _applies(shows: Callable[[tuple[int, ...]], bool], instruction: HloInstruction) -> bool:
    return any(shows(leaf.dimensions) for leaf in instruction.shape.array_leaves())


def _counts_in_f32(instruction: HloInstruction, operands: Arrays, right: Arrays) -> Arrays | None:
    """An element is that of the place which f32 has for it."""
    for result in right:
        flat = _flat(result)
        places = np.arange(1 << 24, flat.size)
        flat[places] = flat[np.minimum(places.astype(np.float32).astype(np.int64), flat.size - 1)]
    return right


def _starts_in_f32(instruction: HloInstruction, operands: Arrays, right: Arrays) -> Arrays | None:
    """The places where a slice starts are computed in f32."""
    starts = [o.astype(np.float32).astype(o.dtype) for o in operands[1:]]
    return recomputed(instruction, [operands[0], *starts], right)


_IN_F32 = {"iota": _counts_in_f32, "add": _counts_in_f32, "reverse": _counts_in_f32, "dynamic-slice": _starts_in_f32}


def _mutants() -> Iterator[Mutant]:
    for opcode, wrong_beyond in _IN_F32.items():
        fault = f"`{opcode}` counts places in f32, which has not every number above 2^24."
        mutant = kernel_mutant(f"sizes/{opcode}/places-in-f32", f"{opcode}/size", fault, opcode, wrong_beyond)
        yield dataclasses.replace(mutant, opcode="", select="ops_large", profile="full")
    for opcode in kernel_ops():
        for name, (what, wrong, shows) in _FAULTS.items():
            label, fault, applies = f"sizes/{opcode}/{name}", f"`{opcode}` {what}.", partial(_applies, shows)
            if not reason(label):
                yield kernel_mutant(label, f"{opcode}/size", fault, opcode, wrong, applies=applies)


MUTANTS = list(_mutants())

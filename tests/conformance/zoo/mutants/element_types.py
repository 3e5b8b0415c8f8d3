"""Mutants that are wrong in one element type: computed in a narrower one, or with the sign taken wrong."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import ml_dtypes
import numpy as np

from tests.conformance.zoo.kernels import Arrays, kernel_mutant
from tests.conformance.zoo.mutant import Mutant
from tests.conformance.zoo.points import changed_value
from tests.conformance.zoo.reasons import accepts, kernel_ops
from xla_core.hlo import ElementType, HloInstruction

_T = ElementType
_NARROWER = {
    _T.F64: np.dtype(np.float32),
    _T.F32: np.dtype(ml_dtypes.bfloat16),
    _T.F16: np.dtype(ml_dtypes.float8_e5m2),
    _T.BF16: np.dtype(ml_dtypes.float8_e4m3),
}


def narrower(element: ElementType, instruction: HloInstruction, operands: Arrays, right: Arrays) -> Arrays | None:
    """Results of a type have the precision of a narrower one. Where that changes nothing, the last element is wrong."""
    if not right or element.dtype not in {a.dtype for a in (*right, *operands)}:
        return None
    for result in right:
        if not result.size:
            continue
        narrow = _narrowed(result, element) if result.dtype == element.dtype else result
        if np.array_equal(narrow, result) or np.all((narrow == result) | (narrow != narrow) & (result != result)):
            flat = result.reshape(-1)
            flat[-1:] = changed_value(flat[-1:])
        else:
            result[...] = narrow
    return right


def _narrowed(values: np.ndarray, element: ElementType) -> np.ndarray:
    if element is _T.PRED:
        return ~values
    if element.is_complex:
        parts = values.view(element.component.dtype)
        return _narrowed(parts, element.component).view(values.dtype) if values.ndim else values * 2
    if element in _NARROWER:
        return values.astype(_NARROWER[element]).astype(values.dtype)
    if element.is_integral:
        half = element.bit_width // 2
        wide = values.astype(np.int64)
        low = wide & ((1 << half) - 1)
        return np.where(low >> (half - 1) & 1, low - (1 << half), low).astype(values.dtype)
    bits = values.view(np.uint8).copy()
    bits ^= 2  # of an 8-bit or narrower float, whose last bit may be rounded either way
    return bits.view(values.dtype)


def _has(element: ElementType, instruction: HloInstruction) -> bool:
    shapes = [instruction.shape, *(operand.shape for operand in instruction.operands)]
    return any(leaf.element_type is element for shape in shapes for leaf in shape.leaves())


def _mutants() -> Iterator[Mutant]:
    for opcode in kernel_ops():
        for element in ElementType:
            if element.is_array and accepts(opcode, element):
                name = f"types/{opcode}/{element.value}"
                fault = f"`{opcode}` has too little precision in {element.value}."
                wrong, applies = partial(narrower, element), partial(_has, element)
                yield kernel_mutant(name, f"{opcode}:{element.value}", fault, opcode, wrong, applies=applies)


MUTANTS = list(_mutants())

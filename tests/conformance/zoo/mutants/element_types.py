"""Mutants that are wrong in one element type: computed in a narrower one, or with the sign taken wrong."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import ml_dtypes
import numpy as np

from tests.conformance.zoo.kernels import Arrays, kernel_mutant
from tests.conformance.zoo.mutant import Mutant
from tests.conformance.zoo.mutants.sizes import kernel_ops
from xla_core.errors import XlaError
from xla_core.hlo import OPS, ElementType, HloInstruction, Opcode, Shape, Trait

_T = ElementType
_NARROWER = {
    _T.F64: np.dtype(np.float32),
    _T.F32: np.dtype(ml_dtypes.bfloat16),
    _T.F16: np.dtype(ml_dtypes.float8_e5m2),
    _T.BF16: np.dtype(ml_dtypes.float8_e4m3),
}
_MOVES = Trait.DATA_MOVEMENT


def narrower(element: ElementType, instruction: HloInstruction, operands: Arrays, right: Arrays) -> Arrays | None:
    """Results of a type have the precision of a narrower one; the smallest types have one value wrong."""
    if not right or element.dtype not in {a.dtype for a in (*right, *operands)}:
        return None
    for result in right:
        if result.dtype == element.dtype:
            result[...] = _narrowed(result, element)
        elif all(r.dtype != element.dtype for r in right) and result.size:
            result.reshape(-1)[-1:] = _narrowed(result.reshape(-1)[:1], ElementType.from_numpy(result.dtype))
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
    bits ^= 1  # the last bit of an 8-bit or narrower float
    return bits.view(values.dtype)


def _takes(opcode: Opcode, element: ElementType) -> bool:
    """Whether an op takes operands of this type, as far as the op table can say."""
    op = OPS[opcode]
    if _MOVES in op.traits:
        return True
    if not (op.is_elementwise and isinstance(op.arity, int)) or opcode in (Opcode.SELECT, Opcode.CONVERT):
        return element in (_T.F64, _T.F32, _T.BF16, _T.F16, _T.S32, _T.S8, _T.U16)
    try:
        op.shape([Shape(element, (4,))] * op.arity, {}, None)
    except (XlaError, KeyError):
        return False
    return True


def _has(element: ElementType, instruction: HloInstruction) -> bool:
    shapes = [instruction.shape, *(operand.shape for operand in instruction.operands)]
    return any(leaf.element_type is element for shape in shapes for leaf in shape.leaves())


def _mutants() -> Iterator[Mutant]:
    for opcode in kernel_ops():
        for element in ElementType:
            if element.is_array and _takes(Opcode(opcode), element):
                name = f"types/{opcode}/{element.value}"
                fault = f"`{opcode}` has too little precision in {element.value}."
                wrong, applies = partial(narrower, element), partial(_has, element)
                yield kernel_mutant(name, f"{opcode}:{element.value}", fault, opcode, wrong, applies=applies)


MUTANTS = list(_mutants())

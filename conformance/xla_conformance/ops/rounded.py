"""Cases of ops that add floats, with numbers whose sums are rounded, so that the order of the additions shows.

The floats of other cases are whole numbers whose sums are the same in every order.
"""

from __future__ import annotations

import zlib
from collections import Counter
from collections.abc import Sequence

import numpy as np

from xla_conformance.ops.cases import OpCase, generate
from xla_conformance.ops.comparison import EQUAL
from xla_core.hlo import ElementType, HloModule, Opcode

_T, _O = ElementType, Opcode
ADDING = (
    *(_O.DOT, _O.RAGGED_DOT, _O.SCALED_DOT, _O.CONVOLUTION, _O.REDUCE, _O.REDUCE_WINDOW, _O.SELECT_AND_SCATTER),
    *(_O.SCATTER, _O.SCAN, _O.BATCH_NORM_TRAINING, _O.BATCH_NORM_GRAD, _O.FFT, _O.CHOLESKY, _O.TRIANGULAR_SOLVE),
)
"""Ops whose results depend on the order in which they add floats."""
_OTHERS = (_T.BF16, _T.F64, _T.C64)
_TYPES = (_T.F32, *_OTHERS)
_MOST = 1 << 21
"""The most elements of a case."""
_LARGE = 1 << 12
"""A case that has more elements goes beyond what one block or vector adds."""


def rounded_cases(opcode: Opcode, seed: int, *, every: bool) -> Sequence[OpCase]:
    """Returns the cases of an op with the most elements and with the most terms of a sum, in each of some types.

    Without `every`, they are of F32 and of another type, which takes turns with the ops and the seeds.
    """
    types = _TYPES if every else (_T.F32, _OTHERS[(seed + ADDING.index(opcode)) % len(_OTHERS)])
    found = [case for case in generate(seed=seed, opcodes=[opcode]) if case.element_type in types]
    found = [case for case in found if 0 < _elements(case) <= _MOST and _adds(case)]
    most = 3 if every else 1
    chosen = {}
    for size, kind in ((_elements, _type_and_domain), (_terms, _type)):
        counts: Counter[object] = Counter()
        for case in sorted(found, key=size, reverse=True):
            if counts[kind(case)] < most:
                counts[kind(case)] += 1
                chosen[case.name] = case
    return list(chosen.values())


def _type(case: OpCase) -> ElementType:
    return case.element_type


def _type_and_domain(case: OpCase) -> object:
    """The type of a case, and its domain too if it is a large one of F32.

    An op has kernels of its own for rows, or for several results, which are domains of their own.
    """
    is_apart = case.element_type is _T.F32 and _elements(case) > _LARGE
    return case.element_type, case.domain if is_apart else ""


def first_result(case: OpCase) -> HloModule | None:
    """Returns the program of a case with its first result alone; None if it has one only."""
    module = case.module()
    root = module.entry.root
    if root.opcode is not Opcode.TUPLE:
        return None
    module.entry.set_root(root.operand(0))
    return module


def rounded_arguments(case: OpCase) -> list[np.ndarray]:
    """Returns the arguments of a case, in which normally distributed numbers are in place of whole ones."""
    given = case.arguments()
    if case.rule is not EQUAL:  # its numbers aren't whole
        return given
    random = np.random.default_rng([case.seed, zlib.crc32(case.name.encode()), 1])
    return [_drawn(random, array) for array in given]


def _elements(case: OpCase) -> int:
    return sum(shape.num_elements for shape in case.program.module.parameter_shapes)


def _adds(case: OpCase) -> bool:
    """Whether the op itself adds, or applies a computation that does."""
    _, *called = case.program.module.post_order()[::-1]
    return not called or any(i.opcode is Opcode.ADD for c in called for i in c.instructions)


def _terms(case: OpCase) -> float:
    """The elements of the arguments for each one of the results, which is about the number of terms of a sum."""
    return _elements(case) / max(1, sum(leaf.num_elements for leaf in case.program.module.result_shape.array_leaves()))


def _drawn(random: np.random.Generator, array: np.ndarray) -> np.ndarray:
    element = ElementType.from_numpy(array.dtype)
    if not element.component.is_floating or element.bit_width < 16:
        return array
    drawn = random.normal(size=array.shape)
    return (drawn + 1j * random.normal(size=array.shape) if element.is_complex else drawn).astype(array.dtype)

"""lapack_expander: expands calls of LAPACK to loops, for targets that have no library.

The calls are those that JAX emits on CPUs (`lapack_spotrf_ffi` and so on), and XLA's own `Qr`, `Eigh` and
`ProductOfElementaryHouseholderReflectors`. (XLA: xla/service/qr_expander.h, eigh_expander.h, householder_expander.h.)
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from xla_core.hlo.decompositions.expression import HloExpression
from xla_core.hlo.ir.builder import Builder
from xla_core.hlo.ir.instruction import HloInstruction
from xla_core.hlo.table.backend_config import parse_backend_config
from xla_core.hlo.table.opcode import Opcode
from xla_core.hlo.values.shape import Shape
from xla_core.passes.expanders.expander import OpExpander

_PERTURBED = "tridiagonal_solve_perturbed_ffi"


class LapackExpander(OpExpander):
    """Computes the results of LAPACK's routines by loops over columns, and spectra by iterations until they converge.

    Results that aren't unique, such as the signs of eigenvectors, may differ from LAPACK's.
    """

    opcodes = frozenset({Opcode.CUSTOM_CALL})

    def matches(self, instruction: HloInstruction) -> bool:
        return _routine(instruction) is not None

    def expand(self, instruction: HloInstruction, b: Builder) -> HloInstruction:
        # Few programs have such calls, so only those load the routines.
        from xla_core.lapack import SIGNATURES
        from xla_core.passes.expanders.linear_algebra.routines import ROUTINES, Call

        found = _routine(instruction)
        assert found is not None
        name, attributes = found
        shapes = [s.without_layout() for s in instruction.shape.array_leaves()]
        operands = instruction.operands
        letters = "n" if name == _PERTURBED else SIGNATURES[name].operands.split()[0]
        batch = operands[0].shape.dimensions[: operands[0].shape.rank - len(letters)]
        if not any(o.shape.num_elements for o in operands):
            results = _of_nothing(name, attributes, operands, shapes, batch, b)
        else:
            size = math.prod(batch)
            flat = [HloExpression(b, b.reshape(o, (size, *o.shape.dimensions[len(batch) :]))) for o in operands]
            made = ROUTINES[name](Call(instruction, attributes), *flat)
            results = [_shaped(b, result.i, shape) for result, shape in zip(made, shapes, strict=False)]
        return b.tuple(results) if instruction.shape.is_tuple else results[0]


def _routine(instruction: HloInstruction) -> tuple[str, dict[str, Any]] | None:
    """The routine of a call and its attributes."""
    from xla_core.lapack import SIGNATURES, TARGETS, lapack_call

    target, config = instruction.attribute("custom_call_target"), instruction.attribute("backend_config")
    if target == _PERTURBED:
        return target, {}
    portable = lapack_call(instruction)
    if portable is not None:
        target, config, _ = portable
    if target not in TARGETS:
        return None
    routine, _ = TARGETS[target]
    attributes = dict(parse_backend_config(config or ""))
    if portable is None:
        SIGNATURES[routine].check(instruction, attributes)
    return routine, attributes


def _shaped(b: Builder, made: HloInstruction, shape: Shape) -> HloInstruction:
    """A result with its batch dimensions, or zeros where the routine leaves it unwritten."""
    if made.shape.num_elements != shape.num_elements:
        return b.constant(0, shape)
    return b.reshape(made, shape.dimensions)


def _of_nothing(
    name: str,
    attributes: Mapping[str, Any],
    operands: Sequence[HloInstruction],
    shapes: Sequence[Shape],
    batch: Sequence[int],
    b: Builder,
) -> list[HloInstruction]:
    """The results for matrices without elements, such as the identity for u."""
    from xla_core.lapack.routines import ROUTINES

    results = [np.zeros(s.dimensions, s.dtype) for s in shapes]
    empty = [np.zeros(o.shape.dimensions[len(batch) :], o.shape.dtype) for o in operands]
    for index in np.ndindex(*batch) if name in ROUTINES else ():
        for result, made in zip(results, ROUTINES[name](attributes, *(e.copy() for e in empty)), strict=False):
            result[index] = made
    return [b.constant(result, shape) for result, shape in zip(results, shapes, strict=True)]

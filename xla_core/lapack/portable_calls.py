"""XLA's own custom calls of linear algebra, which PyTorch/XLA and JAX's programs for accelerators have.

Each is a LAPACK routine without flags. (XLA: xla/hlo/builder/lib/qr.cc, self_adjoint_eig.cc.)
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Mapping
from typing import Any

import numpy as np

from xla_core.errors import InvalidArgumentError
from xla_core.hlo.evaluation.environment import Value
from xla_core.hlo.evaluation.evaluation_context import EvaluationContext
from xla_core.hlo.ir.instruction import HloInstruction
from xla_core.hlo.ops.custom_calls import register_custom_call, register_custom_call_shape
from xla_core.hlo.ops.numerics import widen
from xla_core.hlo.table.op_table import Attributes
from xla_core.hlo.values.element_type import ElementType
from xla_core.hlo.values.shape import Shape
from xla_core.lapack.routines import ROUTINES
from xla_core.lapack.signatures import SIGNATURES, TARGETS, target_name

_LETTERS = {ElementType.F32: "s", ElementType.F64: "d", ElementType.C64: "c", ElementType.C128: "z"}


@dataclasses.dataclass(frozen=True, slots=True)
class _Call:
    """A custom call: the routines for real and for complex matrices, and which of their results it has."""

    real: str
    complex: str
    results: int

    def routine(self, letter: str) -> str:
        return self.real if letter in "sd" else self.complex


PORTABLE_CALLS: Mapping[str, _Call] = {
    "Qr": _Call("geqrf", "geqrf", 2),
    "ProductOfElementaryHouseholderReflectors": _Call("orgqr", "ungqr", 1),
    "Eigh": _Call("syevd", "heevd", 2),
}
"""Targets, as in `PORTABLE_LINEAR_ALGEBRA`, and the routines that they call."""


def lapack_call(call: HloInstruction) -> tuple[str, str, list[Shape]] | None:
    """Returns LAPACK's custom call of the same meaning: its target, its backend_config and the shapes of its results.

    The results begin with those of `call`. Returns None for other calls, and for types that LAPACK doesn't have.
    """
    found = PORTABLE_CALLS.get(call.attribute("custom_call_target"))
    letter = _LETTERS.get(call.operand(0).shape.element_type) if found is not None else None
    if found is None or letter is None:
        return None
    routine = found.routine(letter)
    results = [s.without_layout() for s in call.shape.tuple_shapes or (call.shape,)]
    if routine in ("syevd", "heevd"):
        results.append(Shape.array(ElementType.S32, call.operand(0).shape.dimensions[:-2]))
    attributes = _attributes(call.attributes, routine)
    config = ", ".join(f"{name} = {value} : ui8" for name, value in attributes.items())
    return target_name(routine, letter), f"{{{config}}}", results


def has_free_signs(target: str) -> bool:
    """Whether calls of the target compute eigenvectors or singular vectors, whose signs LAPACK does not specify."""
    portable = PORTABLE_CALLS.get(target)
    routine = TARGETS.get(target, ("",))[0] if portable is None else portable.real
    return routine in SIGNATURES and SIGNATURES[routine].has_free_signs


def _attributes(attributes: Attributes, routine: str) -> dict[str, int]:
    """Returns the routine's attributes. The text of Eigh is `lower,sort,iterations,tolerance`."""
    if routine not in ("syevd", "heevd"):
        return {}
    lower = (attributes.get("backend_config") or "1").split(",")[0].strip() != "0"
    return {"mode": ord("V"), "uplo": ord("L" if lower else "U")}


def _shape(operands: Any, attributes: Attributes, declared: Shape) -> Shape:
    """Checks that the declared results are those of the routine."""
    target = attributes["custom_call_target"]
    first, given = operands[0], declared.tuple_shapes or (declared,)
    if not first.is_array or first.rank < 2 or first.element_type not in _LETTERS:
        types = ", ".join(map(str, _LETTERS))
        raise InvalidArgumentError(f"{target} takes matrices of {types}, not {first.without_layout()}")
    *batch, m, n = first.dimensions
    real = first.element_type.component if first.element_type.is_complex else first.element_type
    wanted = {
        "Qr": [first, Shape.array(first.element_type, (*batch, min(m, n)))],
        "ProductOfElementaryHouseholderReflectors": [first],
        "Eigh": [first, Shape.array(real, (*batch, n))],
    }[target]
    if [s.without_layout() for s in given] != [s.without_layout() for s in wanted]:
        texts = ", ".join(str(s.without_layout()) for s in wanted)
        raise InvalidArgumentError(f"{target} of {first.without_layout()} gives ({texts}), not {declared}")
    return declared


def _evaluate(call: _Call, context: EvaluationContext, instruction: HloInstruction, values: list[Value]) -> Value:
    letter = _LETTERS[instruction.operand(0).shape.element_type]
    routine = call.routine(letter)
    attributes = _attributes(instruction.attributes, routine)
    shapes = instruction.shape.tuple_shapes or (instruction.shape,)
    results = [np.zeros(s.dimensions, s.dtype) for s in shapes]
    for index in np.ndindex(*instruction.operand(0).shape.dimensions[:-2]):
        matrices = [widen(v[index]).copy() for v in values]
        for result, made in zip(results, ROUTINES[routine](attributes, *matrices), strict=False):
            result[index] = made
    return tuple(results) if instruction.shape.is_tuple else results[0]


for _target, _call in PORTABLE_CALLS.items():
    register_custom_call_shape(_target)(_shape)
    register_custom_call(_target)(functools.partial(_evaluate, _call))

"""Type traits: constraints between the types of an op's operands and results.

| name | what must agree |
|---|---|
| `same-shape` | all operands and results |
| `elementwise` | all operands and results; the error is MLIR's for elementwise ops |
| `same-element-type` | all operands and results, exactly |
| `compatible-element-types` | all operands and results; quantized types may differ in scales and zero points |
| `compatible-operands` | all operands; quantized types may differ in scales and zero points |
| `compatible-types` | all operands and results, shapes too |
| `same-element-type-of-operands` | all operands |
| `pairwise-type`, `pairwise-element-type` | each operand and the result at its place |
| `element-type: a b`, `type: a b`, `rank: a b` | the operands and results of these names |
| `size: a b` | the attributes of these names |
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import Any

from xla_core.stablehlo import ir
from xla_core.stablehlo.table.op_table import OpDef
from xla_core.stablehlo.verify.compatibility import compatible, compatible_elements, compatible_shapes, element_of


def check_type_traits(op: ir.Op, definition: OpDef) -> None:
    """Raises InvalidArgumentError, in MLIR's words, for the first of the op's type traits that doesn't hold."""
    for trait in definition.type_traits:
        kind, _, names = trait.partition(": ")
        if kind in _PAIRWISE:
            _check_pairs(op, kind)
            continue
        if names:
            _check_named(op, definition, kind, names.split())
            continue
        wanted, holds, message = _OF_ALL[kind]
        types = [v.type for v in (*op.operands, *(op.results if wanted else ()))]
        if all(t is types[0] for t in types) or holds([t for t in types if element_of(t) is not None]):
            continue
        if kind == "elementwise":
            op.fail(message)
        op.fail(f"requires {message} for all operands{' and results' if wanted else ''}")


def _same_shape(types: Sequence[ir.Type]) -> bool:
    shapes = [t.shape for t in types if isinstance(t, ir.TensorType)]
    return all(compatible_shapes(a, b) for a, b in itertools.combinations(shapes, 2))


def _elementwise(types: Sequence[ir.Type]) -> bool:
    return _same_shape(types) and len({ir.is_unranked(t) for t in types}) < 2


def _same_elements(types: Sequence[ir.Type]) -> bool:
    return len({element_of(t) for t in types}) < 2


def _compatible_elements(types: Sequence[ir.Type]) -> bool:
    elements = [e for e in map(element_of, types) if e is not None]
    return all(compatible_elements(e, elements[0]) for e in elements)


def _compatible(types: Sequence[ir.Type]) -> bool:
    return all(compatible(t, types[0]) for t in types)


_OF_ALL: dict[str, tuple[bool, Callable[[Sequence[ir.Type]], bool], str]] = {
    "same-shape": (True, _same_shape, "the same shape"),
    "elementwise": (True, _elementwise, "all non-scalar operands/results must have the same shape and base type"),
    "same-element-type": (True, _same_elements, "the same element type"),
    "same-element-type-of-operands": (False, _same_elements, "the same element type"),
    "compatible-element-types": (True, _compatible_elements, "compatible element types"),
    "compatible-operands": (False, _compatible_elements, "compatible element types"),
    "compatible-types": (True, _compatible, "compatible types"),
}
"""For each trait: whether it includes the results, the check, and what the error message requires."""


_PAIRWISE: dict[str, Callable[[Any, Any], bool]] = {
    "pairwise-type": lambda operand, result: bool(operand == result),
    "pairwise-element-type": lambda operand, result: bool(
        getattr(operand, "element", None) == getattr(result, "element", None)
    ),
}


def _check_pairs(op: ir.Op, kind: str) -> None:
    if len(op.operands) != len(op.results):
        op.fail("requires the same number of operands and results")
    for i, (operand, result) in enumerate(zip(op.operands, op.results, strict=True)):
        if not _PAIRWISE[kind](operand.type, result.type):
            what = kind.removeprefix("pairwise-").replace("-", " ")
            op.fail(f"requires the same {what} for operand and result at index {i}")


def _check_named(op: ir.Op, definition: OpDef, kind: str, names: Sequence[str]) -> None:
    if kind == "size":
        values: list[Any] = [_size(op.attributes.get(name) or ()) for name in names]
    else:
        named = dict(zip((v.name for v in definition.operands), op.operands, strict=False))
        named.update(zip((v.name for v in definition.results), op.results, strict=False))
        types = [named[name].type for name in names]
        if not all(isinstance(t, ir.TensorType) for t in types):
            return
        values = [_PART[kind](t) for t in types]
    if any(v != values[0] for v in values):
        what = kind.replace("-", " ")
        op.fail(f"failed to verify that all of {{{', '.join(names)}}} have same {what}")


def _size(value: Any) -> int:
    return value.size if isinstance(value, ir.DenseElements) else len(value)


_PART: dict[str, Callable[[Any], Any]] = {
    "element-type": lambda type: type.element,
    "type": lambda type: type,
    "rank": lambda type: type.rank,
}

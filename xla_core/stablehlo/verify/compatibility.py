"""Compatibility of types: dynamic dimensions, bounds, quantization, promotion."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Sequence
from typing import NoReturn

from xla_core.stablehlo import ir
from xla_core.stablehlo.table.type_constraints import Elements, elements_of

Dimension = tuple[int, int | None]
"""The size of a dimension, and the bound if the size is dynamic."""


def fail_inferred(op: ir.Op, inferred: str) -> NoReturn:
    """Raises InvalidArgumentError for declared result types that differ from `inferred`, written as by `types_text`."""
    declared = types_text([r.type for r in op.results])
    op.fail(f"inferred type(s) {inferred} are incompatible with return type(s) of operation {declared}")


def compatible_dimensions(a: int, b: int) -> bool:
    """Tells whether two sizes are equal or at least one of them is dynamic."""
    return a in (b, ir.DYNAMIC) or b == ir.DYNAMIC


def compatible_shapes(a: Sequence[int], b: Sequence[int]) -> bool:
    return a == b or (len(a) == len(b) and all(map(compatible_dimensions, a, b)))


def compatible_elements(a: str | ir.QuantizedType, b: str | ir.QuantizedType) -> bool:
    """Tells whether element types are equal, or quantized types that differ only in scales, zero points and axis.

    A type quantized per axis is not compatible with one quantized per tensor.
    """
    if a == b:
        return True
    if isinstance(a, ir.QuantizedType) and isinstance(b, ir.QuantizedType):
        keys = [(q.storage, q.expressed, q.storage_range, q.axis is None) for q in (a, b)]
        return keys[0] == keys[1]
    return False


def compatible(a: ir.Type, b: ir.Type) -> bool:
    """Tells whether a value of type `a` may be used where type `b` is declared."""
    if a is b or a == b:
        return True
    if isinstance(a, ir.TensorType) and isinstance(b, ir.TensorType):
        return compatible_elements(a.element, b.element) and _agree(a, b)
    if isinstance(a, ir.TupleType) and isinstance(b, ir.TupleType):
        return len(a.elements) == len(b.elements) and all(map(compatible, a.elements, b.elements))
    if isinstance(a, ir.OpaqueType) and isinstance(b, ir.OpaqueType):
        if a.elements and b.elements:
            return len(a.elements) == len(b.elements) and all(map(compatible, a.elements, b.elements))
        return a.text == b.text
    # An unranked tensor is compatible with every ranked tensor of its element type.
    return ir.is_unranked(a) != ir.is_unranked(b) and str(element_of(a)) == str(element_of(b))


def element_of(type: ir.Type) -> str | ir.QuantizedType | None:
    """The element type of a ranked or unranked tensor; None for any other type."""
    if isinstance(type, ir.TensorType):
        return type.element
    return type.text[len("tensor<*x") : -1] if isinstance(type, ir.OpaqueType) and ir.is_unranked(type) else None


def _agree(a: ir.TensorType, b: ir.TensorType) -> bool:
    if not compatible_shapes(a.shape, b.shape):
        return False
    for one, other in ((a, b), (b, a)):
        for bound, size in zip(one.bounds, other.shape, strict=False):
            if bound is not None and size != ir.DYNAMIC and size > bound:
                return False
    return True


def merge(op: ir.Op, types: Sequence[ir.TensorType]) -> ir.TensorType:
    """Merges compatible types into the most specific one: a size or bound is known if any of the types has it.

    Raises InvalidArgumentError at `op` for sizes and bounds that contradict each other.
    """
    first = types[0]
    if all(t is first or t == first for t in types):
        return first
    dims = []
    for dim, column in enumerate(zip(*(dimensions(t) for t in types), strict=True)):
        merged = column[0]
        for other in column[1:]:
            merged = merge_dimension(op, dim, merged, other)
        dims.append(merged)
    return with_dimensions(dims, first)


def dimensions(type: ir.TensorType) -> list[Dimension]:
    return list(zip(type.shape, type.bounds or (None,) * type.rank, strict=True))


def with_dimensions(dims: Sequence[Dimension], type: ir.TensorType) -> ir.TensorType:
    """The type with these dimensions instead of its own."""
    bounds = tuple(bound for _, bound in dims)
    known = bounds if any(b is not None for b in bounds) else ()
    return dataclasses.replace(type, shape=tuple(size for size, _ in dims), bounds=known)


def merge_dimension(op: ir.Op, dim: int, left: Dimension, right: Dimension) -> Dimension:
    """Merges two dimensions: a static size wins over a dynamic one, the smaller bound over the larger.

    Raises InvalidArgumentError, in StableHLO's words, if they contradict each other.
    """
    known = [size for size, _ in (left, right) if size != ir.DYNAMIC]
    bounds = [bound for _, bound in (left, right) if bound is not None]
    if not known:
        return ir.DYNAMIC, min(bounds, default=None)
    if known[0] != known[-1]:
        op.fail(f"Mismatched dimension sizes {known[0]} and {known[-1]} in dimension {dim}")
    if bounds and known[0] > bounds[0]:
        op.fail(f"Mismatched dimension size {known[0]} and bound {bounds[0]} in dimension {dim}")
    return known[0], None


def most_specific(op: ir.Op, types: Sequence[ir.TensorType]) -> Sequence[ir.Type] | None:
    """Infers the merged type of compatible types. As in StableHLO, its bounds depend on the first type having some."""
    merged = merge(op, types)
    if types[0].bounds or not merged.bounds:
        return [merged]
    return inferred_or_known(op, dataclasses.replace(merged, bounds=()), types)


def inferred_or_known(
    op: ir.Op, inferred: ir.TensorType, operands: Sequence[ir.TensorType]
) -> Sequence[ir.Type] | None:
    """Infers the result type of an elementwise op where StableHLO infers less than the operands determine together.

    Returns `inferred`, StableHLO's type, if the declared type is incompatible with it. Otherwise returns the merge of
    the operands' types if they and the declared type are compatible, and else None.
    """
    if not compatible(inferred, op.results[0].type):
        return [inferred]
    if not all(_agree(a, b) for a, b in itertools.combinations(operands, 2)):
        return None
    return if_declared(op, [with_dimensions(dimensions(merge(op, operands)), inferred)])


def if_declared(op: ir.Op, types: Sequence[ir.Type]) -> Sequence[ir.Type] | None:
    """Returns `types` if the declared result types are compatible with them, and else None.

    For some ops StableHLO's verifier accepts declared types that are impossible. The verifier here accepts them too,
    and the lowering raises the error.
    """
    fits = len(types) == len(op.results) and all(map(compatible, types, (r.type for r in op.results)))
    return types if fits else None


def least_specific(types: Sequence[ir.Type]) -> ir.Type:
    """Returns the most specific type that covers all of the compatible types.

    A size is static if all types have it; otherwise its bound is the largest size or bound, if all types have one.
    """
    first = types[0]
    tensors = [t for t in types if isinstance(t, ir.TensorType)]
    if len(tensors) < len(types) or all(t == first for t in types):
        return first
    shape = [
        sizes[0] if len(set(sizes)) == 1 else ir.DYNAMIC for sizes in zip(*(t.shape for t in tensors), strict=True)
    ]
    bounds: list[int | None] = [None] * len(shape)
    for i, size in enumerate(shape):
        known = [(t.bounds[i] if t.bounds else None) if t.shape[i] == ir.DYNAMIC else t.shape[i] for t in tensors]
        if size == ir.DYNAMIC and None not in known:
            bounds[i] = max(k for k in known if k is not None)
    return dataclasses.replace(tensors[0], shape=tuple(shape), bounds=tuple(bounds) if any(bounds) else ())


def element_bits(element: str | ir.QuantizedType) -> int:
    """Returns the number of bits of an element type: 1 for i1, 4 for f4E2M1FN, 64 for complex<f32>."""
    if isinstance(element, ir.QuantizedType):
        element = element.storage
    if element == "index":
        return 64
    if element.startswith("complex<"):
        return 2 * element_bits(element[8:-1])
    digits = ""
    for char in element.lstrip("abcdefghijklmnopqrstuvwxyz"):
        if not char.isdigit():
            break
        digits += char
    return int(digits or 0)


def promotable(source: str | ir.QuantizedType, target: str | ir.QuantizedType) -> bool:
    """Tells whether a reduction may convert `source` elements to the type `target`.

    Both must be of one kind (integers, floats, ...), and `target` must have at least as many bits unless it is a float.
    """
    if isinstance(source, ir.QuantizedType) and isinstance(target, ir.QuantizedType):
        return source.expressed == target.expressed and element_bits(source) <= element_bits(target)
    kinds = [_COARSE.get(kind, kind) for kind in (elements_of(source), elements_of(target))]
    if kinds[0] is not kinds[1]:
        return False
    return kinds[0] is Elements.FLOAT or element_bits(source) <= element_bits(target)


_COARSE = {Elements.PRED: Elements.SIGNED, Elements.UNSIGNED: Elements.SIGNED}


def types_text(types: Sequence[ir.Type]) -> str:
    """Writes types as MLIR's diagnostics do: `'tensor<f32>', 'tensor<i32>'`."""
    return ", ".join(f"'{t}'" for t in types)


def shape_text(shape: Sequence[int]) -> str:
    """Writes a shape as `1, 0, 3`, with the least 64-bit integer for a dynamic size, as MLIR prints it."""
    return list_text([-(2**63) if n == ir.DYNAMIC else n for n in shape])


def list_text(values: Sequence[object]) -> str:
    """Writes values as `1, 0, 3`."""
    return ", ".join(map(str, values))

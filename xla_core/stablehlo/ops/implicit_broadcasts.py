"""The common shape of the operands of CHLO's broadcasting ops, by numpy's rule or by `broadcast_dimensions`.

(StableHLO: stablehlo/dialect/ChloOps.cpp, stablehlo/transforms/StablehloBroadcastLowering.cpp.)
"""

from __future__ import annotations

from collections.abc import Sequence

from xla_core.stablehlo import ir
from xla_core.stablehlo.ops.common import ints
from xla_core.stablehlo.verify.compatibility import list_text

__all__ = ["broadcast_dimensions", "broadcast_shape", "broadcast_type"]


def broadcast_type(op: ir.Op, types: Sequence[ir.TensorType], element: str | ir.QuantizedType) -> ir.TensorType | None:
    """Infers the result type from the operands' types.

    Returns None for operands that can't be broadcast together; StableHLO's verifier then accepts any result type.
    Raises InvalidArgumentError for such operands only if all sizes or bounds are known and there is no attribute
    `broadcast_dimensions`.
    """
    given = op.attributes.get("broadcast_dimensions") is not None
    if not given and all(t.is_static or t.bounds for t in types):
        return _numpy(op, types, element)
    if _misplaced(op, types) is not None:
        return None
    columns = _columns(types, ints(op, "broadcast_dimensions") if given else None)
    if any(_clash(column) is not None for column in columns):
        return None
    return ir.TensorType(tuple(map(_size, columns)), element)


def broadcast_dimensions(op: ir.Op, types: Sequence[ir.TensorType]) -> tuple[int, ...] | None:
    """Returns the result dimensions of the operand of lower rank; None stands for the last ones, as in numpy."""
    if op.attributes.get("broadcast_dimensions") is None:
        return None
    if (problem := _misplaced(op, types)) is not None:
        op.fail(f"failed to legalize operation: {problem}")
    return ints(op, "broadcast_dimensions")


def broadcast_shape(op: ir.Op, types: Sequence[ir.TensorType], dims: Sequence[int] | None) -> tuple[int, ...]:
    """Returns the sizes of the result. Raises InvalidArgumentError for operands that can't be broadcast together."""
    columns = _columns(types, dims)
    for column in columns:
        if (clash := _clash(column)) is not None:
            op.fail(f"incompatible shapes for broadcasting {clash[0]} and {clash[1]}")
    return tuple(map(_size, columns))


def _misplaced(op: ir.Op, types: Sequence[ir.TensorType]) -> str | None:
    """Returns what is wrong with `broadcast_dimensions`, or None."""
    if op.attributes.get("broadcast_dimensions") is None:
        return None
    dims = ints(op, "broadcast_dimensions")
    low, high = min(t.rank for t in types), max(t.rank for t in types)
    if len(dims) != low:
        return f"broadcast_dimensions size ({len(dims)}) does not match the lower rank of the operands ({low})"
    if list(dims) != sorted(set(dims)) or any(not 0 <= d < high for d in dims):
        return f"broadcast_dimensions [{list_text(dims)}] must be increasing dimensions of a rank {high} result"
    return None


def _columns(types: Sequence[ir.TensorType], dims: Sequence[int] | None) -> list[tuple[int, ...]]:
    """Returns for each result dimension the operands' sizes in it; an operand without the dimension counts as 1."""
    rank = max(t.rank for t in types)
    rows = []
    for type in types:
        where = dims if dims is not None and type.rank < rank else range(rank - type.rank, rank)
        placed = dict(zip(where, type.shape, strict=True))
        rows.append([placed.get(dim, 1) for dim in range(rank)])
    return list(zip(*rows, strict=True))


def _clash(column: Sequence[int]) -> tuple[int, int] | None:
    known = [*dict.fromkeys(n for n in column if n not in (1, ir.DYNAMIC))]
    return (known[0], known[1]) if len(known) > 1 else None


def _size(column: Sequence[int]) -> int:
    return next((n for n in column if n not in (1, ir.DYNAMIC)), ir.DYNAMIC if ir.DYNAMIC in column else 1)


def _numpy(op: ir.Op, types: Sequence[ir.TensorType], element: str | ir.QuantizedType) -> ir.TensorType:
    """Broadcasts types whose sizes or bounds are all known, by numpy's rule.

    A bounded dimension broadcasts with 1 and with a dimension of the same bound, but not with a static size.
    """
    rank = max(t.rank for t in types)
    result: list[tuple[int, bool]] = [(1, False)] * rank
    for type in types:
        for dim, (size, is_bound) in enumerate(_extents(type), rank - type.rank):
            have, is_bounded = result[dim]
            if have == 1:
                result[dim] = size, is_bound
            elif size != 1 and size != have:
                op.fail(f"incompatible shapes for broadcasting {have} and {size}")
            elif size != 1 and is_bound != is_bounded:
                op.fail("cannot mix bounded and static dimensions in broadcast")
    bounds = tuple(size if is_bound else None for size, is_bound in result)
    shape = tuple(ir.DYNAMIC if is_bound else size for size, is_bound in result)
    return ir.TensorType(shape, element, bounds if any(is_bound for _, is_bound in result) else ())


def _extents(type: ir.TensorType) -> list[tuple[int, bool]]:
    """Returns for each dimension (size, False), or (bound, True) if it is bounded."""
    bounds = type.bounds or (None,) * type.rank
    return [(size, False) if bound is None else (bound, True) for size, bound in zip(type.shape, bounds, strict=True)]

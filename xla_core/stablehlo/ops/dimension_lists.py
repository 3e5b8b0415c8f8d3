"""Checks of dimension numbers that gather and scatter share."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from xla_core.stablehlo import ir
from xla_core.stablehlo.ops.common import check_dimension_list
from xla_core.stablehlo.verify.compatibility import compatible_dimensions, list_text

__all__ = ["check_batching", "check_disjoint", "check_sorted", "check_sorted_unique", "given"]


def check_sorted(op: ir.Op, name: str, dims: Sequence[int]) -> None:
    if list(dims) != sorted(dims):
        op.fail(f"expects {name} to be sorted, got: [{list_text(dims)}]")


def check_sorted_unique(op: ir.Op, name: str, dims: Sequence[int]) -> None:
    check_sorted(op, name, dims)
    if len(set(dims)) != len(dims):
        op.fail(f"expects {name} to not repeat, got: [{list_text(dims)}]")


def check_disjoint(op: ir.Op, a: str, a_dims: Sequence[int], b: str, b_dims: Sequence[int]) -> None:
    seen: set[int] = set()
    for dim in (*a_dims, *b_dims):
        if dim in seen:
            op.fail(f"has duplicated dimension from {a} and {b}: {dim}")
        seen.add(dim)


def check_batching(
    op: ir.Op,
    name: str,
    dims: Sequence[int],
    indices_name: str,
    indices_dims: Sequence[int],
    operand: ir.TensorType,
    indices: ir.TensorType,
    vector: int,
    indices_operand: str,
    got: str,
    end: str,
) -> None:
    """Checks the batching dimensions of gather and scatter, whose error messages differ in a few words."""
    if len(set(indices_dims)) != len(indices_dims):
        verb = "expects" if got.startswith(",") else "Expects"
        op.fail(f"{verb} {indices_name} to not repeat{got}[{list_text(indices_dims)}]{end}")
    # scatter counts the implicit trailing dimension of `index_vector_dim == rank`; gather doesn't.
    rank = indices.rank + (op.name == "stablehlo.scatter" and vector == indices.rank)
    check_dimension_list(op, indices_name, indices_dims, rank, f"rank-of('{indices_operand}')")
    if vector in indices_dims:
        op.fail(f"expects {indices_name} not to include index_vector_dim {vector}{end}")
    if len(dims) != len(indices_dims):
        op.fail(f"{name} and {indices_name} should have the same size{end}")
    for i, (a, b) in enumerate(zip(dims, indices_dims, strict=True)):
        if not compatible_dimensions(operand.shape[a], indices.shape[b]):
            op.fail(
                f"{name}[{i}] and {indices_name}[{i}] must have compatible sizes, but got {operand.shape[a]} and "
                f"{indices.shape[b]}{end}"
            )


def given(**attributes: Any) -> dict[str, Any]:
    """Drops the attributes that are empty or zero, which are the op's defaults."""
    return {name: value for name, value in attributes.items() if value}

"""Checks of dimension numbers that gather and scatter share."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from xla_core.stablehlo import ir
from xla_core.stablehlo.ops.common import check_dimension_list
from xla_core.stablehlo.verify.compatibility import compatible_dimensions, list_text


class Wording(NamedTuple):
    """The words in which MLIR's errors of gather and of scatter differ."""

    verb: str
    got: str
    end: str
    indices: str

    def repeats(self, name: str, dims: Sequence[int]) -> str:
        return f"{self.verb} {name} to not repeat{self.got}[{list_text(dims)}]{self.end}"


def check_sorted(op: ir.Op, words: Wording, name: str, dims: Sequence[int], *, unique: bool = False) -> None:
    if list(dims) != sorted(dims):
        op.fail(f"{words.verb} {name} to be sorted{words.got}[{list_text(dims)}]{words.end}")
    if unique and len(set(dims)) != len(dims):
        op.fail(words.repeats(name, dims))


def check_disjoint(op: ir.Op, a: str, a_dims: Sequence[int], b: str, b_dims: Sequence[int]) -> None:
    seen: set[int] = set()
    for dim in (*a_dims, *b_dims):
        if dim in seen:
            op.fail(f"has duplicated dimension from {a} and {b}: {dim}")
        seen.add(dim)


def check_batching(
    op: ir.Op,
    words: Wording,
    names: tuple[str, str],
    numbers: ir.GatherDimensionNumbers | ir.ScatterDimensionNumbers,
    operand: ir.TensorType,
    indices: ir.TensorType,
) -> None:
    """Checks the batching dimensions of operand and indices, whose fields in `numbers` have these names."""
    (name, indices_name), end, vector = names, words.end, numbers.index_vector_dim
    dims, indices_dims = getattr(numbers, name), getattr(numbers, indices_name)
    if len(set(indices_dims)) != len(indices_dims):
        op.fail(words.repeats(indices_name, indices_dims))
    # scatter counts the implicit trailing dimension of `index_vector_dim == rank`; gather doesn't.
    rank = indices.rank + (op.name == "stablehlo.scatter" and vector == indices.rank)
    check_dimension_list(op, indices_name, indices_dims, rank, f"rank-of('{words.indices}')")
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

"""Dots and convolutions as batches of matrix products."""

from __future__ import annotations

import pytest

from xla_core.analysis.indexing import IndexExpr, Variable, memory_position, product_space
from xla_core.hlo import parse_hlo


def product(shapes: str, text: str):
    lhs, rhs, result = shapes.split()
    module = parse_hlo(
        f"HloModule m\n\nENTRY e {{\n  x = {lhs} parameter(0)\n  y = {rhs} parameter(1)\n"
        f"  ROOT r = {result} {text.partition(' ')[0]}(x, y), {text.partition(' ')[2]}\n}}\n"
    )
    return module.entry.root


@pytest.mark.parametrize(
    ("shapes", "text", "sizes"),
    [
        ("f32[4,5] f32[5,6] f32[4,6]", "dot lhs_contracting_dims={1}, rhs_contracting_dims={0}", (1, 4, 6, 5)),
        (
            "f32[2,5,3,4] f32[6,4,2,5] f32[2,3,6]",
            "dot lhs_batch_dims={0}, rhs_batch_dims={2}, lhs_contracting_dims={1,3}, rhs_contracting_dims={3,1}",
            (2, 3, 6, 20),
        ),
        ("f32[7] f32[7] f32[]", "dot lhs_contracting_dims={0}, rhs_contracting_dims={0}", (1, 1, 1, 7)),
        (
            "f32[2,8,8,6] f32[3,3,2,12] f32[2,6,6,12]",
            "convolution window={size=3x3}, dim_labels=b01f_01io->b01f, feature_group_count=3",
            (3, 72, 4, 18),
        ),
    ],
)
def test_sizes(shapes: str, text: str, sizes: tuple[int, ...]) -> None:
    space = product_space(product(shapes, text))
    assert space is not None
    assert space.sizes == sizes


def test_accesses_of_a_transposed_operand() -> None:
    space = product_space(
        product("f32[5,4] f32[5,6] f32[4,6]", "dot lhs_contracting_dims={0}, rhs_contracting_dims={0}")
    )
    assert space is not None
    row, column, term = (IndexExpr.of(Variable(name, n, name)) for name, n in (("m", 4), ("n", 6), ("k", 5)))
    index = space.index(IndexExpr.of(0), row, column)
    assert index == (row, column)
    lhs, rhs = space.accesses(index, term)
    positions = [memory_position(o.shape, a.index) for o, a in zip(space.product.operands, (lhs, rhs), strict=True)]
    assert positions == [term * 4 + row, term * 6 + column]


def test_what_has_no_space() -> None:
    assert (
        product_space(product("f32[0] f32[0] f32[]", "dot lhs_contracting_dims={0}, rhs_contracting_dims={0}")) is None
    )
    assert product_space(product("f32[2] f32[2] f32[2]", 'add metadata={op_name="a"}')) is None

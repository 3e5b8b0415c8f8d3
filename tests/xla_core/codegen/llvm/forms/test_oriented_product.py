"""The sides of a product, turned so that its columns are neighbours in the kernel's result."""

from __future__ import annotations

import pytest

from xla_core.analysis.indexing import IndexExpr, Variable, product_space
from xla_core.codegen.llvm.forms.oriented_product import OrientedProduct
from xla_core.hlo import parse_hlo


def oriented(layout: str) -> OrientedProduct:
    text = f"""HloModule m
ENTRY main {{
  x = f32[5,3,7] parameter(0)
  y = f32[5,7,11] parameter(1)
  ROOT z = f32[5,3,11]{layout} dot(x, y), lhs_batch_dims={{0}}, rhs_batch_dims={{0}}, lhs_contracting_dims={{2}},
    rhs_contracting_dims={{1}}
}}
"""
    dot = parse_hlo(text).entry.root
    space = product_space(dot)
    assert space is not None
    return OrientedProduct.of(space, dot.shape)


@pytest.mark.parametrize(
    ("layout", "lines", "operands"), [("{2,1,0}", (3, 11), ["x", "y"]), ("{1,2,0}", (11, 3), ["y", "x"])]
)
def test_columns_are_neighbours_in_the_result(layout: str, lines: tuple[int, int], operands: list[str]) -> None:
    product = oriented(layout)
    assert (product.batch, product.lines, product.depth) == (5, lines, 7)
    assert [product.operand(side).name for side in (0, 1)] == operands
    assert product.turned((3, 11)) == lines


@pytest.mark.parametrize("layout", ["{2,1,0}", "{1,2,0}"])
def test_the_sides_of_an_element(layout: str) -> None:
    product = oriented(layout)
    batch, row, column, term = (IndexExpr.of(Variable(name, 3, name)) for name in ("batch", "row", "column", "term"))
    is_turned = layout == "{1,2,0}"
    assert product.index(batch, row, column) == ((batch, column, row) if is_turned else (batch, row, column))
    rows, columns = product.access(0, batch, row, term).index, product.access(1, batch, column, term).index
    assert rows == ((batch, term, row) if is_turned else (batch, row, term))
    assert columns == ((batch, column, term) if is_turned else (batch, term, column))

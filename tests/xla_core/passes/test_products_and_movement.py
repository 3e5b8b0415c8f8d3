"""Orders of dot dimensions; the rest is in .hlo files."""

from __future__ import annotations

import itertools

import pytest

from xla_core.passes.expanders.dot_decomposer import is_canonical_dot


def dots(module):
    return [i for i in module.entry.instructions if i.opcode == "dot"]


@pytest.mark.parametrize("lhs", ["".join(p) for p in itertools.permutations("bcmkj")][::3])
def test_every_order_of_dimensions_becomes_a_product_of_matrices(check_pass, lhs):
    """lhs[b,c,m,k,j] in any order times rhs[k,b,n,j,c], contracted over k, j, with batches b, c."""
    size = dict(zip("bcmkjn", (2, 3, 4, 5, 2, 3), strict=True))
    rhs = "kbnjc"
    text = f"""x = f32[{",".join(str(size[d]) for d in lhs)}] parameter(0)
      y = f32[{",".join(str(size[d]) for d in rhs)}] parameter(1)
      ROOT r = f32[2,3,4,3] dot(x, y), lhs_batch_dims={{{lhs.index("b")},{lhs.index("c")}}}, lhs_contracting_dims={{{lhs.index("k")},{lhs.index("j")}}}, rhs_batch_dims={{1,4}}, rhs_contracting_dims={{0,3}}"""
    module = check_pass(text, "dot-decomposer")
    assert all(map(is_canonical_dot, dots(module)))

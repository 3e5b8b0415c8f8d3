"""Orders of dot dimensions, and folding of transposes by what the target allows; the rest is in .hlo files."""

from __future__ import annotations

import itertools

import pytest

from xla_core.passes.expanders.dot_decomposer import is_canonical_dot
from xla_core.passes.simplifiers.transpose_folding import TransposeFolding


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


def test_a_batch_that_moves_is_folded_where_the_target_allows_it(check_pass, opcodes):
    text = """x = f32[4,2,5] parameter(0)
      y = f32[2,5,3] parameter(1)
      a = f32[2,4,5] transpose(x), dimensions={1,0,2}
      ROOT r = f32[2,4,3] dot(a, y), lhs_batch_dims={0}, lhs_contracting_dims={2}, rhs_batch_dims={0}, rhs_contracting_dims={1}"""
    assert opcodes(check_pass(text, TransposeFolding(lambda i, n: True))) == ["dot"]


CONV = "ROOT r = f32[2,7,6,4] convolution(x, y), window={size=3x2 pad=1_1x0_1 rhs_reversal=0x1}, dim_labels=LABELS, feature_group_count=1"


def test_convolutions_take_transposes_where_the_target_does(check_pass, opcodes):
    text = """x0 = f32[3,2,7,6] parameter(0)
      y0 = f32[4,3,3,2] parameter(1)
      x = f32[2,7,6,3] transpose(x0), dimensions={1,2,3,0}
      y = f32[3,2,3,4] transpose(y0), dimensions={2,3,1,0}
      """ + CONV.replace("LABELS", "b01f_01io->b01f")
    assert opcodes(check_pass(text, TransposeFolding(lambda i, n: True))) == ["convolution"]

"""dot-decomposer, transpose-folding, convolution-canonicalizer, reshape-mover, convert-mover, expanders of formulas."""

from __future__ import annotations

import itertools

import pytest

from xla_core.passes.dot_decomposer import is_canonical_dot
from xla_core.passes.transpose_folding import TransposeFolding


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


def test_canonical_dots_are_left_alone(check_pass):
    text = "x = f32[2,4,5] parameter(0)\ny = f32[2,3,5] parameter(1)\nROOT r = f32[2,4,3] dot(x, y), lhs_batch_dims={0}, lhs_contracting_dims={2}, rhs_batch_dims={0}, rhs_contracting_dims={2}"
    check_pass(text, "dot-decomposer", changes=False)


def test_contracted_dimensions_in_front_need_no_transpose(check_pass, opcodes):
    text = "x = f32[4,2,3] parameter(0)\ny = f32[4,5] parameter(1)\nROOT r = f32[2,3,5] dot(x, y), lhs_contracting_dims={0}, rhs_contracting_dims={0}"
    assert opcodes(check_pass(text, "dot-decomposer")) == ["reshape", "dot", "reshape"]


def test_operands_change_places_where_the_large_one_would_be_transposed(check_pass):
    """The values of an attention times its large weights."""
    text = """x = f32[2,16,3,4] parameter(0)
      y = f32[2,3,17,16] parameter(1)
      ROOT r = f32[2,3,4,17] dot(x, y), lhs_batch_dims={0,2}, lhs_contracting_dims={1}, rhs_batch_dims={0,1}, rhs_contracting_dims={3}, operand_precision={high,default}"""
    (dot,) = dots(check_pass(text, "dot-decomposer"))
    assert [o.shape.dimensions for o in dot.operands] == [(6, 17, 16), (6, 16, 4)]
    assert [p.upper() for p in dot.attribute("operand_precision")] == ["DEFAULT", "HIGH"]


def test_vectors_stay_vectors(check_pass, opcodes):
    text = "x = f32[4,5] parameter(0)\ny = f32[4,5] parameter(1)\nROOT r = f32[] dot(x, y), lhs_contracting_dims={0,1}, rhs_contracting_dims={0,1}"
    module = check_pass(text, "dot-decomposer")
    assert str(dots(module)[0].operands[0].shape) == "f32[20]"


def test_transposed_matrices_are_taken_as_they_lie(check_pass, opcodes):
    text = """x = f32[2,5,4] parameter(0)
      y = f32[2,3,5] parameter(1)
      a = f32[2,4,5] transpose(x), dimensions={0,2,1}
      b = f32[2,5,3] transpose(y), dimensions={0,2,1}
      ROOT r = f32[2,4,3] dot(a, b), lhs_batch_dims={0}, lhs_contracting_dims={2}, rhs_batch_dims={0}, rhs_contracting_dims={1}"""
    assert opcodes(check_pass(text, "transpose-folding")) == ["dot"]


def test_a_batch_that_moves_stays_transposed_unless_the_target_says_so(check_pass, opcodes):
    text = """x = f32[4,2,5] parameter(0)
      y = f32[2,5,3] parameter(1)
      a = f32[2,4,5] transpose(x), dimensions={1,0,2}
      ROOT r = f32[2,4,3] dot(a, y), lhs_batch_dims={0}, lhs_contracting_dims={2}, rhs_batch_dims={0}, rhs_contracting_dims={1}"""
    check_pass(text, "transpose-folding", changes=False)
    assert opcodes(check_pass(text, TransposeFolding(lambda i, n: True))) == ["dot"]


CONV = "ROOT r = f32[2,7,6,4] convolution(x, y), window={size=3x2 pad=1_1x0_1 rhs_reversal=0x1}, dim_labels=LABELS, feature_group_count=1"


def test_convolutions_take_transposes_where_the_target_does(check_pass, opcodes):
    text = """x0 = f32[3,2,7,6] parameter(0)
      y0 = f32[4,3,3,2] parameter(1)
      x = f32[2,7,6,3] transpose(x0), dimensions={1,2,3,0}
      y = f32[3,2,3,4] transpose(y0), dimensions={2,3,1,0}
      """ + CONV.replace("LABELS", "b01f_01io->b01f")
    check_pass(text, "transpose-folding", changes=False)
    assert opcodes(check_pass(text, TransposeFolding(lambda i, n: True))) == ["convolution"]


def test_convolutions_become_batch_first_feature_last(check_pass, opcodes):
    text = "x = f32[2,3,7,6] parameter(0)\ny = f32[4,3,3,2] parameter(1)\nROOT r = f32[6,4,7,2] convolution(x, y), window={size=3x2 pad=1_1x0_1}, dim_labels=bf01_oi01->1f0b"
    module = check_pass(text, "convolution-canonicalizer")
    convolution = next(i for i in module.entry.instructions if i.opcode == "convolution")
    assert "dim_labels=b01f_01io->b01f" in str(convolution)
    assert opcodes(module) == ["transpose", "transpose", "convolution", "transpose"]


def test_grouped_convolutions_too(check_pass):
    text = "x = f32[2,6,7] parameter(0)\ny = f32[8,3,3] parameter(1)\nROOT r = f32[2,8,5] convolution(x, y), window={size=3}, dim_labels=bf0_oi0->bf0, feature_group_count=2"
    check_pass(text, "convolution-canonicalizer")


def test_reshapes_move_behind_the_op(check_pass, opcodes):
    text = """x = f32[4,6] parameter(0)
      y = f32[4,6] parameter(1)
      k = f32[] constant(2)
      a = f32[24] reshape(x)
      b = f32[24] reshape(y)
      c = f32[24] broadcast(k), dimensions={}
      ROOT r = f32[24] clamp(a, c, b)"""
    module = check_pass(text, "reshape-mover")
    assert opcodes(module)[-2:] == ["clamp", "reshape"]


def test_transposes_of_one_kind_move_and_others_dont(check_pass, opcodes):
    text = """x = f32[4,6] parameter(0)
      y = f32[4,6] parameter(1)
      a = f32[6,4] transpose(x), dimensions={1,0}
      b = f32[6,4] transpose(y), dimensions={1,0}
      ROOT r = f32[6,4] add(a, b)"""
    assert opcodes(check_pass(text, "reshape-mover")) == ["add", "transpose"]
    mixed = text.replace("f32[6,4] transpose(y), dimensions={1,0}", "f32[6,4] reshape(y)")
    check_pass(mixed, "reshape-mover", changes=False)


def test_a_reshape_that_others_use_stays(check_pass):
    text = """x = f32[4,6] parameter(0)
      y = f32[4,6] parameter(1)
      a = f32[24] reshape(x)
      b = f32[24] reshape(y)
      c = f32[24] add(a, b)
      ROOT r = (f32[24], f32[24]) tuple(c, a)"""
    check_pass(text, "reshape-mover", changes=False)


def test_elements_move_in_the_narrower_type(check_pass, opcodes):
    widen = "x = bf16[4,6] parameter(0)\na = f32[4,6] convert(x)\nROOT r = f32[6,4] transpose(a), dimensions={1,0}"
    module = check_pass(widen, "convert-mover")
    assert opcodes(module) == ["transpose", "convert"]
    narrow = "x = f32[4] parameter(0)\na = f32[4,6] broadcast(x), dimensions={0}\nROOT r = bf16[4,6] convert(a)"
    assert opcodes(check_pass(narrow, "convert-mover")) == ["convert", "broadcast"]
    both = "x = bf16[4] parameter(0)\ny = bf16[5] parameter(1)\na = f32[4] convert(x)\nb = f32[5] convert(y)\nROOT r = f32[9] concatenate(a, b), dimensions={0}"
    assert opcodes(check_pass(both, "convert-mover")) == ["concatenate", "convert"]


def test_a_broadcast_is_not_made_before_widening(check_pass):
    text = "x = bf16[4] parameter(0)\na = f32[4] convert(x)\nROOT r = f32[4,6] broadcast(a), dimensions={0}"
    check_pass(text, "convert-mover", changes=False)


@pytest.mark.parametrize("feature", [0, 1, 2])
def test_batch_normalization(check_pass, opcodes, feature):
    sizes = (4, 3, 5)
    x, n = f"f32[{','.join(map(str, sizes))}]", f"f32[{sizes[feature]}]"
    training = f"""x = {x} parameter(0)
      s = {n} parameter(1)
      o = {n} parameter(2)
      ROOT r = ({x}, {n}, {n}) batch-norm-training(x, s, o), epsilon=0.001, feature_index={feature}"""
    assert "batch-norm-training" not in opcodes(check_pass(training, "batchnorm-expander"))
    inference = f"""x = {x} parameter(0)
      s = {n} parameter(1)
      o = {n} parameter(2)
      m = {n} parameter(3)
      v0 = {n} parameter(4)
      v = {n} abs(v0)
      ROOT r = {x} batch-norm-inference(x, s, o, m, v), epsilon=0.001, feature_index={feature}"""
    check_pass(inference, "batchnorm-expander")
    grad = f"""x = {x} parameter(0)
      s = {n} parameter(1)
      m = {n} parameter(2)
      v0 = {n} parameter(3)
      v = {n} abs(v0)
      g = {x} parameter(4)
      ROOT r = ({x}, {n}, {n}) batch-norm-grad(x, s, m, v, g), epsilon=0.001, feature_index={feature}"""
    check_pass(grad, "batchnorm-expander")

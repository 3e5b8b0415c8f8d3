"""Expanders: what is left has no such op, and means the same as the reference evaluator's own definition."""

from __future__ import annotations

import math

import numpy as np
import pytest

from tests.roundings import assert_within
from xla_core.hlo.evaluator import evaluate
from xla_core.hlo.parser import parse_hlo
from xla_core.hlo.verifier import verify
from xla_core.passes import create_pass
from xla_core.passes.patterns import reduction_opcode
from xla_core.passes.reduce_window_rewriter import scanned_dimension

ADD = "add { a = KIND[] parameter(0)\n b = KIND[] parameter(1)\n ROOT c = KIND[] add(a, b) }\n"


def all_opcodes(module):
    return {i.opcode for c in module.computations for i in c.instructions}


# -- random bits -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("algorithm", ["rng_three_fry", "rng_philox", "rng_default"])
@pytest.mark.parametrize("kind", ["u32", "u64", "s32", "u8", "f32", "u16", "s64", "u4"])
@pytest.mark.parametrize("sizes", ["", "1", "5", "6", "3,5", "4,3", "3,4,2"])
def test_random_bits_are_the_evaluators_bit_by_bit(check_pass, algorithm, kind, sizes):
    words = 2 if algorithm == "rng_three_fry" else 3
    text = f"""s = u64[{words}] parameter(0)
      ROOT r = (u64[{words}], {kind}[{sizes}]) rng-bit-generator(s), algorithm={algorithm}"""
    state = np.array([0x123456789ABCDEF0, 2**64 - 3, 7][:words], np.uint64)
    module = check_pass(text, "rng-bit-generator-expander", [state], roundings=0)
    assert "rng-bit-generator" not in all_opcodes(module)


def test_a_state_of_narrow_words(check_pass):
    text = "s = u32[4] parameter(0)\nROOT r = (u32[4], u32[7]) rng-bit-generator(s), algorithm=rng_philox"
    state = np.array([1, 2, 2**32 - 1, 2**32 - 1], np.uint32)
    check_pass(text, "rng-bit-generator-expander", [state], roundings=0)


@pytest.mark.parametrize("kind", ["f32", "f64", "bf16", "f16"])
def test_uniform_and_normal_numbers_have_their_moments(kind):
    text = f"""HloModule m
    ENTRY e {{ a = {kind}[] parameter(0)
      b = {kind}[] parameter(1)
      u = {kind}[20000] rng(a, b), distribution=rng_uniform
      n = {kind}[20000] rng(a, b), distribution=rng_normal
      ROOT r = ({kind}[20000], {kind}[20000]) tuple(u, n) }}"""
    module = parse_hlo(text)
    assert create_pass("rng-expander").run(module)
    verify(module)
    dtype = module.parameter_shapes[0].dtype
    uniform, normal = (r.astype(np.float64) for r in evaluate(module, np.array(1, dtype), np.array(3, dtype)))
    assert uniform.min() >= 1
    assert uniform.max() < 3
    assert abs(uniform.mean() - 2) < 0.02
    assert abs(uniform.var() - 4 / 12) < 0.02
    assert abs(normal.mean() - 1) < 0.1
    assert abs(normal.std() - 3) < 0.1


def test_uniform_integers_reach_every_value():
    text = """HloModule m
    ENTRY e { a = s32[] constant(-2)
      b = s32[] constant(3)
      ROOT u = s32[1000] rng(a, b), distribution=rng_uniform }"""
    module = parse_hlo(text)
    assert create_pass("rng-expander").run(module)
    (numbers,) = evaluate(module)
    assert sorted(set(numbers.tolist())) == [-2, -1, 0, 1, 2]


# -- linear algebra --------------------------------------------------------------------------------------------------


def positive(generator, kind, *sizes):
    a = generator.normal(size=sizes)
    if kind == "c64":
        a = a + 1j * generator.normal(size=sizes)
    a = a @ np.conj(a).swapaxes(-1, -2) + sizes[-1] * np.eye(sizes[-1])
    return a.astype({"f32": np.float32, "f64": np.float64, "c64": np.complex64}[kind])


@pytest.mark.parametrize("kind", ["f32", "f64", "c64"])
@pytest.mark.parametrize("lower", ["true", "false"])
def test_cholesky(check_pass, kind, lower):
    matrices = positive(np.random.default_rng(3), kind, 2, 5, 5)
    text = f"x = {kind}[2,5,5] parameter(0)\nROOT r = {kind}[2,5,5] cholesky(x), lower={lower}"
    module = check_pass(text, "cholesky-expander", [matrices])
    (factor,) = evaluate(module, matrices)
    product = np.conj(factor).swapaxes(-1, -2)
    again = factor @ product if lower == "true" else product @ factor
    assert_within(8, again, matrices)


def test_cholesky_of_what_is_not_positive_is_nan(check_pass):
    matrices = np.stack([np.eye(3), -np.eye(3)]).astype(np.float32)
    text = "x = f32[2,3,3] parameter(0)\nROOT r = f32[2,3,3] cholesky(x), lower=true"
    check_pass(text, "cholesky-expander", [matrices])


@pytest.mark.parametrize("kind", ["f32", "c64"])
@pytest.mark.parametrize("left", ["true", "false"])
@pytest.mark.parametrize("lower", ["true", "false"])
@pytest.mark.parametrize("transpose", ["NO_TRANSPOSE", "TRANSPOSE", "ADJOINT"])
@pytest.mark.parametrize("unit", ["true", "false"])
def test_triangular_solve(check_pass, kind, left, lower, transpose, unit):
    generator = np.random.default_rng(5)
    a = positive(generator, kind, 2, 4, 4) / 4
    sizes = "2,4,3" if left == "true" else "2,3,4"
    b = generator.normal(size=[int(n) for n in sizes.split(",")]).astype(a.dtype)
    text = f"""x = {kind}[2,4,4] parameter(0)
      y = {kind}[{sizes}] parameter(1)
      ROOT r = {kind}[{sizes}] triangular-solve(x, y), left_side={left}, lower={lower}, unit_diagonal={unit}, transpose_a={transpose}"""
    check_pass(text, "triangular-solve-expander", [a, b])


# -- gather, scatter, windows ----------------------------------------------------------------------------------------

GATHERS = {
    "rows": ("f32[5,6]", "s32[4]", "f32[4,6]", "offset_dims={1}, collapsed_slice_dims={0}, start_index_map={0}, index_vector_dim=1, slice_sizes={1,6}"),
    "points": ("f32[5,6]", "s32[2,3,2]", "f32[2,3]", "offset_dims={}, collapsed_slice_dims={0,1}, start_index_map={1,0}, index_vector_dim=2, slice_sizes={1,1}"),
    "blocks": ("f32[5,6]", "u8[2,3]", "f32[2,3,2]", "offset_dims={0,2}, collapsed_slice_dims={}, start_index_map={0,1}, index_vector_dim=0, slice_sizes={2,2}"),
    "batched": ("f32[3,5,6]", "s64[3,4,1]", "f32[3,4,6]", "offset_dims={2}, collapsed_slice_dims={1}, start_index_map={1}, operand_batching_dims={0}, start_indices_batching_dims={0}, index_vector_dim=2, slice_sizes={1,1,6}"),
    "one": ("f32[5,6]", "s32[1]", "f32[6]", "offset_dims={0}, collapsed_slice_dims={0}, start_index_map={0}, index_vector_dim=0, slice_sizes={1,6}"),
}  # fmt: skip


@pytest.mark.parametrize("name", GATHERS)
def test_gather(check_pass, name):
    operand, indices, result, attributes = GATHERS[name]
    text = f"x = {operand} parameter(0)\ni = {indices} parameter(1)\nROOT r = {result} gather(x, i), {attributes}"
    module = check_pass(text, "gather-expander", roundings=0)
    assert "gather" not in all_opcodes(module)
    assert ("while" in all_opcodes(module)) == (name != "one")
    assert create_pass("gather-simplifier").run(parse_hlo("HloModule m\nENTRY e {" + text + "}")) == (name == "one")


SCATTERS = {
    "rows": ("f32[5,6]", "s32[4]", "f32[4,6]", "update_window_dims={1}, inserted_window_dims={0}, scatter_dims_to_operand_dims={0}, index_vector_dim=1"),
    "points": ("f32[5,6]", "s32[2,3,2]", "f32[2,3]", "update_window_dims={}, inserted_window_dims={0,1}, scatter_dims_to_operand_dims={1,0}, index_vector_dim=2"),
    "blocks": ("f32[5,6]", "s32[2,3]", "f32[2,3,2]", "update_window_dims={0,2}, inserted_window_dims={}, scatter_dims_to_operand_dims={0,1}, index_vector_dim=0"),
    "batched": ("f32[3,5,6]", "s64[3,4,1]", "f32[3,4,6]", "update_window_dims={2}, inserted_window_dims={1}, scatter_dims_to_operand_dims={1}, input_batching_dims={0}, scatter_indices_batching_dims={0}, index_vector_dim=2"),
    "unsigned": ("f32[5,6]", "u8[4]", "f32[4,6]", "update_window_dims={1}, inserted_window_dims={0}, scatter_dims_to_operand_dims={0}, index_vector_dim=1"),
}  # fmt: skip


@pytest.mark.parametrize("name", SCATTERS)
def test_scatter_drops_what_lies_outside(check_pass, name):
    operand, indices, updates, attributes = SCATTERS[name]
    text = f"""{ADD.replace("KIND", "f32")}ENTRY e {{ x = {operand} parameter(0)
      i = {indices} parameter(1)
      u = {updates} parameter(2)
      ROOT r = {operand} scatter(x, i, u), {attributes}, to_apply=add }}"""
    module = check_pass(text, "scatter-expander")
    assert "scatter" not in all_opcodes(module)


def test_scatter_of_several(check_pass):
    text = """f { a = f32[] parameter(0)
      b = s32[] parameter(1)
      c = f32[] parameter(2)
      d = s32[] parameter(3)
      k = f32[] constant(2)
      e = f32[] multiply(a, k)
      g = f32[] add(e, c)
      h = s32[] maximum(b, d)
      ROOT t = (f32[], s32[]) tuple(g, h) }
    ENTRY e { x = f32[5] parameter(0)
      y = s32[5] parameter(1)
      i = s32[4] parameter(2)
      u = f32[4] parameter(3)
      v = s32[4] parameter(4)
      ROOT r = (f32[5], s32[5]) scatter(x, y, i, u, v), update_window_dims={}, inserted_window_dims={0}, scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=f }"""
    check_pass(text, "scatter-expander")


def test_scatter_into_a_scalar(check_pass):
    text = f"""{ADD.replace("KIND", "f32")}ENTRY e {{ x = f32[] parameter(0)
      i = s32[0] parameter(1)
      u = f32[] parameter(2)
      ROOT r = f32[] scatter(x, i, u), update_window_dims={{}}, inserted_window_dims={{}}, scatter_dims_to_operand_dims={{}}, index_vector_dim=0, to_apply=add }}"""
    check_pass(text, "scatter-expander", changes=False)


@pytest.mark.parametrize("select", ["GE", "LE"])
@pytest.mark.parametrize(
    ("sizes", "window", "out"),
    [
        ("6,6", "size=2x2 stride=2x2", "3,3"),
        ("5,6", "size=3x2 stride=2x1 pad=1_1x0_1", "3,6"),
        ("7", "size=3 stride=2", "3"),
    ],
)
def test_select_and_scatter(check_pass, select, sizes, window, out):
    text = f"""{ADD.replace("KIND", "f32")}select {{ a = f32[] parameter(0)
      b = f32[] parameter(1)
      ROOT c = pred[] compare(a, b), direction={select} }}
    ENTRY e {{ x = f32[{sizes}] parameter(0)
      s = f32[{out}] parameter(1)
      z = f32[] parameter(2)
      ROOT r = f32[{sizes}] select-and-scatter(x, s, z), window={{{window}}}, select=select, scatter=add }}"""
    module = check_pass(text, "select-and-scatter-expander")
    assert "select-and-scatter" not in all_opcodes(module)


@pytest.mark.parametrize("opcode", ["add", "multiply", "maximum", "minimum"])
@pytest.mark.parametrize("size", [1, 2, 15, 16, 17, 100, 300])
@pytest.mark.parametrize("backwards", [False, True])
def test_cumulative_windows(check_pass, opcode, size, backwards):
    pad = f"0_{size - 1}" if backwards else f"{size - 1}_0"
    initial = {"add": "0", "multiply": "1", "maximum": "-inf", "minimum": "inf"}[opcode]
    combiner = ADD.replace("KIND", "f32").replace("add(", opcode + "(")
    text = f"""{combiner}ENTRY e {{ x = f32[3,{size}] parameter(0)
      z = f32[] constant({initial})
      ROOT r = f32[3,{size}] reduce-window(x, z), window={{size=1x{size} pad=0_0x{pad}}}, to_apply=NAME }}"""
    text = text.replace("NAME", combiner.split()[0])
    generator = np.random.default_rng(0)
    x = (1 + 0.01 * generator.normal(size=(3, size))).astype(np.float32)
    scans = size > 16  # shorter ones stay
    module = check_pass(text, "reduce-window-rewriter", [x], changes=scans, roundings=max(size / 2, 8))
    assert ("reduce-window" in all_opcodes(module)) == (not scans)
    accumulate = {"add": np.add, "multiply": np.multiply, "maximum": np.maximum, "minimum": np.minimum}[opcode]
    wide = x[:, ::-1].astype(np.float64) if backwards else x.astype(np.float64)
    expected = accumulate.accumulate(wide, axis=1)
    (result,) = evaluate(module, x)
    wanted = expected[:, ::-1] if backwards else expected
    assert_within(max(size / 2, 8), result, wanted.astype(np.float32))


@pytest.mark.parametrize(
    ("opcode", "initial", "rewritten"), [("add", 2, False), ("multiply", 2, False), ("maximum", 2, True)]
)
def test_cumulative_windows_whose_padding_counts(check_pass, opcode, initial, rewritten):
    """Every place of the padding is the initial value: twenty of them are not one."""
    combiner = ADD.replace("KIND", "s32").replace("add(", opcode + "(")
    text = f"""{combiner}ENTRY e {{ x = s32[20] parameter(0)
      z = s32[] constant({initial})
      ROOT r = s32[20] reduce-window(x, z), window={{size=20 pad=19_0}}, to_apply={combiner.split()[0]} }}"""
    check_pass(text, "reduce-window-rewriter", [np.arange(20, dtype=np.int32)], changes=rewritten, roundings=0)


def test_windows_that_are_no_scans_are_left_alone():
    text = f"""HloModule m
    {ADD.replace("KIND", "f32")}ENTRY e {{ x = f32[8] parameter(0)
      z = f32[] constant(0)
      ROOT r = f32[5] reduce-window(x, z), window={{size=4}}, to_apply=add }}"""
    module = parse_hlo(text)
    assert scanned_dimension(module.entry.root) is None
    assert reduction_opcode(module.entry.root.attributes["to_apply"]) == "add"
    assert not create_pass("reduce-window-rewriter").run(module)


# -- comparison, sorting, products -----------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["f32", "f64", "bf16", "f16", "f8e5m2"])
@pytest.mark.parametrize("direction", ["LT", "GE", "EQ"])
def test_total_order_is_the_order_of_integers(check_pass, kind, direction):
    special = [0.0, -0.0, math.inf, -math.inf, math.nan, -math.nan, 1.0, -1.0, 0.5]
    n = len(special)
    module = parse_hlo(f"HloModule m\nENTRY e {{ ROOT x = {kind}[{n}] parameter(0) }}")
    dtype = module.parameter_shapes[0].dtype
    x, y = (v.reshape(-1).astype(dtype) for v in np.meshgrid(special, special))
    text = f"x = {kind}[{n * n}] parameter(0)\ny = {kind}[{n * n}] parameter(1)\nROOT r = pred[{n * n}] compare(x, y), direction={direction}, type=TOTALORDER"
    module = check_pass(text, "comparison-expander", [x, y])
    assert all(i.attributes.get("type") is None for i in module.entry.instructions)


@pytest.mark.parametrize("largest", ["true", "false"])
@pytest.mark.parametrize("kind", ["f32", "s32"])
def test_topk(check_pass, largest, kind):
    text = f"x = {kind}[3,8] parameter(0)\nROOT r = ({kind}[3,3], s32[3,3]) topk(x), k=3, largest={largest}"
    module = check_pass(text, "topk-decomposer")
    assert "sort" in all_opcodes(module)


def test_sorts_lose_operands_that_nobody_needs(check_pass, opcodes):
    text = """less { a = f32[] parameter(0)
      b = f32[] parameter(1)
      c = s32[] parameter(2)
      d = s32[] parameter(3)
      e = s32[] parameter(4)
      f = s32[] parameter(5)
      ROOT l = pred[] compare(a, b), direction=LT }
    ENTRY e { x = f32[9] parameter(0)
      i = s32[9] iota(), iota_dimension=0
      j = s32[9] negate(i)
      s = (f32[9], s32[9], s32[9]) sort(x, j, i), dimensions={0}, is_stable=true, to_apply=less
      ROOT r = s32[9] get-tuple-element(s), index=2 }"""
    module = check_pass(text, "sort-simplifier")
    sort = next(i for i in module.entry.instructions if i.opcode == "sort")
    assert len(sort.operands) == 2
    assert "negate" not in opcodes(module)
    one = text.replace("index=2", "index=0").replace("ROOT r = s32[9]", "ROOT r = f32[9]")
    module = check_pass(one, "sort-simplifier")
    assert module.entry.root.opcode == "sort"


def test_products_wider_than_their_operands(check_pass):
    text = """x = bf16[4,5] parameter(0)
      y = bf16[5,3] parameter(1)
      ROOT r = f32[4,3] dot(x, y), lhs_contracting_dims={1}, rhs_contracting_dims={0}"""
    module = check_pass(text, "operand-upcaster")
    assert {o.shape.element_type.value for o in module.entry.root.operands} == {"f32"}
    integers = text.replace("bf16", "s8").replace("f32", "s32")
    check_pass(integers, "operand-upcaster")


def test_products_of_another_category_than_their_operands(check_pass, opcodes):
    text = """x = s8[4,5] parameter(0)
      y = s8[5,3] parameter(1)
      ROOT r = f32[4,3] dot(x, y), lhs_contracting_dims={1}, rhs_contracting_dims={0}"""
    module = check_pass(text, "product-caster")
    assert {o.shape.element_type.value for o in module.entry.root.operands} == {"f32"}
    module = check_pass(text.replace("s8", "c64"), "product-caster")
    product = next(i for i in module.entry.instructions if i.opcode == "dot")
    assert product.shape.element_type.value == "c64"
    assert "convert" not in opcodes(check_pass(text.replace("s8", "bf16"), "product-caster", changes=False))


def test_precision_that_was_given_up_comes_back():
    text = "HloModule m\nENTRY e { x = f32[4] parameter(0)\n a = bf16[4] convert(x)\n ROOT r = f32[4] convert(a) }"
    module = parse_hlo(text)
    assert create_pass("simplify-fp-conversions").run(module)
    assert module.entry.root.opcode == "parameter"


def test_barriers_go(check_pass, opcodes):
    text = "x = f32[4] parameter(0)\na = f32[4] opt-barrier(x)\nROOT r = f32[4] negate(a)"
    assert opcodes(check_pass(text, "optimization-barrier-expander")) == ["negate"]


def test_index_vectors_become_scalars(check_pass):
    text = """x = f32[4,6] parameter(0)
      i = s32[2] parameter(1)
      a = f32[2,3] dynamic-slice(x, i), dynamic_slice_sizes={2,3}
      ROOT r = f32[4,6] dynamic-update-slice(x, a, i)"""
    module = check_pass(text, "dynamic-index-splitter")
    assert len(module.entry.root.operands) == 4


@pytest.mark.parametrize("kind", ["bf16", "f16", "f8e5m2", "f8e4m3fn"])
@pytest.mark.parametrize("opcode", ["batch-norm-training", "batch-norm-inference", "triangular-solve", "cholesky"])
def test_narrow_floats_are_expanded_in_f32_and_rounded_once(kind, opcode):
    parameters = {
        "batch-norm-training": ["[6,3]", "[3]", "[3]"],
        "batch-norm-inference": ["[6,3]", "[3]", "[3]", "[3]", "[3]"],
        "triangular-solve": ["[3,3]", "[3,2]"],
        "cholesky": ["[3,3]"],
    }[opcode]
    names = "abcde"[: len(parameters)]
    given = "".join(f"{n} = {kind}{s} parameter({i})\n" for i, (n, s) in enumerate(zip(names, parameters, strict=True)))
    results, attributes = {
        "batch-norm-training": (f"({kind}[6,3], {kind}[3], {kind}[3])", "epsilon=0.01, feature_index=1"),
        "batch-norm-inference": (f"{kind}[6,3]", "epsilon=0.01, feature_index=1"),
        "triangular-solve": (f"{kind}[3,2]", "left_side=true, lower=true, transpose_a=NO_TRANSPOSE"),
        "cholesky": (f"{kind}[3,3]", "lower=true"),
    }[opcode]
    text = f"HloModule m\nENTRY e {{\n{given}ROOT r = {results} {opcode}({', '.join(names)}), {attributes}\n}}"
    module = parse_hlo(text)
    random = np.random.default_rng(3)
    arrays = [random.uniform(0.25, 1, s.dimensions).astype(s.dtype) for s in module.parameter_shapes]
    if opcode in ("triangular-solve", "cholesky"):
        arrays[0] = (np.tril(arrays[0].astype(np.float32)) + np.tril(arrays[0].astype(np.float32), -1).T).astype(
            arrays[0].dtype
        ) + (2 * np.eye(3)).astype(arrays[0].dtype)
    wide = evaluate(parse_hlo(text.replace(f"{kind}[", "f64[")), *(a.astype(np.float64) for a in arrays))
    for name in ("batchnorm-expander", "cholesky-expander", "triangular-solve-expander"):
        create_pass(name).run(module)
    verify(module)
    assert opcode not in all_opcodes(module)
    for result, right in zip(evaluate(module, *arrays), wide, strict=True):
        np.testing.assert_array_equal(result, right.astype(result.dtype))


# -- bitcasts --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("source", "target"),
    [
        ("f32[2,3]{0,1}", "f32[3,2]{1,0}"),
        ("f32[2,3]{1,0}", "f32[2,3]{0,1}"),
        ("f32[2,3,4]{0,2,1}", "s32[6,4]{0,1}"),
        ("f32[2,3]{0,1}", "u8[4,6]{0,1}"),
        ("u8[4,6]{0,1}", "bf16[3,4]{0,1}"),
        ("c64[2,3]{0,1}", "s64[6]{0}"),
        ("s64[2,3]{0,1}", "c64[3,2]{1,0}"),
        ("c128[2]{0}", "c64[2,2]{0,1}"),
        ("f16[8]{0}", "c64[2]{0}"),
        ("c64[2]{0}", "u16[8]{0}"),
        ("u8[3]{0}", "u4[6]{0}"),
        ("f32[]", "f32[1,1]{0,1}"),
        ("s32[0,3]{1,0}", "s16[3,0]{1,0}"),
    ],
)
def test_a_bitcast_becomes_what_it_means_whatever_the_layouts(check_pass, source, target):
    text = f"x = {source} parameter(0)\nROOT r = {target} bitcast(x)"
    module = check_pass(text, "bitcast-expander", roundings=0)
    assert "bitcast" not in all_opcodes(module)


def test_a_bitcast_within_a_map_is_one_elementwise_op(check_pass, opcodes):
    text = """f { a = f32[] parameter(0)
      b = s32[] bitcast(a)
      ROOT c = s32[] add(b, b) }
    ENTRY e { x = f32[2,3] parameter(0)
      ROOT r = s32[2,3] map(x), dimensions={0,1}, to_apply=f }"""
    module = check_pass(text, [create_pass(name) for name in ("bitcast-expander", "map-inliner")])
    assert opcodes(module) == ["bitcast-convert", "add"]

"""Expanders: what is left has no such op, and means the same as the reference evaluator's own definition."""

from __future__ import annotations

import math

import numpy as np
import pytest

from tests.roundings import assert_within
from xla_core.hlo.evaluator import evaluate
from xla_core.hlo.parsing.parser import parse_hlo
from xla_core.hlo.verifier import verify
from xla_core.passes import create_pass

ADD = "add { a = KIND[] parameter(0)\n b = KIND[] parameter(1)\n ROOT c = KIND[] add(a, b) }\n"


def all_opcodes(module):
    return {i.opcode for c in module.computations for i in c.instructions}


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


@pytest.mark.parametrize("kind", ["f32", "f64", "c64"])
@pytest.mark.parametrize("lower", ["true", "false"])
def test_cholesky_of_what_is_not_positive_is_nan(check_pass, kind, lower):
    """In the last two matrices, only the last column's pivot is not positive: it is 0."""
    matrices = np.stack([np.eye(3), -np.eye(3), np.ones((3, 3)), np.diag([1, 1, 0])]).astype(
        {"f32": np.float32, "f64": np.float64, "c64": np.complex64}[kind]
    )
    text = f"x = {kind}[4,3,3] parameter(0)\nROOT r = {kind}[4,3,3] cholesky(x), lower={lower}"
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


_LOG_ADD_EXP = """log_add_exp {
      a = f32[] parameter(0)
      b = f32[] parameter(1)
      most = f32[] maximum(a, b)
      d = f32[] subtract(a, b)
      apart = pred[] compare(d, d), direction=NE
      sum = f32[] add(a, b)
      size = f32[] abs(d)
      less = f32[] negate(size)
      e = f32[] exponential(less)
      l = f32[] log-plus-one(e)
      t = f32[] add(most, l)
      ROOT r = f32[] select(apart, sum, t)
    }
    """


@pytest.mark.parametrize("initial", ["-inf", "0"])
@pytest.mark.parametrize("backwards", [False, True])
@pytest.mark.parametrize("size", [17, 40, 300])
def test_cumulative_windows_of_other_computations(check_pass, size, backwards, initial):
    """Zeros in the padding would count: log(exp(0) + exp(0)) is not 0."""
    pad = f"0_{size - 1}" if backwards else f"{size - 1}_0"
    text = f"""{_LOG_ADD_EXP}ENTRY e {{ x = f32[3,{size}] parameter(0)
      z = f32[] constant({initial})
      ROOT r = f32[3,{size}] reduce-window(x, z), window={{size=1x{size} pad=0_0x{pad}}}, to_apply=log_add_exp }}"""
    x = np.random.default_rng(0).normal(size=(3, size)).astype(np.float32)
    rewritten = initial == "-inf"
    module = check_pass(text, "reduce-window-rewriter", [x], changes=rewritten, roundings=size)
    wide = x[:, ::-1].astype(np.float64) if backwards else x.astype(np.float64)
    expected = np.logaddexp.accumulate(wide, axis=1)
    if rewritten:
        (result,) = evaluate(module, x)
        assert_within(32, result, (expected[:, ::-1] if backwards else expected).astype(np.float32))


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

"""Convolutions of every form, through the whole pipeline, against the evaluator."""

from __future__ import annotations

import numpy as np
import pytest
from xla_backend_cpu.codegen.blocked_product import with_best_rows
from xla_backend_cpu.codegen.convolution import convolution_product
from xla_backend_cpu.codegen.processor import Processor

import xla_core as xla
from tests.roundings import assert_within


def conv_text(image, kernel, result, window, labels, extra="", element="f32"):
    def shape(d):
        return f"{element}[{','.join(map(str, d))}]"

    return f"""HloModule convolution
ENTRY main {{
  a = {shape(image)} parameter(0)
  b = {shape(kernel)} parameter(1)
  ROOT c = {shape(result)} convolution(a, b), window={{{window}}}, dim_labels={labels}{extra}
}}"""


CASES = {
    "plain": ((2, 9, 8, 3), (3, 3, 3, 5), (2, 7, 6, 5), "size=3x3", "b01f_01io->b01f", ""),
    "padded": ((2, 9, 8, 3), (3, 3, 3, 40), (2, 9, 8, 40), "size=3x3 pad=1_1x1_1", "b01f_01io->b01f", ""),
    "strided": ((2, 9, 9, 4), (3, 3, 4, 16), (2, 4, 4, 16), "size=3x3 stride=2x2", "b01f_01io->b01f", ""),
    "dilated": ((1, 12, 12, 4), (3, 3, 4, 17), (1, 8, 8, 17), "size=3x3 rhs_dilate=2x2", "b01f_01io->b01f", ""),
    "transposed": (
        (2, 5, 5, 4),
        (3, 3, 4, 6),
        (2, 9, 9, 6),
        "size=3x3 pad=1_1x1_1 lhs_dilate=2x2",
        "b01f_01io->b01f",
        "",
    ),
    "transposed, in phases": (
        (2, 16, 15, 32),
        (4, 3, 32, 16),
        (2, 32, 29, 16),
        "size=4x3 pad=2_2x1_1 lhs_dilate=2x2 rhs_reversal=1x1",
        "b01f_01io->b01f",
        "",
    ),
    "cropped": ((2, 9, 9, 4), (3, 3, 4, 6), (2, 5, 5, 6), "size=3x3 pad=-1_-1x-1_-1", "b01f_01io->b01f", ""),
    "reversed": ((2, 9, 8, 3), (3, 3, 3, 5), (2, 7, 6, 5), "size=3x3 rhs_reversal=1x1", "b01f_01io->b01f", ""),
    "channels first": ((2, 3, 9, 8), (5, 3, 3, 3), (2, 5, 7, 6), "size=3x3", "bf01_oi01->bf01", ""),
    "kernel gradient": ((3, 10, 10, 8), (3, 8, 8, 16), (3, 3, 8, 16), "size=8x8", "f01b_i01o->01bf", ""),
    "grouped": ((2, 9, 8, 6), (3, 3, 3, 10), (2, 7, 6, 10), "size=3x3", "b01f_01io->b01f", ", feature_group_count=2"),
    "depthwise": (
        (2, 9, 8, 12),
        (3, 3, 1, 24),
        (2, 7, 6, 24),
        "size=3x3",
        "b01f_01io->b01f",
        ", feature_group_count=12",
    ),
    "batch groups": (
        (4, 9, 8, 3),
        (3, 3, 3, 10),
        (2, 7, 6, 10),
        "size=3x3",
        "b01f_01io->b01f",
        ", batch_group_count=2",
    ),
    "one dimension": ((2, 30, 3), (5, 3, 7), (2, 26, 7), "size=5", "b0f_0io->b0f", ""),
    "three dimensions": ((2, 5, 6, 7, 3), (2, 3, 3, 3, 5), (2, 4, 4, 5, 5), "size=2x3x3", "b012f_012io->b012f", ""),
    "no dimension": ((4, 3), (3, 7), (4, 7), "", "bf_io->bf", ""),
    "one feature": ((2, 9, 8, 20), (3, 3, 20, 1), (2, 7, 6, 1), "size=3x3", "b01f_01io->b01f", ""),
    "few features": ((3, 9, 40, 35), (2, 3, 35, 3), (3, 8, 38, 3), "size=2x3", "b01f_01io->b01f", ""),
    "few features, strided": (
        (2, 9, 41, 64),
        (3, 3, 64, 2),
        (2, 4, 20, 2),
        "size=3x3 stride=2x2",
        "b01f_01io->b01f",
        "",
    ),
    "few features, dilated": (
        (2, 9, 9, 64),
        (2, 2, 64, 4),
        (2, 6, 6, 4),
        "size=2x2 rhs_dilate=3x3",
        "b01f_01io->b01f",
        "",
    ),
    "few features, large": ((1, 5, 6, 300), (3, 3, 300, 2), (1, 3, 4, 2), "size=3x3", "b01f_01io->b01f", ""),
    "few features of a volume": (
        (1, 4, 5, 9, 32),
        (2, 3, 3, 32, 3),
        (1, 3, 3, 7, 3),
        "size=2x3x3",
        "b012f_012io->b012f",
        "",
    ),
    "wide rows": ((1, 3, 100, 2), (1, 1, 2, 3), (1, 3, 100, 3), "size=1x1", "b01f_01io->b01f", ""),
}


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize(("element", "dtype"), [("f32", np.float32), ("f64", np.float64)])
def test_forms(agree, name, element, dtype):
    image, kernel, result, window, labels, extra = CASES[name]
    rng = np.random.default_rng(1)
    a, b = (rng.standard_normal(s).astype(dtype) for s in (image, kernel))
    agree(conv_text(image, kernel, result, window, labels, extra, element), a, b, roundings=16)


def test_vectors_of_few_features_run_over_the_taps(client):
    image, kernel, result, *rest = CASES["few features"]
    options = xla.CompileOptions(keep_artifacts=True)
    plan = str(client.compile(conv_text(image, kernel, result, *rest), options).artifacts()["plan"])
    assert "vectors of taps" in plan


def test_integers(agree):
    rng = np.random.default_rng(2)
    a, b = (rng.integers(-100, 100, s).astype(np.int32) for s in ((1, 5, 5, 2), (3, 3, 2, 4)))
    agree(conv_text(a.shape, b.shape, (1, 3, 3, 4), "size=3x3", "b01f_01io->b01f", element="s32"), a, b)


@pytest.mark.parametrize(("registers", "rows"), [(16, 30), (32, 3)], ids=["AVX2", "AVX-512"])
def test_rows_are_those_that_register_blocks_divide(registers, rows):
    """The gradient of weights has 3 x 3 points. With 16 registers a block has 2 x 3 of them, and so wastes a row."""
    conv = xla.parse(conv_text((30, 20, 20, 8), (18, 18, 8, 64), (30, 3, 3, 64), "size=18x18", "b01f_01io->b01f"))
    product = with_best_rows(convolution_product(conv.entry.root), 4, Processor(2 * registers, registers))
    assert product.rows[0] == rows


@pytest.mark.parametrize("newest", ["AVX2", "SSE4_2"])
@pytest.mark.parametrize("name", ["kernel gradient", "padded", "strided", "few features"])
def test_forms_on_older_processors(monkeypatch, name, newest):
    monkeypatch.setenv("XLA_FLAGS", f"--xla_cpu_max_isa={newest}")
    image, kernel, result, window, labels, extra = CASES[name]
    rng = np.random.default_rng(1)
    a, b = (rng.standard_normal(s).astype(np.float32) for s in (image, kernel))
    program = conv_text(image, kernel, result, window, labels, extra)
    (expected,) = xla.evaluate(xla.parse(program), a, b)
    with xla.Client("cpu") as client:
        assert_within(16, np.asarray(client.compile(program)(a, b)[0]), expected)

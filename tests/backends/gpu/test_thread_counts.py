"""Kernels of every form with blocks of any number of threads that a plan may name, not only powers of two."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("xla_backend_gpu", reason="xla-backend-gpu is not installed")

import xla_core as xla

COMPUTATIONS = "\n".join(
    f"{name} {{\n  a = f32[] parameter(0)\n  b = f32[] parameter(1)\n  ROOT c = {result}\n}}\n"
    for name, result in {
        "add": "f32[] add(a, b)",
        "largest": "f32[] maximum(a, b)",
        "above": "pred[] compare(a, b), direction=GE",
        "below": "pred[] compare(a, b), direction=LT",
    }.items()
)
# The shapes of p0 and p1, and the result.
FORMS = {
    "thread elements": ("f32[13,77,40]", "f32[13,77,40] multiply(p0, p0)"),
    "transposed tiles": ("f32[13,77,40]", "f32[40,77,13] transpose(p0), dimensions={2,1,0}"),
    "row teams": ("f32[9,1000]", "f32[9] reduce(p0, zero), dimensions={1}, to_apply=add"),
    "columns": ("f32[9,1000]", "f32[1000] reduce(p0, zero), dimensions={0}, to_apply=add"),
    "scans": (
        "f32[9,1000]",
        "f32[9,1000] reduce-window(p0, zero), window={size=1x1000 pad=0_0x999_0}, to_apply=add",
    ),
    "windows": (
        "f32[9,1000]",
        "f32[9,499] reduce-window(p0, zero), window={size=1x3 stride=1x2}, to_apply=largest",
    ),
    "select-and-scatter": (
        "f32[9,1000] f32[9,499]",
        "f32[9,1000] select-and-scatter(p0, p1, zero), window={size=1x3 stride=1x2}, select=above, scatter=add",
    ),
    "sort": ("f32[9,1000]", "f32[9,1000] sort(p0), dimensions={1}, to_apply=below"),
    "top-k": ("f32[9,1000]", "(f32[9,7], s32[9,7]) topk(p0), k=7, largest=true"),
    "fft": ("c64[3,120]", "c64[3,120] fft(p0), fft_type=FFT, fft_length={120}"),
    "products of f32": (
        "f32[64,70] f32[70,48]",
        "f32[64,48] dot(p0, p1), lhs_contracting_dims={1}, rhs_contracting_dims={0}",
    ),
    "products of bf16": (
        "bf16[64,70] bf16[70,48]",
        "f32[64,48] dot(p0, p1), lhs_contracting_dims={1}, rhs_contracting_dims={0}",
    ),
    "convolutions": (
        "f32[3,9,40] f32[3,9,5]",
        "f32[3,38,5] convolution(p0, p1), window={size=3}, dim_labels=bf0_0io->b0f",
    ),
}


@pytest.mark.parametrize("threads", [96, 160, 224])
@pytest.mark.parametrize("form", FORMS)
def test_any_number_of_threads_computes_the_same(client, form: str, threads: int) -> None:
    shapes, result = FORMS[form]
    lines = [f"  p{n} = {shape} parameter({n})" for n, shape in enumerate(shapes.split())]
    lines.append("  zero = f32[] constant(0)")
    lines.append(f'  ROOT y = {result}, backend_config={{"kernel_plan":{{"threads":{threads}}}}}')
    module = xla.parse("\n".join(["HloModule m", "", COMPUTATIONS, "ENTRY main {", *lines, "}", ""]))
    random = np.random.default_rng(0)
    arguments = [
        random.integers(-8, 9, shape.dimensions).astype(shape.element_type.dtype) for shape in module.parameter_shapes
    ]
    results = [np.asarray(r) for r in client.compile(module)(*arguments)]
    for got, want in zip(results, xla.evaluate(module, *arguments), strict=True):
        np.testing.assert_allclose(got, want, rtol=1e-4, atol=1e-3 if form == "fft" else 0)

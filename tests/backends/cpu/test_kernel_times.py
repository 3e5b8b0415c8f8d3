"""Estimates of the times of kernels, which decide in which threads a program runs."""

from __future__ import annotations

import pytest

pytest.importorskip("xla_backend_cpu", reason="xla-backend-cpu is not installed")

from xla_backend_cpu.codegen.kernel_times import kernel_nanoseconds
from xla_backend_cpu.codegen.processor import Processor

import xla_core as xla
from xla_core.analysis import HloCostAnalysis
from xla_core.target import CacheLevel

MIB = 1 << 20
CACHES = [CacheLevel(size_bytes=size) for size in (1 << 15, MIB, 32 * MIB)]
PROCESSOR = Processor(64, 32, caches=tuple(CACHES))
HELPERS = """
less {
  a = s32[] parameter(0)
  b = s32[] parameter(1)
  ROOT c = pred[] compare(a, b), direction=LT
}
total {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  nan = pred[] compare(a, a), direction=NE
  other = pred[] compare(b, b), direction=NE
  order = pred[] compare(a, b), direction=LT
  differ = pred[] xor(nan, other)
  both = pred[] and(nan, other)
  neither = pred[] not(both)
  least = pred[] and(neither, order)
  ROOT c = pred[] select(differ, other, least)
}
max {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT c = f32[] maximum(a, b)
}
"""


def microseconds(operands: str, text: str) -> float:
    values = operands.split()
    lines = [f"  p{n} = {shape} parameter({n})" for n, shape in enumerate(values)]
    module = xla.parse("HloModule m\n" + HELPERS + "ENTRY e {\n" + "\n".join(lines) + f"\n  ROOT r = {text}\n}}")
    root = module.entry.root
    return kernel_nanoseconds(root, HloCostAnalysis(module).instruction(root), PROCESSOR) / 1000


def test_a_sort_takes_little_longer_by_an_order_of_many_ops() -> None:
    """It moves elements as often, and that takes most of its time."""
    by_one = microseconds("s32[64,256]", "s32[64,256] sort(p0), dimensions={1}, to_apply=less")
    by_many = microseconds("f32[64,256]", "f32[64,256] sort(p0), dimensions={1}, to_apply=total")
    assert pytest.approx(by_one, rel=0.1) == 260
    assert by_one < by_many < 3 * by_one


@pytest.mark.parametrize(("k", "measured"), [(1, 8.3), (8, 25.0), (64, 255.0)])
def test_topk_takes_as_long_as_what_it_keeps(k: int, measured: float) -> None:
    text = f"(f32[64,{k}], s32[64,{k}]) topk(p0), k={k}, largest=true"
    assert measured / 2 < microseconds("f32[64,256]", text) < 2 * measured


@pytest.mark.parametrize("k", [0, 1])
def test_topk_of_empty_rows_takes_no_time(k: int) -> None:
    text = f"(f32[0,{k}], s32[0,{k}]) topk(p0), k={k}, largest=true"
    assert microseconds("f32[0,4]", text) == 0


@pytest.mark.parametrize(("n", "measured"), [(64, 6.0), (128, 16.0), (256, 66.0)])
def test_a_fourier_transform(n: int, measured: float) -> None:
    estimate = microseconds(f"c64[{n},{n}]", f"c64[{n},{n}] fft(p0), fft_type=FFT, fft_length={{{n}}}")
    assert measured / 3 < estimate < 3 * measured


def test_arrays_in_a_cache_are_read_faster() -> None:
    def reduction(rows: int) -> float:
        return microseconds(f"f32[] f32[{rows},1024]", "f32[1024] reduce(p1, p0), dimensions={0}, to_apply=max") / rows

    second, last, none = reduction(128), reduction(1024), reduction(16384)
    assert second < last < none
    assert 1024 * last < 200, "a caller runs it itself"

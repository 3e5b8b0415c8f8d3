"""Sorts and top-k by blocks, on threads of this process."""

from __future__ import annotations

import numpy as np
import pytest

from tests.xla_core.codegen.llvm.block_threads import ThreadsAbi
from tests.xla_core.codegen.llvm.kernels import array, assert_same, f32, fuse, random_array
from xla_core.hlo.evaluator import evaluate_computation
from xla_core.hlo.ir.builder import comparator
from xla_core.hlo.ir.computation import HloComputation
from xla_core.hlo.values.element_type import ElementType as T

LENGTHS = [1, 2, 7, 8, 9, 31, 32, 33, 63, 64, 65, 127, 200]


def sort_of(shapes, dimension: int, before: HloComputation):
    def build(c, *operands):
        return c.add("sort", *operands, dimensions=(dimension,), is_stable=True, to_apply=before)

    return fuse(build, *shapes)


def check(fusion, arguments, abi: ThreadsAbi):
    loaded = abi.load(fusion)
    expected = evaluate_computation(fusion.attribute("calls"), list(arguments))
    for got, want in zip(loaded(*arguments), expected, strict=True):
        assert_same(got, np.asarray(want), 0)
    return loaded.kernel


def few(shape, seed: int = 0) -> np.ndarray:
    """Values with many equal ones."""
    return np.random.default_rng(seed).integers(0, 9, shape.dimensions).astype(shape.dtype)


@pytest.mark.parametrize("length", LENGTHS)
def test_rows_of_any_length_keep_the_order_of_equal_elements(length: int) -> None:
    """A block has room for 32 elements, so that longer rows take several phases."""
    shapes = [f32(3, length), array(T.S32, 3, length)]
    arguments = [few(shapes[0]), random_array(shapes[1])]
    kernel = check(sort_of(shapes, 1, comparator("LT", T.F32, T.S32)), arguments, ThreadsAbi(4, shared_bytes=512))
    assert len(kernel.phases) == 1 + max(0, (-(-length // 32) - 1).bit_length())


def test_several_rows_of_a_block() -> None:
    shapes = [f32(1111, 9)]
    kernel = check(sort_of(shapes, 1, comparator("GT", T.F32)), [few(shapes[0])], ThreadsAbi(8, shared_bytes=1 << 12))
    assert (kernel.threads, kernel.partition_count) == (8, 278)


@pytest.mark.parametrize("dimension", [0, 1, 2])
@pytest.mark.parametrize("element_type", [T.PRED, T.S4, T.S8, T.BF16, T.F64, T.C64])
def test_dimensions_and_types(element_type: T, dimension: int) -> None:
    shapes = [array(T.S16, 3, 40, 5), array(element_type, 3, 40, 5)]
    arguments = [few(shapes[0]), random_array(shapes[1])]
    fusion = sort_of(shapes, dimension, comparator("LT", T.S16, element_type))
    check(fusion, arguments, ThreadsAbi(4, shared_bytes=1024))


def test_a_comparator_that_orders_no_nan_loses_no_element() -> None:
    shapes = [f32(1, 200)]
    x = few(shapes[0])
    x[0, ::7] = np.nan
    (got,) = ThreadsAbi(4, shared_bytes=256).load(sort_of(shapes, 1, comparator("LT", T.F32)))(x)
    np.testing.assert_array_equal(np.sort(got), np.sort(x))


def test_an_empty_sort_does_nothing() -> None:
    assert ThreadsAbi(4, shared_bytes=256).load(sort_of([f32(0, 3)], 1, comparator("LT", T.F32))).kernel.plan


def top_k(shape, k: int, largest: bool):
    parts = [array(t, *shape.dimensions[:-1], k) for t in (shape.element_type, T.S32)]
    whole = type(shape).tuple(parts)
    return fuse(lambda c, x: c.add("topk", x, shape=whole, k=k, largest=largest), shape)


@pytest.mark.parametrize("largest", [True, False])
@pytest.mark.parametrize("k", [1, 3, 8, 20, 50])
@pytest.mark.parametrize("length", [50, 129, 300])
def test_top_k_of_rows(length: int, k: int, largest: bool) -> None:
    shape = f32(3, length)
    x = few(shape)
    x[:, ::9] = np.array([np.nan, -np.nan, -0.0], np.float32)[:, None]
    check(top_k(shape, k, largest), [x], ThreadsAbi(4, shared_bytes=512))


@pytest.mark.parametrize("element_type", [T.S8, T.U16, T.S64, T.BF16, T.F64])
def test_top_k_of_types(element_type: T) -> None:
    shape = array(element_type, 2, 100)
    kernel = check(top_k(shape, 5, True), [random_array(shape)], ThreadsAbi(4, shared_bytes=1024))
    assert kernel.plan.startswith("top-k by blocks")

"""Row teams that also reduce the columns of parts of the rows, on threads of this process."""

from __future__ import annotations

import numpy as np
import pytest

from tests.xla_core.codegen.llvm.block_threads import ThreadsAbi
from tests.xla_core.codegen.llvm.kernels import array, f32, fuse, random_array, scalar, scalar_body
from xla_core.hlo.ir.computation import HloComputation
from xla_core.hlo.ir.instruction import HloInstruction
from xla_core.hlo.values.element_type import ElementType as T


def centred(c: HloComputation, x: HloInstruction) -> HloInstruction:
    """The elements without the sums of their rows, as [part, row, element]."""
    total = c.add("reduce", x, scalar(c, 0), dimensions=(2,), to_apply=scalar_body("add"))
    return c.add("subtract", x, c.add("broadcast", total, shape=x.shape, dimensions=(0, 1)))


def kernel(c: HloComputation, x: HloInstruction) -> list[HloInstruction]:
    """Sums of columns that start at 3, the centred rows, and their columns' largest elements."""
    rows = centred(c, x)
    sums = c.add("reduce", x, scalar(c, 3), dimensions=(1,), to_apply=scalar_body("add"))
    most = c.add("reduce", rows, scalar(c, -np.inf), dimensions=(1,), to_apply=scalar_body("maximum"))
    return [sums, rows, most]


@pytest.mark.parametrize(("threads", "lanes"), [(2, 1), (32, 8), (16, 16), (64, 2)])
@pytest.mark.parametrize("shape", [(3, 8, 16), (2, 5, 33), (4, 1, 8), (2, 9, 3), (1, 16, 64)])
def test_rows_and_columns(threads: int, lanes: int, shape: tuple[int, ...]) -> None:
    x = random_array(f32(*shape))
    loaded = ThreadsAbi(threads, lanes).load(fuse(kernel, f32(*shape)))
    assert ("columns of" in loaded.kernel.plan) == (shape[1] > 1)
    sums, rows, most = loaded(x, parts=1)
    expected = x - x.astype(np.float64).sum(2, keepdims=True)
    np.testing.assert_allclose(sums, 3 + x.astype(np.float64).sum(1), rtol=1e-5, atol=1e-5)
    np.testing.assert_allclose(rows, expected, rtol=1e-4, atol=1e-4)
    np.testing.assert_allclose(most, expected.max(1), rtol=1e-4, atol=1e-4)


def test_an_operand_and_a_result_in_one_buffer() -> None:
    """The elements of a row are read for its columns before they are overwritten."""
    x = random_array(f32(2, 6, 16))
    expected = x.astype(np.float64)
    _, rows, most = ThreadsAbi(16, 4).load(fuse(kernel, f32(2, 6, 16)), aliasing=[(1, 0)])(x, parts=1)
    expected -= expected.sum(2, keepdims=True)
    np.testing.assert_allclose(rows, expected, rtol=1e-4, atol=1e-4)
    np.testing.assert_allclose(most, expected.max(1), rtol=1e-4, atol=1e-4)


def test_each_element_is_loaded_once_and_what_the_rows_share_before_them() -> None:
    def scaled(c, x, scale):
        product = c.add("multiply", x, c.add("broadcast", scale, shape=x.shape, dimensions=(2,)))
        return kernel(c, product)

    loaded = ThreadsAbi(16, 4).load(fuse(scaled, f32(3, 8, 64), f32(64)))
    lines = loaded.text.splitlines()
    loads = [n for n, line in enumerate(lines) if "load <4 x float>" in line and "!noalias" in line]
    turns = next(n for n, line in enumerate(lines) if line.startswith("turns"))
    assert len(loads) == 2
    assert loads[0] < turns < loads[1]


def last() -> HloComputation:
    """(a, b) -> b, which is associative and doesn't commute."""
    body = HloComputation("last")
    body.parameter(0, array(T.F32))
    body.set_root(body.add("copy", body.parameter(1, array(T.F32))))
    return body


def test_columns_of_an_operation_that_does_not_commute_are_reduced_in_order() -> None:
    def build(c, x):
        return [centred(c, x), c.add("reduce", x, scalar(c, 0), dimensions=(1,), to_apply=last())]

    x = random_array(f32(3, 8, 16))
    loaded = ThreadsAbi(64, 4).load(fuse(build, f32(3, 8, 16)))
    assert ", 1 a block" in loaded.kernel.plan
    np.testing.assert_array_equal(loaded(x, parts=1)[1], x[:, -1])


@pytest.mark.parametrize("element_type", [T.S8, T.BF16, T.F64, T.C64])
def test_elements_of_every_width(element_type: T) -> None:
    def build(c, x):
        def sums(dimension: int) -> HloInstruction:
            body = scalar_body("add", element_type)
            return c.add("reduce", x, scalar(c, 0, element_type), dimensions=(dimension,), to_apply=body)

        return [sums(2), sums(1)]

    shape = array(element_type, 2, 6, 20)
    x = random_array(shape)
    rows, columns = ThreadsAbi(32, 8).load(fuse(build, shape))(x, parts=1)
    wide = x.astype(np.complex128 if element_type is T.C64 else np.float64)
    for got, want in ((rows, wide.sum(2)), (columns, wide.sum(1))):
        if element_type is T.S8:
            np.testing.assert_array_equal(got, want.astype(np.int64).astype(np.int8))
        else:
            tolerance = 0.02 if element_type is T.BF16 else 1e-5
            np.testing.assert_allclose(got.astype(wide.dtype), want, rtol=tolerance, atol=tolerance * 4)


@pytest.mark.parametrize("shared_bytes", [64, 1 << 10])
def test_blocks_with_little_shared_memory_have_fewer_teams(shared_bytes: int) -> None:
    x = random_array(f32(2, 8, 16))
    loaded = ThreadsAbi(64, 4, shared_bytes=shared_bytes).load(fuse(kernel, f32(2, 8, 16)))
    sums, _, most = loaded(x, parts=1)
    np.testing.assert_allclose(sums, 3 + x.astype(np.float64).sum(1), rtol=1e-5, atol=1e-5)
    assert most.shape == (2, 16)

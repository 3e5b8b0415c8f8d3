"""Rows that teams of threads reduce, on threads of this process."""

from __future__ import annotations

import numpy as np
import pytest

from tests.xla_core.codegen.llvm.block_threads import ThreadsAbi
from tests.xla_core.codegen.llvm.kernels import array, f32, fuse, random_array, scalar, scalar_body
from xla_core.hlo.ir.computation import HloComputation
from xla_core.hlo.values.element_type import ElementType as T


def row_sums(c, x):
    return c.add("reduce", x, scalar(c, 0), dimensions=(1,), to_apply=scalar_body("add"))


@pytest.mark.parametrize(("threads", "lanes"), [(2, 1), (7, 1), (32, 1), (16, 4), (32, 8), (8, 8), (64, 2)])
@pytest.mark.parametrize("columns", [2, 3, 32, 33, 100])
def test_any_number_of_threads_adds_up_every_element(threads: int, lanes: int, columns: int) -> None:
    x = random_array(f32(3, columns))
    loaded = ThreadsAbi(threads, lanes).load(fuse(row_sums, f32(3, columns)))
    assert loaded.kernel.threads > 1
    np.testing.assert_allclose(loaded(x, parts=1)[0], x.astype(np.float64).sum(1), rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("element_type", [T.PRED, T.S8, T.U16, T.S32, T.S64, T.BF16, T.F16, T.F64])
def test_lanes_exchange_elements_of_every_width(element_type: T) -> None:
    shape = array(element_type, 5, 24)
    x = random_array(shape)

    def maxima(c, x):
        low = {T.PRED: 0}.get(element_type)
        start = low if low is not None else np.iinfo(shape.dtype).min if element_type.is_integral else -np.inf
        body = scalar_body("or" if element_type is T.PRED else "maximum", element_type)
        return c.add("reduce", x, scalar(c, start, element_type), dimensions=(1,), to_apply=body)

    (got,) = ThreadsAbi(8, 4).load(fuse(maxima, shape))(x, parts=1)
    np.testing.assert_array_equal(got, x.any(1) if element_type is T.PRED else x.max(1))


def pair() -> HloComputation:
    """(a, b, x, y) -> (a + x, b + y)."""
    body = HloComputation("pair")
    a, b, x, y = (body.parameter(n, array(T.F32)) for n in range(4))
    body.set_root(body.add("tuple", body.add("add", a, x), body.add("add", b, y)))
    return body


def test_each_accumulator_has_shared_memory_of_its_own() -> None:
    def sums(c, x, y):
        zero = scalar(c, 0)
        return c.add("reduce", x, y, zero, zero, dimensions=(1,), to_apply=pair())

    x, y = random_array(f32(2, 40)), random_array(f32(2, 40), 1)
    abi = ThreadsAbi(6)
    loaded = abi.load(fuse(sums, f32(2, 40), f32(2, 40)))
    assert sum(abi.used_bytes.values()) == 2 * 64
    for got, value in zip(loaded(x, y, parts=1), (x, y), strict=True):
        np.testing.assert_allclose(got, value.astype(np.float64).sum(1), rtol=1e-5, atol=1e-5)


def last() -> HloComputation:
    """(a, b) -> b, which is associative and doesn't commute."""
    body = HloComputation("last")
    body.parameter(0, array(T.F32))
    body.set_root(body.add("copy", body.parameter(1, array(T.F32))))
    return body


@pytest.mark.parametrize("lanes", [1, 4, 16])
def test_every_thread_has_the_same_result_of_an_operation_that_does_not_commute(lanes: int) -> None:
    def spread(c, x):
        chosen = c.add("reduce", x, scalar(c, 0), dimensions=(1,), to_apply=last())
        return c.add("broadcast", chosen, shape=x.shape, dimensions=(0,))

    x = random_array(f32(4, 16))
    (got,) = ThreadsAbi(16, lanes, vector_bytes=4).load(fuse(spread, f32(4, 16)))(x, parts=1)
    assert all(len(set(row)) == 1 for row in got.tolist())


def softmax(c, x):
    def row(opcode: str, of, start: float):
        values = c.add("reduce", of, scalar(c, start), dimensions=(1,), to_apply=scalar_body(opcode))
        return c.add("broadcast", values, shape=x.shape, dimensions=(0,))

    e = c.add("exponential", c.add("subtract", x, row("maximum", x, -np.inf)))
    return c.add("divide", e, row("add", e, 0))


@pytest.mark.parametrize("registers", [1, 4, 32])
@pytest.mark.parametrize("columns", [4, 33, 64, 100])
def test_softmax_in_one_kernel(registers: int, columns: int) -> None:
    x = random_array(f32(5, columns))
    loaded = ThreadsAbi(16, 4, registers).load(fuse(softmax, f32(5, columns)))
    e = np.exp(x.astype(np.float64) - x.max(1, keepdims=True))
    np.testing.assert_allclose(loaded(x, parts=1)[0], e / e.sum(1, keepdims=True), rtol=1e-5)
    assert ("in registers" in loaded.kernel.plan) == (columns <= 16 * registers)


def test_elements_in_registers_are_computed_once() -> None:
    loaded = ThreadsAbi(16, 4).load(fuse(softmax, f32(5, 64)))
    assert loaded.kernel.plan == (
        "row teams: 5 units of 16 threads; 5 rows of 64, 1 a block, 16 threads each, 1 x 4 elements a thread in registers"
    )
    loads = [line for line in loaded.text.splitlines() if "load <4 x float>" in line and "!noalias" in line]
    assert (len(loads), loaded.text.count("fdiv"), loaded.text.count("store <4 x float>")) == (1, 4, 1)


@pytest.mark.parametrize(
    ("columns", "registers", "team"),
    [
        (64, 32, "16 threads each, 1 x 4"),
        (80, 32, "4 threads each, 5 x 4"),  # 16 threads would be idle for 12 of 32 groups
        (96, 32, "8 threads each, 3 x 4"),
        (96, 8, "16 threads each, 2 x 4"),  # 8 threads have too few registers
        (176, 64, "16 threads each, 3 x 4"),  # 4 threads would have 44 elements each
        (33, 32, "4 threads each, 9 x 1"),
    ],
)
def test_the_size_of_a_team_leaves_few_threads_idle(columns: int, registers: int, team: str) -> None:
    x = random_array(f32(5, columns))
    loaded = ThreadsAbi(16, 4, registers).load(fuse(softmax, f32(5, columns)))
    assert f"{team} elements a thread in registers" in loaded.kernel.plan
    e = np.exp(x.astype(np.float64) - x.max(1, keepdims=True))
    np.testing.assert_allclose(loaded(x, parts=1)[0], e / e.sum(1, keepdims=True), rtol=1e-5)


def test_rows_of_two_results() -> None:
    def centred(c, x):
        mean = c.add("reduce", x, scalar(c, 0), dimensions=(1,), to_apply=scalar_body("add"))
        return [c.add("subtract", x, c.add("broadcast", mean, shape=x.shape, dimensions=(0,))), mean]

    x = random_array(f32(9, 24))
    rest, total = ThreadsAbi(32, 8).load(fuse(centred, f32(9, 24)))(x, parts=1)
    np.testing.assert_allclose(total, x.sum(1), rtol=1e-5, atol=1e-5)
    np.testing.assert_allclose(rest, x - x.sum(1, keepdims=True), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize(("threads", "lanes"), [(2, 1), (32, 8), (16, 16), (64, 4)])
@pytest.mark.parametrize("shape", [(7, 5), (33, 20), (3, 17, 4), (2, 3, 40), (64, 2)])
def test_columns(threads: int, lanes: int, shape: tuple[int, ...]) -> None:
    def sums(c, x):
        return c.add("reduce", x, scalar(c, 0), dimensions=(x.shape.rank - 2,), to_apply=scalar_body("add"))

    x = random_array(f32(*shape))
    loaded = ThreadsAbi(threads, lanes).load(fuse(sums, f32(*shape)))
    assert " columns of " in loaded.kernel.plan
    np.testing.assert_allclose(loaded(x, parts=1)[0], x.astype(np.float64).sum(-2), rtol=1e-5, atol=1e-5)


def column_sums(count: int):
    """Builds sums of the columns of 1, 2, ... times x."""

    def build(c, x):
        def times(factor: int):
            return c.add("multiply", x, c.add("broadcast", scalar(c, factor), shape=x.shape, dimensions=()))

        zero, body = scalar(c, 0), scalar_body("add")
        return [c.add("reduce", times(n + 1), zero, dimensions=(0,), to_apply=body) for n in range(count)]

    return build


@pytest.mark.parametrize("shared_bytes", [0, 64, 256, 1 << 10, 1 << 14])
@pytest.mark.parametrize("lanes", [2, 8])
def test_many_reductions_share_the_memory_of_a_block(lanes: int, shared_bytes: int) -> None:
    x = random_array(f32(70, 9))
    loaded = ThreadsAbi(64, lanes, shared_bytes=shared_bytes).load(fuse(column_sums(16), f32(70, 9)))
    assert loaded.kernel.threads == max(lanes, min(64, shared_bytes // 4))
    for number, got in enumerate(loaded(x, parts=1)):
        np.testing.assert_allclose(got, (number + 1) * x.astype(np.float64).sum(0), rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("shared_bytes", [0, 64, 1 << 14])
def test_rows_of_a_block_with_little_shared_memory(shared_bytes: int) -> None:
    x = random_array(f32(70, 256))
    loaded = ThreadsAbi(64, 4, shared_bytes=shared_bytes).load(fuse(row_sums, f32(70, 256)))
    assert loaded.kernel.threads == {0: 4, 64: 64}.get(shared_bytes, 64)
    np.testing.assert_allclose(loaded(x, parts=1)[0], x.astype(np.float64).sum(1), rtol=1e-4, atol=1e-4)


def test_threads_that_can_exchange_nothing_reduce_rows_of_their_own() -> None:
    x = random_array(f32(7, 30))
    loaded = ThreadsAbi(8, 1, shared_bytes=0).load(fuse(row_sums, f32(7, 30)))
    assert loaded.kernel.threads == 1
    np.testing.assert_allclose(loaded(x, parts=1)[0], x.astype(np.float64).sum(1), rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("dimensions", [(0, 2), (0, 2, 3), (1, 3), (0, 3), (0, 1, 2, 3)])
def test_rows_of_several_parts(dimensions: tuple[int, ...]) -> None:
    def sums(c, x):
        return c.add("reduce", x, scalar(c, 0), dimensions=dimensions, to_apply=scalar_body("add"))

    x = random_array(f32(3, 4, 5, 6))
    loaded = ThreadsAbi(32, 8).load(fuse(sums, f32(3, 4, 5, 6)))
    assert loaded.kernel.plan.startswith("row teams")
    np.testing.assert_allclose(loaded(x, parts=1)[0], x.astype(np.float64).sum(dimensions), rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("registers", [1, 32])
def test_a_softmax_of_columns_in_one_kernel(registers: int) -> None:
    def columns(c, x):
        def spread(opcode: str, of, start: float):
            values = c.add("reduce", of, scalar(c, start), dimensions=(1,), to_apply=scalar_body(opcode))
            return c.add("broadcast", values, shape=x.shape, dimensions=(0, 2))

        e = c.add("exponential", c.add("subtract", x, spread("maximum", x, -np.inf)))
        return c.add("divide", e, spread("add", e, 0))

    x = random_array(f32(2, 37, 5))
    loaded = ThreadsAbi(32, 8, registers).load(fuse(columns, f32(2, 37, 5)))
    assert ("in registers" in loaded.kernel.plan) == (registers == 32)
    e = np.exp(x.astype(np.float64) - x.max(1, keepdims=True))
    np.testing.assert_allclose(loaded(x, parts=1)[0], e / e.sum(1, keepdims=True), rtol=1e-5)

"""Scans by teams of threads, on threads of this process."""

from __future__ import annotations

import numpy as np
import pytest

from tests.xla_core.codegen.llvm.block_threads import ThreadsAbi
from tests.xla_core.codegen.llvm.kernels import array, assert_same, f32, fuse, random_array, scalar, scalar_body
from xla_core.hlo.evaluator import evaluate_computation
from xla_core.hlo.table.attributes import WindowDimension
from xla_core.hlo.values.element_type import ElementType as T
from xla_core.hlo.values.shape import Layout, Shape


def scan(c, x, dimension: int, *, backwards: bool = False, op: str = "add", start: float = 0):
    size, type_ = x.shape.dimensions[dimension], x.shape.element_type
    padding = (0, size - 1) if backwards else (size - 1, 0)
    window = [WindowDimension(size=1) for _ in x.shape.dimensions]
    window[dimension] = WindowDimension(size=size, padding_low=padding[0], padding_high=padding[1])
    initial = scalar(c, start, type_)
    return c.add("reduce-window", x, initial, window=tuple(window), to_apply=scalar_body(op, type_))


def check(build, shape: Shape, abi: ThreadsAbi, form: str = "scans", tolerance: float = 1e-4) -> str:
    """Returns the plan of a kernel whose results are the evaluator's."""
    instruction, x = fuse(build, shape), random_array(shape)
    loaded = abi.load(instruction)
    assert loaded.kernel.plan.startswith(form)
    for got, want in zip(loaded(x, parts=1), evaluate_computation(instruction.attribute("calls"), [x]), strict=True):
        assert_same(got, np.asarray(want), tolerance)
    return loaded.kernel.plan


@pytest.mark.parametrize("backwards", [False, True])
@pytest.mark.parametrize(("threads", "lanes"), [(2, 1), (7, 1), (32, 1), (16, 4), (32, 8), (8, 8), (64, 2)])
@pytest.mark.parametrize("columns", [17, 32, 33, 100])
def test_any_number_of_threads_scans_rows(threads: int, lanes: int, columns: int, backwards: bool) -> None:
    check(lambda c, x: scan(c, x, 1, backwards=backwards), f32(3, columns), ThreadsAbi(threads, lanes))


@pytest.mark.parametrize("backwards", [False, True])
@pytest.mark.parametrize(("threads", "lanes"), [(32, 8), (16, 16), (64, 4)])
@pytest.mark.parametrize(("dims", "dimension"), [((33, 5), 0), ((40, 64), 0), ((2, 17, 4), 1), ((50, 2, 3), 0)])
def test_columns(dims: tuple[int, ...], dimension: int, threads: int, lanes: int, backwards: bool) -> None:
    plan = check(lambda c, x: scan(c, x, dimension, backwards=backwards), f32(*dims), ThreadsAbi(threads, lanes))
    assert " columns of " in plan


@pytest.mark.parametrize("backwards", [False, True])
@pytest.mark.parametrize("dims", [(300,), (2, 1000), (1, 257), (400, 3)])
def test_rows_of_several_parts(dims: tuple[int, ...], backwards: bool) -> None:
    dimension = int(np.argmax(dims))
    plan = check(lambda c, x: scan(c, x, dimension, backwards=backwards), f32(*dims), ThreadsAbi(8, 4))
    assert " parts of each row | " in plan


@pytest.mark.parametrize("length", [40, 500])
@pytest.mark.parametrize("element_type", [T.S8, T.U16, T.S32, T.S64, T.U64, T.U4, T.BF16, T.F16, T.F64, T.C64])
def test_sums_of_every_width(element_type: T, length: int) -> None:
    tolerance = {T.BF16: 5e-2, T.F16: 1e-2}.get(element_type, 1e-4)
    exact = element_type.is_integral
    shape = array(element_type, 2, length)
    check(lambda c, x: scan(c, x, 1), shape, ThreadsAbi(8, 4), tolerance=0 if exact else tolerance)


@pytest.mark.parametrize(
    ("op", "element_type", "start"),
    [
        ("maximum", T.F32, -np.inf),
        ("maximum", T.F32, 0.5),  # idempotent: any initial value
        ("minimum", T.S32, 7),
        ("multiply", T.S32, 1),
        ("multiply", T.F64, 1),
        ("or", T.PRED, 0),
        ("and", T.PRED, 1),
        ("xor", T.U8, 0),
    ],
)
def test_other_computations(op: str, element_type: T, start: float) -> None:
    build = lambda c, x: scan(c, x, 1, op=op, start=start)  # noqa: E731
    check(build, array(element_type, 3, 70), ThreadsAbi(8, 4), tolerance=1e-6 if element_type is T.F64 else 0)


def test_what_is_before_and_after_a_scan_is_in_its_kernel() -> None:
    def build(c, x):
        squares = c.add("multiply", x, x)
        share = scan(c, squares, 1)
        return c.add("divide", c.add("add", share, x), c.add("exponential", x))

    check(build, f32(5, 64), ThreadsAbi(16, 4))


def test_another_layout() -> None:
    shape = f32(64, 6).with_layout(Layout((0, 1)))

    def build(c, x):
        result = scan(c, x, 0)
        result.shape = shape
        return result

    plan = check(build, shape, ThreadsAbi(16, 4))
    assert "6 rows of 64" in plan


@pytest.mark.parametrize("shared_bytes", [0, 16, 1 << 14])
def test_little_shared_memory(shared_bytes: int) -> None:
    check(lambda c, x: scan(c, x, 1), f32(3, 200), ThreadsAbi(32, 4, shared_bytes=shared_bytes))


@pytest.mark.parametrize(
    "build",
    [
        lambda c, x: scan(c, x, 1, start=2),  # each window counts its padding
        lambda c, x: c.add("add", scan(c, x, 1), scan(c, x, 0)),
    ],
)
def test_other_windows_have_another_form(build) -> None:
    shape = f32(20, 20)
    loaded = ThreadsAbi(8, 4).load(fuse(build, shape))
    assert not loaded.kernel.plan.startswith("scans")
    check(build, shape, ThreadsAbi(8, 4), form="")

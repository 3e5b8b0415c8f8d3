"""scatter: as loops, and on threads of this process as blocks."""

from __future__ import annotations

import numpy as np
import pytest

import xla_core as xla
from tests.xla_core.codegen.llvm.block_threads import ThreadsAbi
from tests.xla_core.codegen.llvm.kernels import Loaded, array, f32, fuse, random_array, scalar_body
from xla_core.hlo.evaluator import evaluate_computation
from xla_core.hlo.ir.computation import HloComputation
from xla_core.hlo.values.element_type import ElementType as T

PROGRAM = """HloModule wider
mul {
  a = $W[] parameter(0)
  b = $W[] parameter(1)
  ROOT r = $W[] multiply(a, b)
}
ENTRY e {
  x = $T[4] parameter(0)
  i = s32[2,1] parameter(1)
  u = $T[2] parameter(2)
  ROOT r = $W[4] scatter(x, i, u), update_window_dims={}, inserted_window_dims={0}, scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=mul
}
"""


@pytest.mark.parametrize(("narrow", "wide"), [("f32", "f64"), ("c64", "c128"), ("s8", "s32"), ("bf16", "f32")])
def test_the_result_has_the_type_of_the_computation(narrow: str, wide: str) -> None:
    module = xla.parse(PROGRAM.replace("$T", narrow).replace("$W", wide))
    dtype = module.parameter_shapes[0].dtype
    arguments = [np.array([1, 2, 3, 4], dtype), np.array([[1], [2]], np.int32), np.array([2, 3], dtype)]
    (result,) = xla.Client("cpu").compile(module)(*arguments)
    np.testing.assert_array_equal(np.asarray(result).astype(np.complex128), [1, 4, 9, 4])
    (expected,) = xla.evaluate(module, *arguments)
    assert np.asarray(result).dtype == expected.dtype


def scatter_of(count: int, window: int, dims: tuple[int, ...], body: HloComputation, element_type: T, **promises: bool):
    """A fusion that scatters windows over the first dimension."""
    shape, whole = array(element_type, *dims), dims[1:]
    update = array(element_type, count, *([window] if window else []), *whole)
    numbers = dict(
        update_window_dims=tuple(range(1, len(update.dimensions))),
        inserted_window_dims=() if window else (0,),
        scatter_dims_to_operand_dims=(0,),
        index_vector_dim=1,
        to_apply=body,
        **promises,
    )
    shapes = [shape, array(T.S32, count, 1), update]
    return fuse(lambda c, x, i, u: c.add("scatter", x, i, u, **numbers), *shapes), shapes


def replacing(element_type: T) -> HloComputation:
    body = HloComputation("replace")
    body.parameter(0, array(element_type))
    body.set_root(body.add("copy", body.parameter(1, array(element_type))))
    return body


def arguments_of(shapes, limit: int, order: str = "any"):
    x, u = random_array(shapes[0]), random_array(shapes[2], 1)
    rng = np.random.default_rng(2)
    count = shapes[1].dimensions[0]
    i = rng.permutation(limit)[:count] if order == "unique" else rng.integers(-3, limit + 3, count)
    i = np.sort(i) if order == "sorted" else i
    return x, i.astype(np.int32).reshape(-1, 1), u


def expected_of(fusion, arguments) -> np.ndarray:
    return np.asarray(evaluate_computation(fusion.attribute("calls"), list(arguments))[0])


@pytest.mark.parametrize("in_place", [True, False])
def test_windows_that_overlap_are_applied_in_order(in_place: bool) -> None:
    fusion, shapes = scatter_of(3, 600, (1000,), replacing(T.F32), T.F32)
    arguments = random_array(shapes[0]), np.array([[0], [300], [100]], np.int32), random_array(shapes[2], 1)
    expected = expected_of(fusion, arguments)
    np.testing.assert_array_equal(Loaded(fusion, aliasing=[(0, 0)] if in_place else [])(*arguments)[0], expected)


WAYS = {
    "unique": ("unique", {"unique_indices": True}),
    "sorted": ("sorted", {"indices_are_sorted": True}),
    "in order": ("any", {}),
}


@pytest.mark.parametrize("in_place", [True, False])
@pytest.mark.parametrize("dims", [(50,), (50, 3), (50, 2, 5)])
@pytest.mark.parametrize("way", WAYS)
def test_ways_of_blocks(way: str, dims: tuple[int, ...], in_place: bool) -> None:
    order, promises = WAYS[way]
    for element_type, body in ((T.F32, scalar_body("add")), (T.S8, replacing(T.S8)), (T.C64, replacing(T.C64))):
        fusion, shapes = scatter_of(40, 0, dims, body, element_type, **promises)
        arguments = arguments_of(shapes, 50 if way == "unique" else 9, order)
        expected = expected_of(fusion, arguments)
        loaded = ThreadsAbi(32, 8).load(fusion, [(0, 0)] if in_place else [])
        assert loaded.kernel.plan.endswith(f"; {way}")
        assert len(loaded.kernel.phases) == (1 if in_place else 2)
        np.testing.assert_array_equal(loaded(*arguments)[0], expected)


INTEGERS = [T.S4, T.S8, T.U8, T.S16, T.U16, T.S32, T.U32, T.S64, T.U64]


@pytest.mark.parametrize(
    ("element_type", "opcode"),
    [
        *((T.PRED, opcode) for opcode in ("and", "or", "xor")),
        *((t, o) for t in INTEGERS for o in ("add", "multiply", "maximum", "minimum", "and", "or", "xor")),
    ],
)
def test_atomics_of_integers(element_type: T, opcode: str) -> None:
    fusion, shapes = scatter_of(300, 0, (8,), scalar_body(opcode, element_type), element_type)
    arguments = arguments_of(shapes, 8)
    expected = expected_of(fusion, arguments)
    loaded = ThreadsAbi(32, 8).load(fusion, [(0, 0)])
    assert loaded.kernel.plan.endswith("; atomic")
    np.testing.assert_array_equal(loaded(*arguments)[0], expected)


@pytest.mark.parametrize(("element_type", "tolerance"), [(T.F32, 1e-5), (T.F64, 1e-12), (T.F16, 2e-2), (T.BF16, 2e-1)])
@pytest.mark.parametrize("opcode", ["add", "maximum"])
def test_atomics_of_floats_where_they_are_allowed(opcode: str, element_type: T, tolerance: float) -> None:
    fusion, shapes = scatter_of(60, 0, (8,), scalar_body(opcode, element_type), element_type)
    abi = ThreadsAbi(32, 8)
    assert abi.load(fusion, [(0, 0)]).kernel.plan.endswith("; in order")
    abi.atomic_floats = True
    loaded = abi.load(fusion, [(0, 0)])
    assert loaded.kernel.plan.endswith("; atomic")
    arguments = arguments_of(shapes, 8)
    got, expected = loaded(*arguments)[0].astype(np.float64), expected_of(fusion, arguments).astype(np.float64)
    np.testing.assert_allclose(got, expected, rtol=tolerance, atol=tolerance)


def test_no_atomic_touches_what_is_behind_an_array() -> None:
    """An atomic of bytes replaces a word of four."""
    fusion, shapes = scatter_of(40, 0, (7,), scalar_body("add", T.S8), T.S8)
    loaded = ThreadsAbi(32, 8).load(fusion, [(0, 0)])
    assert loaded.kernel.plan.endswith("; in order")
    arguments = arguments_of(shapes, 7)
    np.testing.assert_array_equal(loaded(*arguments)[0], expected_of(fusion, arguments))


def test_windows_that_overlap_on_blocks() -> None:
    fusion, shapes = scatter_of(5, 6, (20, 3), replacing(T.F32), T.F32)
    arguments = arguments_of(shapes, 14)
    (got,) = ThreadsAbi(32, 8).load(fusion)(*arguments)
    np.testing.assert_array_equal(got, expected_of(fusion, arguments))


def test_two_operands_on_blocks() -> None:
    body = HloComputation("both")
    a, b, x, y = (body.parameter(n, array(T.F32)) for n in range(4))
    body.set_root(body.add("tuple", body.add("subtract", a, y), body.add("add", b, x)))

    def build(c, p, q, i, u, v):
        numbers = {"update_window_dims": (), "inserted_window_dims": (0,), "scatter_dims_to_operand_dims": (0,)}
        return c.add("scatter", p, q, i, u, v, **numbers, index_vector_dim=1, indices_are_sorted=True, to_apply=body)

    shapes = [f32(9), f32(9), array(T.S32, 40, 1), f32(40), f32(40)]
    fusion = fuse(build, *shapes)
    arguments = [random_array(s, n) for n, s in enumerate(shapes)]
    arguments[2] = np.sort(np.random.default_rng(3).integers(0, 9, (40, 1)), axis=0).astype(np.int32)
    expected = evaluate_computation(fusion.attribute("calls"), arguments)
    loaded = ThreadsAbi(32, 8).load(fusion, [(0, 0), (1, 1)])
    for got, want in zip(loaded(*arguments), expected, strict=True):
        np.testing.assert_array_equal(got, np.asarray(want))

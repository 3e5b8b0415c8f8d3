"""The kernels of products, at sizes around those of vectors, register blocks and blocks of taps, in each transposition."""

from __future__ import annotations

import numpy as np
import pytest
from xla_backend_cpu.codegen.dot import dot_kernel, keeps_matrix_vector
from xla_backend_cpu.codegen.processor import Processor
from xla_backend_cpu.host import host_triple

import xla_core as xla
from tests.roundings import assert_within
from xla_core.backend import registry
from xla_core.hlo import ElementType

SIZES = [  # rows, taps, columns
    (1, 40, 17),
    (1, 333, 1001),
    (2, 33, 64),
    (2, 263, 1290),
    (13, 1, 31),
    (14, 2, 33),
    (15, 3, 47),
    (17, 15, 16),
    (29, 16, 15),
    (57, 17, 129),
    (31, 63, 97),
    (64, 65, 4),
    (100, 31, 5),
    (40, 200, 1),
    (90, 257, 3),
    (25, 270, 12),
    (33, 1025, 34),
    (19, 2100, 40),
    (20, 200, 1500),
    (300, 700, 130),
    (300, 1100, 40),
    (60, 20000, 23),
]
TYPES = {
    "f32": ("f32", "f32", "f32"),
    "f64": ("f64", "f64", "f64"),
    "s8": ("s8", "s8", "s32"),
    "s8 by u8": ("s8", "u8", "s32"),
    "u8 by s8": ("u8", "s8", "s32"),
    "u8": ("u8", "u8", "u32"),
}
OLDER = {"older-avx2": r"avx512|avx10|avxvnni|amx", "older-sse": r"avx|amx|fma|f16c|vaes|vpcl"}
BACKEND = """
import dataclasses, re
import xla_backend_cpu
from xla_backend_cpu.compiler import CpuCompiler
from xla_backend_cpu.host import host_features
from xla_backend_cpu.platform import CpuPlatform
from xla_core.backend import hookimpl

class Older(CpuCompiler):
    cpu = "x86-64"
    features = frozenset(name for name in host_features() if not re.match({missing!r}, name))

class Platform(CpuPlatform):
    def create_compiler(self):
        return Older()

@hookimpl
def xla_backend():
    return dataclasses.replace(xla_backend_cpu.xla_backend(), platform=Platform, compiler=Older)
"""


@pytest.fixture(scope="module")
def older(tmp_path_factory):
    """Clients that compile for this processor without some of its features."""
    folder = tmp_path_factory.mktemp("older")
    (folder / "older-1.0.dist-info").mkdir()
    (folder / "older-1.0.dist-info" / "METADATA").write_text("Metadata-Version: 2.1\nName: older\nVersion: 1.0\n")
    points = ["[xla_core.backends]"]
    for name, missing in OLDER.items():
        module = name.replace("-", "_")
        (folder / f"{module}.py").write_text(BACKEND.format(missing=missing))
        points.append(f"{name} = {module}")
    (folder / "older-1.0.dist-info" / "entry_points.txt").write_text("\n".join(points) + "\n")
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(folder)
        registry.clear_cache()
        yield {name: xla.Client(name) for name in OLDER}
    registry.clear_cache()


def program(types, size, left_t, right_t, batch=0):
    rows, taps, columns = size
    left, right = ((taps, rows) if left_t else (rows, taps)), ((columns, taps) if right_t else (taps, columns))
    result = (rows, columns)
    first = 1 if batch else 0
    if batch:
        left, right, result = (batch, *left), (batch, *right), (batch, *result)
    names = [f"{t}[{','.join(map(str, s))}]" for t, s in zip(types, (left, right, result), strict=True)]
    dims = "lhs_batch_dims={0}, rhs_batch_dims={0}, " if batch else ""
    dims += f"lhs_contracting_dims={{{first + (not left_t)}}}, rhs_contracting_dims={{{first + right_t}}}"
    text = f"""HloModule product
ENTRY main {{
  a = {names[0]} parameter(0)
  b = {names[1]} parameter(1)
  ROOT c = {names[2]} dot(a, b), {dims}
}}"""
    return text, [values(t, s) for t, s in zip(types, (left, right), strict=False)]


def values(type_, shape):
    """Values among which are the ends of an integer type."""
    rng = np.random.default_rng(0)
    dtype = ElementType(type_).dtype
    if dtype.kind == "f":
        return rng.standard_normal(shape).astype(dtype)
    bounds = np.iinfo(dtype)
    array = rng.integers(bounds.min, bounds.max, shape, endpoint=True).astype(dtype)
    array[(0,) * (len(shape) - 1)] = bounds.min or bounds.max
    return array


def check(result, inputs, types, left_t, right_t):
    left, right = (a.astype(np.float64 if types[2].startswith("f") else np.int64) for a in inputs)
    want = (np.swapaxes(left, -1, -2) if left_t else left) @ (np.swapaxes(right, -1, -2) if right_t else right)
    if types[2].startswith("f"):
        assert_within(32, result, want.astype(result.dtype))
    else:
        np.testing.assert_array_equal(result, want.astype(result.dtype))


@pytest.mark.parametrize("left_t", [False, True])
@pytest.mark.parametrize("right_t", [False, True])
@pytest.mark.parametrize("size", SIZES, ids=str)
@pytest.mark.parametrize("types", [TYPES["f32"], TYPES["s8"], TYPES["u8"]], ids=["f32", "s8", "u8"])
def test_sizes_around_those_of_blocks(client, types, size, left_t, right_t):
    text, inputs = program(types, size, left_t, right_t)
    check(np.asarray(client.compile(text)(*inputs)[0]), inputs, types, left_t, right_t)


@pytest.mark.parametrize("types", TYPES.values(), ids=TYPES)
def test_types(client, types):
    for size in ((57, 17, 129), (90, 257, 3), (9, 65, 40)):
        for left_t, right_t in ((False, False), (True, True)):
            text, inputs = program(types, size, left_t, right_t)
            check(np.asarray(client.compile(text)(*inputs)[0]), inputs, types, left_t, right_t)


@pytest.mark.skipif(not host_triple().startswith("x86_64"), reason="removes features of x86-64")
@pytest.mark.parametrize("left_t", [False, True])
@pytest.mark.parametrize("right_t", [False, True])
@pytest.mark.parametrize("size", [(57, 17, 129), (90, 257, 3), (33, 1025, 34)], ids=str)
@pytest.mark.parametrize("types", [TYPES["f32"], TYPES["s8"], TYPES["s8 by u8"]], ids=["f32", "s8", "s8 by u8"])
@pytest.mark.parametrize("name", OLDER)
def test_on_older_processors(older, name, types, size, left_t, right_t):
    text, inputs = program(types, size, left_t, right_t)
    check(np.asarray(older[name].compile(text)(*inputs)[0]), inputs, types, left_t, right_t)


@pytest.mark.parametrize("types", [TYPES["f32"], TYPES["s8"]], ids=["f32", "s8"])
@pytest.mark.parametrize("size", [(70, 40, 30), (5, 40, 300), (300, 40, 5), (9, 600, 9), (1, 90, 1003)], ids=str)
def test_batches(client, types, size):
    for left_t, right_t in ((False, False), (True, False), (False, True)):
        text, inputs = program(types, size, left_t, right_t, batch=3)
        check(np.asarray(client.compile(text)(*inputs)[0]), inputs, types, left_t, right_t)


@pytest.mark.parametrize("types", [TYPES["f32"], TYPES["f64"]], ids=["f32", "f64"])
def test_few_rows_by_a_matrix_beyond_the_caches(client, types):
    text, inputs = program(types, (7, 2050, 4203), False, False)
    check(np.asarray(client.compile(text)(*inputs)[0]), inputs, types, False, False)


@pytest.mark.parametrize("types", [TYPES["f32"], TYPES["s8"]], ids=["f32", "s8"])
@pytest.mark.parametrize(
    "size",
    [(1000, 600, 300), (300, 600, 1000), (70, 2600, 70), (2000, 300, 9), (5, 700, 2000), (1, 300, 2003)],
    ids=str,
)
def test_any_number_of_threads_gives_the_same_bits(client, types, size):
    for left_t, right_t in ((False, False), (True, True)):
        text, inputs = program(types, size, left_t, right_t)
        results = [
            np.asarray(client.compile(text, options=xla.CompileOptions(backend={"threads": n}))(*inputs)[0])
            for n in (1, 2, 3, 7)
        ]
        check(results[0], inputs, types, left_t, right_t)
        for result in results[1:]:
            np.testing.assert_array_equal(result, results[0])


KERNELS = [
    ("f32", (300, 100, 200), False, False, "blocked product"),
    ("f32", (300, 100, 200), False, True, "packed product"),
    ("f32", (300, 600, 3080), False, False, "blocked product"),
    ("f32", (300, 600, 3072), False, False, "packed product"),  # its rows map to a part of the cache's sets
    ("f32", (300, 9000, 64), False, False, "packed product"),
    ("f32", (2000, 600, 200), True, False, "packed product"),
    ("f32", (8, 100, 200), False, False, "blocked product"),
    ("f32", (1, 100, 200), False, False, "blocked product"),  # from the cache
    ("f32", (2, 500, 600), False, False, "streamed product"),
    ("f32", (600, 500, 1), True, False, "streamed product"),
    ("f32", (8, 2000, 3000), False, False, "blocked product"),
    ("f32", (8, 3000, 3000), False, False, "streamed product"),
    ("f32", (1, 3000, 100), False, False, "blocked product"),  # a register block reads whole rows
    ("f32", (3, 100, 200), False, True, "row product"),
    ("f32", (32, 100, 200), False, True, "row product"),
    ("f32", (32, 30, 200), False, True, "packed product"),  # so few taps that summing lanes takes long
    ("f32", (200, 100, 3), False, True, "row product of 3 x 200"),
    ("f32", (200, 10, 3), False, False, "packed product of 3 points, 200 features"),
    ("f32", (200, 100, 3), True, False, "blocked product of 3 points, 200 features"),
    ("s8", (1, 100, 200), False, False, "packed product"),
]


@pytest.mark.parametrize(("types", "size", "left_t", "right_t", "kernel"), KERNELS)
def test_choice_of_kernels(types, size, left_t, right_t, kernel):
    module = xla.parse(program(TYPES[types], size, left_t, right_t)[0])
    processor = Processor.of({"avx512f", "avx512bw"}, "x86_64-linux")
    assert str(dot_kernel(module.entry.root, processor, blas=True)).startswith(kernel)


@pytest.mark.parametrize(
    ("rows", "taps", "is_kept"),
    [(2, 500, True), (10, 50000, True), (1, 50000, False), (10, 5_000_000, False), (100, 500_000, True)],
    ids=str,
)
def test_which_matrix_vector_products_are_row_products(rows, taps, is_kept):
    """A reduction is divided along the rows, so it takes those that few threads could share and memory bounds."""
    module = xla.parse(program(TYPES["f32"], (rows, taps, 1), False, False)[0])
    processor = Processor.of({"avx512f"}, "x86_64-linux")
    assert keeps_matrix_vector(module.entry.root, processor, blas=True) == is_kept


@pytest.mark.parametrize(
    ("matrix", "is_dot"), [("a", True), ("abs", False), ("few", True)], ids=["argument", "computed", "few rows"]
)
def test_matrix_vector_products_of_computed_matrices_are_reductions(client, matrix, is_dot):
    rows = 4 if matrix == "few" else 70
    text = f"""HloModule product
ENTRY main {{
  a = f32[{rows},300] parameter(0)
  v = f32[300] parameter(1)
  abs = f32[{rows},300] abs(a)
  ROOT c = f32[{rows}] dot({"abs" if matrix == "abs" else "a"}, v), lhs_contracting_dims={{1}}, rhs_contracting_dims={{0}}
}}"""
    left, right = values("f32", (rows, 300)), values("f32", (300,))
    program = client.compile(text)
    assert (" dot(" in program.as_text()) == is_dot
    want = (abs(left) if matrix == "abs" else left).astype(np.float64) @ right
    assert_within(32, np.asarray(program(left, right)[0]), want.astype(np.float32))


def test_infinities_stay_in_their_rows_and_columns(client):
    """Lanes and rows beyond the edges, and those that two blocks compute, have no effect on others."""
    text, (left, right) = program(TYPES["f32"], (33, 300, 49), False, True)
    left[5, 299], right[48, 0] = np.inf, np.nan
    result = np.asarray(client.compile(text)(left, right)[0])
    assert not np.isfinite(result[5]).any()
    assert np.isnan(result[:, 48]).all()
    assert np.isfinite(np.delete(np.delete(result, 5, 0), 48, 1)).all()

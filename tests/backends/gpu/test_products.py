"""Kernels of dots and convolutions: a block computes a tile of the result from tiles in shared memory."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("xla_backend_gpu", reason="xla-backend-gpu is not installed")

from xla_backend_gpu.chips import DEFAULT
from xla_backend_gpu.counting import counted
from xla_backend_gpu.estimates import estimated_seconds

import xla_core as xla
from tests.backends.gpu.launching import assembled, compile_kernel, evaluated
from tests.xla_core.codegen.llvm.kernels import array, f32, fuse
from xla_core.hlo import ElementType as T
from xla_core.hlo import HloComputation, HloInstruction, Layout, Shape
from xla_core.hlo.table.attributes import ConvolutionDimensionNumbers, WindowDimension


def small_integers(shape: Shape, seed: int) -> np.ndarray:
    """Values whose sums of products every type has exactly."""
    rng = np.random.default_rng(seed)
    if shape.element_type is T.PRED:
        return rng.integers(0, 2, shape.dimensions).astype(bool)
    values = rng.integers(0 if shape.dtype.kind == "u" else -2, 3, shape.dimensions)
    if shape.element_type.is_complex:
        values = values * (1 + 1j)
    return values.astype(shape.dtype)


def dot(result: T = T.F32, **dimensions: tuple[int, ...]):
    def build(c: HloComputation, x: HloInstruction, y: HloInstruction) -> HloInstruction:
        sides = {"lhs_contracting_dims": (1,), "rhs_contracting_dims": (0,)} | dimensions
        inferred = HloComputation("shape").add("dot", x, y, **sides).shape
        return c.add("dot", x, y, shape=inferred.with_element_type(result), **sides)

    return build


def check(build, *shapes: Shape, engine: str = "checked", form: str = "products"):
    """Runs a fusion on the emulator; its results are exactly the evaluator's."""
    fusion = fuse(build, *shapes)
    arguments = [small_integers(s, n) for n, s in enumerate(shapes)]
    compiled = compile_kernel(fusion)
    assert compiled.kernel.plan.startswith(form), compiled.kernel.plan
    results, counters = compiled(*arguments, engine=engine)
    for got, want in zip(results, evaluated(fusion, arguments), strict=True):
        np.testing.assert_array_equal(got, want)
    return compiled, counters


@pytest.mark.parametrize("engine", ["checked", "fast"])
@pytest.mark.parametrize(
    ("rows", "columns", "terms"),
    [(1, 70, 30), (70, 1, 30), (3, 5, 1), (31, 33, 16), (32, 32, 17), (65, 36, 33), (5, 7, 100)],
)
def test_sizes_around_those_of_tiles(rows: int, columns: int, terms: int, engine: str) -> None:
    check(dot(), f32(rows, terms), f32(terms, columns), engine=engine)


@pytest.mark.parametrize("element_type", [T.PRED, T.S8, T.U16, T.S32, T.S64, T.BF16, T.F16, T.F64, T.C64, T.C128])
def test_element_types(element_type: T) -> None:
    check(dot(element_type), array(element_type, 20, 24), array(element_type, 24, 12))


@pytest.mark.parametrize(
    ("operand", "result"), [(T.S8, T.S32), (T.BF16, T.F32), (T.F8E4M3FN, T.F32), (T.S4, T.S32), (T.F32, T.F64)]
)
def test_results_wider_than_the_operands(operand: T, result: T) -> None:
    check(dot(result), array(operand, 33, 40), array(operand, 40, 17))


@pytest.mark.parametrize("lhs", [0, 1])
@pytest.mark.parametrize("rhs", [0, 1])
def test_operands_in_any_order(lhs: int, rhs: int) -> None:
    shapes = [f32(36, 20) if lhs else f32(20, 36), f32(44, 20) if rhs else f32(20, 44)]
    check(dot(lhs_contracting_dims=(lhs,), rhs_contracting_dims=(rhs,)), *shapes)


def test_batches_and_several_contracting_dimensions() -> None:
    sides = {"lhs_contracting_dims": (1, 3), "rhs_contracting_dims": (2, 0)}
    batches = {"lhs_batch_dims": (2,), "rhs_batch_dims": (1,)}
    compiled, _ = check(dot(**sides, **batches), f32(9, 4, 3, 5), f32(5, 3, 4, 7, 2))
    assert "3 products of 9 x 14 x 20" in compiled.kernel.plan


def test_a_result_whose_rows_are_neighbours_in_memory() -> None:
    def build(c: HloComputation, x: HloInstruction, y: HloInstruction) -> HloInstruction:
        sides = {"lhs_contracting_dims": (1,), "rhs_contracting_dims": (0,)}
        return c.add("dot", x, y, shape=f32(64, 96).with_layout(Layout((0, 1))), **sides)

    compiled, counters = check(build, f32(64, 32), f32(32, 96))
    assert "96 x 64 x 32" in compiled.kernel.plan, "the operands change sides"
    assert counters.coalescing == 1


def test_what_surrounds_a_product_is_in_its_kernel() -> None:
    def dense(c: HloComputation, x: HloInstruction, y: HloInstruction, bias: HloInstruction) -> list[HloInstruction]:
        wide = c.add("convert", x, shape=x.shape.with_element_type(T.F32))
        turned = c.add("transpose", y, dimensions=(1, 0))
        product = dot()(c, wide, turned)
        rows = c.add("broadcast", bias, shape=product.shape, dimensions=(1,))
        total = c.add("add", product, rows)
        return [c.add("maximum", total, rows), c.add("negate", product)]

    _, counters = check(dense, array(T.BF16, 40, 24), f32(20, 24), f32(20))
    assert counters.global_store_bytes == 2 * 40 * 20 * 4


@pytest.mark.parametrize("engine", ["checked", "fast"])
@pytest.mark.parametrize(
    ("processor", "operand", "result", "shape"),
    [
        ("sm_75", T.F16, T.F32, "16 x 8 x 8 f16"),
        ("sm_80", T.F16, T.F16, "16 x 8 x 16 f16"),
        ("sm_90", T.BF16, T.F32, "16 x 8 x 16 bf16"),
        ("sm_80", T.F8E5M2, T.BF16, "16 x 8 x 16 f16"),
        ("sm_89", T.F8E4M3FN, T.F32, "16 x 8 x 32 f8e4m3fn"),
        ("sm_90", T.F8E5M2, T.BF16, "16 x 8 x 32 f8e5m2"),
        ("sm_100", T.F8E4M3FN, T.F32, "16 x 8 x 32 f8e4m3fn"),
        ("sm_120", T.F8E5M2, T.F32, "16 x 8 x 32 f8e5m2"),
        ("sm_90", T.F8E4M3FNUZ, T.F32, "16 x 8 x 16 f16"),
        ("sm_100", T.S8, T.S32, "16 x 8 x 32 s8"),
        ("sm_120", T.F64, T.F64, "8 x 8 x 4 f64"),
    ],
)
def test_matrix_units(processor: str, operand: T, result: T, shape: str, engine: str) -> None:
    fusion = fuse(dot(result), array(operand, 50, 72), array(operand, 72, 36))
    arguments = [small_integers(array(operand, *dims), n) for n, dims in enumerate(((50, 72), (72, 36)))]
    compiled = compile_kernel(fusion, processor)
    assert f"by {shape}" in compiled.kernel.plan
    assert f"mma.sync.aligned.m{shape.partition(' ')[0]}n8k{shape.split()[4]}." in compiled.ptx
    assembled(compiled, processor)
    (got,), _ = compiled(*arguments, engine=engine)
    np.testing.assert_array_equal(got, evaluated(fusion, arguments)[0])


def test_sums_of_high_precision_keep_the_bits_of_f32() -> None:
    """Some processors keep fewer bits of sums of floats of 8 bits."""
    exact = dot(T.F32, operand_precision=("highest", "highest"))
    compiled, _ = check(exact, array(T.F8E4M3FN, 40, 48), array(T.F8E4M3FN, 48, 24))
    assert "by 16 x 8 x 16 f16" in compiled.kernel.plan


@pytest.mark.parametrize("engine", ["checked", "fast"])
def test_products_of_every_float_of_8_bits(engine: str) -> None:
    """Each value, the NaNs and infinities among them, by 1."""
    values = np.arange(256, dtype=np.uint8)
    for element in (T.F8E4M3FN, T.F8E5M2):
        x = np.repeat(values.view(Shape.array(element, (1,)).dtype)[:, None], 32, 1)
        one = np.eye(32, dtype=np.float32).astype(x.dtype)
        fusion = fuse(dot(T.F32), array(element, 256, 32), array(element, 32, 32))
        compiled = compile_kernel(fusion)
        assert "mma.sync.aligned.m16n8k32" in compiled.ptx
        ones = np.ones_like(x)
        for arguments in ([x, one], [ones, x[:32]], [ones, x[224:]]):
            (got,), _ = compiled(*arguments, engine=engine)
            np.testing.assert_array_equal(got, evaluated(fusion, arguments)[0])


@pytest.mark.parametrize("engine", ["checked", "fast"])
@pytest.mark.parametrize("lhs", [0, 1])
@pytest.mark.parametrize("rhs", [0, 1])
def test_tiles_are_copied_while_others_are_multiplied(lhs: int, rhs: int, engine: str) -> None:
    """Matrices whose rows are neighbours in memory are transposed when they are loaded from shared memory."""
    x, y = (208, 80) if lhs == 0 else (80, 208), (208, 96) if rhs == 0 else (96, 208)
    build = dot(T.F32, lhs_contracting_dims=(lhs,), rhs_contracting_dims=(rhs,))
    compiled, counters = check(build, array(T.BF16, *x), array(T.BF16, *y), engine=engine)
    assert "4 stages of asynchronous copies, reads of 8 and 8" in compiled.kernel.plan
    assert "cp.async.cg.shared.global" in compiled.ptx
    assert "ld.global" not in compiled.ptx
    assert ("ldmatrix.sync.aligned.m8n8.x4.trans" in compiled.ptx) == (lhs == 0 or rhs == 0)
    assert ("ldmatrix.sync.aligned.m8n8.x4.shared" in compiled.ptx) == (lhs == 1 or rhs == 1)
    assembled(compiled, "sm_90")
    if engine == "checked":
        assert counters.coalescing > 0.97
        assert counters.local_bytes == counters.shared_bank_conflicts == 0


@pytest.mark.parametrize("element", [T.F32, T.F64, T.S8])
def test_copies_of_other_types(element: T) -> None:
    """Elements that every thread multiplies are copied if neighbouring lines are neighbours in memory."""
    sides = (
        {"lhs_contracting_dims": (1,), "rhs_contracting_dims": (1,)}
        if element is T.S8
        else {"lhs_contracting_dims": (0,)}
    )
    shapes = [(36, 256), (40, 256)] if element is T.S8 else [(100, 36), (100, 40)]
    build = dot(T.S32 if element is T.S8 else element, **sides)
    compiled, _ = check(build, *(array(element, *shape) for shape in shapes))
    assert ("of asynchronous copies" in compiled.kernel.plan) == (element is not T.F64)


def test_what_is_computed_on_the_way_is_not_copied_asynchronously() -> None:
    def build(c: HloComputation, x: HloInstruction, y: HloInstruction) -> HloInstruction:
        return dot(T.F32)(c, c.add("negate", x), y)

    compiled, _ = check(build, array(T.BF16, 64, 128), array(T.BF16, 128, 64))
    assert "of asynchronous copies" not in compiled.kernel.plan
    assert "ldmatrix" in compiled.ptx


def test_the_oldest_processor_has_loads_of_matrices_and_no_copies() -> None:
    compiled = compile_kernel(fuse(dot(T.F32), array(T.F16, 64, 128), array(T.F16, 128, 64)), "sm_75")
    assert "cp.async" not in compiled.ptx
    assert "ldmatrix" in compiled.ptx
    assembled(compiled, "sm_75")


def tf32(c: HloComputation, x: HloInstruction) -> HloInstruction:
    rounded = c.add("reduce-precision", x, exponent_bits=8, mantissa_bits=10)
    return c.add("transpose", rounded, dimensions=(1, 0))


@pytest.mark.parametrize("engine", ["checked", "fast"])
@pytest.mark.parametrize("processor", ["sm_80", "sm_90", "sm_120"])
def test_products_of_rounded_operands_use_tf32(processor: str, engine: str) -> None:
    def build(c: HloComputation, x: HloInstruction, y: HloInstruction) -> HloInstruction:
        return dot()(c, tf32(c, x), tf32(c, y))

    fusion = fuse(build, f32(72, 50), f32(36, 72))
    rng = np.random.default_rng(3)
    arguments = [rng.standard_normal(size, np.float32) for size in ((72, 50), (36, 72))]
    compiled = compile_kernel(fusion, processor)
    assert "by 16 x 8 x 8 f32 of 10 bits" in compiled.kernel.plan
    assert "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32" in compiled.ptx
    assembled(compiled, processor)
    (got,), _ = compiled(*arguments, engine=engine)
    np.testing.assert_allclose(got, evaluated(fusion, arguments)[0], rtol=1e-5, atol=1e-5)


def test_products_of_widened_operands_use_the_narrow_type() -> None:
    def build(c: HloComputation, x: HloInstruction, y: HloInstruction) -> HloInstruction:
        return dot()(c, *(c.add("convert", o, shape=o.shape.with_element_type(T.F32)) for o in (x, y)))

    compiled, _ = check(build, array(T.BF16, 40, 48), array(T.BF16, 48, 24))
    assert "by 16 x 8 x 16 bf16" in compiled.kernel.plan


@pytest.mark.parametrize(
    ("operand", "result", "processor"),
    [(T.F32, T.F32, "sm_90"), (T.BF16, T.F32, "sm_75"), (T.S16, T.S32, "sm_90"), (T.F16, T.F64, "sm_75")],
)
def test_matrix_units_only_where_they_are_exact(operand: T, result: T, processor: str) -> None:
    compiled = compile_kernel(fuse(dot(result), array(operand, 64, 64), array(operand, 64, 64)), processor)
    assert "mma.sync" not in compiled.ptx


def test_operands_of_matrix_units_have_no_bank_conflicts() -> None:
    shapes = (array(T.BF16, 128, 64), array(T.BF16, 128, 64))
    fusion = fuse(dot(rhs_contracting_dims=(1,)), *shapes)
    compiled = compile_kernel(fusion)
    _, counters = compiled(*(small_integers(s, n) for n, s in enumerate(shapes)), engine="checked")
    assert counters.shared_bank_conflicts == 0
    assert counters.coalescing == 1


def convolution(labels: ConvolutionDimensionNumbers, window: tuple[WindowDimension, ...], **groups: int):
    def build(c: HloComputation, x: HloInstruction, y: HloInstruction) -> HloInstruction:
        return c.add("convolution", x, y, dim_labels=labels, window=window, **groups)

    return build


NHWC = ConvolutionDimensionNumbers(0, 3, (1, 2), 2, 3, (0, 1), 0, 3, (1, 2))
NCHW = ConvolutionDimensionNumbers(0, 1, (2, 3), 1, 0, (2, 3), 0, 1, (2, 3))
SAME = (WindowDimension(3, padding_low=1, padding_high=1), WindowDimension(3, padding_low=1, padding_high=1))


@pytest.mark.parametrize(
    ("labels", "window", "shapes", "groups"),
    [
        (NHWC, SAME, ((2, 5, 6, 8), (3, 3, 8, 12)), {}),
        (NCHW, SAME, ((2, 4, 5, 6), (9, 4, 3, 3)), {}),
        (NHWC, (WindowDimension(2, stride=2), WindowDimension(3, window_dilation=2)), ((1, 6, 8, 3), (2, 3, 3, 5)), {}),
        (NHWC, (WindowDimension(2, base_dilation=2), WindowDimension(1)), ((2, 4, 5, 3), (2, 1, 3, 4)), {}),
        (NHWC, SAME, ((2, 4, 4, 6), (3, 3, 2, 12)), {"feature_group_count": 3}),
        (NHWC, SAME, ((4, 4, 4, 6), (3, 3, 6, 8)), {"batch_group_count": 2}),
        (NHWC, (WindowDimension(2, window_reversal=True), WindowDimension(1)), ((1, 4, 4, 2), (2, 1, 2, 3)), {}),
    ],
)
def test_convolutions_are_products(labels, window, shapes, groups) -> None:
    check(convolution(labels, window, **groups), *(f32(*s) for s in shapes))


def test_each_tile_is_read_once() -> None:
    compiled, counters = check(dot(), f32(64, 128), f32(128, 64))
    assert compiled.kernel.plan == (
        "products: 4 units of 128 threads; 64 x 64 x 128 in tiles of 32 x 32 x 16, 2 x 4 a thread, 2 stages, "
        "reads of 4 and 4"
    )
    assert counters.global_load_bytes == 2 * (64 * 128 * 2) * 4, "both operands once for each of two tiles"
    assert counters.global_store_bytes == 64 * 64 * 4
    assert (counters.coalescing, counters.shared_bank_conflicts, counters.local_bytes) == (1, 0, 0)
    assert counters.barriers == 4 * (128 // 16 + 1)
    assert "ld.global.nc.v4" in compiled.ptx
    assert "st.global.v4" in compiled.ptx


@pytest.mark.parametrize("transposed", [False, True])
def test_large_tiles_have_no_bank_conflicts_and_no_spills(transposed: bool) -> None:
    shapes = (f32(16, 2048), f32(16, 2048)) if transposed else (f32(2048, 16), f32(16, 2048))
    fusion = fuse(dot(lhs_contracting_dims=(0 if transposed else 1,)), *shapes)
    compiled = compile_kernel(fusion)
    assert "tiles of 128 x 128 x 16, 8 x 8 a thread" in compiled.kernel.plan
    report = assembled(compiled)
    assert not report or " 0 bytes spill stores" in report[1]


PROGRAM = """HloModule m

ENTRY e {{
  x = bf16[32,24] parameter(0)
  y = f32[24,16] parameter(1)
  z = f32[24,16] parameter(2)
  b = f32[16] parameter(3)
  wide = f32[32,24] convert(x)
  xy = f32[32,16] dot(wide, y), lhs_contracting_dims={{1}}, rhs_contracting_dims={{0}}
  xz = f32[32,16] dot(wide, z), lhs_contracting_dims={{1}}, rhs_contracting_dims={{0}}
  bias = f32[32,16] broadcast(b), dimensions={{1}}
  {0}
}}
"""


@pytest.mark.parametrize(
    ("root", "kernels"),
    [
        ("s = f32[32,16] add(xy, bias)\n  zero = f32[] constant(0)\n  zeros = f32[32,16] broadcast(zero), dimensions={}\n"
         "  ROOT r = f32[32,16] maximum(s, zeros)", 1),
        ("ROOT r = f32[32,16] add(xy, xz)", 2),
        ("ROOT r = (f32[32,16], f32[32,16]) tuple(xy, xz)", 2),
        ("n = f32[32,16] negate(xy)\n  ROOT r = (f32[32,16], f32[32,16]) tuple(xy, n)", 1),
        ("t = f32[16,32] transpose(xy), dimensions={1,0}\n  ROOT r = f32[16,16] dot(t, xz), lhs_contracting_dims={1}, "
         "rhs_contracting_dims={0}", 3),
    ],
    ids=["epilogue", "sum", "siblings", "several", "chain"],
)  # fmt: skip
def test_each_product_is_a_kernel_with_what_surrounds_it(root: str, kernels: int) -> None:
    module = xla.parse(PROGRAM.format(root))
    arguments = [small_integers(p.shape, n) for n, p in enumerate(module.entry.parameters)]
    with xla.Client("gpu") as client:
        compiled = client.compile(module, xla.CompileOptions(keep_artifacts=True))
        artifacts = compiled.artifacts()
        results = [np.asarray(r) for r in compiled(*arguments)]
    assert str(artifacts["thunks"]).count("KernelThunk") == kernels
    assert all("products: " in line for line in str(artifacts["plan"]).splitlines())
    for got, want in zip(results, xla.evaluate(xla.parse(PROGRAM.format(root)), *arguments), strict=True):
        np.testing.assert_array_equal(got, want)


SQUARE = """HloModule m

ENTRY e {{
  x = f32[64,48] parameter(0)
  y = f32[48,32] parameter(1)
  ROOT d = f32[64,32] dot(x, y), lhs_contracting_dims={{1}}, rhs_contracting_dims={{0}}{}
}}
"""


@pytest.mark.parametrize(
    ("attribute", "option", "rounded"),
    [
        ("", False, False),
        ("", True, True),
        (", operand_precision={highest,highest}", True, False),
        (", algorithm=dot_tf32_tf32_f32", False, True),
    ],
)
def test_f32_is_rounded_to_tf32_on_request_only(client, attribute: str, option: bool, rounded: bool) -> None:
    text = SQUARE.format(attribute)
    compiled = client.compile(text, xla.CompileOptions(keep_artifacts=True, backend={"tf32": option}))
    assert (".tf32.tf32." in str(compiled.artifacts()["ptx"])) == rounded
    rng = np.random.default_rng(1)
    x, y = rng.standard_normal((64, 48), np.float32), rng.standard_normal((48, 32), np.float32)
    (got,) = (np.asarray(result) for result in compiled(x, y))
    error = np.abs(got - x.astype(np.float64) @ y).max()
    assert 1e-4 < error < 2e-2 if rounded else error < 1e-5


LONG = """HloModule m

ENTRY e {{
  x = {0}[24,2048] parameter(0)
  y = {0}[2048,32] parameter(1)
  bias = {0}[32] parameter(2)
  d = {0}[24,32] dot(x, y), lhs_contracting_dims={{1}}, rhs_contracting_dims={{0}}
  b = {0}[24,32] broadcast(bias), dimensions={{1}}
  ROOT s = {0}[24,32] add(d, b)
}}
"""


@pytest.mark.parametrize("element", [T.F32, T.BF16])
def test_long_sums_are_divided_between_blocks(client, element: T) -> None:
    module = xla.parse(LONG.format(element))
    arguments = [small_integers(p.shape, n) for n, p in enumerate(module.entry.parameters)]
    compiled = client.compile(module, xla.CompileOptions(keep_artifacts=True, backend={"engine": "checked"}))
    with counted(client) as count:
        results = [np.asarray(result) for result in compiled(*arguments)]
    np.testing.assert_array_equal(results[0], xla.evaluate(xla.parse(LONG.format(element)), *arguments)[0])
    product, others = str(compiled.artifacts()["plan"]).splitlines()
    assert "16 products of 24 x 32 x 128" in product
    assert others.startswith("add_fusion: row teams"), "the bias is added where the parts are"
    _, whole = check(dot(element), array(element, 24, 2048), array(element, 2048, 32))
    assert 2 * estimated_seconds(count.counters, DEFAULT) < estimated_seconds(whole, DEFAULT)


CONVOLUTION = """HloModule m

ENTRY e {{
  x = {0}[2,6,6,{1}] parameter(0)
  w = {0}[3,3,{1},{2}] parameter(1)
  ROOT y = {0}[2,{3},{3},{2}] convolution(x, w), window={{size=3x3 {4}}}, dim_labels=b01f_01io->b01f
}}
"""


@pytest.mark.parametrize(
    ("window", "size"),
    [
        ("pad=1_1x1_1", 6),
        ("stride=2x2 pad=2_1x2_1", 4),
        ("pad=2_2x2_2 lhs_dilate=2x2", 13),
        ("pad=2_2x2_2 rhs_dilate=2x2", 6),
    ],
)
@pytest.mark.parametrize(("element", "features"), [("f32", (3, 5)), ("bf16", (32, 16)), ("f64", (1, 1))])
def test_padding_is_zeros(client, element: str, features: tuple[int, int], window: str, size: int) -> None:
    """A filter's infinity times the zeros of padding and of base dilation is NaN, as in StableHLO's specification. What
    fills up a tile is not multiplied by anything that counts.
    """
    module = xla.parse(CONVOLUTION.format(element, *features, size, window))
    x, w = (small_integers(p.shape, n) for n, p in enumerate(module.entry.parameters))
    special_x, special_w = x.copy(), w.copy()
    special_x[0, 2, 3], special_w[0, 0, 0] = -np.inf, np.inf
    for arguments in ((special_x, w), (np.ones_like(x), special_w)):
        with np.errstate(invalid="ignore"):
            (expected,) = xla.evaluate(module, *arguments)
        assert 0 < np.isnan(expected.astype(np.float64)).mean() < 1
        result = np.asarray(client.compile(module)(*arguments)[0])
        np.testing.assert_array_equal(result.astype(np.float64), expected.astype(np.float64))

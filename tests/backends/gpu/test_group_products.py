"""Products whose matrices the tensor cores of sm_90a read from shared memory: wgmma."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

pytest.importorskip("xla_backend_gpu", reason="xla-backend-gpu is not installed")

from xla_backend_gpu.abi import PtxAbi
from xla_backend_gpu.chips import DEFAULT
from xla_backend_gpu.emulator import EmulatorFault, FaultKind
from xla_backend_gpu.estimates import estimated_seconds

import xla_core as xla
from tests.backends.gpu.launching import Compiled, assembled, compile_kernel, evaluated
from tests.backends.gpu.test_products import NHWC, SAME, convolution, dot, small_integers
from tests.xla_core.codegen.llvm.kernels import array, f32, fuse
from xla_core.codegen.llvm import KernelChoice
from xla_core.hlo import ElementType as T
from xla_core.hlo import HloComputation, HloInstruction, Layout, Shape

PROCESSOR = "sm_90a"
ENGINES = ("checked", "fast")
FEW_BLOCKS = KernelChoice(units=4)  # as if one block kept the device busy, so that small products have whole tiles


def made(build, *shapes: Shape, choice: KernelChoice = FEW_BLOCKS) -> tuple[HloInstruction, Compiled]:
    fusion = fuse(build, *shapes)
    choice.record(fusion)
    return fusion, compile_kernel(fusion, PROCESSOR)


def check(build, *shapes: Shape, engine: str = "checked", choice: KernelChoice = FEW_BLOCKS):
    """Runs a fusion on the emulator; its results are exactly the evaluator's."""
    fusion, compiled = made(build, *shapes, choice=choice)
    assert compiled.kernel.plan.startswith("shared products"), compiled.kernel.plan
    assert "wgmma.mma_async.sync.aligned.m64n" in compiled.ptx
    arguments = [small_integers(shape, n) for n, shape in enumerate(shapes)]
    results, counters = compiled(*arguments, engine=engine)
    for got, want in zip(results, evaluated(fusion, arguments), strict=True):
        np.testing.assert_array_equal(got, want)
    return compiled, counters


def is_clean(compiled: Compiled) -> None:
    """ptxas keeps all values in registers, and does not run the products one by one."""
    report = assembled(compiled, PROCESSOR)
    if report:
        assert " 0 bytes spill stores, 0 bytes spill loads" in report[1]
        assert "warning" not in report[1].lower()
        assert "Potential Performance Loss" not in report[1]


def sides(lhs: int, rhs: int) -> dict[str, tuple[int, ...]]:
    return {"lhs_contracting_dims": (lhs,), "rhs_contracting_dims": (rhs,)}


def operands(element: T, rows: int, columns: int, terms: int, lhs: int, rhs: int) -> tuple[Shape, Shape]:
    x, y = (rows, terms) if lhs else (terms, rows), (columns, terms) if rhs else (terms, columns)
    return array(element, *x), array(element, *y)


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("lhs", [0, 1])
@pytest.mark.parametrize("rhs", [0, 1])
def test_operands_in_any_order(lhs: int, rhs: int, engine: str) -> None:
    """Whatever is contiguous in memory is contiguous in shared memory, without conflicts of banks."""
    shapes = operands(T.BF16, 192, 128, 208, lhs, rhs)
    compiled, counters = check(dot(T.F32, **sides(lhs, rhs)), *shapes, engine=engine)
    assert "by 64 x 128 x 16 bf16, 4 stages of asynchronous copies, reads of 8 and 8" in compiled.kernel.plan
    assert f"1, 1, 1, {1 - lhs}, {1 - rhs};" in compiled.ptx
    assert "ld.global" not in compiled.ptx
    is_clean(compiled)
    if engine == "checked":
        assert counters.shared_bank_conflicts == counters.local_bytes == 0
        assert counters.coalescing >= 1  # threads beyond the last line read it once more


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(
    ("rows", "columns", "terms"), [(33, 34, 33), (64, 64, 17), (100, 70, 90), (65, 127, 300), (129, 64, 72)]
)
def test_sizes_around_those_of_tiles(rows: int, columns: int, terms: int, engine: str) -> None:
    compiled, _ = check(dot(T.F32), array(T.F16, rows, terms), array(T.F16, terms, columns), engine=engine)
    is_clean(compiled)


TYPES = [
    (T.F16, T.F16, "m64n64k16.f32.f16.f16"),
    (T.BF16, T.BF16, "m64n64k16.f32.bf16.bf16"),
    (T.S8, T.S32, "m64n64k32.s32.s8.s8"),
    (T.F8E4M3FN, T.F32, "m64n64k32.f32.e4m3.e4m3"),
    (T.F8E5M2, T.BF16, "m64n64k32.f32.e5m2.e5m2"),
    (T.F8E4M3FNUZ, T.F32, "m64n64k16.f32.f16.f16"),
]


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(("operand", "result", "shape"), TYPES)
def test_types(operand: T, result: T, shape: str, engine: str) -> None:
    shapes = operands(operand, 72, 64, 160, 1, 1)
    compiled, _ = check(dot(result, **sides(1, 1)), *shapes, engine=engine)
    assert f"wgmma.mma_async.sync.aligned.{shape} " in compiled.ptx
    is_clean(compiled)


@pytest.mark.parametrize("engine", ENGINES)
def test_rounded_operands_use_tf32(engine: str) -> None:
    def turned(c: HloComputation, x: HloInstruction, y: HloInstruction) -> HloInstruction:
        rounded = [c.add("reduce-precision", o, exponent_bits=8, mantissa_bits=10) for o in (x, y)]
        return dot(**sides(1, 1))(c, *rounded)

    fusion, compiled = made(turned, f32(72, 96), f32(80, 96))
    assert "wgmma.mma_async.sync.aligned.m64n128k8.f32.tf32.tf32" in compiled.ptx
    is_clean(compiled)
    rng = np.random.default_rng(3)
    arguments = [rng.standard_normal(size, np.float32) for size in ((72, 96), (80, 96))]
    (got,), _ = compiled(*arguments, engine=engine)
    np.testing.assert_allclose(got, evaluated(fusion, arguments)[0], rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("operand", [T.S8, T.F8E4M3FN])
def test_neighbouring_lines_of_octets_are_not_read(operand: T) -> None:
    """Only matrices of 16-bit elements may be transposed when they are read. Others take another form or type."""
    _, compiled = made(dot(T.S32 if operand is T.S8 else T.F32), *operands(operand, 64, 64, 128, 1, 0))
    if operand is T.S8:
        assert compiled.kernel.plan.startswith("products")
    else:
        assert "wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16" in compiled.ptx


@st.composite
def cases(draw: st.DrawFn):
    element = draw(st.sampled_from([T.BF16, T.F16, T.S8, T.F8E5M2]))
    lhs, rhs = (1, 1) if element is T.S8 else draw(st.tuples(st.integers(0, 1), st.integers(0, 1)))
    sizes = [draw(st.integers(33, 200)) for _ in range(2)]
    terms = draw(st.integers(33 if element in (T.S8, T.F8E5M2) else 17, 150))
    least = 65 if element in (T.S8, T.F8E5M2) else 33
    return element, max(terms, least), sizes, lhs, rhs, draw(st.integers(1, 3))


@settings(max_examples=20, deadline=None)
@given(cases(), st.sampled_from(ENGINES))
def test_products_equal_the_evaluators(case, engine: str) -> None:
    element, terms, (rows, columns), lhs, rhs, batch = case
    total = T.S32 if element is T.S8 else T.F32
    contracting = {"lhs_contracting_dims": (lhs + 1,), "rhs_contracting_dims": (rhs + 1,)}
    batches = {"lhs_batch_dims": (0,), "rhs_batch_dims": (0,)}
    flat = operands(element, rows, columns, terms, lhs, rhs)
    shapes = [array(element, batch, *shape.dimensions) for shape in flat]
    check(dot(total, **contracting, **batches), *shapes, engine=engine)


@pytest.mark.parametrize("engine", ENGINES)
def test_what_surrounds_a_product_is_in_its_kernel(engine: str) -> None:
    def dense(c: HloComputation, x: HloInstruction, y: HloInstruction, bias: HloInstruction) -> list[HloInstruction]:
        product = dot(T.F32)(c, c.add("negate", x), y)
        rows = c.add("broadcast", bias, shape=product.shape, dimensions=(1,))
        total = c.add("maximum", c.add("add", product, rows), rows)
        return [c.add("convert", total, shape=product.shape.with_element_type(T.BF16)), c.add("negate", product)]

    compiled, _ = check(dense, array(T.BF16, 100, 160), array(T.BF16, 160, 72), f32(72), engine=engine)
    assert "of asynchronous copies" not in compiled.kernel.plan
    is_clean(compiled)


def test_a_result_whose_rows_are_neighbours_in_memory() -> None:
    def build(c: HloComputation, x: HloInstruction, y: HloInstruction) -> HloInstruction:
        return c.add("dot", x, y, shape=f32(64, 96).with_layout(Layout((0, 1))), **sides(1, 0))

    compiled, counters = check(build, array(T.BF16, 64, 160), array(T.BF16, 160, 96))
    assert "96 x 64 x 160" in compiled.kernel.plan, "the operands change sides"
    assert counters.coalescing >= 1


def test_convolutions_are_products() -> None:
    build = convolution(NHWC, SAME)
    compiled, _ = check(build, array(T.BF16, 2, 6, 7, 16), array(T.BF16, 3, 3, 16, 64))
    is_clean(compiled)


SIZES = [(1024, 1024, 1024), (4096, 4096, 4096), (2048, 2048, 40), (4097, 2050, 1030), (512, 8192, 512)]


@pytest.mark.parametrize("element", [T.BF16, T.F16, T.S8, T.F8E4M3FN])
@pytest.mark.parametrize(("rows", "columns", "terms"), SIZES)
def test_ptxas_takes_large_products(rows: int, columns: int, terms: int, element: T) -> None:
    """By rule, without any choice."""
    build = dot(T.S32 if element is T.S8 else T.F32, **sides(1, 1))
    _, compiled = made(build, *operands(element, rows, columns, terms, 1, 1), choice=KernelChoice())
    assert compiled.kernel.plan.startswith("shared products")
    is_clean(compiled)


@pytest.mark.parametrize(
    ("operand", "lhs", "rhs", "size"),
    [
        (T.BF16, 1, 0, 4096),
        (T.F16, 0, 0, 4096),
        (T.BF16, 1, 0, 4095),
        (T.F16, 0, 1, 2051),
        (T.F16, 1, 0, 2050),
        (T.S8, 1, 1, 4095),
        (T.F8E5M2, 1, 1, 2051),
        (T.F8E4M3FN, 1, 0, 4096),
        (T.F8E4M3FNUZ, 1, 1, 4092),
    ],
)
def test_ptxas_has_registers_for_copies_of_any_width(operand: T, lhs: int, rhs: int, size: int) -> None:
    """Copies that go through registers, and many narrow ones, leave fewer for the sums."""
    build = dot(T.S32 if operand is T.S8 else T.F32, **sides(lhs, rhs))
    _, compiled = made(build, *operands(operand, size, size, size, lhs, rhs), choice=KernelChoice())
    assert compiled.kernel.plan.startswith("shared products")
    is_clean(compiled)


def test_ptxas_has_registers_for_what_follows_a_product() -> None:
    """The sums of the largest tile are used one after another; those of tf32 take the place of f32's."""

    def build(c: HloComputation, x: HloInstruction, y: HloInstruction) -> HloInstruction:
        rounded = [c.add("reduce-precision", o, exponent_bits=8, mantissa_bits=10) for o in (x, y)]
        product = dot(**sides(1, 1))(c, *rounded)
        bounded = c.add("tanh", product)
        return c.add("add", c.add("multiply", product, bounded), c.add("exponential", bounded))

    _, compiled = made(build, f32(4096, 4096), f32(4096, 4096), choice=KernelChoice())
    assert "in tiles of 128 x 256 x 32, 64 x 256 by 64 x 256 x 8 f32 of 10 bits" in compiled.kernel.plan
    is_clean(compiled)


TILES = [
    ((4096, 4096, 4096), "in tiles of 128 x 256 x 64, 64 x 256 by 64 x 256 x 16 bf16, 4 stages"),  # reads least
    ((2048, 2048, 2048), "in tiles of 128 x 256 x 64"),
    (
        (2048, 2304, 2048),
        "in tiles of 128 x 128 x 64, 64 x 128 by 64 x 128 x 16 bf16, 3 stages",
    ),  # 3 waves, not 2 larger
    ((1024, 1024, 1024), "in tiles of 64 x 128 x 64"),  # a block for each processor
]


@pytest.mark.parametrize(("sizes", "plan"), TILES)
def test_the_tile_that_takes_the_least_time(sizes: tuple[int, int, int], plan: str) -> None:
    """By the elements that all blocks copy, by the waves of blocks, and by what there is room for."""
    _, compiled = made(dot(T.F32, **sides(1, 1)), *operands(T.BF16, *sizes, 1, 1), choice=KernelChoice())
    assert plan in compiled.kernel.plan
    assert compiled.shared_bytes <= 227 << 10


def test_large_tiles_copy_less() -> None:
    """A product of 128 x 256 x 320 in one tile, and in two, which both copy the rows."""
    shapes = operands(T.BF16, 128, 256, 320, 1, 1)
    loaded, executed = {}, {}
    for units, tile in [(4, "128 x 256 x 64"), (8, "128 x 128 x 64")]:  # as if one block, or two, kept the device busy
        compiled, counters = check(dot(T.F32, **sides(1, 1)), *shapes, choice=KernelChoice(units=units))
        assert f"in tiles of {tile}" in compiled.kernel.plan
        assert counters.shared_bank_conflicts == counters.local_bytes == 0
        assert counters.barriers == counters.blocks * 5, "one for each tile of 64 terms"
        loaded[tile], executed[tile] = counters.global_load_bytes, counters.warp_instructions
    assert loaded == {"128 x 256 x 64": 2 * 320 * (128 + 256), "128 x 128 x 64": 2 * 320 * 2 * (128 + 128)}
    assert executed["128 x 256 x 64"] < executed["128 x 128 x 64"]


def test_copies_start_while_the_device_multiplies() -> None:
    _, compiled = made(dot(T.F32, **sides(1, 1)), *operands(T.BF16, 64, 64, 512, 1, 1))
    _, _, following = compiled.ptx.partition("wgmma.commit_group")
    assert "wgmma.wait_group" not in following[: following.index("cp.async.cg.shared.global")]


def test_small_products_stay_with_warps() -> None:
    """A tile of 64 x 64 would leave most of the device without work."""
    _, compiled = made(dot(T.F32), array(T.BF16, 256, 256), array(T.BF16, 256, 256), choice=KernelChoice())
    assert compiled.kernel.plan.startswith("products")
    assert "mma.sync" in compiled.ptx


def test_a_choice_names_either_form() -> None:
    """Autotuning compares them by their names. By the emulator's counts, warpgroups are faster."""
    shapes = operands(T.BF16, 256, 256, 256, 1, 1)
    seconds = {}
    for form, instruction in (("products", "mma.sync"), ("shared products", "wgmma.mma_async")):
        fusion, compiled = made(dot(T.F32, **sides(1, 1)), *shapes, choice=KernelChoice(form=form, units=4))
        assert instruction in compiled.ptx
        arguments = [small_integers(shape, n) for n, shape in enumerate(shapes)]
        (got,), counters = compiled(*arguments, engine="checked")
        np.testing.assert_array_equal(got, evaluated(fusion, arguments)[0])
        seconds[form] = estimated_seconds(counters, DEFAULT)
    assert seconds["shared products"] < seconds["products"]


def test_other_processors_have_no_such_shape() -> None:
    assert all(shape.left is not None for shape in PtxAbi("sm_90").parallel.matrix_shapes)
    assert all(shape.left is not None for shape in PtxAbi("sm_100a").parallel.matrix_shapes)


PROGRAM = """HloModule m

ENTRY e {
  x = bf16[16,64,128] parameter(0)
  y = bf16[16,128,512] parameter(1)
  d = f32[16,64,512] dot(x, y), lhs_batch_dims={0}, rhs_batch_dims={0}, lhs_contracting_dims={2}, rhs_contracting_dims={1}
  ROOT n = f32[16,64,512] negate(d)
}
"""


def test_a_program_for_the_processor(client) -> None:
    """The option `sm` chooses it."""
    module = xla.parse(PROGRAM)
    arguments = [small_integers(p.shape, n) for n, p in enumerate(module.entry.parameters)]
    options = xla.CompileOptions(keep_artifacts=True, backend={"sm": PROCESSOR, "products": "own"})
    compiled = client.compile(module, options)
    assert "shared products: 128 units of 128 threads" in str(compiled.artifacts()["plan"])
    got = np.asarray(compiled(*arguments)[0])
    np.testing.assert_array_equal(got, xla.evaluate(xla.parse(PROGRAM), *arguments)[0])


def test_a_launch_asks_for_shared_memory() -> None:
    """Beyond 48 KiB, the array has no size of its own. Both engines find what lies beyond its end."""
    shapes = operands(T.BF16, 64, 64, 256, 1, 1)
    compiled, _ = check(dot(T.F32, **sides(1, 1)), *shapes)
    assert compiled.shared_bytes == 64 << 10
    assert ".extern .shared .align 1024 .b8 kernel_launch_shared[];" in compiled.ptx
    is_clean(compiled)
    less = dataclasses.replace(compiled, shared_bytes=compiled.shared_bytes - 1024)
    for engine in ENGINES:
        with pytest.raises(EmulatorFault) as found:
            less(*(small_integers(shape, n) for n, shape in enumerate(shapes)), engine=engine)
        assert found.value.kind is FaultKind.OUT_OF_BOUNDS


def test_a_choice_of_48_kib_declares_all() -> None:
    choice = KernelChoice(units=4, shared_bytes=48 << 10)
    _, compiled = made(dot(T.F32, **sides(1, 1)), *operands(T.BF16, 64, 64, 256, 1, 1), choice=choice)
    assert "3 stages" in compiled.kernel.plan
    assert compiled.shared_bytes == 0
    assert ".extern" not in compiled.ptx


@pytest.mark.parametrize(
    ("processor", "kib"),
    [("sm_75", 64), ("sm_80", 99), ("sm_90", 99), ("sm_90a", 227), ("sm_100f", 227), ("sm_121", 99)],
)
def test_a_kernel_has_the_shared_memory_of_every_processor_that_runs_it(processor: str, kib: int) -> None:
    assert PtxAbi(processor).parallel.most_shared_bytes == kib << 10


def test_a_stored_program_keeps_the_shared_memory_of_its_launches(client) -> None:
    text = PROGRAM.replace("64,128]", "64,256]").replace("128,512]", "256,512]")
    options = xla.CompileOptions(backend={"sm": PROCESSOR, "products": "own"})
    again = client.deserialize(client.compile(text, options).serialize())
    arguments = [small_integers(p.shape, n) for n, p in enumerate(xla.parse(text).entry.parameters)]
    np.testing.assert_array_equal(np.asarray(again(*arguments)[0]), xla.evaluate(xla.parse(text), *arguments)[0])


@pytest.mark.parametrize(
    ("old", "new", "kind"),
    [
        ("fence.proxy.async;", "", FaultKind.MISSING_FENCE),
        ("wgmma.fence.sync.aligned;", "", FaultKind.MISSING_FENCE),
        ("wgmma.wait_group.sync.aligned 0;", "", FaultKind.UNFINISHED),
        ("wgmma.wait_group.sync.aligned 0;", "wgmma.wait_group.sync.aligned 1;", FaultKind.UNFINISHED),
    ],
)
def test_the_emulator_needs_each_fence_and_wait(old: str, new: str, kind: FaultKind) -> None:
    shapes = operands(T.BF16, 64, 64, 256, 1, 1)
    _, compiled = made(dot(T.F32, **sides(1, 1)), *shapes)
    assert old in compiled.ptx
    changed = dataclasses.replace(compiled, ptx=compiled.ptx.replace(old, new))
    with pytest.raises(EmulatorFault) as found:
        changed(*(small_integers(shape, n) for n, shape in enumerate(shapes)), engine="checked")
    assert found.value.kind is kind

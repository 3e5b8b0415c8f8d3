"""Products of warpgroups (wgmma) on both engines, compared with numpy, and the faults of kernels that misuse them."""

from __future__ import annotations

import dataclasses

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

pytest.importorskip("xla_backend_gpu", reason="xla-backend-gpu is not installed")

from xla_backend_gpu.emulator import Counters, EmulatorFault, FaultKind, Module
from xla_backend_gpu.ptxas import assemble, find_ptxas

from tests.backends.gpu.emulator.running import ENGINES, kernel, run
from xla_core.errors import InvalidArgumentError

BYTES = 32  # of the terms of a line
WIDTHS = {0: 16, 1: 128, 2: 64, 3: 32}  # by swizzling mode
DTYPES = {
    "f16": np.dtype(np.float16),
    "bf16": np.dtype(ml_dtypes.bfloat16),
    "tf32": np.dtype(np.float32),
    "e4m3": np.dtype(ml_dtypes.float8_e4m3fn),
    "e5m2": np.dtype(ml_dtypes.float8_e5m2),
    "s8": np.dtype(np.int8),
    "u8": np.dtype(np.uint8),
}
INTEGERS = ("s8", "u8")
TRANSPOSABLE = ("f16", "bf16")


@dataclasses.dataclass(frozen=True)
class Product:
    """A product of one warpgroup: its columns, types, signs, and how its operands lie in shared memory."""

    columns: int = 16
    left: str = "bf16"
    right: str = "bf16"
    modes: tuple[int, int] = (1, 1)
    transposed: tuple[bool, bool] = (False, False)
    signs: tuple[int, int] = (1, 1)
    in_registers: bool = False
    adds: bool = True
    inset: int = 0  # chunks of 32 bytes between where a width and the matrix begin

    @property
    def total(self) -> str:
        return "s32" if self.left in INTEGERS else "f32"

    @property
    def terms(self) -> int:
        return BYTES // DTYPES[self.left].itemsize

    @property
    def mnemonic(self) -> str:
        types = f"{self.total}.{self.left}.{self.right}"
        return f"wgmma.mma_async.sync.aligned.m64n{self.columns}k{self.terms}.{types}"


def in_memory(matrix: np.ndarray, mode: int, start: int, inset: int, *, transposed: bool) -> tuple[np.ndarray, int]:
    """The bytes of lines x terms that begin at `start`, and their descriptor, chunk by chunk as the manual draws them.

    The patterns of eight rows follow each other along the rows first, then across.
    """
    width = WIDTHS[mode]
    octets = np.ascontiguousarray(matrix.T if transposed else matrix).view(np.uint8)
    rows, chunks = octets.shape[0], octets.shape[1] // 16
    across = -(-(chunks + 2 * inset) * 16 // width)
    memory = np.zeros(rows * across * width, np.uint8)
    for row in range(rows):
        for chunk in range(chunks):
            pattern, within = divmod(chunk + 2 * inset, width // 16)
            place = pattern * rows * width + row * width + within * 16
            place ^= ((place >> 7) & (width // 16 - 1)) << 4
            memory[place : place + 16] = octets[row, 16 * chunk : 16 * chunk + 16]
    stride, leading = 8 * width, rows * width
    if mode == 0 and transposed:
        stride, leading = leading, stride
    word = start + 32 * inset >> 4 | leading >> 4 << 16 | stride >> 4 << 32 | mode << 62
    return memory, word


def fragments(matrix: np.ndarray) -> np.ndarray:
    """The four registers of A of each thread."""
    each = 4 // matrix.itemsize
    found = np.zeros((4, 128, each), matrix.dtype)
    for thread in range(128):
        warp, lane = divmod(thread, 32)
        for r in range(4):
            row, term = 16 * warp + lane // 4 + 8 * (r % 2), each * (lane % 4 + 4 * (r // 2))
            found[r, thread] = matrix[row, term : term + each]
    return found.view(np.uint32)[..., 0]


def result(registers: np.ndarray, columns: int) -> np.ndarray:
    found = np.zeros((64, columns), registers.dtype)
    for thread in range(128):
        warp, lane = divmod(thread, 32)
        for r in range(columns // 2):
            found[16 * warp + lane // 4 + 8 * (r // 2 % 2), 8 * (r // 4) + 2 * (lane % 4) + r % 2] = registers[
                r, thread
            ]
    return found


COPY = """
mov.u32 %r10, s;
mov.u32 %r11, %r1;
copy:
shl.b32 %r12, %r11, 4;
cvt.u64.u32 %rd10, %r12;
add.u64 %rd11, %rd1, %rd10;
ld.global.v4.u32 {{%r14, %r15, %r16, %r17}}, [%rd11];
add.u32 %r13, %r10, %r12;
st.shared.v4.u32 [%r13], {{%r14, %r15, %r16, %r17}};
add.u32 %r11, %r11, 128;
setp.lt.u32 %p1, %r11, {chunks};
@%p1 bra copy;
fence.proxy.async;
bar.sync 0;
"""
"""128 threads copy the first argument to shared memory."""


def statement(product: Product, descriptors: tuple[int, int]) -> str:
    """The instruction. %x.. are the result's registers, %a.. those of A."""
    result_ = "{" + ", ".join(f"%x{n}" for n in range(product.columns // 2)) + "}"
    left = "{%a0, %a1, %a2, %a3}" if product.in_registers else "%rd30"
    tail = ", ".join(str(s) for s in product.signs) if product.total == "f32" else ""
    if product.left in TRANSPOSABLE:
        turns = [str(int(t)) for t in product.transposed]
        tail = ", ".join([tail, *(turns[1:] if product.in_registers else turns)])
    before = f"mov.b64 %rd30, {descriptors[0]:#x};\nmov.b64 %rd31, {descriptors[1]:#x};"
    scale = f"setp.{'eq' if product.adds else 'ne'}.u32 %p2, 0, 0;"
    operands = f"{result_}, {left}, %rd31, %p2{', ' + tail if tail else ''}"
    return f"{before}\n{scale}\nwgmma.fence.sync.aligned;\n{product.mnemonic} {operands};"


def text_of(product: Product, octets: int, descriptors: tuple[int, int], *, body: str = "", block: int = 128) -> str:
    """A kernel of (shared memory's bytes, totals, fragments): it adds a product to the totals."""
    registers = range(product.columns // 2)
    type_ = "f32" if product.total == "f32" else "b32"
    loads = [f"ld.global.{type_} %x{n}, [%rd21+{512 * n}];" for n in registers]
    loads += [f"ld.global.b32 %a{n}, [%rd22+{512 * n}];" for n in range(4)]
    main = body or (
        f"{statement(product, descriptors)}\nwgmma.commit_group.sync.aligned;\nwgmma.wait_group.sync.aligned 0;"
    )
    parts = [
        COPY.format(chunks=octets // 16),
        "add.u64 %rd21, %rd2, %rd20;\nadd.u64 %rd22, %rd3, %rd20;",
        *loads,
        main,
        *(f"st.global.{type_} [%rd21+{512 * n}], %x{n};" for n in registers),
    ]
    declared = (
        f".reg .{type_} %x<{product.columns // 2}>; .reg .b32 %a<4>; .shared .align 1024 .b8 s[{max(octets, 16)}];"
    )
    return kernel("\n".join(parts), 3, declare=declared).replace("sm_90\n", "sm_90a\n")


def accepted(text: str) -> None:
    if find_ptxas() is not None:
        _, report = assemble(text, "sm_90a")
        assert "0 bytes spill stores" in report
        assert "warning" not in report.lower()


def operands(product: Product, seed: int = 0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    low = [0 if name == "u8" else -6 for name in (product.left, product.right)]
    a = rng.integers(low[0], 7, (64, product.terms)).astype(DTYPES[product.left])
    b = rng.integers(low[1], 7, (product.columns, product.terms)).astype(DTYPES[product.right])
    total = np.int32 if product.total == "s32" else np.float32
    return a, b, rng.integers(-99, 99, (product.columns // 2, 128)).astype(total)


def placed(product: Product, a: np.ndarray, b: np.ndarray) -> tuple[np.ndarray, tuple[int, int]]:
    """Shared memory with both matrices, and their descriptors."""
    left, first = in_memory(a, product.modes[0], 0, product.inset, transposed=product.transposed[0])
    left = np.pad(left, (0, -left.size % 1024))
    right, second = in_memory(b, product.modes[1], left.size, 0, transposed=product.transposed[1])
    return np.concatenate([left, right]), (first, second)


def check(product: Product, engine: str, seed: int = 0, *, assembled: bool = False) -> Counters:
    a, b, totals = operands(product, seed)
    octets, descriptors = placed(product, a, b)
    text = text_of(product, octets.size, descriptors)
    if assembled:
        accepted(text)
    (_, got, _), counters = run(text, [octets, totals, fragments(a)], engine=engine, block=128)
    wide = np.int64 if product.total == "s32" else np.float64
    sign = product.signs[0] * product.signs[1] if product.total == "f32" else 1
    expected = sign * (a.astype(wide) @ b.astype(wide).T)
    if product.adds:
        expected = expected + result(totals, product.columns)
    np.testing.assert_array_equal(result(got, product.columns), expected.astype(totals.dtype))
    return counters


PRODUCTS = [
    Product(),
    Product(columns=8, left="f16", right="f16", modes=(0, 0)),
    Product(columns=24, modes=(2, 3)),
    Product(columns=256, left="f16", right="f16"),
    Product(columns=64, transposed=(True, True)),
    Product(columns=32, transposed=(True, False), modes=(3, 0)),
    Product(columns=64, transposed=(False, True), modes=(0, 2)),
    Product(columns=16, transposed=(True, True), modes=(0, 0)),
    Product(columns=16, left="tf32", right="tf32", modes=(1, 2)),
    Product(columns=16, left="e4m3", right="e5m2"),
    Product(columns=32, left="s8", right="u8", modes=(2, 1)),
    Product(columns=48, left="u8", right="u8", modes=(0, 3)),
    Product(signs=(-1, 1)),
    Product(adds=False),
    Product(inset=3),
    Product(columns=24, in_registers=True, signs=(1, -1)),
    Product(columns=64, in_registers=True, transposed=(False, True)),
    Product(columns=8, left="tf32", right="tf32", in_registers=True),
    Product(columns=8, left="e5m2", right="e4m3", in_registers=True),
    Product(columns=16, left="s8", right="s8", in_registers=True, adds=False),
]


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("product", PRODUCTS, ids=str)
def test_products_of_a_warpgroup(product: Product, engine: str) -> None:
    check(product, engine, assembled=engine == "checked")


@st.composite
def products(draw: st.DrawFn) -> Product:
    left = draw(st.sampled_from(sorted(DTYPES)))
    others = next((g for g in (("e4m3", "e5m2"), INTEGERS) if left in g), (left,))
    step = 16 if left in INTEGERS else 8
    turns = st.booleans() if left in TRANSPOSABLE else st.just(False)
    in_registers = draw(st.booleans())
    transposed = (draw(turns) and not in_registers, draw(turns))
    modes = draw(st.tuples(*[st.sampled_from(sorted(WIDTHS))] * 2))
    columns = step * draw(st.integers(1, 8))
    if transposed[1]:  # whole widths of neighbouring columns
        columns = 64
    return Product(
        columns,
        left,
        draw(st.sampled_from(others)),
        modes,
        transposed,
        draw(st.tuples(*[st.sampled_from([-1, 1])] * 2)),
        in_registers,
        draw(st.booleans()),
    )


@settings(max_examples=25, deadline=None)
@given(products(), st.integers(0, 99))
def test_engines_agree_with_numpy(product: Product, seed: int) -> None:
    for engine in ENGINES:
        check(product, engine, seed)


def test_reads_are_counted() -> None:
    """Eight rows of 16 bytes are a read: 16 of A, and two for each eight columns. Swizzled ones have no conflicts."""
    copied = 64 * BYTES + 16 * BYTES
    counters = check(Product(modes=(3, 3)), "checked")
    assert counters.shared_accesses == 16 + 4 + copied // (16 * 32)
    for mode in WIDTHS:
        assert check(Product(modes=(mode, mode)), "checked").shared_bank_conflicts == 0
    rows = in_memory(np.zeros((64, 16), np.float16), 1, 0, 0, transposed=False)[0].size
    assert rows == 64 * 128


# -- faults ------------------------------------------------------------------------------------------------------------

GOOD = Product()
COMMIT, WAIT, FENCE = (
    "wgmma.commit_group.sync.aligned;",
    "wgmma.wait_group.sync.aligned 0;",
    "wgmma.fence.sync.aligned;",
)


def faulty(body: str, *, block: int = 128, replaced: tuple[str, str] = ("", "")) -> EmulatorFault:
    a, b, totals = operands(GOOD)
    octets, descriptors = placed(GOOD, a, b)
    main = body.replace("PRODUCT", statement(GOOD, descriptors)).replace("AGAIN", again(descriptors))
    text = text_of(GOOD, octets.size, descriptors, body=main)
    assert replaced[0] in text
    text = text.replace(*replaced) if replaced[0] else text
    accepted(text)
    with pytest.raises(EmulatorFault) as found:
        run(text, [octets, totals, fragments(a)], engine="checked", block=block)
    assert found.value.kernel == "k"
    assert found.value.text == text.splitlines()[found.value.line - 1].strip()
    return found.value


def again(descriptors: tuple[int, int]) -> str:
    return statement(GOOD, descriptors).replace(FENCE, "")


@pytest.mark.parametrize(
    ("body", "kind", "text", "detail"),
    [
        (f"PRODUCT\n{COMMIT}", FaultKind.UNFINISHED, "st.global.f32 [%rd21+0], %x0;", "the product at line"),
        (f"PRODUCT\n{WAIT}", FaultKind.UNFINISHED, "st.global.f32 [%rd21+0], %x0;", "has not waited for it"),
        (f"PRODUCT\n{COMMIT}\nwgmma.wait_group.sync.aligned 1;", FaultKind.UNFINISHED, "st.global", "uses %x0"),
        (f"PRODUCT\n{COMMIT}\nmov.f32 %x3, 0f00000000;\n{WAIT}", FaultKind.UNFINISHED, "mov.f32 %x3", "uses %x3"),
        (
            f"PRODUCT\n{COMMIT}\nst.shared.u32 [s], 0;\n{WAIT}",
            FaultKind.UNFINISHED,
            "st.shared.u32 [s], 0;",
            "byte 0x0 of shared memory is read by the product at line",
        ),
        (
            f"AGAIN\n{COMMIT}\n{WAIT}",
            FaultKind.MISSING_FENCE,
            "wgmma.mma_async",
            "before the warpgroup's first product",
        ),
        (
            f"PRODUCT\n{COMMIT}\n{WAIT}\nadd.f32 %x5, %x5, %x5;\nAGAIN\n{COMMIT}\n{WAIT}",
            FaultKind.MISSING_FENCE,
            "wgmma.mma_async",
            "between the last use of %x5 and the product",
        ),
        (
            f"st.shared.u32 [s], 0;\nbar.sync 0;\nPRODUCT\n{COMMIT}\n{WAIT}",
            FaultKind.MISSING_FENCE,
            "wgmma.mma_async",
            "without fence.proxy.async after that",
        ),
        (
            f"@%p3 bra over;\nPRODUCT\n{COMMIT}\n{WAIT}\nover:",
            FaultKind.BARRIER_DIVERGENCE,
            "wgmma.fence.sync.aligned;",
            "threads of its warpgroup never reach the instruction",
        ),
    ],
)
def test_faults(body: str, kind: FaultKind, text: str, detail: str) -> None:
    found = faulty(f"setp.lt.u32 %p3, %r1, 32;\n{body}")
    assert (found.kind, found.text.startswith(text)) == (kind, True)
    assert detail in str(found)


@pytest.mark.parametrize(
    ("old", "new", "kind", "detail"),
    [
        (
            "setp.eq.u32 %p2",
            "add.u64 %rd30, %rd30, 8;\nsetp.eq.u32 %p2",
            FaultKind.MISALIGNED,
            "starts inside of a pattern of eight rows",
        ),
        (
            "setp.eq.u32 %p2",
            "add.u64 %rd31, %rd31, 0x400;\nsetp.eq.u32 %p2",
            FaultKind.OUT_OF_BOUNDS,
            "is not within shared memory",
        ),
        ("fence.proxy.async;", "", FaultKind.MISSING_FENCE, "without fence.proxy.async"),
        ("bar.sync 0;", "", FaultKind.SHARED_MEMORY_RACE, "which wrote it since the last barrier"),
        ("setp.lt.u32 %p1, %r11", "setp.lt.u32 %p1, 1000", FaultKind.UNINITIALIZED, "uninitialized shared memory"),
    ],
)
def test_faults_of_matrices(old: str, new: str, kind: FaultKind, detail: str) -> None:
    found = faulty(f"PRODUCT\n{COMMIT}\n{WAIT}", replaced=(old, new))
    assert found.kind is kind
    assert found.text.startswith("wgmma.mma_async")
    assert detail in str(found)


def test_descriptors_differ_in_a_warpgroup() -> None:
    body = f"PRODUCT\n{COMMIT}\n{WAIT}"
    differs = ("wgmma.fence.sync.aligned;", f"cvt.u64.u32 %rd29, %r1;\nadd.u64 %rd30, %rd30, %rd29;\n{FENCE}")
    found = faulty(body, replaced=differs)
    assert found.kind is FaultKind.BARRIER_DIVERGENCE
    assert "different descriptors" in str(found)


def test_a_store_after_the_wait_of_another_warp_needs_a_barrier() -> None:
    """The warps of a warpgroup read all of both matrices, until each of them has waited."""
    found = faulty(f"PRODUCT\n{COMMIT}\n{WAIT}\nsetp.eq.u32 %p3, %r1, 100;\n@%p3 st.shared.u32 [s], 7;")
    assert found.kind is FaultKind.SHARED_MEMORY_RACE
    assert "which read it since the last barrier" in str(found)


def test_products_of_one_shape_need_no_fence_between_them() -> None:
    a, b, totals = operands(GOOD)
    octets, descriptors = placed(GOOD, a, b)
    body = f"{statement(GOOD, descriptors)}\n{again(descriptors)}\n{COMMIT}\n{again(descriptors)}\n{COMMIT}\n{WAIT}"
    text = text_of(GOOD, octets.size, descriptors, body=body)
    accepted(text)
    product = a.astype(np.float64) @ b.astype(np.float64).T
    for engine in ENGINES:
        (_, got, _), _ = run(text, [octets, totals, fragments(a)], engine=engine, block=128)
        np.testing.assert_array_equal(result(got, 16), 3 * product + result(totals, 16))


@pytest.mark.parametrize("kind", [FaultKind.MISALIGNED, FaultKind.OUT_OF_BOUNDS])
def test_the_fast_engine_checks_descriptors(kind: FaultKind) -> None:
    for product in (GOOD, dataclasses.replace(GOOD, in_registers=True)):
        a, b, totals = operands(product)
        octets, descriptors = placed(product, a, b)
        moved = descriptors[1] + (0x8 if kind is FaultKind.MISALIGNED else 0x200)
        text = text_of(product, octets.size, (descriptors[0], moved))
        with pytest.raises(EmulatorFault) as found:
            run(text, [octets, totals, fragments(a)], engine="fast", block=128)
        assert found.value.kind is kind
        assert found.value.text.startswith("wgmma.mma_async")


@pytest.mark.parametrize(
    "mnemonic",
    ["m64n12k16.f32.bf16.bf16", "m64n8k16.f32.bf16.f16", "m64n40k32.s32.s8.s8", "m64n8k8.f32.bf16.bf16"],
)
def test_products_that_there_are_not(mnemonic: str) -> None:
    text = kernel(
        f"wgmma.mma_async.sync.aligned.{mnemonic} {{%x0}}, %rd1, %rd1, %p1, 1, 1, 0, 0;", declare=".reg .f32 %x<4>;"
    )
    with pytest.raises(InvalidArgumentError, match="does not support wgmma"):
        Module(text, engine="checked")

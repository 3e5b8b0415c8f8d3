"""Whole kernels on both engines, against numpy; and rounding, against exact fractions."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from xla_backend_gpu.emulator import EmulatorFault, Memory, Module
from xla_backend_gpu.emulator.fast import compile_kernel
from xla_backend_gpu.emulator.fast.native import run_on_cores
from xla_backend_gpu.emulator.ptx.linker import link
from xla_backend_gpu.emulator.ptx.reader import read
from xla_backend_gpu.emulator.ptx.types import TYPES
from xla_backend_gpu.emulator.table import rounding

from tests.backends.gpu.emulator.running import ENGINES, HEADER, accepted_by_ptxas, kernel, run
from xla_core.errors import UnimplementedError


def test_a_kernel_that_the_fast_engine_does_not_run_costs_the_others_nothing() -> None:
    one = kernel("add.u64 %rd3, %rd1, %rd20; st.global.u32 [%rd3], %r1;")
    other = kernel("activemask.b32 %r3; st.global.u32 [%rd1], %r3;").replace("entry k(", "entry other(")
    memory = Memory(1 << 20)
    address = memory.allocate(128)
    assert address is not None
    module = Module(other + one.removeprefix(HEADER), engine="fast")
    module.launch("k", (1,), (32,), [address], memory)
    assert np.frombuffer(memory.read(address, 128), np.int32).tolist() == list(range(32))
    with pytest.raises(UnimplementedError, match="activemask"):
        module.launch("other", (1,), (32,), [address], memory)


def test_a_long_kernel_runs_for_longer_than_a_short_one_beside_it_before_it_is_optimized() -> None:
    """It takes longer to optimize, too."""
    short = kernel("st.global.u32 [%rd1], %r1;")
    long = kernel("add.u32 %r1, %r1, %r2;" * 400 + "st.global.u32 [%rd1], %r1;").replace("entry k(", "entry long(")
    functions = read(long + short.removeprefix(HEADER))
    kernels = {name: link(function, functions) for name, function in functions.items()}
    codes = {name: compile_kernel(each, kernels.values()) for name, each in kernels.items()}
    assert codes["long"].seconds_to_optimize > 10 * codes["k"].seconds_to_optimize


def test_an_error_in_a_part_of_a_launch_is_raised() -> None:
    def run(part: int) -> None:
        if part >= 3:
            raise MemoryError("no memory for the part")

    with pytest.raises(MemoryError, match="for the part"):
        run_on_cores(run, 8)


FLOATS = st.floats(allow_nan=False, allow_infinity=False)


@given(a=FLOATS, b=FLOATS, c=FLOATS)
@settings(max_examples=200, deadline=None)
def test_fma_of_f64_is_rounded_once(a: float, b: float, c: float) -> None:
    exact = Fraction(a) * Fraction(b) + Fraction(c)
    with np.errstate(all="ignore"):
        found = float(rounding.fma(np.array([a]), np.array([b]), np.array([c]), TYPES["f64"])[0])
    try:
        assert found == float(exact)
    except OverflowError:
        assert np.isinf(found)


@given(a=st.floats(width=32, allow_nan=False, allow_infinity=False), b=st.floats(-1e10, 1e10, width=32))
@settings(max_examples=200, deadline=None)
def test_directed_sums_of_f32_enclose_the_exact_one(a: float, b: float) -> None:
    exact = Fraction(a) + Fraction(b)
    odd = rounding.odd_sum(np.array([a]), np.array([b]))
    with np.errstate(all="ignore"):
        down, up, zero = (float(rounding.narrow(odd, TYPES["f32"], mode)[0]) for mode in ("rm", "rp", "rz"))
    if np.isfinite([down, up]).all():
        assert Fraction(down) <= exact <= Fraction(up)
        assert np.nextafter(np.float32(down), np.float32(np.inf)) >= np.float32(up)
        assert zero == (down if exact >= 0 else up)


WARP_SUM = """add.u64 %rd3, %rd1, %rd20; ld.global.f32 %r3, [%rd3];
shfl.sync.bfly.b32 %r4, %r3, 16, 31, -1; add.f32 %r3, %r3, %r4;
shfl.sync.bfly.b32 %r4, %r3, 8, 31, -1; add.f32 %r3, %r3, %r4;
shfl.sync.bfly.b32 %r4, %r3, 4, 31, -1; add.f32 %r3, %r3, %r4;
shfl.sync.bfly.b32 %r4, %r3, 2, 31, -1; add.f32 %r3, %r3, %r4;
shfl.sync.bfly.b32 %r4, %r3, 1, 31, -1; add.f32 %r3, %r3, %r4;
add.u64 %rd4, %rd2, %rd20; st.global.f32 [%rd4], %r3;"""


@pytest.mark.parametrize("engine", ENGINES)
def test_a_sum_over_the_lanes_of_a_warp(engine: str) -> None:
    text = kernel(WARP_SUM, 2)
    accepted_by_ptxas(text)
    x = np.arange(256, dtype=np.float32)
    (_, sums), _ = run(text, [x, np.zeros_like(x)], engine=engine, grid=2, block=128)
    assert (sums == x.reshape(-1, 32).sum(1).repeat(32)).all()


@pytest.mark.parametrize("engine", ENGINES)
def test_threads_turn_a_block_around_through_shared_memory(engine: str) -> None:
    body = """mov.u64 %rd9, s; mul.wide.u32 %rd5, %r1, 4; add.u64 %rd10, %rd9, %rd5; add.u64 %rd3, %rd1, %rd20;
ld.global.u32 %r3, [%rd3]; st.shared.u32 [%rd10], %r3; bar.sync 0; sub.u32 %r4, 95, %r1; mul.wide.u32 %rd6, %r4, 4;
add.u64 %rd11, %rd9, %rd6; ld.shared.u32 %r5, [%rd11]; st.global.u32 [%rd3], %r5;"""
    text = kernel(body, declare=".shared .align 4 .b8 s[384];")
    accepted_by_ptxas(text)
    x = np.arange(288, dtype=np.uint32)
    (turned,), _ = run(text, [x], engine=engine, grid=3, block=96)
    assert (turned == x.reshape(3, 96)[:, ::-1].ravel()).all()


@pytest.mark.parametrize("engine", ENGINES)
def test_prmt_with_a_known_selector(engine: str) -> None:
    selectors = (0x3210, 0x7654, 0x3340, 0x5410, 0xC9E8)
    stores = [f"prmt.b32 %r5, %r3, %r4, {s}; st.global.u32 [%rd1+{4 * i}], %r5;" for i, s in enumerate(selectors)]
    text = kernel("\n".join(["mov.u32 %r3, 0x44332291; mov.u32 %r4, 0x08F76655;", *stores]))
    accepted_by_ptxas(text)
    (found,), _ = run(text, [np.zeros(len(selectors), np.uint32)], engine=engine, block=1)
    assert [f"{word:08x}" for word in found] == ["44332291", "08f76655", "44445591", "66552291", "0000ffff"]


@pytest.mark.parametrize("engine", ENGINES)
def test_a_call_of_a_device_function(engine: str) -> None:
    before = """.func (.param .b32 out) twice(.param .b32 in) { .reg .b32 %a<3>; ld.param.b32 %a1, [in];
add.u32 %a2, %a1, %a1; st.param.b32 [out], %a2; ret; }"""
    body = """{ .param .b32 a; .param .b32 b; st.param.b32 [a], %r2; call.uni (b), twice, (a); ld.param.b32 %r3, [b]; }
add.u64 %rd3, %rd1, %rd20; st.global.u32 [%rd3], %r3;"""
    text = kernel(body, before=before)
    accepted_by_ptxas(text)
    (found,), _ = run(text, [np.zeros(64, np.uint32)], engine=engine, grid=2)
    assert (found == 2 * np.arange(64)).all()


@pytest.mark.parametrize("engine", ENGINES)
def test_the_address_of_a_parameter_in_a_register(engine: str) -> None:
    body = """mov.b64 %rd5, p1; mov.b64 %rd6, p2; setp.lt.u32 %p1, %r2, 5; selp.b64 %rd7, %rd5, %rd6, %p1;
ld.param.b64 %rd8, [%rd7]; add.u64 %rd8, %rd8, %rd20; ld.global.u32 %r3, [%rd8];
add.u64 %rd9, %rd3, %rd20; st.global.u32 [%rd9], %r3;"""
    text = kernel(body, parameters=3)
    accepted_by_ptxas(text)
    x, y = np.arange(32, dtype=np.uint32), np.arange(100, 132, dtype=np.uint32)
    (*_, found), _ = run(text, [x, y, np.zeros(32, np.uint32)], engine=engine, block=32)
    assert (found == np.where(x < 5, x, y)).all()


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(("offset", "kind"), [(8, "out-of-bounds"), (-8, "out-of-bounds"), (4, "misaligned")])
def test_no_parameter_at_an_address(engine: str, offset: int, kind: str) -> None:
    body = f"mov.b64 %rd5, p1; ld.param.b64 %rd8, [%rd5+{offset}]; st.global.u32 [%rd8], %r2;"
    with pytest.raises(EmulatorFault, match=kind):
        run(kernel(body), [np.zeros(32, np.uint32)], engine=engine, block=32)


@pytest.mark.parametrize("engine", ENGINES)
def test_atomics_and_constants_of_the_module(engine: str) -> None:
    before = ".global .align 4 .u32 table[4] = {10, 20, 30, 40};"
    body = """and.b32 %r3, %r2, 3; mul.wide.u32 %rd3, %r3, 4; mov.u64 %rd4, table; add.u64 %rd4, %rd4, %rd3;
ld.global.u32 %r4, [%rd4]; red.global.add.u32 [%rd1], %r4; atom.global.max.u32 %r5, [%rd1+4], %r2;"""
    text = kernel(body, before=before)
    accepted_by_ptxas(text)
    (found,), _ = run(text, [np.zeros(2, np.uint32)], engine=engine, grid=4, block=64)
    assert found.tolist() == [256 * 25, 255]


@pytest.mark.parametrize("engine", ENGINES)
def test_a_guarded_instruction_before_a_label(engine: str) -> None:
    body = """setp.lt.u32 %p1, %r2, 7; mov.u32 %r3, 1;
@%p1 mov.u32 %r3, 2;
done: add.u64 %rd3, %rd1, %rd20; st.global.u32 [%rd3], %r3; setp.eq.u32 %p2, %r3, 99; @%p2 bra done;"""
    (found,), _ = run(kernel(body), [np.zeros(32, np.uint32)], engine=engine)
    assert found.tolist() == [2] * 7 + [1] * 25


@pytest.mark.parametrize("engine", ENGINES)
def test_a_value_from_before_a_guarded_instruction(engine: str) -> None:
    """%r3 and %r4 are written and read in one basic block, with a write by some threads between."""
    body = """setp.lt.u32 %p1, %r2, 7; add.u32 %r3, %r2, 100; add.u32 %r5, %r3, 1;
@%p1 mov.u32 %r3, %r2; @!%p1 add.u32 %r4, %r3, %r5; @%p1 sub.u32 %r4, %r5, %r3;
add.u32 %r4, %r4, %r3; add.u64 %rd3, %rd1, %rd20; st.global.u32 [%rd3], %r4;"""
    text = kernel(body)
    accepted_by_ptxas(text)
    (found,), _ = run(text, [np.zeros(32, np.uint32)], engine=engine)
    assert found.tolist() == [101 + t if t < 7 else 3 * (100 + t) + 1 for t in range(32)]


BRANCHES = """add.u64 %rd3, %rd1, %rd20; add.u32 %r3, %r2, 100; setp.lt.u32 %p1, %r2, 7; mov.u32 %r9, 0;
@%p1 bra low;
cvt.rn.f32.u32 %r4, %r3; add.rn.f32 %r5, %r4, %r4; cvt.rzi.u32.f32 %r6, %r5; setp.lt.u32 %p2, %r2, 20;
@%p2 bra middle;
add.u32 %r6, %r6, %r3;
bra.uni after;
middle: sub.u32 %r6, %r6, %r3; cvt.rzi.u32.f32 %r7, %r4; add.u32 %r6, %r6, %r7;
after: add.u32 %r6, %r6, %r3;
bra.uni end;
low: cvt.rn.f32.u32 %r4, %r3; add.u32 %r6, %r4, %r3; sub.u32 %r6, %r6, %r4;
end: bar.sync 0; add.u32 %r9, %r9, 1; add.u32 %r6, %r6, %r9; setp.lt.u32 %p3, %r9, 3;
@%p3 bra end;
st.global.u32 [%rd3], %r6;"""


@pytest.mark.parametrize("engine", ENGINES)
def test_values_from_before_a_branch(engine: str) -> None:
    """%r3 and %r4 are read where only one branch leads, as integers and as floats, and where several lead."""
    text = kernel(BRANCHES)
    (found,), _ = run(text, [np.zeros(32, np.uint32)], engine=engine)
    t = np.arange(32) + 100
    assert found.tolist() == (np.where(t < 107, t, np.where(t < 120, 3 * t, 4 * t)) + 6).tolist()


@pytest.mark.parametrize("engine", ENGINES)
def test_a_value_that_a_branch_to_the_next_instruction_may_not_write(engine: str) -> None:
    body = """setp.lt.u32 %p1, %r2, 7; mov.u32 %r3, 1; mov.u32 %r4, 5;
@%p1 bra next;
next: @%p1 mov.u32 %r3, 2; add.u32 %r3, %r3, %r4; add.u64 %rd3, %rd1, %rd20; st.global.u32 [%rd3], %r3;"""
    (found,), _ = run(kernel(body), [np.zeros(32, np.uint32)], engine=engine)
    assert found.tolist() == [7] * 7 + [6] * 25


LONG_LOOP = """add.u64 %rd20, %rd20, %rd20; add.u64 %rd3, %rd1, %rd20; add.u64 %rd4, %rd2, %rd20;
ld.global.f64 %rd5, [%rd3]; mov.b64 %rd6, %rd5; mov.b32 %r3, 0;
again: add.rn.f64 %rd6, %rd6, %rd5; sub.rn.f64 %rd6, %rd5, %rd6; add.u32 %r3, %r3, 1; setp.lt.u32 %p1, %r3, 200000;
@%p1 bra again;
st.global.f64 [%rd4], %rd6;"""


def test_code_that_is_optimized_later_gives_the_same_results() -> None:
    """The fast engine compiles a kernel again after it has run for long. NaNs keep their bits too."""
    text = kernel(LONG_LOOP, 2)
    accepted_by_ptxas(text)
    x = np.linspace(-1.5, 0.25, 32)
    x[3::4] = np.array([0xFFF8_0000_0000_0007], np.uint64).view(np.float64)
    x[2::8] = np.array([0x7FF8_0000_0000_0009], np.uint64).view(np.float64)
    first, *others = (run(text, [x, np.zeros_like(x)], engine="fast")[0][1].tobytes() for _ in range(3))
    assert others == [first, first]
    short = kernel(LONG_LOOP.replace("200000", "50"), 2)
    checked, fast = (run(short, [x, np.zeros_like(x)], engine=engine)[0][1].tobytes() for engine in ENGINES)
    assert checked == fast

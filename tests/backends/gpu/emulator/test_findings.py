"""Kernels with faults: each engine finds what it promises, and names line and thread. Kernels without are not blamed."""

from __future__ import annotations

import pickle
from typing import NamedTuple

import numpy as np
import pytest
from xla_backend_gpu.emulator import EmulatorFault, FaultKind

from tests.backends.gpu.emulator.running import ENGINES, accepted_by_ptxas, kernel, run

SHARED = ".shared .align 16 .b8 s[256];"
ADDRESS = "mov.u64 %rd9, s; shl.b32 %r5, %r1, 2; cvt.u64.u32 %rd10, %r5; add.u64 %rd9, %rd9, %rd10;"
OTHER_WARP = "xor.b32 %r6, %r5, 128; cvt.u64.u32 %rd10, %r6; mov.u64 %rd11, s; add.u64 %rd12, %rd11, %rd10;"
SUM_OF_LANES = "setp.ge.u32 %p1, %r1, 16; @%p1 exit; mov.u32 %r3, %r1;\n" + "".join(
    f"shfl.sync.down.b32 %r4, %r3, {n}, 31, 0xffff; add.u32 %r3, %r3, %r4;\n" for n in (8, 4, 2, 1)
)
"""The sum of the first 16 lanes, in %r3 of lane 0."""
X = np.arange(64, dtype=np.uint32)


class Fault(NamedTuple):
    kind: FaultKind
    body: str
    text: str
    thread: int
    detail: str
    fast: bool = False
    block: int = 32


FAULTS = {
    "a store behind the block": Fault(
        FaultKind.OUT_OF_BOUNDS,
        "add.u64 %rd3, %rd1, %rd20;\nst.global.u32 [%rd3+196], %r1;",
        "st.global.u32 [%rd3+196], %r1;",
        15,
        "0 bytes after the end of one of 256 bytes",
    ),
    "a load from null": Fault(
        FaultKind.OUT_OF_BOUNDS,
        "mov.u64 %rd3, 0;\nld.u32 %r3, [%rd3];",
        "ld.u32 %r3, [%rd3];",
        0,
        "are not within allocated memory",
        fast=True,
    ),
    "a load behind shared memory": Fault(
        FaultKind.OUT_OF_BOUNDS,
        f"{ADDRESS}\nst.shared.u32 [%rd9+192], %r1;",
        "st.shared.u32 [%rd9+192], %r1;",
        16,
        "of which the block has 256 bytes",
        fast=True,
    ),
    "a misaligned vector": Fault(
        FaultKind.MISALIGNED,
        "ld.global.v2.u32 {%r3, %r4}, [%rd1+4];",
        "ld.global.v2.u32 {%r3, %r4}, [%rd1+4];",
        0,
        "not a multiple of",
        fast=True,
    ),
    "a misaligned load outside": Fault(
        FaultKind.MISALIGNED,
        "mov.u64 %rd3, 2;\nld.u32 %r3, [%rd3];",
        "ld.u32 %r3, [%rd3];",
        0,
        "not a multiple of",
        fast=True,
    ),
    "a branch on nothing": Fault(
        FaultKind.UNINITIALIZED,
        f"{ADDRESS}\nld.shared.u32 %r3, [%rd9]; add.u32 %r3, %r3, 1;\nsetp.eq.u32 %p1, %r3, 0;\n@%p1 exit;",
        "@%p1 exit;",
        0,
        "branches on a value from uninitialized memory",
    ),
    "a result of nothing": Fault(
        FaultKind.UNINITIALIZED,
        f"{ADDRESS}\nld.shared.u32 %r3, [%rd9];\nst.global.u32 [%rd1], %r3;",
        "st.global.u32 [%rd1], %r3;",
        0,
        "stores to global memory a value",
    ),
    "a neighbour's value without a barrier": Fault(
        FaultKind.SHARED_MEMORY_RACE,
        f"{ADDRESS}\nst.shared.u32 [%rd9], %r1;\nld.shared.u32 %r3, [%rd9+4];",
        "ld.shared.u32 %r3, [%rd9+4];",
        0,
        "thread 1 of the block too, which wrote it since the last barrier",
    ),
    "a value overwritten before a barrier": Fault(
        FaultKind.SHARED_MEMORY_RACE,
        f"{ADDRESS}\nst.shared.u32 [%rd9], %r1;\nbar.sync 0;\nld.shared.u32 %r3, [s];\nst.shared.u32 [%rd9], %r3;",
        "st.shared.u32 [%rd9], %r3;",
        0,
        "several threads too, which read it",
    ),
    "a neighbour's value after a shuffle": Fault(
        FaultKind.SHARED_MEMORY_RACE,
        f"{ADDRESS}\nst.shared.u32 [%rd9], %r1;\nshfl.sync.idx.b32 %r3, %r1, 0, 31, -1;\nld.shared.u32 %r3, [%rd9+4];",
        "ld.shared.u32 %r3, [%rd9+4];",
        0,
        "thread 1 of the block too, which wrote it since the last barrier",
    ),
    "a neighbour's value after a vote": Fault(
        FaultKind.SHARED_MEMORY_RACE,
        f"{ADDRESS}\nst.shared.u32 [%rd9], %r1;\nsetp.ne.u32 %p1, %r1, 0;\nvote.sync.ballot.b32 %r3, %p1, -1;\n"
        "ld.shared.u32 %r3, [%rd9+4];",
        "ld.shared.u32 %r3, [%rd9+4];",
        0,
        "thread 1 of the block too, which wrote it since the last barrier",
    ),
    "different values in one place": Fault(
        FaultKind.SHARED_MEMORY_RACE,
        "st.shared.u32 [s], %r1;",
        "st.shared.u32 [s], %r1;",
        0,
        "both write it in one instruction",
    ),
    "an atomic after a plain store": Fault(
        FaultKind.SHARED_MEMORY_RACE,
        "setp.ne.u32 %p1, %r1, 0;\n@!%p1 st.shared.u32 [s], 0;\natom.shared.add.u32 %r3, [s], 1;",
        "atom.shared.add.u32 %r3, [s], 1;",
        1,
        "which wrote it since",
    ),
    "a barrier that a half passes": Fault(
        FaultKind.BARRIER_DIVERGENCE,
        "setp.lt.u32 %p1, %r1, 32;\n@%p1 bar.sync 0;",
        "@%p1 bar.sync 0;",
        0,
        "32 of 64 threads reach the barrier; thread 32 of the block ended",
        block=64,
    ),
    "lanes at different barriers": Fault(
        FaultKind.BARRIER_DIVERGENCE,
        "setp.lt.u32 %p1, %r1, 16;\n@%p1 bra low;\nbar.sync 0;\nbra done;\nlow:\nbar.sync 0;\ndone:",
        "bar.sync 0;",
        0,
        "lanes of its warp wait at another barrier",
    ),
    "lanes that wait at one barrier by different instructions": Fault(
        FaultKind.BARRIER_DIVERGENCE,
        "setp.lt.u32 %p1, %r1, 40;\n@%p1 bar.sync 0;\nst.global.u32 [%rd1], 1;\nbar.sync 0;",
        "bar.sync 0;",
        40,
        "lanes of its warp wait at another barrier",
        fast=True,
        block=64,
    ),
    "a value of a warp that waited at another barrier": Fault(
        FaultKind.SHARED_MEMORY_RACE,
        f"{ADDRESS}\nst.shared.u32 [%rd9], %r1;\nsetp.lt.u32 %p1, %r1, 32;\n@%p1 bar.sync 1, 32;\n"
        f"@!%p1 bar.sync 2, 32;\n{OTHER_WARP}\nld.shared.u32 %r3, [%rd12];",
        "ld.shared.u32 %r3, [%rd12];",
        0,
        "thread 32 of the block too, which wrote it",
        block=64,
    ),
    "a value of a warp that waited at the barrier of one warp": Fault(
        FaultKind.SHARED_MEMORY_RACE,
        f"{ADDRESS}\nst.shared.u32 [%rd9], %r1;\nbar.sync 1, 32;\n{OTHER_WARP}\nld.shared.u32 %r3, [%rd12];",
        "ld.shared.u32 %r3, [%rd12];",
        0,
        "thread 32 of the block too, which wrote it",
        block=64,
    ),
    "a value overwritten after a barrier that a reader missed": Fault(
        FaultKind.SHARED_MEMORY_RACE,
        "ld.shared.u32 %r3, [s];\nsetp.lt.u32 %p1, %r1, 64;\n@!%p1 bra done;\nbar.sync 1, 64;\n"
        "setp.eq.u32 %p2, %r1, 0;\n@%p2 st.shared.u32 [s], 5;\ndone:",
        "@%p2 st.shared.u32 [s], 5;",
        0,
        "several threads too, which read it",
        block=96,
    ),
    "a barrier of a part of a warp": Fault(
        FaultKind.BARRIER_DIVERGENCE,
        "setp.lt.u32 %p1, %r1, 16;\nmov.u32 %r3, 16;\n@%p1 bar.sync 1, %r3;",
        "@%p1 bar.sync 1, %r3;",
        0,
        "asks for 16 threads, which is no multiple of 32",
    ),
    "warps that wait for different numbers of threads": Fault(
        FaultKind.BARRIER_DIVERGENCE,
        "and.b32 %r3, %r1, 32;\nadd.u32 %r3, %r3, 32;\nbar.sync 1, %r3;",
        "bar.sync 1, %r3;",
        0,
        "asks for 32 threads, and others wait at it for another number",
        block=64,
    ),
    "warps at barriers of different numbers": Fault(
        FaultKind.BARRIER_DIVERGENCE,
        "shr.u32 %r3, %r1, 5;\nbar.sync %r3;",
        "bar.sync %r3;",
        0,
        "32 of 64 threads reach the barrier; thread 32 of the block waits elsewhere",
        fast=True,
        block=64,
    ),
    "a shuffle that not all lanes reach": Fault(
        FaultKind.BARRIER_DIVERGENCE,
        "setp.lt.u32 %p1, %r1, 16;\n@%p1 bra low;\nbar.sync 0;\nlow:\nshfl.sync.idx.b32 %r3, %r1, 0, 31, -1;",
        "shfl.sync.idx.b32 %r3, %r1, 0, 31, -1;",
        0,
        "never reach the instruction",
    ),
    "a shuffle from a lane outside of its mask": Fault(
        FaultKind.UNINITIALIZED,
        "setp.ge.u32 %p1, %r1, 16;\n@%p1 exit;\nshfl.sync.bfly.b32 %r3, %r1, 16, 31, 0xffff;\nst.global.u32 [%rd1], %r3;",
        "st.global.u32 [%rd1], %r3;",
        0,
        "stores to global memory a value from uninitialized memory, or from a lane outside of a shuffle's mask",
    ),
    "a shuffle from a lane that has ended": Fault(
        FaultKind.UNINITIALIZED,
        "setp.eq.u32 %p1, %r1, 3;\n@%p1 exit;\nshfl.sync.idx.b32 %r3|%p2, %r1, 3, 31, -1;\n@%p2 add.u32 %r3, %r3, 1;\n"
        "st.global.u32 [%rd1], %r3;",
        "st.global.u32 [%rd1], %r3;",
        0,
        "a lane outside of a shuffle's mask",
    ),
    "a shuffle whose mask lacks a lane that executes it": Fault(
        FaultKind.BARRIER_DIVERGENCE,
        "shfl.sync.idx.b32 %r3, %r1, 0, 31, 1;",
        "shfl.sync.idx.b32 %r3, %r1, 0, 31, 1;",
        1,
        "lacks the thread's own lane",
    ),
    "a value of another block": Fault(
        FaultKind.GLOBAL_MEMORY_RACE,
        "add.u64 %rd3, %rd1, %rd20;\nst.global.u32 [%rd3], %r1;\nxor.b32 %r3, %r2, 32;\nmul.wide.u32 %rd4, %r3, 4;\n"
        "add.u64 %rd4, %rd1, %rd4;\nld.global.u32 %r4, [%rd4];",
        "ld.global.u32 %r4, [%rd4];",
        0,
        "which block 1 of the grid wrote; nothing orders blocks",
    ),
    "a value that another block has read": Fault(
        FaultKind.GLOBAL_MEMORY_RACE,
        "xor.b32 %r3, %r2, 32;\nmul.wide.u32 %rd4, %r3, 4;\nadd.u64 %rd4, %rd1, %rd4;\nld.global.u32 %r4, [%rd4];\n"
        "add.u64 %rd3, %rd1, %rd20;\nst.global.u32 [%rd3], 77;",
        "st.global.u32 [%rd3], 77;",
        0,
        "which block 1 of the grid read",
    ),
    "different values of blocks in one place": Fault(
        FaultKind.GLOBAL_MEMORY_RACE,
        "setp.eq.u32 %p1, %r1, 0;\n@%p1 st.global.u32 [%rd1], %r2;",
        "@%p1 st.global.u32 [%rd1], %r2;",
        0,
        "which block 1 of the grid writes by the same instruction",
    ),
    "a sum of blocks without an atomic": Fault(
        FaultKind.GLOBAL_MEMORY_RACE,
        "setp.ne.u32 %p1, %r1, 0;\n@%p1 exit;\nld.global.u32 %r3, [%rd1];\nadd.u32 %r3, %r3, 1;\n"
        "st.global.u32 [%rd1], %r3;",
        "st.global.u32 [%rd1], %r3;",
        0,
        "which several blocks read",
    ),
    "an atomic of a block on what another one has set to zero": Fault(
        FaultKind.GLOBAL_MEMORY_RACE,
        "setp.eq.u32 %p1, %r2, 32;\n@%p1 st.global.u32 [%rd1], 0;\n@%p1 red.global.add.u32 [%rd1], 1;\n"
        "setp.eq.u32 %p1, %r2, 0;\n@%p1 red.global.add.u32 [%rd1], 1;",
        "@%p1 red.global.add.u32 [%rd1], 1;",
        0,
        "which block 1 of the grid wrote",
    ),
    "a sum by shuffles that takes what a lane outside of the mask has": Fault(
        FaultKind.UNINITIALIZED,
        f"{SUM_OF_LANES}\nsetp.ne.u32 %p1, %r1, 8;\n@%p1 exit;\nst.global.u32 [%rd1], %r3;",
        "st.global.u32 [%rd1], %r3;",
        8,
        "a lane outside of a shuffle's mask",
    ),
    "a shuffle to a lane that nobody knows": Fault(
        FaultKind.UNINITIALIZED,
        f"{ADDRESS}\nld.shared.u32 %r3, [%rd9];\nshfl.sync.idx.b32 %r3, %r1, %r3, 31, -1;",
        "shfl.sync.idx.b32 %r3, %r1, %r3, 31, -1;",
        0,
        "depends on a value from uninitialized memory",
    ),
    "an atomic on a result that a block reads": Fault(
        FaultKind.GLOBAL_MEMORY_RACE,
        "red.global.add.u32 [%rd1], 1;\nld.global.u32 %r3, [%rd1];",
        "ld.global.u32 %r3, [%rd1];",
        0,
        "which block 1 of the grid wrote",
    ),
    "a store to what is read as constant": Fault(
        FaultKind.GLOBAL_MEMORY_RACE,
        "add.u64 %rd3, %rd1, %rd20;\nld.global.nc.u32 %r3, [%rd3];\nst.global.u32 [%rd3], 77;",
        "st.global.u32 [%rd3], 77;",
        0,
        "or a block by ld.global.nc",
    ),
    "an endless loop": Fault(FaultKind.ENDLESS, "again:\nbra again;", "bra again;", 0, "more than 5000", fast=True),
    "a trap": Fault(FaultKind.TRAP, "setp.ne.u32 %p1, %r1, 3;\n@%p1 exit;\ntrap;", "trap;", 3, "trapped", fast=True),
}


@pytest.mark.parametrize("name", FAULTS)
def test_the_checked_engine_finds(name: str) -> None:
    fault = FAULTS[name]
    text = kernel(fault.body, declare=SHARED)
    accepted_by_ptxas(text)
    with pytest.raises(EmulatorFault) as caught:
        run(text, [X], engine="checked", grid=2, block=fault.block, limit=5000)
    found = caught.value
    assert (found.kind, found.kernel, found.text) == (fault.kind, "k", fault.text)
    assert (found.block, found.thread) == ((0, 0, 0), (fault.thread, 0, 0)) or fault.kind == "out-of-bounds"
    assert text.splitlines()[found.line - 1] == fault.text
    assert fault.detail in str(found)
    assert pickle.loads(pickle.dumps(found)).line == found.line


@pytest.mark.parametrize("name", [name for name, fault in FAULTS.items() if fault.fast])
def test_the_fast_engine_finds(name: str) -> None:
    fault = FAULTS[name]
    with pytest.raises(EmulatorFault) as caught:
        run(kernel(fault.body, declare=SHARED), [X], engine="fast", grid=2, block=fault.block, limit=5000)
    found = caught.value
    assert (found.kind, found.text, found.thread) == (fault.kind, fault.text, (fault.thread, 0, 0))


def test_the_fast_engine_finds_threads_that_wait_in_vain() -> None:
    body = "setp.lt.u32 %p1, %r1, 16;\n@%p1 bra low;\nbar.sync 0;\nbra done;\nlow:\nshfl.sync.idx.b32 %r3, %r1, 0, 31, -1;\ndone:"
    with pytest.raises(EmulatorFault) as caught:
        run(kernel(body), [X], engine="fast")
    assert caught.value.kind is FaultKind.BARRIER_DIVERGENCE


@pytest.mark.parametrize("first", ["", "bar.sync 0;\n"], ids=["first barrier", "second barrier"])
def test_the_fast_engine_names_the_barrier_that_cannot_complete(first: str) -> None:
    body = f"{first}setp.lt.u32 %p1, %r1, 16;\n@%p1 bra low;\nbar.sync 0;\nbra done;\nlow:\nbar.sync 1, 64;\ndone:"
    text = kernel(body)
    with pytest.raises(EmulatorFault) as caught:
        run(text, [X], engine="fast")
    found = caught.value
    assert (found.kind, found.text, found.thread) == (FaultKind.BARRIER_DIVERGENCE, "bar.sync 1, 64;", (0, 0, 0))
    assert text.splitlines()[found.line - 1] == found.text


def test_a_fault_names_the_source_line() -> None:
    text = kernel(".loc 1 42 7\ntrap;", before='.file 1 "model.hlo"')
    with pytest.raises(EmulatorFault, match=r"model\.hlo:42:7"):
        run(text, [X], engine="checked")


RIGHT = {
    "a neighbour's value after a barrier": f"""{ADDRESS}
st.shared.u32 [%rd9], %r1; bar.sync 0; ld.shared.u32 %r3, [%rd9+4]; bar.sync 0; st.shared.u32 [%rd9], 1;""",
    "a neighbour's value after a warp's barrier": f"""{ADDRESS}
st.shared.u32 [%rd9], %r1; bar.warp.sync -1; ld.shared.u32 %r3, [%rd9]; bar.warp.sync -1; st.shared.u32 [s], 5;
bar.warp.sync -1; ld.shared.u32 %r3, [s];""",
    "equal values in one place": "st.shared.u32 [s], 7;",
    "atomics in one place": """setp.ne.u32 %p1, %r1, 0; @!%p1 st.shared.u32 [s], 0; bar.sync 0;
atom.shared.add.u32 %r3, [s], 1; bar.sync 0; ld.shared.u32 %r4, [s]; st.global.u32 [%rd1], %r4;""",
    "a value that is loaded early and not used": f"""{ADDRESS}
ld.shared.u32 %r3, [%rd9]; setp.eq.u32 %p1, %r1, %r1; selp.b32 %r4, 1, %r3, %p1; st.global.u32 [%rd1], %r4;""",
    "an exchange within a half of a warp": """setp.ge.u32 %p1, %r1, 16; @%p1 exit;
shfl.sync.bfly.b32 %r3, %r1, 8, 31, 0xffff; add.u64 %rd3, %rd1, %rd20; st.global.u32 [%rd3], %r3;""",
    "equal values of blocks in one place": "st.global.u32 [%rd1], 7; st.global.u32 [%rd1], 7;",
    "a block's own values": """add.u64 %rd3, %rd1, %rd20; st.global.u32 [%rd3], 77; ld.global.u32 %r3, [%rd3];
st.global.u16 [%rd3+2], 5; ld.global.u8 %r3, [%rd3];""",
    "atomics of blocks in one place": """red.global.add.u32 [%rd1], 1; atom.global.add.u32 %r3, [%rd1], 1;
ld.relaxed.gpu.global.u32 %r3, [%rd1];""",
    "blocks that a fence orders": """st.global.u32 [%rd1], %r2; membar.gl; ld.global.u32 %r3, [%rd1];""",
    "a value that is fetched from outside of a mask and not used": """setp.ge.u32 %p1, %r1, 16; @%p1 exit;
shfl.sync.down.b32 %r3, %r1, 8, 31, 0xffff; setp.lt.u32 %p2, %r1, 8; selp.b32 %r4, %r3, %r1, %p2;
add.u64 %rd3, %rd1, %rd20; st.global.u32 [%rd3], %r4; shfl.sync.idx.b32 %r3, %r1, 0, 31, 0xffff;
st.global.u32 [%rd3], %r3;""",
    "a sum by shuffles in a half of a warp": f"""{SUM_OF_LANES} setp.ne.u32 %p1, %r1, 0; @%p1 exit;
add.u64 %rd3, %rd1, %rd20; st.global.u32 [%rd3], %r3;""",
    "lanes that part and meet at a shuffle": """setp.lt.u32 %p1, %r1, 16; @%p1 bra low; add.u32 %r5, %r1, 1; low:
shfl.sync.idx.b32 %r3, %r1, 0, 31, -1;""",
}

PARTIAL = {
    "two warps that meet while the third goes on": (
        96,
        f"""{ADDRESS}
setp.lt.u32 %p1, %r1, 64; @!%p1 bra done; st.shared.u32 [%rd9], %r1; bar.sync 1, 64; {OTHER_WARP}
ld.shared.u32 %r3, [%rd12]; bar.sync 1, 64; st.shared.u32 [%rd9], 5; done:""",
    ),
    "an order through a third warp": (
        96,
        """shr.u32 %r3, %r1, 5; setp.eq.u32 %p1, %r3, 0; setp.eq.u32 %p2, %r3, 1; setp.eq.u32 %p3, %r3, 2;
ld.shared.u32 %r4, [s]; @%p1 bar.sync 1, 64; @%p2 bar.sync 1, 64; @%p2 bar.sync 2, 64; @%p3 bar.sync 2, 64;
@!%p3 bra done; bar.warp.sync -1; setp.eq.u32 %p4, %r1, 64; @%p4 st.shared.u32 [s], 7; done:""",
    ),
    "a last warp that lacks lanes": (
        48,
        f"""{ADDRESS} st.shared.u32 [%rd9], %r1; bar.sync 1, 64; ld.shared.u32 %r3, [s+128];""",
    ),
    "barriers of a warp and of the block": (
        64,
        f"""{ADDRESS} st.shared.u32 [%rd9], %r1; shr.u32 %r3, %r1, 5; add.u32 %r3, %r3, 1; bar.sync %r3, 32;
ld.shared.u32 %r4, [%rd9]; bar.sync 0; {OTHER_WARP} ld.shared.u32 %r3, [%rd12]; bar.sync 0, 64;
st.shared.u32 [%rd9], 3;""",
    ),
    "a warp without lanes beside another": (
        80,
        """shr.u32 %r3, %r1, 5; setp.eq.u32 %p1, %r3, 0; @%p1 bra done; bar.sync 1, 64; done: bar.sync 0;""",
    ),
}


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("name", PARTIAL)
def test_no_fault_in_barriers_of(name: str, engine: str) -> None:
    block, body = PARTIAL[name]
    text = kernel(body, declare=SHARED.replace("256", "512"))
    accepted_by_ptxas(text)
    run(text, [X], engine=engine, grid=2, block=block)


@pytest.mark.parametrize("name", RIGHT)
def test_no_fault_in(name: str) -> None:
    text = kernel(RIGHT[name], declare=SHARED)
    accepted_by_ptxas(text)
    run(text, [X], engine="checked", grid=2)

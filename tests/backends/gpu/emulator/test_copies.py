"""Asynchronous copies to shared memory, and matrices that a warp loads from it, on both engines."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("xla_backend_gpu", reason="xla-backend-gpu is not installed")

from xla_backend_gpu.emulator import EmulatorFault, FaultKind

from tests.backends.gpu.emulator.running import ENGINES, accepted_by_ptxas, kernel, run

SHARED = ".shared .align 16 .b8 s[1024];"
PLACES = """
shl.b32 %r10, %r1, {shift};
mov.u32 %r11, s;
add.u32 %r11, %r11, %r10;
cvt.u64.u32 %rd10, %r10;
add.u64 %rd11, %rd1, %rd10;
add.u64 %rd12, %rd2, %rd10;
"""
"""%r11, %rd11 and %rd12: the thread's place in shared memory and in both arrays."""


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("size", [4, 8, 16])
@pytest.mark.parametrize("given", [None, 0, 3, 4])
def test_copies(size: int, given: int | None, engine: str) -> None:
    """A given size is that of the source; the rest is zeros."""
    some = "" if given is None else ", %r12"
    body = f"""{PLACES.format(shift=size.bit_length() - 1)}
    mov.u32 %r12, {given or 0};
    cp.async.ca.shared.global [%r11], [%rd11], {size}{some};
    cp.async.commit_group;
    cp.async.wait_group 0;
    bar.sync 0;
    xor.b32 %r10, %r10, {size};
    mov.u32 %r13, s;
    add.u32 %r13, %r13, %r10;
    ld.shared.b32 %r14, [%r13+{size - 4}];
    add.u64 %rd13, %rd2, %rd20;
    st.global.b32 [%rd13], %r14;
    """
    text = kernel(body, 2, declare=SHARED)
    accepted_by_ptxas(text)
    x = np.arange(1, 32 * size + 1, dtype=np.uint32).astype(np.uint8)
    (_, got), _ = run(text, [x, np.zeros(32, np.uint32)], engine=engine)
    copied = x.reshape(32, size).copy()
    copied[:, size if given is None else given :] = 0
    last = np.ascontiguousarray(copied[:, size - 4 :]).view(np.uint32).reshape(16, 2)
    np.testing.assert_array_equal(got.reshape(16, 2), last[:, ::-1])


def test_a_source_of_no_bytes_is_not_accessed() -> None:
    body = f"{PLACES.format(shift=4)}\nmov.u64 %rd11, 0;\ncp.async.cg.shared.global [%r11], [%rd11], 16, 0;"
    text = kernel(body, 2, declare=SHARED)
    accepted_by_ptxas(text)
    for engine in ENGINES:
        run(text, [np.zeros(128, np.uint32)] * 2, engine=engine)


COPY = f"{PLACES.format(shift=4)}\ncp.async.cg.shared.global [%r11], [%rd11], 16;"
READ = "ld.shared.v4.u32 {%r14, %r15, %r16, %r17}, [%r11];\nst.global.v4.u32 [%rd12], {%r14, %r15, %r16, %r17};"
OTHERS = READ.replace("[%r11]", "[s]")


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        (f"{COPY}\n{READ}", FaultKind.UNINITIALIZED),
        (f"{COPY}\ncp.async.commit_group;\n{READ}", FaultKind.UNINITIALIZED),
        (f"{COPY}\ncp.async.wait_group 0;\n{READ}", FaultKind.UNINITIALIZED),  # it waits for groups only
        (f"{COPY}\ncp.async.commit_group;\ncp.async.wait_group 1;\n{READ}", FaultKind.UNINITIALIZED),
        (f"{COPY}\ncp.async.wait_all;\n{OTHERS}", FaultKind.SHARED_MEMORY_RACE),
        (f"{COPY}\nbar.sync 0;\ncp.async.wait_all;\n{OTHERS}", FaultKind.SHARED_MEMORY_RACE),
        (f"{COPY}\ncp.async.wait_all;\nbar.sync 0;\n{OTHERS}\n{COPY}", FaultKind.SHARED_MEMORY_RACE),
        (COPY.replace("[%rd11]", "[%rd11+4]"), FaultKind.MISALIGNED),
        (COPY.replace("[%rd11]", "[%rd11+16]"), FaultKind.OUT_OF_BOUNDS),
        (COPY.replace("[%r11]", "[%r11+528]"), FaultKind.OUT_OF_BOUNDS),
    ],
)
def test_copies_that_are_used_too_early_or_outside_of_memory(body: str, kind: FaultKind) -> None:
    with pytest.raises(EmulatorFault) as found:
        run(kernel(body, 2, declare=SHARED), [np.zeros(128, np.uint32)] * 2, engine="checked")
    assert found.value.kind is kind


def test_copies_that_are_waited_for() -> None:
    body = f"{COPY}\ncp.async.commit_group;\ncp.async.commit_group;\ncp.async.wait_group 1;\n{READ}"
    x = np.arange(128, dtype=np.uint32)
    (_, got), counters = run(kernel(body, 2, declare=SHARED), [x, np.zeros_like(x)], engine="checked")
    np.testing.assert_array_equal(got, x)
    assert (counters.global_load_bytes, counters.coalescing, counters.shared_bank_conflicts) == (512, 1.0, 0)


def matrices(count: int, *, transposed: bool) -> str:
    registers = ", ".join(f"%r{20 + n}" for n in range(count))
    stores = "\n".join(f"st.global.b32 [%rd13+{128 * n}], %r{20 + n};" for n in range(count))
    return f"""{PLACES.format(shift=4)}
    ld.global.v4.u32 {{%r14, %r15, %r16, %r17}}, [%rd11];
    st.shared.v4.u32 [%r11], {{%r14, %r15, %r16, %r17}};
    bar.sync 0;
    ldmatrix.sync.aligned.m8n8.x{count}{".trans" if transposed else ""}.shared.b16 {{{registers}}}, [%r11];
    add.u64 %rd13, %rd2, %rd20;
    {stores}
    """


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("transposed", [False, True])
@pytest.mark.parametrize("count", [1, 2, 4])
def test_matrices_of_a_warp(count: int, transposed: bool, engine: str) -> None:
    text = kernel(matrices(count, transposed=transposed), 2, declare=SHARED)
    accepted_by_ptxas(text)
    x = np.arange(1000, 1256, dtype=np.uint16).reshape(4, 8, 8)
    (_, got), counters = run(text, [x, np.zeros((count, 32, 2), np.uint16)], engine=engine)
    expected = x[:count].transpose(0, 2, 1) if transposed else x[:count]
    np.testing.assert_array_equal(got.reshape(count, 8, 8), expected)
    assert counters.shared_bank_conflicts == 0


@pytest.mark.parametrize(
    ("old", "new", "kind", "in_fast"),
    [
        ("[%r11];\n    add.u64 %rd13", "[%r11+8];\n    add.u64 %rd13", FaultKind.MISALIGNED, True),
        ("[%r11];\n    add.u64 %rd13", "[%r11+528];\n    add.u64 %rd13", FaultKind.OUT_OF_BOUNDS, True),
        ("st.shared.v4.u32 [%r11], {%r14, %r15, %r16, %r17};", "", FaultKind.UNINITIALIZED, False),
    ],
)
def test_matrices_outside_of_memory(old: str, new: str, kind: FaultKind, in_fast: bool) -> None:
    body = matrices(4, transposed=False)
    assert old in body
    text = kernel(body.replace(old, new), 2, declare=SHARED)
    for engine in ENGINES if in_fast else ["checked"]:
        with pytest.raises(EmulatorFault) as found:
            run(text, [np.zeros(256, np.uint16), np.zeros(128, np.uint32)], engine=engine)
        assert found.value.kind is kind


def test_rows_that_other_lanes_wrote_need_a_barrier() -> None:
    body = matrices(4, transposed=False).replace("[%r11];\n    add.u64 %rd13", "[%r13];\n    add.u64 %rd13")
    text = kernel(body.replace("bar.sync 0;", "mov.u32 %r13, s;"), 2, declare=SHARED)
    with pytest.raises(EmulatorFault) as found:
        run(text, [np.zeros(256, np.uint16), np.zeros(128, np.uint32)], engine="checked")
    assert found.value.kind is FaultKind.SHARED_MEMORY_RACE

"""The counts of the checked engine."""

from __future__ import annotations

import numpy as np
import pytest
from xla_backend_gpu.emulator import Counters

from tests.backends.gpu.emulator.running import kernel, run

X = np.zeros(4096, np.uint32)


def counted(body: str, **options: int) -> Counters:
    return run(kernel(body, declare=".shared .align 16 .b8 s[8192];"), [X], engine="checked", **options)[1]


@pytest.mark.parametrize(
    ("load", "stride", "sectors", "lines"),
    [
        ("u32 %r3", 4, 4, 1),  # a warp's words lie side by side
        ("v4.u32 {%r3, %r4, %r5, %r6}", 16, 16, 4),
        ("u32 %r3", 32, 32, 8),  # each in a sector of its own
        ("u32 %r3", 0, 1, 1),  # all load one word
    ],
)
def test_sectors_and_lines(load: str, stride: int, sectors: int, lines: int) -> None:
    body = f"mul.wide.u32 %rd3, %r1, {stride}; add.u64 %rd3, %rd3, %rd1;\nld.global.{load}, [%rd3];"
    counters = counted(body, grid=3)
    size = 16 if "v4" in load else 4
    assert counters.global_load_bytes == 3 * 32 * size
    assert (counters.global_sectors, counters.global_transactions) == (3 * sectors, 3 * lines)
    assert counters.coalescing == size / sectors


@pytest.mark.parametrize(
    ("operand", "stride", "conflicts"),
    [("u32", 4, 0), ("u32", 8, 1), ("u32", 128, 31), ("u32", 0, 0), ("u32", 132, 0), ("v4.u32", 16, 0), ("u64", 8, 0)],
)
def test_conflicts_of_banks(operand: str, stride: int, conflicts: int) -> None:
    value = {"u32": "%r1", "v4.u32": "{%r1, %r1, %r1, %r1}", "u64": "%rd1"}[operand]
    stored = "7" if stride == 0 else value
    body = f"mul.wide.u32 %rd3, %r1, {stride}; mov.u64 %rd4, s; add.u64 %rd4, %rd4, %rd3; st.shared.{operand} [%rd4], {stored};"
    counters = counted(body)
    assert (counters.shared_accesses, counters.shared_bank_conflicts) == (1, conflicts)


def test_instructions_of_threads_that_part() -> None:
    whole = counted("add.u32 %r3, %r1, 1;", block=64)
    parted = counted("setp.lt.u32 %p1, %r1, 48; @%p1 bra done; add.u32 %r3, %r1, 1; done:", block=64)
    assert (parted.instructions - whole.instructions, parted.warp_instructions - whole.warp_instructions) == (80, 3)


def test_counters_add_up() -> None:
    one = counted("bar.sync 0; ld.global.u32 %r3, [%rd1]; red.global.add.u32 [%rd1+4], 1;", grid=2, block=64)
    assert (one.launches, one.blocks, one.threads, one.barriers) == (1, 2, 128, 2)
    assert (one.global_load_bytes, one.global_store_bytes, one.global_bytes) == (512, 512, 1024)
    both = one + one
    assert (both.launches, both.global_bytes, both.instructions) == (2, 2048, 2 * one.instructions)
    assert Counters() + one == one

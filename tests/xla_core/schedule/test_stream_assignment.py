from __future__ import annotations

import itertools
import threading

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import xla_core as xla
from xla_core.analysis import AllocationKind, BufferAllocation, BufferSlice
from xla_core.backend import Kernel
from xla_core.errors import InternalError
from xla_core.runtime import ThunkExecutor
from xla_core.schedule import (
    START,
    CopyThunk,
    HostCallbackThunk,
    KernelThunk,
    Placement,
    Thunk,
    ThunkProgram,
    assign_streams,
)

ARENA = BufferAllocation(0, 1024, AllocationKind.TEMP)


def part(offset: int, size: int = 64) -> BufferSlice:
    return BufferSlice(ARENA, offset, size)


def kernel(reads: list[BufferSlice], writes: list[BufferSlice], name: str = "k") -> KernelThunk:
    return KernelThunk(name, None, tuple(reads), tuple(writes))


def done_before(placements: tuple[Placement, ...]) -> list[set[int]]:
    """For each thunk, those that have ended when it begins."""
    found: list[set[int]] = []
    tails: dict[int, set[int]] = {}
    for number, placement in enumerate(placements):
        before = set(tails.get(placement.stream, {START} if placement.stream == 0 else set()))
        for earlier in placement.waits:
            before |= {earlier} | (found[earlier] if earlier != START else set())
        found.append(before)
        tails[placement.stream] = before | {number}
    return found


slices = st.builds(part, st.integers(0, 12).map(lambda n: 64 * n), st.sampled_from([0, 64, 128, 200]))
thunks = st.lists(
    st.one_of(
        st.builds(kernel, st.lists(slices, max_size=2), st.lists(slices, min_size=1, max_size=2)),
        st.builds(lambda a, b: CopyThunk("c", a, b), slices, slices),
        st.just(HostCallbackThunk("h", lambda: (), (), (), (), ())),
    ),
    max_size=14,
)


@given(thunks, st.integers(1, 4), st.sampled_from([0, 128, 10_000]))
@settings(deadline=None, max_examples=300)
def test_thunks_that_share_memory_stay_in_order(sequence: list[Thunk], streams: int, least: int) -> None:
    placements = assign_streams(sequence, streams, least)
    before = done_before(placements)
    assert len(placements) == len(sequence)
    for later, thunk in enumerate(sequence):
        assert 0 <= placements[later].stream < streams
        assert START in before[later]
        for earlier in range(later):
            if isinstance(thunk, HostCallbackThunk) or isinstance(sequence[earlier], HostCallbackThunk):
                assert earlier in before[later]
                continue
            pairs = itertools.product(thunk.buffer_uses(), sequence[earlier].buffer_uses())
            conflicts = [(a.slice, b.slice) for a, b in pairs if a.is_write or b.is_write]
            if any(a.size and b.size and a.overlaps(b) for a, b in conflicts):
                assert earlier in before[later]


def test_two_branches_run_on_two_streams() -> None:
    """The first two thunks and what follows each are independent; the last thunk needs both."""
    a, b, c, d, e = (part(64 * n) for n in range(5))
    sequence = [kernel([], [a]), kernel([], [b]), kernel([a], [c]), kernel([b], [d]), kernel([c, d], [e])]
    assert assign_streams(sequence, 4, 0) == (
        Placement(0),
        Placement(1, (START,)),
        Placement(0),
        Placement(1),
        Placement(1, (2,)),
    )


def test_a_branch_of_little_work_gets_no_stream() -> None:
    a, b = part(0), part(64)
    assert [p.stream for p in assign_streams([kernel([], [a]), kernel([], [b])], 4, 65)] == [0, 0]


class Meeting(Kernel):
    """A kernel that ends when two of them run at the same time."""

    def __init__(self, barrier: threading.Barrier | None, fails: bool = False) -> None:
        self.barrier, self.fails = barrier, fails

    def launch(self, stream, arguments, dimensions) -> None:
        def work() -> None:
            if self.barrier is not None:
                self.barrier.wait()
            if self.fails:
                raise InternalError("this branch fails")
            np.frombuffer(stream.executor.host_view(arguments[-1]), np.uint8)[...] = 1 + sum(
                int(np.frombuffer(stream.executor.host_view(m), np.uint8)[0]) for m in arguments[:-1]
            )

        stream.enqueue(work)


def branches(fails: bool) -> tuple[ThunkProgram, BufferSlice]:
    """Two kernels that wait for each other, and one that adds their results."""
    output = BufferAllocation(1, 64, AllocationKind.OUTPUT)
    barrier = threading.Barrier(2, timeout=30)
    left, right, whole = part(0), part(64), BufferSlice(output, 0, 64)
    sequence = (
        KernelThunk("left", Meeting(barrier), (), (left,)),
        KernelThunk("right", Meeting(barrier, fails), (), (right,)),
        KernelThunk("sum", Meeting(None), (left, right), (whole,)),
    )
    return ThunkProgram((ARENA, output), sequence, (), (whole,)), whole


@pytest.mark.parametrize("fails", [False, True])
def test_branches_run_at_the_same_time(fails: bool) -> None:
    with xla.Client("cpu") as client:
        device = client.devices[0]
        program, _ = branches(fails)
        (memory,) = ThunkExecutor(program, streams=2, least_bytes=0).execute(device.run_options(), [])
        done = device.compute_stream.finish()
        done.synchronize()
        if fails:
            assert "this branch fails" in str(done.error)
        else:
            assert done.error is None
            assert np.frombuffer(device.executor.host_view(memory), np.uint8)[0] == 3
        device.allocator.free(memory)
        program, _ = branches(False)  # the device works on, also after a failure
        (memory,) = ThunkExecutor(program, streams=2, least_bytes=0).execute(device.run_options(), [])
        done = device.compute_stream.finish()
        done.synchronize()
        assert done.error is None
        device.allocator.free(memory)

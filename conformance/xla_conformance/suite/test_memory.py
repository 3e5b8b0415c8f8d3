"""Device memory: limits, donation, deletion, and memory that is kept while work reads it."""

from __future__ import annotations

import gc
from collections.abc import Iterator

import numpy as np
import pytest

from xla_conformance.bits import require_bits
from xla_conformance.device.arrays import require_same_bits
from xla_conformance.device.memories import size_given
from xla_conformance.failures import Failure
from xla_core import (
    Buffer,
    Client,
    CompileOptions,
    Device,
    FailedPreconditionError,
    InvalidArgumentError,
    ResourceExhaustedError,
)
from xla_core.errors import StatusCode

MEBIBYTE = 1 << 20
ADD = """\
HloModule add

ENTRY e {
  x = f32[262144] parameter(0)
  y = f32[262144] parameter(1)
  ROOT r = f32[262144] add(x, y)
}
"""
DONATING = """\
HloModule step, input_output_alias={ {}: (0, {}, may-alias) }

ENTRY e {
  x = f32[262144] parameter(0)
  y = f32[262144] parameter(1)
  ROOT r = f32[262144] add(x, y)
}
"""
ONE = np.ones(262144, np.float32)


def _require_value(buffer: Buffer, value: np.ndarray, promise: str) -> None:
    require_same_bits("A buffer keeps its value.", np.asarray(buffer), value, promise)


def _require_sum(result: Buffer, program: str, promise: str) -> None:
    """Raises Failure unless the result is that of ADD or DONATING for two arrays of ones."""
    sentence, arguments = "A program gives its results.", [ONE, ONE]
    require_bits(sentence, [np.asarray(result)], [ONE + ONE], promise=promise, module=program, arguments=arguments)


@pytest.fixture
def limited(client: Client, short_collections: None) -> Iterator[Device]:
    """The first device, with room for 8 MiB more than is in use."""
    device = client.devices[0]
    before = device.memory_limit
    gc.collect()
    client.synchronize()
    device.allocator.trim()
    device.memory_limit = device.memory_stats().bytes_reserved + 8 * MEBIBYTE
    yield device
    device.memory_limit = before


@pytest.mark.promise("executor.description", "executor.deallocate")
def test_the_figures_follow_the_buffers(client: Client) -> None:
    """What a device reports is what its buffers take, within the grain of the pool."""
    device = client.devices[0]
    gc.collect()
    client.synchronize()
    before = device.memory_stats()
    held = [client.buffer_from_host(ONE) for _ in range(9)]
    client.synchronize()
    during = device.memory_stats()
    del held[4:]
    client.synchronize()
    after = device.memory_stats()
    grain = size_given(device.executor, MEBIBYTE)
    took, kept = during.bytes_in_use - before.bytes_in_use, after.bytes_in_use - before.bytes_in_use
    if not 9 * MEBIBYTE <= took < 10 * grain or not 4 * MEBIBYTE <= kept < 5 * grain:
        raise Failure(
            f"Buffers of 9 MiB took {took} bytes, and of 4 MiB {kept}, by the device's figures.",
            promise="executor.deallocate",
        )
    if during.peak_bytes_reserved < during.bytes_reserved or during.bytes_reserved < during.bytes_in_use:
        raise Failure(f"The device's figures contradict each other: {during}.", promise="executor.description")
    if device.description.memory_bytes and during.bytes_reserved > device.description.memory_bytes:
        raise Failure(f"The device says that more than its memory is in use: {during}.", promise="executor.description")


@pytest.mark.promise("executor.deallocate")
def test_running_out_says_what_was_asked_and_what_holds_the_rest(client: Client, limited: Device) -> None:
    held = [client.buffer_from_host(ONE) for _ in range(6)]
    with pytest.raises(ResourceExhaustedError) as caught:
        client.buffer_from_host(np.zeros(4 * MEBIBYTE, np.float32))
    assert caught.value.code is StatusCode.RESOURCE_EXHAUSTED
    assert "16.0 MiB" in caught.value.message
    assert "live buffers" in caught.value.message
    assert caught.value.hint
    _require_value(held[0], ONE, "executor.allocate-none")
    del held
    _require_value(client.buffer_from_host(ONE), ONE, "executor.deallocate")


@pytest.mark.promise("executable.out-of-memory")
def test_running_out_in_a_program_leaves_the_client_usable(client: Client, limited: Device) -> None:
    executable = client.compile(
        "HloModule big\nENTRY e {\n  x = f32[] parameter(0)\n  ROOT r = f32[16777216] broadcast(x), dimensions={}\n}\n"
    )
    with pytest.raises(ResourceExhaustedError):
        executable(np.float32(1))[0].block_until_ready()
    add = client.compile(ADD)
    _require_sum(add(ONE, ONE)[0], ADD, "executable.run")


@pytest.mark.promise("executor.deallocate")
def test_freed_memory_is_used_again(client: Client, limited: Device) -> None:
    """Forty buffers of 1 MiB, one after the other, fit into a limit of 8 MiB."""
    for i in range(40):
        buffer = client.buffer_from_host(ONE * i)
        assert np.asarray(buffer)[0] == i
        buffer.delete()


def test_a_steady_loop_asks_the_device_for_nothing(client: Client) -> None:
    add = client.compile(ADD)
    x, y = client.buffer_from_host(ONE), client.buffer_from_host(ONE)
    device = client.devices[0]
    for _ in range(5):
        (x,) = add.execute([x, y])
    x.block_until_ready()
    before = device.memory_stats().allocations
    for _ in range(20):
        (x,) = add.execute([x, y])
        x.block_until_ready()
    assert device.memory_stats().allocations - before <= 2
    assert np.asarray(x)[0] == 26


def test_deleted_buffers_are_refused(client: Client) -> None:
    add = client.compile(ADD)
    x = client.buffer_from_host(ONE)
    x.delete()
    x.delete()
    assert x.is_deleted()
    for use in (lambda: np.asarray(x), lambda: add.execute([x, x]), x.block_until_ready):
        with pytest.raises(FailedPreconditionError, match="deleted"):
            use()
    _require_sum(add(ONE, ONE)[0], ADD, "executable.run")


@pytest.mark.promise("executable.arguments-kept")
def test_memory_stays_while_work_reads_it(client: Client) -> None:
    """Arguments are deleted right after the call. If their memory is freed too early, other arrays overwrite it."""
    add = client.compile(ADD)
    results = []
    for i in range(30):
        x, y = client.buffer_from_host(ONE * i), client.buffer_from_host(ONE)
        results.append(add.execute([x, y])[0])
        x.delete()
        y.delete()
        client.buffer_from_host(ONE * -1000).delete()
    for i, result in enumerate(results):
        got = np.asarray(result)
        assert got.min() == got.max() == i + 1


@pytest.mark.promise("executable.donation")
def test_donated_arguments_are_dead(client: Client) -> None:
    step = client.compile(DONATING)
    assert step.donated_parameters == (0,)
    x, y = client.buffer_from_host(ONE), client.buffer_from_host(ONE)
    (result,) = step.execute([x, y])
    assert x.is_deleted()
    assert not y.is_deleted()
    with pytest.raises(FailedPreconditionError, match="donated"):
        np.asarray(x)
    _require_sum(result, DONATING, "executable.donation")
    _require_value(y, ONE, "executable.arguments-kept")


@pytest.mark.promise("executable.donation", "executable.donated-reuse")
def test_a_donating_loop(client: Client) -> None:
    step = client.compile(DONATING)
    x, y = client.buffer_from_host(ONE), client.buffer_from_host(ONE)
    for _ in range(100):
        (x,) = step.execute([x, y])
    assert set(np.asarray(x)) == {101.0}


@pytest.mark.promise("executable.donated-reuse")
def test_donation_does_not_change_what_was_read_before(client: Client) -> None:
    step = client.compile(DONATING)
    x, y = client.buffer_from_host(ONE), client.buffer_from_host(ONE)
    before = np.asarray(x)
    (result,) = step.execute([x, y])
    result.block_until_ready()
    require_same_bits("What was read of a buffer stays when it is donated.", before, ONE, "executable.donated-reuse")
    _require_sum(result, DONATING, "executable.donated-reuse")


@pytest.mark.promise("executable.donated-reuse")
def test_donation_does_not_change_the_callers_array(client: Client) -> None:
    array = ONE.copy()
    (result,) = client.compile(DONATING)(array, ONE)
    result.block_until_ready()
    require_same_bits("A donation leaves the caller's array as it is.", array, ONE, "executable.donated-reuse")


@pytest.mark.promise("executable.donation")
def test_one_buffer_cannot_be_donated_and_used_twice(client: Client) -> None:
    step = client.compile(DONATING)
    x = client.buffer_from_host(ONE)
    with pytest.raises(InvalidArgumentError, match="same buffer"):
        step.execute([x, x])
    assert not x.is_deleted()


@pytest.mark.promise("executable.donation", "executable.kept-argument-copied")
def test_donation_can_be_declined_and_asked_for(client: Client) -> None:
    x, y = client.buffer_from_host(ONE), client.buffer_from_host(ONE)
    client.compile(DONATING, CompileOptions(donate=())).execute([x, y])
    assert not x.is_deleted()
    (result,) = client.compile(ADD, CompileOptions(donate=(1,))).execute([x, y])
    assert y.is_deleted()
    _require_sum(result, ADD, "executable.donation")


@pytest.mark.promise("executable.arguments-kept", "executable.results-distinct")
def test_a_parameter_may_be_the_result(client: Client) -> None:
    """The parameter is the result twice. Both results must have memory of their own, apart from the argument's."""
    executable = client.compile(
        "HloModule same\nENTRY e {\n  x = f32[262144] parameter(0)\n"
        "  ROOT r = (f32[262144], f32[262144]) tuple(x, x)\n}\n"
    )
    x = client.buffer_from_host(ONE)
    first, second = executable.execute([x])
    x.delete()
    _require_value(first, ONE, "executable.arguments-kept")
    first.delete()
    client.buffer_from_host(ONE * 5)
    _require_value(second, ONE, "executable.results-distinct")

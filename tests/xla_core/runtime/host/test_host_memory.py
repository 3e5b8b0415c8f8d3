"""Arrays of a device in the host's memory."""

from __future__ import annotations

from collections.abc import Iterator

import ml_dtypes
import numpy as np
import pytest

import xla_core
from xla_core.errors import FailedPreconditionError, InvalidArgumentError

ADD = """HloModule add

ENTRY e {
  a = f32[2,3] parameter(0)
  b = f32[2,3] parameter(1)
  ROOT r = f32[2,3] add(a, b)
}
"""
STEP = ADD.replace("HloModule add", "HloModule step, input_output_alias={{}: (0, {}, may-alias)}")
A = np.arange(6, dtype=np.float32).reshape(2, 3)


@pytest.fixture(scope="module", params=["cpu", "template", "gpu"])
def on(request: pytest.FixtureRequest) -> Iterator[xla_core.Client]:
    pytest.importorskip(f"xla_backend_{request.param}")
    with xla_core.Client(request.param) as made:
        yield made


def test_arrays_move_there_and_back(on: xla_core.Client) -> None:
    device = on.devices[0]
    there = on.buffer_from_host(A).copy_to_device(device.host_memory)
    assert there.device is device.host_memory
    np.testing.assert_array_equal(np.asarray(there), A)
    back = there.copy_to_device(device)
    assert back.device is device
    np.testing.assert_array_equal(np.asarray(back), A)


@pytest.mark.parametrize("dtype", [np.bool_, np.int8, np.complex64, ml_dtypes.bfloat16, ml_dtypes.int4])
def test_every_element_type_is_kept(on: xla_core.Client, dtype: type) -> None:
    array = np.array([[1, 0, 1]]).astype(dtype)
    there = on.buffer_from_host(array, on.devices[0].host_memory)
    np.testing.assert_array_equal(np.asarray(there), array)


def test_memory_is_counted_and_freed(on: xla_core.Client) -> None:
    memory = on.devices[0].host_memory
    before = memory.memory_stats().bytes_in_use
    there = on.buffer_from_host(np.zeros(10_000, np.float32), memory)
    assert memory.memory_stats().bytes_in_use >= before + 40_000
    there.delete()
    assert memory.memory_stats().bytes_in_use == before


def test_programs_take_arrays_from_there(on: xla_core.Client) -> None:
    there = on.buffer_from_host(A, on.devices[0].host_memory)
    add = on.compile(ADD)
    np.testing.assert_array_equal(np.asarray(add(there, A)[0]), 2 * A)
    (made,) = add.execute([there, there])
    assert made.device is on.devices[0]
    np.testing.assert_array_equal(np.asarray(made), 2 * A)


def test_a_donated_array_ends(on: xla_core.Client) -> None:
    step = on.compile(STEP)
    there = on.buffer_from_host(A, on.devices[0].host_memory)
    kept = on.buffer_from_host(A, on.devices[0].host_memory)
    np.testing.assert_array_equal(np.asarray(step(there, kept)[0]), 2 * A)
    assert there.is_deleted()
    np.testing.assert_array_equal(np.asarray(kept), A)
    with pytest.raises(FailedPreconditionError, match="donated to step"):
        step(there, kept)


def test_a_value_that_is_not_ready_moves_without_waiting(on: xla_core.Client) -> None:
    device = on.devices[0]
    add = on.compile(ADD)
    value = on.buffer_from_host(A)
    for _ in range(50):
        (value,) = add.execute([value, on.buffer_from_host(A)])
        value = value.copy_to_device(device.host_memory)
    np.testing.assert_array_equal(np.asarray(value), 51 * A)


def test_an_error_moves_too(on: xla_core.Client) -> None:
    bad = on.error_buffer(InvalidArgumentError("no value"), xla_core.Shape.of(A))
    there = bad.copy_to_device(on.devices[0].host_memory)
    with pytest.raises(InvalidArgumentError, match="no value"):
        np.asarray(there)
    (made,) = on.compile(ADD).execute([there, on.buffer_from_host(A)])
    with pytest.raises(InvalidArgumentError, match="no value"):
        np.asarray(made)


def test_it_closes_with_its_client(on: xla_core.Client) -> None:
    with xla_core.Client(on.platform_name) as client:
        there = client.buffer_from_host(A, client.devices[0].host_memory)
    with pytest.raises(FailedPreconditionError):
        np.asarray(there.copy_to_device(on.devices[0]))


def test_a_copy_on_the_device_is_an_array_of_its_own(on: xla_core.Client) -> None:
    first = on.buffer_from_host(A)
    second = first.copy()
    first.delete()
    np.testing.assert_array_equal(np.asarray(second), A)

"""Executions that a host poisons by number, marks of its work, and figures that it begins again."""

from __future__ import annotations

import ctypes

import numpy as np
import pytest

from tests.xla_core.pjrt.host import Host, HostError
from tests.xla_core.pjrt.test_promises import TWICE, A, keep
from xla_core.errors import StatusCode
from xla_core.pjrt.handles import live_handles


@pytest.fixture(params=["cpu", "template"])
def host(request: pytest.FixtureRequest) -> Host:
    pytest.importorskip(f"xla_backend_{request.param}")
    return Host(request.param)


def poison(host: Host, number: int) -> bool:
    text = ctypes.create_string_buffer(b"a task has failed")
    return bool(
        host.call(
            "Device_PoisonExecution",
            device=host.devices()[0],
            launch_id=number,
            error_code=StatusCode.UNAVAILABLE.value,
            error_message=ctypes.addressof(text),
            error_message_size=len(text) - 1,
        ).poisoned
    )


def test_an_execution_that_has_not_ended_is_poisoned(host: Host) -> None:
    executable = host.compile(TWICE)
    name = "Buffer_DonateWithControlDependency"
    made = host.call(name, buffer=host.upload(A))
    (other,) = host.execute(executable, [made.out_buffer], 1, launch=6)
    (twice,) = host.execute(executable, [made.out_buffer], 1, launch=7)
    assert not poison(host, 5)
    assert poison(host, 7)
    assert not poison(host, 7)
    keep(name, made, made.dependency_ready_callback)
    with pytest.raises(HostError, match="a task has failed") as caught:
        host.download(twice, A.dtype)
    assert caught.value.code == StatusCode.UNAVAILABLE.value
    assert np.array_equal(host.download(other, A.dtype), A + A)
    assert not poison(host, 6)  # it has ended


def test_a_host_marks_its_work(host: Host) -> None:
    before, text = live_handles(), ctypes.create_string_buffer(b"all-gather of a step")
    event = host.call(
        "Device_CreateAsyncTrackingEvent",
        device=host.devices()[0],
        description=ctypes.addressof(text),
        description_size=len(text) - 1,
    ).event
    assert live_handles() == before + 1
    host.call("AsyncTrackingEvent_Destroy", event=event)
    assert live_handles() == before


def test_the_peak_of_memory_begins_again() -> None:
    host = Host("template")
    device = host.devices()[0]
    host.call("Buffer_Destroy", buffer=host.upload(np.zeros(1 << 22, np.float32)))
    before = host.call("Device_MemoryStats", device=device)
    assert before.peak_bytes_reserved >= 1 << 24
    host.call("Device_ClearMemoryStats", device=device)
    after = host.call("Device_MemoryStats", device=device)
    assert after.peak_bytes_reserved == after.bytes_reserved

"""What a host gives after the call: destinations of copies, free dependencies, and values of alias buffers."""

from __future__ import annotations

import ctypes
import gc
import threading
from typing import Any

import numpy as np
import pytest

from tests.xla_core.pjrt.host import Host, HostError
from xla_core.errors import StatusCode
from xla_core.hlo import ElementType
from xla_core.pjrt import abi
from xla_core.pjrt.handles import live_handles

TWICE = """
func.func public @main(%x: tensor<3x4xf32>) -> tensor<3x4xf32> {
  %0 = stablehlo.add %x, %x : tensor<3x4xf32>
  return %0 : tensor<3x4xf32>
}"""
DONATE = TWICE.replace("tensor<3x4xf32>)", "tensor<3x4xf32> {tf.aliasing_output = 0 : i32})")
A = np.arange(12, dtype=np.float32).reshape(3, 4)


@pytest.fixture(params=["cpu", "template"])
def host(request: pytest.FixtureRequest) -> Host:
    pytest.importorskip(f"xla_backend_{request.param}")
    return Host(request.param)


def keep(name: str, made: Any, callback: int, **fields: Any) -> None:
    """Keeps a promise as a host does, from a thread of its own."""
    args = abi.STRUCTS[f"{name}_Callback_Args"](callback_data=made.callback_data, **fields)
    args.struct_size = type(args).full_size
    function = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(callback)
    thread = threading.Thread(target=function, args=(ctypes.addressof(args),))
    thread.start()
    thread.join()


def failure(text: bytes) -> tuple[Any, dict[str, int]]:
    kept = ctypes.create_string_buffer(text)
    fields = {"error_code": StatusCode.UNAVAILABLE.value, "error_message": ctypes.addressof(kept)}
    return kept, fields | {"error_message_size": len(text)}


def wait(host: Host, event: int) -> None:
    try:
        host.call("Event_Await", event=event)
    finally:
        host.call("Event_Destroy", event=event)


def is_ready(host: Host, buffer: int) -> bool:
    event = host.call("Buffer_ReadyEvent", buffer=buffer).event
    ready = bool(host.call("Event_IsReady", event=event).is_ready)
    host.call("Event_Destroy", event=event)
    return ready


# -- raw copies --------------------------------------------------------------------------------------------------------


def test_a_raw_copy_begins_when_the_host_has_memory(host: Host) -> None:
    before, name = live_handles(), "Buffer_CopyRawToHostFuture"
    buffer = host.upload(A)
    made = host.call(name, buffer=buffer, offset=16, transfer_size=16)
    assert not host.call("Event_IsReady", event=made.event).is_ready
    host.call("Buffer_Destroy", buffer=buffer)  # the copy keeps the value
    row = np.zeros(4, np.float32)
    keep(name, made, made.future_ready_callback, dst=row.ctypes.data)
    wait(host, made.event)
    assert np.array_equal(row, A[1])
    assert live_handles() == before


def test_a_raw_copy_without_memory_fails(host: Host) -> None:
    name = "Buffer_CopyRawToHostFuture"
    buffer = host.upload(A)
    made = host.call(name, buffer=buffer, offset=0, transfer_size=48)
    kept, fields = failure(b"the host has no memory")
    keep(name, made, made.future_ready_callback, **fields)
    with pytest.raises(HostError, match="the host has no memory"):
        wait(host, made.event)
    made = host.call(name, buffer=buffer, offset=40, transfer_size=16)
    keep(name, made, made.future_ready_callback, dst=np.zeros(16, np.uint8).ctypes.data)
    with pytest.raises(HostError, match="not within the 48"):
        wait(host, made.event)
    assert kept.value


# -- donations ---------------------------------------------------------------------------------------------------------


def test_a_donated_buffer_waits_for_a_dependency(host: Host) -> None:
    before, name = live_handles(), "Buffer_DonateWithControlDependency"
    buffer, executable = host.upload(A), host.compile(TWICE)
    made = host.call(name, buffer=buffer)
    assert host.call("Buffer_IsDeleted", buffer=buffer).is_deleted
    (twice,) = host.execute(executable, [made.out_buffer], 1)
    assert not is_ready(host, made.out_buffer)
    keep(name, made, made.dependency_ready_callback)
    assert np.array_equal(host.download(twice, A.dtype), A + A)
    assert np.array_equal(host.download(made.out_buffer, A.dtype), A)
    for done in (buffer, made.out_buffer, twice):
        host.call("Buffer_Destroy", buffer=done)
    host.call("LoadedExecutable_Destroy", executable=executable)
    gc.collect()
    assert live_handles() == before


def test_a_dependency_that_fails_is_the_error_of_the_buffer(host: Host) -> None:
    name = "Buffer_DonateWithControlDependency"
    made = host.call(name, buffer=host.upload(A))
    kept, fields = failure(b"the other process is gone")
    keep(name, made, made.dependency_ready_callback, **fields)
    with pytest.raises(HostError, match="the other process is gone") as caught:
        host.download(made.out_buffer, A.dtype)
    assert caught.value.code == StatusCode.UNAVAILABLE.value
    assert kept.value


# -- bitcasts ----------------------------------------------------------------------------------------------------------


def bitcast(host: Host, buffer: int, element_type: ElementType, *sizes: int) -> int:
    dims = abi.int64s(sizes)
    return int(
        host.call(
            "Buffer_Bitcast",
            buffer=buffer,
            element_type=element_type.pjrt,
            dims=ctypes.addressof(dims),
            num_dims=len(sizes),
        ).out_buffer
    )


def test_a_bitcast_shares_the_memory(host: Host) -> None:
    buffer = host.upload(A)
    words = bitcast(host, buffer, ElementType.U16, 2, 12)
    assert np.array_equal(host.download(words, np.uint16), A.view(np.uint16).reshape(2, 12))
    host.call("Buffer_Destroy", buffer=buffer)
    gc.collect()
    others = [host.upload(A * number) for number in range(4)]
    again = bitcast(host, words, ElementType.F32, 3, 4)
    assert np.array_equal(host.download(again, np.float32), A)
    assert others


def test_a_program_that_writes_to_a_bitcast_writes_to_a_copy(host: Host) -> None:
    large = np.tile(A, (1, 1024, 2048 // 4))  # donations of small arrays don't take the memory
    text = DONATE.replace("3x4x", "x".join(map(str, large.shape)) + "x")
    buffer, executable = host.upload(large), host.compile(text)
    alias = bitcast(host, buffer, ElementType.F32, *large.shape)
    (twice,) = host.execute(executable, [alias], 1)
    assert np.array_equal(host.download(twice, large.dtype), large + large)
    assert np.array_equal(host.download(buffer, large.dtype), large)
    assert host.call("Buffer_IsDeleted", buffer=alias).is_deleted


def test_a_bitcast_keeps_the_size(host: Host) -> None:
    with pytest.raises(HostError, match=r"f32\[3,4\] and f32\[13\] differ in size"):
        bitcast(host, host.upload(A), ElementType.F32, 13)


def test_a_bitcast_of_a_value_that_failed_has_its_error(host: Host) -> None:
    name = "Buffer_DonateWithControlDependency"
    made = host.call(name, buffer=host.upload(A))
    alias = bitcast(host, made.out_buffer, ElementType.S32, 12)
    kept, fields = failure(b"no value")
    keep(name, made, made.dependency_ready_callback, **fields)
    with pytest.raises(HostError, match="no value"):
        host.download(alias, np.int32)
    assert kept.value


# -- alias buffers -----------------------------------------------------------------------------------------------------


def alias_buffer(host: Host) -> Any:
    sizes = abi.int64s(A.shape)
    return host.call(
        "Client_CreateAliasBuffer",
        client=host.client,
        memory=host.call("Device_DefaultMemory", device=host.devices()[0]).memory,
        shape_dims=ctypes.addressof(sizes),
        shape_num_dims=2,
        shape_element_type=ElementType.F32.pjrt,
    )


def fulfill(host: Host, made: Any, **fields: Any) -> None:
    callback = made.fulfill_alias_buffer_cb
    host.call("Client_FulfillAliasBuffer", client=host.client, fulfill_alias_buffer_cb=callback, **fields)


def test_an_alias_buffer_takes_the_value_of_a_later_buffer(host: Host) -> None:
    before = live_handles()
    made, executable = alias_buffer(host), host.compile(TWICE)
    wrong, real = host.upload(A[0]), host.upload(A)
    (twice,) = host.execute(executable, [made.alias_buffer], 1)
    assert not is_ready(host, twice)
    with pytest.raises(HostError, match=r"is f32\[3,4\], and its value f32\[4\]"):
        fulfill(host, made, buffer=wrong)
    fulfill(host, made, buffer=real)
    assert np.array_equal(host.download(twice, A.dtype), A + A)
    with pytest.raises(HostError, match="no live AliasBuffer"):
        fulfill(host, made, buffer=real)
    for done in (wrong, real, twice, made.alias_buffer):
        host.call("Buffer_Destroy", buffer=done)
    host.call("LoadedExecutable_Destroy", executable=executable)
    gc.collect()
    assert live_handles() == before


def test_an_alias_buffer_without_a_value_has_an_error(host: Host) -> None:
    made = alias_buffer(host)
    text = ctypes.create_string_buffer(b"the other process is gone")
    fulfill(
        host,
        made,
        status_code=StatusCode.UNAVAILABLE.value,
        error_message=ctypes.addressof(text),
        error_message_size=len(text) - 1,
    )
    with pytest.raises(HostError, match="the other process is gone"):
        host.download(made.alias_buffer, A.dtype)

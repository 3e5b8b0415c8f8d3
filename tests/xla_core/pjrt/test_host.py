"""The functions of the table, called by a host."""

from __future__ import annotations

import ctypes
import re
import threading

import numpy as np
import pytest

import xla_core
from tests.xla_core.pjrt.host import Host, HostError
from xla_core.errors import FailedPreconditionError, StatusCode
from xla_core.pjrt import abi, abi_table
from xla_core.pjrt.client import PjrtClient
from xla_core.pjrt.compile_options import write_device_assignment
from xla_core.pjrt.handles import handle_at, live_handles
from xla_core.pjrt.native import NativeCode

ADD = """
func.func public @main(%x: tensor<4xf32>, %y: tensor<4xf32>) -> (tensor<4xf32>, tensor<i32>) {
  %0 = stablehlo.add %x, %y : tensor<4xf32>
  %1 = stablehlo.constant dense<7> : tensor<i32>
  return %0, %1 : tensor<4xf32>, tensor<i32>
}
"""
DONATE = """
func.func public @main(%x: tensor<4xf32> {tf.aliasing_output = 0 : i32}) -> tensor<4xf32> {
  %0 = stablehlo.add %x, %x : tensor<4xf32>
  return %0 : tensor<4xf32>
}
"""
X = np.arange(4, dtype=np.float32)


@pytest.fixture(scope="module", params=["cpu", "template"])
def host(request: pytest.FixtureRequest) -> Host:
    return Host(request.param)


def text_of(args: object, name: str) -> str:
    return ctypes.string_at(getattr(args, name), getattr(args, f"{name}_size")).decode()


def test_a_program_runs(host: Host) -> None:
    executable = host.compile(ADD)
    x, y = host.upload(X), host.upload(X * 10)
    total, seven = host.execute(executable, [x, y], 2)
    assert host.download(total, np.float32).tolist() == [0, 11, 22, 33]
    assert host.download(seven, np.int32) == 7
    for buffer in (x, y, total, seven):
        host.call("Buffer_Destroy", buffer=buffer)
    host.call("LoadedExecutable_Destroy", executable=executable)


def test_handles_end_with_their_destroy_function(host: Host) -> None:
    before = live_handles()
    buffer = host.upload(X)
    assert live_handles() == before + 1
    host.call("Buffer_Destroy", buffer=buffer)
    assert live_handles() == before
    with pytest.raises(HostError, match="no live Buffer") as caught:
        host.call("Buffer_Delete", buffer=buffer)
    assert caught.value.code == StatusCode.INVALID_ARGUMENT.value


def test_a_client_that_is_destroyed_closes_its_devices(host: Host) -> None:
    """Another client can then open a device that only one may have."""
    other = host.call("Client_Create").client
    client = handle_at(other, PjrtClient).client
    assert np.asarray(client.buffer_from_host(X)).tolist() == X.tolist()
    host.call("Client_Destroy", client=other)
    with pytest.raises(FailedPreconditionError, match="this client is closed"):
        client.buffer_from_host(X)


def test_a_null_pointer_is_an_error(host: Host) -> None:
    with pytest.raises(HostError, match="PJRT_Buffer is null"):
        host.call("Buffer_Delete", buffer=None)


def test_a_pointer_to_something_else_is_an_error(host: Host) -> None:
    with pytest.raises(HostError, match="no live Buffer"):
        host.call("Buffer_Delete", buffer=host.client)


def test_getters_answer_from_the_handle(host: Host) -> None:
    device = host.devices()[0]
    description = host.call("Device_GetDescription", device=device).device_description
    assert host.call("DeviceDescription_Id", device_description=description).id == 0
    assert text_of(host.call("DeviceDescription_Kind", device_description=description), "device_kind")
    memory = host.call("Device_DefaultMemory", device=device).memory
    assert text_of(host.call("Memory_Kind", memory=memory), "kind") == "device"
    found = host.call("Memory_AddressableByDevices", memory=memory)
    assert abi.pointers_at(found.devices, found.num_devices) == [device]
    buffer = host.upload(np.zeros((2, 3), np.int16))
    sizes = host.call("Buffer_Dimensions", buffer=buffer)
    assert abi.integers_at(sizes.dims, sizes.num_dims) == (2, 3)
    assert host.call("Buffer_ElementType", buffer=buffer).type == 3
    assert host.call("Buffer_Device", buffer=buffer).device == device


def test_arrays_of_any_strides_arrive(host: Host) -> None:
    array = np.arange(24, dtype=np.int32).reshape(2, 3, 4)
    for view in (array.transpose(2, 0, 1), array[:, ::-1, ::2], array[1:, :0], array[1, 1, 1]):
        view = np.asarray(view)
        assert np.array_equal(host.download(host.upload(view), np.int32), view)


def test_the_host_may_change_an_array_after_the_call(host: Host) -> None:
    array = X.copy()
    buffer = host.upload(array, host_buffer_semantics=0)
    array[:] = 99
    assert np.array_equal(host.download(buffer, np.float32), X)


def test_an_invalid_program_is_an_error_with_its_place(host: Host) -> None:
    with pytest.raises(HostError, match=r"1:21: .*tensr") as caught:
        host.compile("func.func @main(%x: tensr<4xf32>) { return }")
    assert caught.value.code == StatusCode.INVALID_ARGUMENT.value
    assert "INVALID_ARGUMENT" not in str(caught.value)  # the host writes the code before the text


def test_an_unknown_format_is_an_error(host: Host) -> None:
    with pytest.raises(HostError, match="format 'onnx'"):
        host.compile(ADD, form="onnx")


def test_wrong_arguments_are_an_error_and_the_client_stays_usable(host: Host) -> None:
    executable = host.compile(ADD)
    x = host.upload(X)
    with pytest.raises(HostError, match="2"):
        host.execute(executable, [x], 2)
    with pytest.raises(HostError, match=r"must be f32\[4\]"):
        host.execute(executable, [x, host.upload(np.zeros(5, np.float32))], 2)
    assert host.download(host.execute(executable, [x, x], 2)[0], np.float32).tolist() == [0, 2, 4, 6]


def test_a_donated_buffer_is_deleted_unless_the_host_keeps_it(host: Host) -> None:
    executable = host.compile(DONATE)
    x = host.upload(X)
    kept = host.execute(executable, [x], 1, kept=(0,))[0]
    assert not host.call("Buffer_IsDeleted", buffer=x).is_deleted
    given = host.execute(executable, [x], 1)[0]
    assert host.call("Buffer_IsDeleted", buffer=x).is_deleted
    for buffer in (kept, given):
        assert np.array_equal(host.download(buffer, np.float32), X * 2)


def test_an_error_buffer_passes_its_error_on(host: Host) -> None:
    memory = host.call("Device_DefaultMemory", device=host.devices()[0]).memory
    text = ctypes.create_string_buffer(b"the sensor is gone")
    sizes = abi.int64s([4])
    failed = host.call(
        "Client_CreateErrorBuffer",
        client=host.client,
        memory=memory,
        error_code=StatusCode.UNAVAILABLE.value,
        error_message=ctypes.addressof(text),
        error_message_size=len(text) - 1,
        shape_dims=ctypes.addressof(sizes),
        shape_num_dims=1,
        shape_element_type=11,
    ).buffer
    result = host.execute(host.compile(ADD), [failed, host.upload(X)], 2)[0]
    with pytest.raises(HostError, match="the sensor is gone") as caught:
        host.download(result, np.float32)
    assert caught.value.code == StatusCode.UNAVAILABLE.value


def test_a_callback_is_called_once_when_an_event_is_ready(host: Host) -> None:
    called: list[int | None] = []
    arrived = threading.Event()

    def on_ready(error: int | None, argument: int | None) -> None:
        called.append(error)
        arrived.set()

    callback = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p)(on_ready)
    event = host.call("Event_Create").event
    host.call("Event_OnReady", event=event, callback=ctypes.cast(callback, ctypes.c_void_p).value, user_arg=None)
    assert not host.call("Event_IsReady", event=event).is_ready
    assert called == []
    host.call("Event_Set", event=event, error_code=0)
    host.call("Event_Await", event=event)
    assert arrived.wait(30)
    assert called == [None]
    assert host.call("Event_IsReady", event=event).is_ready


def test_an_executable_is_serialized_and_loaded(host: Host) -> None:
    loaded = host.compile(ADD)
    executable = host.call("LoadedExecutable_GetExecutable", loaded_executable=loaded).executable
    data = host.call("Executable_Serialize", executable=executable)
    code = ctypes.create_string_buffer(ctypes.string_at(data.serialized_bytes, data.serialized_bytes_size))
    again = host.call(
        "Executable_DeserializeAndLoad",
        client=host.client,
        serialized_executable=ctypes.addressof(code),
        serialized_executable_size=len(code) - 1,
    ).loaded_executable
    x = host.upload(X)
    assert np.array_equal(host.download(host.execute(again, [x, x], 2)[0], np.float32), X * 2)
    for damaged in (b"", code.raw[:30], b"\xff" * 40):
        kept = ctypes.create_string_buffer(damaged, max(1, len(damaged)))
        with pytest.raises(HostError) as caught:
            host.call(
                "Executable_DeserializeAndLoad",
                client=host.client,
                serialized_executable=ctypes.addressof(kept),
                serialized_executable_size=len(damaged),
            )
        assert caught.value.code == StatusCode.INVALID_ARGUMENT.value


def test_a_version_names_all_that_programs_depend_on(host: Host, monkeypatch: pytest.MonkeyPatch) -> None:
    """JAX has it in the keys of its persistent cache."""

    def version(other: Host) -> str:
        found = other.call("Client_PlatformVersion", client=other.client)
        text = text_of(found, "platform_version")
        topology = other.call("Client_TopologyDescription", client=other.client).topology
        found = other.call("TopologyDescription_PlatformVersion", topology=topology)
        assert text_of(found, "platform_version") == text
        return text

    first = version(host)
    name = text_of(host.call("Client_PlatformName", client=host.client), "platform_name")
    backend = xla_core.Client(name)
    core, backend_part, target = first.split("; ")
    assert core == f"xla-core {xla_core.__version__}"
    assert backend_part == f"{name} {backend.backend_version}"
    assert re.fullmatch("target [0-9a-f]{16}", target)
    assert version(Host(name)) == first
    monkeypatch.setattr(type(backend.platform.compiler), "fingerprint", lambda self: "another library")
    assert version(Host(name)).split("; ")[:2] == [core, backend_part]
    assert version(Host(name)) != first


def test_options_of_loading_say_the_devices() -> None:
    host = Host("template")
    loaded = host.compile(ADD)
    executable = host.call("LoadedExecutable_GetExecutable", loaded_executable=loaded).executable
    data = host.call("Executable_Serialize", executable=executable)
    assignment = write_device_assignment(((1,),))
    build = b"\x4a" + bytes([len(assignment)]) + assignment  # field 9, device_assignment
    options = ctypes.create_string_buffer(b"\x1a" + bytes([len(build)]) + build)  # field 3, executable_build_options
    again = host.call(
        "Executable_DeserializeAndLoad",
        client=host.client,
        serialized_executable=data.serialized_bytes,
        serialized_executable_size=data.serialized_bytes_size,
        overridden_serialized_compile_options=ctypes.addressof(options),
        overridden_serialized_compile_options_size=len(options) - 1,
    ).loaded_executable
    found = host.call("LoadedExecutable_AddressableDevices", executable=again)
    assert abi.pointers_at(found.addressable_devices, found.num_addressable_devices) == [host.devices()[1]]
    x = host.upload(X, device=1)
    assert np.array_equal(host.download(host.execute(again, [x, x], 2)[0], np.float32), X * 2)


def test_a_host_of_an_older_version_passes_a_shorter_structure(host: Host) -> None:
    """What lies behind its end is neither read nor written."""
    struct = abi.STRUCTS["Client_Create_Args"]
    size = struct.client.offset + struct.client.size
    args = host.call("Client_Create", size=size, kv_try_get_callback=1234)
    assert args.client
    assert args.kv_try_get_callback == 1234
    host.call("Client_Destroy", client=args.client)


def test_a_pending_exception_survives_a_call(host: Host) -> None:
    """Hosts destroy objects while a Python exception is on its way."""
    set_string = ctypes.cast(ctypes.pythonapi.PyErr_SetString, ctypes.c_void_p).value
    code = NativeCode(f"""
@text = constant [11 x i8] c"on its way\\00"
define ptr @fail_and_destroy(ptr %destroy, ptr %args) {{
  call void inttoptr (i64 {set_string} to ptr)(ptr inttoptr (i64 {id(ValueError)} to ptr), ptr @text)
  %error = call ptr %destroy(ptr %args)
  ret ptr %error
}}""")
    buffer = host.upload(X)
    args = abi.STRUCTS["Buffer_Destroy_Args"](struct_size=24, buffer=buffer)
    pointer = ctypes.c_void_p
    fail_and_destroy = ctypes.PYFUNCTYPE(pointer, pointer, pointer)(code.address("fail_and_destroy"))
    with pytest.raises(ValueError, match="on its way"):
        fail_and_destroy(host.api.Buffer_Destroy, ctypes.addressof(args))
    with pytest.raises(HostError, match="no live Buffer"):
        host.call("Buffer_Delete", buffer=buffer)


def test_an_interrupt_does_not_fail_what_may_not_fail(host: Host) -> None:
    """jaxlib ends the process where a Destroy function fails. The main thread gets the interrupt afterwards."""
    set_interrupt = ctypes.cast(ctypes.pythonapi.PyErr_SetInterrupt, ctypes.c_void_p).value
    code = NativeCode(f"""
define ptr @interrupt_and_destroy(ptr %destroy, ptr %args, ptr %answer) {{
  call void inttoptr (i64 {set_interrupt} to ptr)()
  %error = call ptr %destroy(ptr %args)
  store ptr %error, ptr %answer
  ret ptr %error
}}""")
    buffer = host.upload(X)
    args = abi.STRUCTS["Buffer_Destroy_Args"](struct_size=24, buffer=buffer)
    answer = ctypes.c_uint64(99)
    pointer = ctypes.c_void_p
    interrupt_and_destroy = ctypes.CFUNCTYPE(pointer, pointer, pointer, pointer)(code.address("interrupt_and_destroy"))
    with pytest.raises(KeyboardInterrupt):
        interrupt_and_destroy(host.api.Buffer_Destroy, ctypes.addressof(args), ctypes.addressof(answer))
    assert answer.value == 0
    with pytest.raises(HostError, match="no live Buffer"):
        host.call("Buffer_Delete", buffer=buffer)


def test_memory_figures_that_are_not_known_are_not_set(host: Host) -> None:
    found = host.call("Device_MemoryStats", device=host.devices()[0], cleared=False)
    assert found.bytes_in_use >= 0
    assert not found.peak_bytes_in_use_is_set
    assert not found.largest_alloc_size_is_set


def test_a_null_pointer_to_the_hosts_array_is_an_error(host: Host) -> None:
    sizes = abi.int64s([4])
    with pytest.raises(HostError, match=r"float32\[4\] is null"):
        host.call(
            "Client_BufferFromHostBuffer",
            client=host.client,
            type=11,
            dims=ctypes.addressof(sizes),
            num_dims=1,
            device=host.devices()[0],
        )


def test_each_function_has_a_pointer(host: Host) -> None:
    assert [name for name in abi_table.FUNCTIONS if not getattr(host.api, name)] == []


def test_what_is_not_implemented_says_so(host: Host) -> None:
    with pytest.raises(HostError, match="PJRT_CopyToDeviceStream_AddChunk is not implemented") as caught:
        host.call("CopyToDeviceStream_AddChunk")
    assert caught.value.code == StatusCode.UNIMPLEMENTED.value

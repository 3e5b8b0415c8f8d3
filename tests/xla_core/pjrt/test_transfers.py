"""Arrays that a host writes in parts or lends the memory of."""

from __future__ import annotations

import ctypes
import gc
from typing import Any

import numpy as np
import pytest

from tests.xla_core.pjrt.host import Host, HostError
from xla_core.hlo import ElementType
from xla_core.pjrt import abi
from xla_core.pjrt.handles import live_handles

pytestmark = pytest.mark.filterwarnings("error")
A = np.arange(12, dtype=np.float32).reshape(3, 4)
B = np.arange(5, dtype=np.int8)
PROGRAM = """
func.func public @main(%x: tensor<3x4xf32>) -> tensor<3x4xf32> {
  %0 = stablehlo.add %x, %x : tensor<3x4xf32>
  return %0 : tensor<3x4xf32>
}"""


@pytest.fixture(params=["cpu", "template"])
def host(request: pytest.FixtureRequest) -> Host:
    pytest.importorskip(f"xla_backend_{request.param}")
    return Host(request.param)


class Parts:
    """A transfer manager of a host for arrays of the shapes of A and B."""

    def __init__(self, host: Host) -> None:
        self._host = host
        spec = abi.STRUCTS["ShapeSpec"]
        self._sizes = [abi.int64s(array.shape) for array in (A, B)]
        self._specs = (spec * 2)()
        for made, sizes, array in zip(self._specs, self._sizes, (A, B), strict=True):
            made.struct_size, made.dims, made.num_dims = spec.full_size, ctypes.addressof(sizes), array.ndim
            made.element_type = ElementType.from_numpy(array.dtype).pjrt
        device = host.devices()[0]
        self.memory = host.call("Device_DefaultMemory", device=device).memory
        self.manager = host.call(
            "Client_CreateBuffersForAsyncHostToDevice",
            client=host.client,
            shape_specs=ctypes.addressof(self._specs),
            num_shape_specs=2,
            memory=self.memory,
        ).transfer_manager

    def call(self, name: str, **fields: Any) -> Any:
        return self._host.call(f"AsyncHostToDeviceTransferManager_{name}", transfer_manager=self.manager, **fields)

    def write(self, index: int, data: np.ndarray, offset: int = 0, *, last: bool = False) -> None:
        copy = data.copy()
        event = self.call(
            "TransferData",
            buffer_index=index,
            data=copy.ctypes.data,
            offset=offset,
            transfer_size=copy.nbytes,
            is_last_transfer=last,
        ).done_with_h2d_transfer
        self._host.call("Event_Await", event=event)
        self._host.call("Event_Destroy", event=event)
        copy[...] = 0

    def buffer(self, index: int) -> int:
        return int(self.call("RetrieveBuffer", buffer_index=index).buffer_out)


def test_arrays_are_written_in_parts_after_the_host_has_them(host: Host) -> None:
    before = live_handles()
    parts, executable = Parts(host), host.compile(PROGRAM)
    assert parts.call("BufferCount").buffer_count == 2
    assert parts.call("BufferSize", buffer_index=0).buffer_size == A.nbytes
    assert parts.call("Device").device_out == host.devices()[0]
    parts.call("AddMetadata")
    a, b = parts.buffer(0), parts.buffer(1)
    (twice,) = host.execute(executable, [a], 1)
    assert not host.call("Event_IsReady", event=host.call("Buffer_ReadyEvent", buffer=a).event).is_ready
    parts.write(1, B, last=True)
    parts.write(0, A[1:], 16)
    parts.write(0, A[:1], last=True)
    for buffer, array in ((a, A), (b, B), (twice, A + A)):
        assert np.array_equal(host.download(buffer, array.dtype), array)
        host.call("Buffer_Destroy", buffer=buffer)
    parts.call("Destroy")
    host.call("LoadedExecutable_Destroy", executable=executable)
    gc.collect()
    assert live_handles() <= before + 1  # the event that was asked for


def test_a_literal_is_one_transfer(host: Host) -> None:
    parts = Parts(host)
    sizes = abi.int64s(A.shape)
    parts.call(
        "TransferLiteral",
        buffer_index=0,
        data=A.ctypes.data,
        shape_dims=ctypes.addressof(sizes),
        shape_num_dims=2,
        shape_element_type=ElementType.F32.pjrt,
    )
    assert np.array_equal(host.download(parts.buffer(0), A.dtype), A)
    with pytest.raises(HostError, match=r"buffer 1 is s8\[5\], not f32\[3,4\]"):
        parts.call(
            "TransferLiteral",
            buffer_index=1,
            data=A.ctypes.data,
            shape_dims=ctypes.addressof(sizes),
            shape_num_dims=2,
            shape_element_type=ElementType.F32.pjrt,
        )
    parts.call("Destroy")


def test_what_was_not_written_is_an_error_where_it_is_read(host: Host) -> None:
    parts = Parts(host)
    a, b = parts.buffer(0), parts.buffer(1)
    text = ctypes.create_string_buffer(b"the file is damaged")
    parts.call(
        "SetBufferError", buffer_index=0, error_code=3, error_message=ctypes.addressof(text), error_message_size=19
    )
    parts.write(1, B[:2])
    parts.call("Destroy")
    with pytest.raises(HostError, match="the file is damaged"):
        host.download(a, A.dtype)
    with pytest.raises(HostError, match="before the last transfer"):
        host.download(b, B.dtype)


def test_wrong_transfers_are_errors(host: Host) -> None:
    parts = Parts(host)
    for index in (-1, 2):
        with pytest.raises(HostError, match=f"no buffer {index} among 2"):
            parts.buffer(index)
    with pytest.raises(HostError, match="not within the 48"):
        parts.write(0, A, 4)
    parts.write(0, A, last=True)
    with pytest.raises(HostError, match="finished"):
        parts.write(0, A, last=True)
    parts.call("Destroy")


def test_memory_of_the_host_is_used_in_place(host: Host) -> None:
    platform = host.call("Client_PlatformName", client=host.client)
    is_addressable = ctypes.string_at(platform.platform_name, platform.platform_name_size) == b"cpu"
    block = np.zeros(64 + 16, np.float32)
    start = -block.ctypes.data % 64 // 4
    array = block[start : start + 12]
    array[:] = A.ravel()
    sizes, ended = abi.int64s(A.shape), list[tuple[int, int]]()
    callback = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p)(lambda *place: ended.append(place))

    def view(offset: int = 0) -> int:
        return int(
            host.call(
                "Client_CreateViewOfDeviceBuffer",
                client=host.client,
                device_buffer_ptr=array.ctypes.data + offset,
                dims=ctypes.addressof(sizes),
                num_dims=2,
                element_type=ElementType.F32.pjrt,
                device=host.devices()[0],
                on_delete_callback=ctypes.cast(callback, ctypes.c_void_p).value,
                on_delete_callback_arg=7,
            ).buffer
        )

    with pytest.raises(HostError, match="in place"):
        view(4)
    if not is_addressable:
        with pytest.raises(HostError, match="BufferFromHostBuffer"):
            view()
        return
    buffer, executable = view(), host.compile(PROGRAM)
    (twice,) = host.execute(executable, [buffer], 1)
    assert np.array_equal(host.download(twice, A.dtype), A + A)
    assert host.call("Buffer_UnsafePointer", buffer=buffer).buffer_pointer == array.ctypes.data
    assert not ended
    for done in (buffer, twice):
        host.call("Buffer_Destroy", buffer=done)
    gc.collect()
    assert ended == [(array.ctypes.data, 7)]


def test_memory_may_be_registered_and_contexts_made(host: Host) -> None:
    host.call("Client_DmaMap", client=host.client, data=A.ctypes.data, size=A.nbytes)
    host.call("Client_DmaUnmap", client=host.client, data=A.ctypes.data)
    context = host.call("ExecuteContext_Create").context
    host.call("ExecuteContext_Destroy", context=context)

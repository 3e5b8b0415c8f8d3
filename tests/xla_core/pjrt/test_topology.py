"""Topologies, and programs that are compiled for them before a client loads them."""

from __future__ import annotations

import ctypes

import numpy as np
import pytest

from tests.xla_core.pjrt.host import Host, HostError
from tests.xla_core.pjrt.jax_process import run_jax
from xla_core.errors import StatusCode
from xla_core.hlo import ElementType
from xla_core.hlo.proto.values import read_shape, write_shape
from xla_core.hlo.proto.wire import Message
from xla_core.hlo.values.shape import Layout, Shape
from xla_core.pjrt import abi
from xla_core.pjrt.compile_options import write_device_assignment
from xla_core.pjrt.handles import live_handles

PROGRAM = """
func.func public @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.add %x, %x : tensor<4xf32>
  return %0 : tensor<4xf32>
}"""
X = np.arange(4, dtype=np.float32)


@pytest.fixture(params=["cpu", "template"])
def host(request: pytest.FixtureRequest) -> Host:
    pytest.importorskip(f"xla_backend_{request.param}")
    return Host(request.param)


def serialized(host: Host, topology: int) -> bytes:
    made = host.call("TopologyDescription_Serialize", topology=topology)
    return ctypes.string_at(made.serialized_bytes, made.serialized_bytes_size)


def deserialize(host: Host, data: bytes) -> int:
    kept = ctypes.create_string_buffer(data, max(1, len(data)))
    return int(
        host.call(
            "TopologyDescription_Deserialize",
            serialized_topology=ctypes.addressof(kept),
            serialized_topology_size=len(data),
        ).topology
    )


def test_a_program_is_compiled_for_a_topology_and_loaded_later(host: Host) -> None:
    before = live_handles()
    topology = host.call("TopologyDescription_Create").topology
    executable = host.compile_by("Compile", PROGRAM, topology=topology)
    host.call("TopologyDescription_Destroy", topology=topology)
    for _ in range(2):  # the executable stays the host's
        loaded = host.call("Client_Load", client=host.client, executable=executable).loaded_executable
        x = host.upload(X)
        (twice,) = host.execute(loaded, [x], 1)
        assert np.array_equal(host.download(twice, X.dtype), X + X)
        for buffer in (x, twice):
            host.call("Buffer_Destroy", buffer=buffer)
        host.call("LoadedExecutable_Destroy", executable=loaded)
    host.call("Executable_Destroy", executable=executable)
    assert live_handles() == before


def test_options_of_loading_say_the_device() -> None:
    host = Host("template")
    topology = host.call("Client_TopologyDescription", client=host.client).topology
    executable = host.compile_by("Compile", PROGRAM, topology=topology)
    assignment = write_device_assignment(((1,),))
    build = b"\x4a" + bytes([len(assignment)]) + assignment  # field 9, device_assignment
    options = ctypes.create_string_buffer(b"\x1a" + bytes([len(build)]) + build)  # field 3, executable_build_options
    loaded = host.call(
        "Client_Load",
        client=host.client,
        executable=executable,
        compile_options=ctypes.addressof(options),
        compile_options_size=len(options) - 1,
    ).loaded_executable
    found = host.call("LoadedExecutable_AddressableDevices", executable=loaded)
    assert abi.pointers_at(found.addressable_devices, found.num_addressable_devices) == [host.devices()[1]]


def test_a_topology_describes_the_devices_of_a_client(host: Host) -> None:
    topology = host.call("TopologyDescription_Create").topology
    found = host.call("TopologyDescription_GetDeviceDescriptions", topology=topology)
    assert found.num_descriptions == len(host.devices())
    own = host.call("Client_TopologyDescription", client=host.client).topology
    assert serialized(host, topology) == serialized(host, own)
    numbers = {host.call("TopologyDescription_Fingerprint", topology=t).fingerprint for t in (topology, own)}
    assert len(numbers) == 1
    assert numbers != {0}
    host.call("TopologyDescription_Destroy", topology=own)  # it lives as long as its client
    again = deserialize(host, serialized(host, own))
    assert serialized(host, again) == serialized(host, topology)
    for made in (topology, again):
        host.call("TopologyDescription_Destroy", topology=made)
    with pytest.raises(HostError, match="no live TopologyDescription"):
        host.call("TopologyDescription_Serialize", topology=topology)


def test_other_topologies_are_refused(host: Host) -> None:
    name = ctypes.create_string_buffer(b"4x4")
    with pytest.raises(HostError, match="no topology '4x4'"):
        host.call("TopologyDescription_Create", topology_name=ctypes.addressof(name), topology_name_size=3)
    with pytest.raises(HostError, match="not a topology"):
        deserialize(host, b"\x00\x01")
    before = live_handles()
    with pytest.raises(HostError, match="this machine's is") as caught:
        deserialize(host, b'{"platform": "another"}')
    assert caught.value.code == StatusCode.FAILED_PRECONDITION.value
    assert live_handles() == before


def test_the_shape_of_an_array_in_a_memory_space(host: Host) -> None:
    topology = host.call("Client_TopologyDescription", client=host.client).topology
    sizes = abi.int64s([3, 5])
    fields = {"dims": ctypes.addressof(sizes), "num_dims": 2, "element_type": ElementType.F32.pjrt}
    name = "TopologyDescription_MakeCanonicalShapeForMemorySpace"
    made = host.call(name, topology=topology, **fields)
    shape = read_shape(Message(ctypes.string_at(made.serialized_shape, made.serialized_shape_size)))
    assert shape == Shape(ElementType.F32, (3, 5)).with_layout(Layout((1, 0)))
    with pytest.raises(HostError, match="no memory space 99"):
        host.call(name, topology=topology, memory_space_kind_id=99, **fields)


@pytest.mark.parametrize(
    "shape",
    [
        Shape(ElementType.F32),
        Shape(ElementType.BF16, (3, 300)),
        Shape(ElementType.S4, (16, 8)).with_layout(Layout((0, 1), ((8, 2), (2, 1)), 4, 1)),
    ],
)
def test_shapes_are_written_as_they_are_read(shape: Shape) -> None:
    assert read_shape(Message(write_shape(shape))) == shape


def test_jax_compiles_for_a_topology() -> None:
    pytest.importorskip("jax")
    printed = run_jax(
        """
from jax.experimental import topologies
from jax.sharding import SingleDeviceSharding
topology = topologies.get_attached_topology()
there = SingleDeviceSharding(topology.devices[0])
shape = jax.ShapeDtypeStruct((4,), np.float32, sharding=there)
compiled = jax.jit(lambda x: x * 3).lower(shape).compile()
print(compiled(jnp.arange(4.0)))
"""
    )
    assert printed == "[0. 3. 6. 9.]\n"

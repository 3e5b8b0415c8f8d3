"""PJRT_TopologyDescription: the devices for which programs are compiled without a client of the host's."""

from __future__ import annotations

import hashlib
import json
from typing import Any

import xla_core
from xla_core.errors import FailedPreconditionError, InvalidArgumentError
from xla_core.hlo.proto.values import write_shape
from xla_core.hlo.values.shape import Shape
from xla_core.pjrt import abi, native
from xla_core.pjrt.buffer import element_type_of, shape_in
from xla_core.pjrt.client import PjrtClient, PjrtTopology
from xla_core.pjrt.executable import PjrtExecutable, PjrtLoadedExecutable, compile_program
from xla_core.pjrt.functions import implements
from xla_core.pjrt.handles import handle_at
from xla_core.pjrt.program import Program
from xla_core.runtime import Client


def create_topology(args: Any, platform: str, name: str) -> None:
    """Makes the topology of a backend's devices on this machine, for `TopologyDescription_Create`.

    Raises:
        InvalidArgumentError: for the name of another topology, and for options, because a backend has one topology.
    """
    wanted = abi.text_at(args.topology_name, args.topology_name_size)
    if wanted not in ("", name) or args.num_options:
        raise InvalidArgumentError(
            f"{name} has no topology {wanted!r} with {args.num_options} options",
            hint="its topology has the platform's name, or none, and no options",
        )
    args.topology = _topology(platform, name).address


def read_topology(args: Any, platform: str, name: str) -> None:
    """Makes the topology that `TopologyDescription_Serialize` wrote, for `TopologyDescription_Deserialize`.

    Raises:
        InvalidArgumentError: for other bytes.
        FailedPreconditionError: for the topology of other devices than this machine's.
    """
    data = abi.bytes_at(args.serialized_topology, args.serialized_topology_size)
    try:
        given = dict(json.loads(data))
    except (ValueError, TypeError) as error:
        raise InvalidArgumentError("these bytes are not a topology of xla-core") from error
    topology = _topology(platform, name)
    here = _description(topology.client)
    if given != here:
        topology.end()
        raise FailedPreconditionError(f"the topology is {given}, and this machine's is {here}")
    args.topology = topology.address


def _topology(platform: str, name: str) -> PjrtTopology:
    topology = PjrtClient(Client(platform), name).topology
    topology.is_owned = True
    return topology


def _description(client: PjrtClient) -> dict[str, Any]:
    target = client.client.platform.compiler.target_config
    return {
        "platform": client.name,
        "version": xla_core.__version__,
        "devices": len(client.devices),
        "target": target.fingerprint(),
    }


def _text(topology: PjrtTopology) -> bytes:
    return json.dumps(_description(topology.client)).encode()


@implements("TopologyDescription_Destroy")
def _topology_destroy(args: Any) -> None:
    topology = handle_at(args.topology, PjrtTopology)
    if topology.is_owned:  # a client's own lives as long as the client
        topology.end()


@implements("TopologyDescription_Serialize")
def _topology_serialize(args: Any) -> None:
    topology = handle_at(args.topology, PjrtTopology)
    args.serialized_bytes, args.serialized_bytes_size = topology.slots.text("serialized", lambda: _text(topology))
    args.serialized_topology, args.serialized_topology_deleter = None, native.common().nothing


@implements("TopologyDescription_Fingerprint")
def _topology_fingerprint(args: Any) -> None:
    digest = hashlib.sha256(_text(handle_at(args.topology, PjrtTopology))).digest()
    args.fingerprint = int.from_bytes(digest[:8], "little")


@implements("TopologyDescription_MakeCanonicalShapeForMemorySpace")
def _make_canonical_shape(args: Any) -> None:
    topology = handle_at(args.topology, PjrtTopology)
    memory = topology.client.devices[0].memories.get(args.memory_space_kind_id)
    if memory is None:
        raise InvalidArgumentError(f"{topology.client.name} has no memory space {args.memory_space_kind_id}")
    shape = Shape(element_type_of(args.element_type), abi.integers_at(args.dims, args.num_dims))
    shape = shape_in(memory, shape, args.layout).with_default_layout()
    args.serialized_shape, args.serialized_shape_size = topology.slots.text(
        f"shape {shape}", lambda: write_shape(shape)
    )
    args.serialized_shape_deleter = native.common().nothing


@implements("Compile")
def _compile(args: Any) -> None:
    args.executable = PjrtExecutable(compile_program(handle_at(args.topology, PjrtTopology).client, args)).address


@implements("Client_Load")
def _load(args: Any) -> None:
    """The program is loaded from its bytes, because each client has its own memory and streams."""
    client, handle = handle_at(args.client, PjrtClient), handle_at(args.executable, PjrtExecutable)
    overriding = abi.bytes_at(args.compile_options, args.compile_options_size)
    program = Program.deserialize(client.client, handle.program.serialize(), overriding)
    args.loaded_executable = PjrtLoadedExecutable(program, client).address

"""Reads PJRT's CompileOptionsProto. (XLA: xla/pjrt/proto/compile_options.proto, xla/xla_data.proto.)"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from xla_core.compile_options import CompileOptions
from xla_core.errors import InvalidArgumentError
from xla_core.hlo.proto.wire import Message, write_field, write_varint

_BUILD_OPTIONS, _OVERRIDES = 3, 7
_NUM_REPLICAS, _NUM_PARTITIONS, _DEVICE_ASSIGNMENT, _DEVICE_ORDINAL = 4, 5, 9, 1
_COMPUTATION_DEVICES, _REPLICA_DEVICE_IDS = 3, 1


def read_compile_options(data: bytes) -> CompileOptions:
    """Reads the numbers of replicas and partitions, the device assignment, and XLA's options by name.

    Raises:
        InvalidArgumentError: for bytes that are not a CompileOptionsProto, and for names and values that are no
            options of XLA.
    """
    message = Message(data)
    build = message.message(_BUILD_OPTIONS)
    replicas, partitions = build.integer(_NUM_REPLICAS) or 1, build.integer(_NUM_PARTITIONS) or 1
    assignment = None
    if build.has(_DEVICE_ASSIGNMENT):
        columns = [
            column.integers(_REPLICA_DEVICE_IDS)
            for column in build.message(_DEVICE_ASSIGNMENT).messages(_COMPUTATION_DEVICES)
        ]
        if len(columns) != partitions or any(len(column) != replicas for column in columns):
            raise InvalidArgumentError(f"the device assignment is not {replicas} replicas x {partitions} partitions")
        assignment = tuple(zip(*columns, strict=True))
    elif build.has(_DEVICE_ORDINAL) and build.integer(_DEVICE_ORDINAL) >= 0 and replicas * partitions == 1:
        assignment = ((build.integer(_DEVICE_ORDINAL),),)
    named = {"fallback": "host", **_overrides(message)}  # the host runs callbacks, LAPACK and native functions
    return CompileOptions(num_replicas=replicas, num_partitions=partitions, device_assignment=assignment, **named)


_BOOLEANS = {"true": True, "false": False}

_OPTIONS: Mapping[str, tuple[str, type]] = {
    "xla_dump_to": ("dump_to", str),
    "xla_embed_ir_in_executable": ("keep_artifacts", bool),
    "xla_core_fallback": ("fallback", str),
}
"""A name in `compiler_options` -> our option, and its type.

Other options of XLA are about its own compilers and have no effect.
"""


def _overrides(message: Message) -> dict[str, Any]:
    """Reads the options that a host sets by name, as in JAX's `compiler_options`."""
    found: dict[str, Any] = {}
    for entry in message.messages(_OVERRIDES):
        name, value = entry.text(1), entry.message(2)
        if not name.startswith("xla_"):
            raise InvalidArgumentError(f"No such compile option: {name!r}", hint="options of XLA begin with xla_")
        ours, kind = _OPTIONS.get(name, ("", str))
        if kind is bool and value.has(1):
            text = value.text(1)
            if text not in _BOOLEANS:
                raise InvalidArgumentError(f"While setting option {name}, '{text}' is not a valid bool value.")
            found[ours] = _BOOLEANS[text]
        elif kind is bool:
            found[ours] = bool(value.integer(2))
        elif ours:
            found[ours] = value.text(1)
    return found


def write_device_assignment(rows: tuple[tuple[int, ...], ...]) -> bytes:
    """Writes device ids, a row for each replica and a column for each partition, as a DeviceAssignmentProto."""
    columns = list(zip(*rows, strict=True))
    text = write_field(1, len(rows)) + write_field(2, len(columns))
    for column in columns:
        text += write_field(3, write_field(1, b"".join(map(write_varint, column))))
    return text

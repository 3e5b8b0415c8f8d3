"""A wrong field in a serialized program is an InvalidArgumentError before any code runs."""

from __future__ import annotations

import json
import struct
from typing import Any

import numpy as np
import pytest
from xla_backend_cpu.executable import CpuExecutable

import xla_core as xla

PROGRAM = """HloModule m

ENTRY e {
  p = f32[64,64] parameter(0)
  k = f32[64] constant({KONSTANT})
  b = f32[64,64] broadcast(k), dimensions={1}
  d = f32[64,64] dot(p, b), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  s = f32[64,64] add(d, p)
  ROOT r = (f32[64,64], f32[64,64]) tuple(s, d)
}
""".replace("KONSTANT", ", ".join(map(str, range(64))))

WRONG: list[tuple[str, Any]] = [
    ("results", []),
    ("results", [[1, 4, None]]),
    ("results", [[1, 4, None], [2, 4, None]]),
    ("results", [[-1, 1 << 20, None], [2, 1 << 20, None]]),
    ("results", [[1 << 40, 1 << 20, None], [2, 1 << 20, None]]),
    ("results", [[1, -4, None], [2, 1 << 20, None]]),
    ("results", [[1, 1 << 20, 0], [2, 1 << 20, None]]),
    ("results", [[1, 1 << 20, -1], [2, 1 << 20, None]]),
    ("results", [["1", 1 << 20, None], [2, 1 << 20, None]]),
    ("results", [7, 8]),
    ("results", None),
    ("parameters", []),
    ("parameters", [1, 1]),
    ("parameters", [-1]),
    ("parameters", [1 << 30]),
    ("parameters", [1.5]),
    ("constant_slots", {"1": 0}),
    ("results", [[1, 1 << 20, None], [1, 1 << 20, None]]),
    ("temp_slot", 1),
    ("time_slot", 1),
    ("time_slot", 1 << 20),
    ("slots", 0),
    ("slots", 1),
    ("slots", -5),
    ("slots", 1 << 60),
    ("slots", "many"),
    ("temp_slot", -1),
    ("temp_slot", 1 << 20),
    ("temp_bytes", -1),
    ("temp_bytes", 0),
    ("temp_bytes", None),
    ("constant_slots", {"1": -64}),
    ("constant_slots", {"1": 1 << 40}),
    ("constant_slots", {"-1": 0}),
    ("constant_slots", {"99999": 0}),
    ("constant_slots", []),
    ("constant_slots", {"one": 0}),
    ("routines", [1]),
    ("routines", ["no_such_routine"]),
    ("routines", None),
    ("threads", 0),
    ("threads", "two"),
    ("microseconds", None),
    ("microseconds", -1),
    ("microseconds", float("-inf")),
    ("microseconds", float("nan")),
    ("host_calls", [["main", "nothing"]]),
    ("host_calls", [["main"]]),
    ("host_calls", 5),
    ("collective_timeout", -1),
    ("collective_timeout", "long"),
    ("triple", 5),
    ("sizes", []),
    ("sizes", [-1, 5]),
    ("sizes", ["a"]),
    ("sizes", None),
]


@pytest.fixture(scope="module")
def data() -> bytes:
    return xla.Client("cpu").compile(PROGRAM).executable.serialize()


def changed(data: bytes, change: dict[str, Any]) -> bytes:
    (length,) = struct.unpack_from("<I", data)
    header = json.dumps({**json.loads(data[4 : 4 + length]), **change}).encode()
    return struct.pack("<I", len(header)) + header + data[4 + length :]


def test_what_is_unchanged_is_read(data: bytes) -> None:
    again = CpuExecutable.deserialize(changed(data, {}))
    assert again.serialize() == data
    assert len(again.result_shapes) == 2
    assert np.prod(again.result_shapes[0].dimensions) == 4096


@pytest.mark.parametrize(("field", "value"), WRONG, ids=str)
def test_a_wrong_field_is_refused(data: bytes, field: str, value: Any) -> None:
    with pytest.raises(xla.InvalidArgumentError, match="damaged"):
        CpuExecutable.deserialize(changed(data, {field: value}))


@pytest.mark.parametrize("key", ["results", "slots", "sizes", "triple", "routines"])
def test_a_missing_field_is_refused(data: bytes, key: str) -> None:
    (length,) = struct.unpack_from("<I", data)
    fields = json.loads(data[4 : 4 + length])
    del fields[key]
    header = json.dumps(fields).encode()
    with pytest.raises(xla.InvalidArgumentError, match="damaged"):
        CpuExecutable.deserialize(struct.pack("<I", len(header)) + header + data[4 + length :])


@pytest.mark.parametrize("header", [b"[]", b"5", b"null", b"[" * 5000, b"\xff"])
def test_a_header_of_another_kind_is_refused(header: bytes) -> None:
    with pytest.raises(xla.InvalidArgumentError, match="damaged"):
        CpuExecutable.deserialize(struct.pack("<I", len(header)) + header)

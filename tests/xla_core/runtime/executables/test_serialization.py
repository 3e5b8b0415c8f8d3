"""Executables as bytes."""

from __future__ import annotations

import hashlib
import json
from typing import Any

import numpy as np
import pytest

import xla_core
from tests.xla_core.runtime import programs
from xla_core.errors import (
    FailedPreconditionError,
    InvalidArgumentError,
)
from xla_core.runtime import StaticExecutable
from xla_core.runtime.programs.program import EXECUTABLE_MAGIC

A = np.arange(4, dtype=np.float32)
B = np.ones(4, np.float32)


def test_serialization(client, toy, monkeypatch) -> None:
    exe = client.compile(programs.step())
    blob = exe.serialize()
    again = client.deserialize(blob)
    assert isinstance(again, xla_core.LoadedExecutable)
    assert isinstance(again, StaticExecutable)
    assert again.name == "step"
    assert again.donated_parameters == (0,)
    assert np.asarray(again(A, B)[0]).tolist() == [1, 2, 3, 4]
    for damaged, message in (
        (b"PK\x03\x04", "not a serialized executable"),
        (blob[:20], "cut off"),
        (blob[:-3], "fingerprint"),
        (blob[:30] + b"\x00" + blob[31:], "damaged"),
        (b"", "not a serialized executable"),
    ):
        with pytest.raises((InvalidArgumentError, FailedPreconditionError), match=message):
            client.deserialize(damaged)
    monkeypatch.setattr(toy.ToyCompiler, "fingerprint", lambda self: "other library")
    with pytest.raises(FailedPreconditionError, match="compiler is '', here it is 'other library'"):
        client.deserialize(blob)


def test_a_program_is_restored_for_the_device_on_which_it_runs(client, toy, monkeypatch) -> None:
    blob = client.compile(programs.add()).serialize()
    restore = toy.ToyCompiler.deserialize
    seen = []

    def deserialize(self, data, options=None, executor=None):
        seen.append(executor)
        return restore(self, data, options, executor)

    monkeypatch.setattr(toy.ToyCompiler, "deserialize", deserialize)
    again = client.deserialize(blob, device_assignment=((1,),))
    assert again.devices == client.devices[1:]
    client.deserialize(again.serialize())
    client.deserialize(blob)
    assert seen == [client.devices[i].executor for i in (1, 1, 0)]
    with pytest.raises(InvalidArgumentError, match="this client has toy:0, toy:1"):
        client.deserialize(blob, device_assignment=((2,),))


@pytest.mark.parametrize("name", ["my program, v2", 'x"\n!bad {', "ünïcode", "7", "../up"])
def test_a_program_may_have_any_name(client, name: str) -> None:
    exe = client.compile(programs.add(), xla_core.CompileOptions(name=name))
    assert exe.name == name
    again = client.deserialize(exe.serialize())
    assert again.name == name
    assert np.asarray(again(A, B)[0]).tolist() == [1, 2, 3, 4]


@pytest.mark.parametrize("source", ["func.func @main(%0: {t}, %1: {t}) -> {t} {{ {body} }}",
    'module @"a é" {{ func.func @main(%0: {t}, %1: {t}) -> {t} {{ {body} }} }}'])  # fmt: skip
def test_the_programs_own_names_may_be_any(client, source: str) -> None:
    t = "tensor<4xf32>"
    text = source.format(t=t, body=f"%2 = stablehlo.add %0, %1 : {t}\n return %2 : {t}")
    exe = client.compile(text)
    again = client.deserialize(exe.serialize())
    assert np.asarray(again(A, B)[0]).tolist() == [1, 2, 3, 4]
    assert xla_core.parse(exe.as_text()).parameter_shapes


def test_a_deserialized_program_has_its_backends_options(client, toy, monkeypatch) -> None:
    blob = client.compile(programs.add(), xla_core.CompileOptions(backend={"speed": 3})).serialize()
    seen: list[object] = []
    run_backend = toy.ToyCompiler.run_backend

    def spy(self, module, options, executor=None):
        seen.append(options.backend)
        return run_backend(self, module, options, executor)

    monkeypatch.setattr(toy.ToyCompiler, "run_backend", spy)
    client.deserialize(blob)
    assert seen == [toy.ToyOptions(speed=3)]


def test_any_byte_of_a_serialized_executable_may_flip(client) -> None:
    blob = client.compile(programs.add()).serialize()
    for place in range(0, len(blob), 7):
        mutant = blob[:place] + bytes([blob[place] ^ 0x41]) + blob[place + 1 :]
        with pytest.raises(InvalidArgumentError):
            client.deserialize(mutant)


def packed(header: object, payload: bytes = b"") -> bytes:
    """A header, JSON unless it is bytes, and a payload, with the right fingerprint."""
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    rest = len(text).to_bytes(8, "little") + text + payload
    return EXECUTABLE_MAGIC + hashlib.sha256(rest).digest() + rest


def unpacked(blob: bytes) -> tuple[dict[str, Any], bytes]:
    rest = blob[len(EXECUTABLE_MAGIC) + 32 :]
    end = 8 + int.from_bytes(rest[:8], "little")
    return json.loads(rest[8:end]), rest[end:]


@pytest.mark.parametrize("value", [None, 5, "x", [], object(), {}])
def test_what_is_no_bytes_is_refused(client, value: Any) -> None:
    with pytest.raises(InvalidArgumentError, match="is not a serialized executable"):
        client.deserialize(value)


@pytest.mark.parametrize("kind", [bytearray, memoryview])
def test_bytes_of_any_kind(client, kind: Any) -> None:
    again = client.deserialize(kind(client.compile(programs.add()).serialize()))
    assert np.asarray(again(A, B)[0]).tolist() == [1, 2, 3, 4]


@pytest.mark.parametrize(
    "header",
    [b"", b"{", b"\xff\xfe", b"[" * 100_000, b"9" * 5000, b"NaN", [], None, 3, "x", [{"name": "x"}]],
    ids=lambda h: repr(h)[:20],
)
def test_a_header_that_is_no_object_is_refused(client, header: object) -> None:
    with pytest.raises(InvalidArgumentError, match="is malformed: its header is"):
        client.deserialize(packed(header))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"options": ...}, "Header.options must be given"),
        ({"name": ...}, "Header.name must be given"),
        ({"name": 3}, "Header.name must be text, not 3"),
        ({"options": None}, "Header.options must be"),
        ({"options": []}, "Header.options must be"),
        ({"options": {"fallback": 7}}, "CompileOptions.fallback must be 'none' or 'host', not 7"),
        ({"options": {"self": 7}}, "CompileOptions has no field 'self'"),
        ({"options": {"backend": {"speed": "fast"}}}, "ToyOptions.speed"),
        ({"options": {"backend": 3}}, "CompileOptions.backend must be ToyOptions or a mapping"),
        ({"self": 1}, "Header has no field 'self'"),
        ({"colour": 1}, "Header has no field 'colour'"),
        ({"program": {}}, "must be given"),
        ({"program": {"text": True, "bytes": -1}}, "bytes"),
        ({"program": {"text": True, "bytes": 3}}, "not as long as it says"),
        ({"program": 3}, "Header.program must be"),
        ({"compiled": 3}, "Header.compiled must be"),
    ],
)
def test_a_header_of_wrong_fields_is_refused(client, change: dict[str, Any], message: str) -> None:
    header, payload = unpacked(client.compile(programs.add()).serialize())
    changed = {key: value for key, value in {**header, **change}.items() if value is not ...}
    with pytest.raises(InvalidArgumentError, match=message):
        client.deserialize(packed(changed, payload))


@pytest.mark.parametrize("field", ["contract", "xla_core", "platform", "backend_version", "target", "compiler"])
@pytest.mark.parametrize("value", [None, 3, {}, "x", ...])
def test_a_header_of_something_else_is_refused(client, field: str, value: object) -> None:
    header, payload = unpacked(client.compile(programs.add()).serialize())
    changed = {key: v for key, v in {**header, field: value}.items() if v is not ...}
    with pytest.raises(FailedPreconditionError, match=f"{field} is "):
        client.deserialize(packed(changed, payload))


OPEN = """func.func @main(%a: tensor<?xf32>) -> tensor<?xf32> {
  %0 = stablehlo.add %a, %a : tensor<?xf32>
  return %0 : tensor<?xf32>
}
"""


def test_parts_of_a_program_with_dynamic_shapes_are_checked(client) -> None:
    exe = client.compile(OPEN)
    assert np.asarray(exe(A)[0]).tolist() == [0, 2, 4, 6]
    header, payload = unpacked(exe.serialize())
    [part] = header["compiled"]
    assert np.asarray(client.deserialize(packed(header, payload))(A)[0]).tolist() == [0, 2, 4, 6]
    size = header["program"]["bytes"]
    for wrong, message in (
        ({"compiled": [{**part, "bytes": part["bytes"] - 1}]}, "not as long as it says"),
        ({"compiled": [{**part, "bytes": -1}]}, "is malformed: (Part|Header)"),
        ({"compiled": [{**part, "shapes": [["f33", [4]]]}]}, "is malformed: (Part|Header)"),
        ({"compiled": [{**part, "shapes": [["f32", [-4]]]}]}, "is malformed: (Part|Header)"),
        ({"compiled": [{**part, "shapes": 3}]}, "is malformed: (Part|Header)"),
        ({"compiled": [{**part, "values": [[1]]}]}, "is malformed: (Part|Header)"),
        ({"compiled": [None]}, "is malformed: (Part|Header)"),
        (
            {"program": {"text": True, "bytes": size - 1}, "compiled": [{**part, "bytes": part["bytes"] + 1}]},
            "these bytes are not",
        ),
    ):
        with pytest.raises(InvalidArgumentError, match=message):
            client.deserialize(packed({**header, **wrong}, payload))
    with pytest.raises(InvalidArgumentError, match="its program is no text"):
        client.deserialize(packed(header, b"\xff" + payload[1:]))


def test_a_program_that_is_no_text_is_refused(client) -> None:
    header, payload = unpacked(client.compile(programs.add()).serialize())
    with pytest.raises(InvalidArgumentError, match="it is no text"):
        client.deserialize(packed(header, b"\xff" + payload[1:]))

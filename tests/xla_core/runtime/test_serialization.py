"""Executables as bytes."""

from __future__ import annotations

import numpy as np
import pytest

import xla_core
from tests.xla_core.runtime import programs
from xla_core.errors import (
    FailedPreconditionError,
    InvalidArgumentError,
)
from xla_core.runtime import StaticExecutable

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

"""Wrong arguments, odd arrays and dead buffers; wrong names, flags and options."""

from __future__ import annotations

import importlib.metadata
import re

import numpy as np
import pytest

import xla_core as xla
from xla_core.backend import registry

from .conftest import ADD

STEP = "HloModule step, input_output_alias={ {}: (0, {}, may-alias) }\n\nENTRY e {\n  x = f32[3] parameter(0)\n  y = f32[3] parameter(1)\n  ROOT z = f32[3] add(x, y)\n}\n"
ONES = np.ones(3, np.float32)


@pytest.fixture
def add(client):
    return client.compile(ADD)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((), ["main takes 2 arguments", "f32[3]", "not 0"]),
        ((ONES,), ["2 arguments", "not 1"]),
        ((ONES,) * 3, ["2 arguments", "not 3"]),
        ((ONES, np.ones(4, np.float32)), ["argument 1", "f32[3]", "f32[4]"]),
        ((ONES, np.ones((3, 1), np.float32)), ["argument 1", "f32[3]", "f32[3,1]"]),
        ((ONES, np.ones(3)), ["argument 1", "f32[3]", "f64[3]", "astype"]),
        ((np.ones(3, np.int32), ONES), ["argument 0", "s32[3]", "hint"]),
        ((ONES, np.array(["a", "b", "c"])), ["<U1"]),
        ((ONES, np.array([None] * 3)), ["object"]),
        ((ONES, np.array(["2020", "2021", "2022"], "datetime64[Y]")), ["datetime64"]),
        ((ONES, [1, 2]), ["argument 1", "[2]"]),
        ((ONES, [[1], [2, 3]]), ["list"]),
        ((ONES, None), []),
        ((ONES, "abc"), []),
    ],
)
def test_wrong_arguments(add, refused, arguments, words):
    refused(xla.InvalidArgumentError, words, lambda: add(*arguments))
    assert np.asarray(add(ONES, ONES)[0]).tolist() == [2, 2, 2]


def test_arrays_that_are_not_contiguous_or_not_native_are_right(add):
    wide = np.arange(12, dtype=np.float32)
    for odd in (wide[::4], wide[::-4][::-1], wide.reshape(3, 4)[:, 1], wide[:3].astype(">f4"), wide[:3].astype("<f4"),
                np.broadcast_to(np.float32(2), 3), np.frombuffer(b"\0" + ONES.tobytes(), np.uint8)[1:].view(np.float32)):  # fmt: skip
        assert np.asarray(add(odd, ONES)[0]).tolist() == (odd + 1).tolist()


def test_a_deleted_buffer(client, add, refused):
    buffer = client.buffer_from_host(ONES)
    buffer.delete()
    for use in (lambda: add(buffer, ONES), lambda: np.asarray(buffer), lambda: add.execute([buffer, buffer])):
        refused(xla.FailedPreconditionError, ["f32[3] was deleted", "keep it until its last use"], use)


def test_a_donated_buffer(client, refused):
    step = client.compile(STEP)
    buffer, other = client.buffer_from_host(ONES), client.buffer_from_host(ONES)
    (result,) = step(buffer, other)
    for use in (lambda: step(buffer, other), lambda: step(other, buffer), lambda: np.asarray(buffer)):
        refused(xla.FailedPreconditionError, ["was donated to step", "use the result"], use)
    assert np.asarray(result).tolist() == [2, 2, 2]
    refused(xla.InvalidArgumentError, ["same buffer", "donated", "pass a copy"], lambda: step(other, other))
    assert np.asarray(step(other, ONES)[0]).tolist() == [2, 2, 2]


def test_a_buffer_of_another_client(client, add, backend, refused):
    for platform in ("cpu", "template"):
        with xla.Client(platform) as other:
            foreign = other.buffer_from_host(ONES)
            refused(
                xla.InvalidArgumentError, ["argument 1", "another client", "copy it"], lambda b=foreign: add(ONES, b)
            )
            foreign_device = other.devices[0]
            refused(xla.InvalidArgumentError, ["not a device of this client"], lambda d=foreign_device: client.buffer_from_host(ONES, d))  # fmt: skip


def test_a_deleted_executable(client, refused):
    exe = client.compile(ADD)
    exe.delete()
    refused(xla.FailedPreconditionError, ["main", "deleted"], lambda: exe(ONES, ONES))


def test_unknown_platforms(refused, monkeypatch):
    error = refused(xla.NotFoundError, ["cqu", "installed"], lambda: xla.Client("cqu"))
    assert re.search(r"\bcpu\b", str(error))
    monkeypatch.setenv("XLA_PLATFORM", "no such")
    refused(xla.NotFoundError, ["no such"], xla.Client)


def test_no_backend_is_installed(refused, monkeypatch):
    monkeypatch.setattr(registry, "_entry_points", dict, raising=False)
    monkeypatch.setattr("importlib.metadata.entry_points", lambda **_: importlib.metadata.EntryPoints())
    monkeypatch.delenv("XLA_PLATFORM", raising=False)
    assert not xla.backends()
    refused(xla.NotFoundError, ["no backend is installed", "pip install"], xla.Client)
    refused(xla.NotFoundError, ["pip install"], lambda: xla.Client("cpu"))


def test_unknown_flags(refused, monkeypatch, backend):
    monkeypatch.setenv("XLA_CORE_FLAGS", "--xla_core_verify_pases")
    refused(xla.InvalidArgumentError, ["--xla_core_verify_pases", "did you mean --xla_core_verify_passes"], lambda: xla.Client(backend).compile(ADD))  # fmt: skip
    monkeypatch.setenv("XLA_CORE_FLAGS", "")
    monkeypatch.setenv("XLA_FLAGS", "--xla_somebody_elses=3")
    with xla.Client(backend) as made:
        assert np.asarray(made.compile(ADD)(ONES, ONES)[0])[0] == 2


def test_unknown_options(client, refused):
    options = xla.CompileOptions(backend={"no_such_option": 1})
    refused(xla.InvalidArgumentError, ["no_such_option", "fields are"], lambda: client.compile(ADD, options))
    refused(xla.InvalidArgumentError, ["CompileOptions"], lambda: client.compile(ADD, {"threads": 1}))

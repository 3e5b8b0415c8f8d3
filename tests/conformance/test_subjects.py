"""The number of devices that the suite's platforms get."""

from __future__ import annotations

import os

import pytest
from xla_conformance.results import State
from xla_conformance.runner import run_suite
from xla_conformance.subjects import set_device_count

import xla_core as xla


@pytest.fixture(params=[("cpu", "XLA_FLAGS"), ("template", "XLA_CORE_FLAGS")], ids=lambda p: p[0])
def backend(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> tuple[str, str]:
    name, variable = request.param
    pytest.importorskip(f"xla_backend_{name}")
    for each in ("XLA_FLAGS", "XLA_CORE_FLAGS"):
        monkeypatch.setenv(each, "")  # restored after the test
    return name, variable


def test_a_platform_gets_devices(backend: tuple[str, str]) -> None:
    name, variable = backend
    set_device_count(name, 3)
    with xla.Client(name) as client:
        assert len(client.devices) == 3
    before = os.environ[variable]
    set_device_count(name, 5)  # the environment sets the number already
    assert os.environ[variable] == before
    with xla.Client(name) as client, pytest.raises(xla.XlaError, match=rf"set {variable}=--\w+=4 before"):
        client.compile("HloModule m, replica_count=4\n\nENTRY e {\n  ROOT x = f32[] parameter(0)\n}\n")


def test_a_file_of_flags_stays(backend: tuple[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    name, variable = backend
    monkeypatch.setenv(variable, "/no/such/file")
    set_device_count(name, 3)
    assert os.environ[variable] == "/no/such/file"


def test_a_backend_that_does_not_load_is_left_to_the_suite() -> None:
    set_device_count("no such backend", 2)


def test_the_suite_runs_collectives(backend: tuple[str, str]) -> None:
    run = run_suite(backend[0], expression="test_collectives and all-reduce")
    assert run.problem == ""
    assert {result.state for result in run.results} == {State.PASS}

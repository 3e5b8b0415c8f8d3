"""The contract as a whole: plugins of earlier versions still run, hooks and abstract methods are documented."""

from __future__ import annotations

import inspect
from pathlib import Path

import numpy as np
import pytest

import xla_core
from tests.xla_core.toy_backend import ToyExecutable
from xla_core import backend
from xla_core.backend import hooks, version
from xla_core.hlo import parse_hlo

FROZEN = sorted(Path(__file__).parent.joinpath("frozen").glob("contract_*.py"))


@pytest.mark.parametrize("plugin", FROZEN, ids=lambda p: p.stem)
def test_a_plugin_of_an_earlier_contract_runs(install, plugin: Path) -> None:
    install("old", "old", plugin.read_text())
    with xla_core.Client("old") as client:
        exe = client.compile("HloModule m\n\nENTRY e {\n  p = f32[3] parameter(0)\n  ROOT n = f32[3] negate(p)\n}\n")
        assert np.asarray(exe(np.arange(3, dtype=np.float32))[0]).tolist() == [0, -1, -2]


def test_there_is_a_frozen_plugin_of_each_minor() -> None:
    major, minor = version.CONTRACT_VERSION
    assert {f"contract_{major}_{i}" for i in range(minor + 1)} == {p.stem for p in FROZEN}


def test_every_hook_is_documented() -> None:
    found = [f for name, f in inspect.getmembers(hooks.BackendHooks, inspect.isfunction) if not name.startswith("__")]
    assert [f.__name__ for f in found] == ["xla_backend"]
    assert all(inspect.getdoc(f) for f in found)


CONTRACT = [
    backend.Platform,
    backend.StreamExecutor,
    backend.Stream,
    backend.Event,
    backend.Kernel,
    backend.Compiler,
    backend.Executable,
    backend.TransferManager,
]


@pytest.mark.parametrize("cls", CONTRACT, ids=lambda c: c.__name__)
def test_every_method_of_the_contract_says_what_it_does(cls: type) -> None:
    for name, member in vars(cls).items():
        if name.startswith("_") or not (inspect.isfunction(member) or isinstance(member, property)):
            continue
        assert inspect.getdoc(member), f"{cls.__name__}.{name}"


def test_what_a_vendor_must_write_is_this() -> None:
    """A change of this list is a decision, because an addition breaks all backends."""
    required = {cls.__name__: sorted(getattr(cls, "__abstractmethods__", ())) for cls in CONTRACT}
    assert required == {
        "Platform": ["create_compiler", "create_executor", "visible_device_count"],
        "StreamExecutor": ["allocate", "create_stream", "deallocate", "description"],
        "Stream": [
            "create_event",
            "error",
            "host_callback",
            "memcpy_d2d",
            "memcpy_d2h",
            "memcpy_h2d",
            "memset",
            "record",
            "recover",
            "synchronize",
            "wait",
        ],
        "Event": ["error", "ready", "synchronize"],
        "Kernel": ["launch"],
        "Compiler": ["run_backend", "target_config"],
        "Executable": ["execute_async_on_stream"],
        "TransferManager": [],
    }


@pytest.mark.parametrize(
    ("versions", "fits"),
    [([(1, 0)], True), ([(0, 9), (1, 0)], True), ([(1, 99)], False), ([(2, 0)], False), ([], False)],
)
def test_versions(versions: list[tuple[int, int]], fits: bool) -> None:
    assert version.accepts(versions) is fits


def test_an_artifact_may_be_made_when_it_is_asked_for() -> None:
    made: list[str] = []

    def make() -> bytes:
        made.append("code")
        return b"\x7f"

    module = parse_hlo("HloModule m\n\nENTRY e {\n  ROOT p = f32[3] parameter(0)\n}\n")
    exe = ToyExecutable(module, artifacts={"plan": "text", "object": make})
    assert not made
    assert exe.artifacts() == {"hlo": exe.as_text(), "plan": "text", "object": b"\x7f"}
    assert made == ["code"]

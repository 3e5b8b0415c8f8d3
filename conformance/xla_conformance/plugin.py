"""The pytest plugin of the suite. It is loaded by name (`-p xla_conformance.plugin`), not by an entry point.

Its fixtures give the tests the backend. It deselects tests that don't belong to the profile, and reports events as JSON
lines to the process that started pytest.
"""

from __future__ import annotations

import functools
import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NoReturn

import numpy as np
import pytest

import xla_core as xla
from xla_conformance.subjects import set_device_count
from xla_core.backend import BackendSpec, Platform, Stream, StreamExecutor, load_backend
from xla_core.errors import UnimplementedError
from xla_core.hlo import ElementType, HloModule
from xla_core.target import TargetConfig

__all__ = ["PROFILES", "ClaimingClient", "all_types", "held_types", "not_supported"]

PROFILES = ("quick", "full", "stress")
_DEVICES = 2
_STABLEHLO_DEVICES = 8
_NOT_SUPPORTED = "NOT_SUPPORTED: "


def not_supported(reason: str) -> NoReturn:
    """Ends a test with NOT_SUPPORTED, because the backend doesn't claim what it tests."""
    pytest.skip(_NOT_SUPPORTED + reason)


class ClaimingClient(xla.Client):
    """A client that ends the test with NOT_SUPPORTED if the backend can't compile a program and doesn't claim to."""

    def compile(
        self, program: str | bytes | HloModule, options: xla.CompileOptions | None = None, *, file: str = ""
    ) -> xla.LoadedExecutable:
        try:
            return super().compile(program, options, file=file)
        except UnimplementedError as error:
            target = self.platform.compiler.target_config
            computations = xla.parse(program, file=file).computations
            if all(target.supports(i) for c in computations for i in c.instructions):
                raise
            not_supported(" ".join(line.strip() for line in error.message.splitlines()[:2]))


# -- what tests are given ---------------------------------------------------------------------------------------------


@pytest.fixture(scope="session")
def backend(pytestconfig: pytest.Config) -> str:
    """The platform's name."""
    return str(pytestconfig.getoption("xla_backend"))


@pytest.fixture(scope="session")
def spec(backend: str) -> BackendSpec:
    return load_backend(backend)


@pytest.fixture(scope="session")
def client(backend: str) -> Iterator[xla.Client]:
    """The client of all tests. They must not change its state."""
    with ClaimingClient(backend) as made:
        yield made


@pytest.fixture(scope="session")
def platform(client: xla.Client) -> Platform:
    return client.platform


@pytest.fixture(scope="session")
def executor(platform: Platform) -> StreamExecutor:
    return platform.executor(0)


@pytest.fixture(scope="session")
def target(platform: Platform) -> TargetConfig:
    return platform.compiler.target_config


@pytest.fixture
def stream(executor: StreamExecutor) -> Iterator[Stream]:
    made = executor.create_stream()
    yield made
    made.synchronize()
    made.close()


@pytest.fixture(scope="session")
def seed(pytestconfig: pytest.Config) -> int:
    """The run's seed: every random choice of the suite depends on it."""
    return int(pytestconfig.getoption("xla_seed"))


@pytest.fixture
def random(request: pytest.FixtureRequest, seed: int) -> np.random.Generator:
    """A generator that gives the same numbers in each run of a test with the same seed."""
    return np.random.default_rng([seed, *request.node.name.encode()])


@functools.cache
def held_types(backend: str) -> tuple[ElementType, ...]:
    """Returns the element types that the backend's devices hold, or none if the backend can't be loaded."""
    try:
        held = load_backend(backend).platform().compiler.target_config.capabilities.held_types
    except Exception:  # the tests of the group "loading" report the failure
        return ()
    return tuple(t for t in ElementType if t in held)


def all_types(backend: str) -> tuple[ElementType, ...]:
    """Returns the element types to test, or none if the backend can't be loaded.

    Tests of types that the devices don't hold end with NOT_SUPPORTED.
    """
    return tuple(t for t in ElementType if t.is_array) if held_types(backend) else ()


# -- which tests run --------------------------------------------------------------------------------------------------


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("xla conformance")
    group.addoption("--xla-backend", required=False, default="", help="the backend to test")
    group.addoption("--xla-profile", choices=PROFILES, default="quick")
    group.addoption("--xla-seed", type=int, default=0, help="the seed of every random choice")
    group.addoption("--xla-events", type=int, default=None, help="a file descriptor for a JSON object a line")
    group.addoption("--xla-stablehlo-tests", default="", help="a folder of StableHLO's own test files")
    group.addoption("--xla-done", default="", help="a file that lists tests to leave out, one a line")


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "profile(name): the smallest profile that runs this test; default quick")
    config.addinivalue_line("markers", "promise(id, ...): the sentences of the contract that this test checks")
    backend = config.getoption("xla_backend")
    if backend:
        set_device_count(backend, _STABLEHLO_DEVICES if config.getoption("xla_stablehlo_tests") else _DEVICES)
    descriptor = config.getoption("xla_events")
    if descriptor is not None and not hasattr(config, "workerinput"):
        config.pluginmanager.register(_Reporter(descriptor), "xla-conformance-reporter")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    level = PROFILES.index(config.getoption("xla_profile"))
    listed = config.getoption("xla_done")
    done = set(Path(listed).read_text().splitlines()) if listed else set()
    chosen: list[pytest.Item] = []
    left_out: list[pytest.Item] = []
    for item in items:
        marker = item.get_closest_marker("profile")
        wanted = marker is None or PROFILES.index(marker.args[0]) <= level
        (chosen if wanted and item.nodeid not in done else left_out).append(item)
    items[:] = chosen
    config.hook.pytest_deselected(items=left_out)


# -- what becomes of them ---------------------------------------------------------------------------------------------


class _Reporter:
    """Writes an event when tests are collected, start and end."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._open: dict[str, dict[str, Any]] = {}
        self._collected = False

    def _send(self, event: dict[str, Any]) -> None:
        os.write(self._descriptor, (json.dumps(event) + "\n").encode())

    def _send_collected(self, ids: list[str]) -> None:
        if not self._collected:
            self._collected = True
            self._send({"event": "collected", "ids": ids})

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        if session.items:
            self._send_collected([item.nodeid for item in session.items])

    @pytest.hookimpl(optionalhook=True)
    def pytest_xdist_node_collection_finished(self, node: Any, ids: list[str]) -> None:
        self._send_collected(list(ids))

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        if report.failed:
            self._end(report.nodeid, "ERROR", 0.0, report.longreprtext, {})

    def pytest_runtest_logstart(self, nodeid: str) -> None:
        self._send({"event": "start", "id": nodeid})

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        entry = self._open.setdefault(report.nodeid, {"state": "PASS", "seconds": 0.0, "message": ""})
        entry["seconds"] += report.duration
        if report.skipped:
            reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else str(report.longrepr)
            reason = reason.removeprefix("Skipped: ")
            known = reason.startswith(_NOT_SUPPORTED)
            entry["state"] = "NOT_SUPPORTED" if known else "ERROR"
            entry["message"] = reason.removeprefix(_NOT_SUPPORTED)
        elif report.failed:
            entry["state"] = "FAIL" if report.when == "call" else "ERROR"
            entry["message"] = "\n".join(p for p in (entry["message"], report.longreprtext) if p)
        if report.when not in ("setup", "call"):
            del self._open[report.nodeid]
            self._end(report.nodeid, **entry, properties=dict(report.user_properties))

    def _end(self, id: str, state: str, seconds: float, message: str, properties: dict[str, Any]) -> None:
        self._send(
            {"event": "end", "id": id, "state": state, "seconds": seconds, "message": message, "properties": properties}
        )

"""The pytest plugin of the suite. It is loaded by name (`-p xla_conformance.plugin`), not by an entry point.

Its fixtures give the tests the backend. It deselects tests that don't belong to the profile. The runner loads
`xla_conformance.runner.worker` beside it.
"""

from __future__ import annotations

import contextlib
import functools
import shutil
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from pathlib import Path

import numpy as np
import pytest

import xla_core as xla
from xla_conformance.claims import ClaimingClient
from xla_conformance.device.disturbance import disturb, may_be_disturbed
from xla_conformance.device.processes import own_temporary_folder
from xla_conformance.invariants import Invariants, own_standard_output
from xla_conformance.subjects import set_device_count
from xla_core.backend import BackendSpec, Platform, Stream, StreamExecutor, backends, load_backend
from xla_core.target import TargetConfig

PROFILES = ("quick", "full", "stress")
_DEVICES = {"quick": 2, "full": 4, "stress": 4}
_STABLEHLO_DEVICES = 8

# -- what tests are given ---------------------------------------------------------------------------------------------


@pytest.fixture(scope="session")
def backend(pytestconfig: pytest.Config) -> str:
    """The platform's name."""
    return str(pytestconfig.getoption("xla_backend"))


@pytest.fixture(scope="session")
def spec(backend: str) -> BackendSpec:
    return load_backend(backend)


CLIENT = pytest.StashKey[ClaimingClient]()
"""The stash key of the client that the worker opened before it collected the tests."""


@pytest.fixture(scope="session")
def client(backend: str, pytestconfig: pytest.Config) -> Iterator[xla.Client]:
    """The client of all tests. They must not change its state."""
    opened = pytestconfig.stash.get(CLIENT, None)
    if opened is not None:
        yield opened
        return
    with ClaimingClient(backend, pytestconfig.getoption("xla_set")) as made:
        yield made


@pytest.fixture(scope="session")
def brief_client(request: pytest.FixtureRequest, backend: str) -> Callable[[], AbstractContextManager[xla.Client]]:
    """Gives the client of all tests, or one that is closed again where this process must not hold the device."""
    if request.config.getoption("xla_open", "device") == "later":
        return functools.partial(ClaimingClient, backend, request.config.getoption("xla_set"))
    client = request.getfixturevalue("client")
    return lambda: contextlib.nullcontext(client)


@pytest.fixture(scope="session")
def settings(pytestconfig: pytest.Config) -> tuple[str, ...]:
    """The backend's options of the run, NAME=VALUE, for processes that open a client of their own."""
    return tuple(pytestconfig.getoption("xla_set"))


@pytest.fixture(scope="session")
def open_client(backend: str, settings: tuple[str, ...]) -> Callable[[], ClaimingClient]:
    """Opens one more client with the options of the run, for tests that change, compare or close one."""
    return functools.partial(ClaimingClient, backend, settings)


@pytest.fixture(scope="session")
def options(client: xla.Client) -> xla.CompileOptions:
    """The options for programs that the tests compile without the client."""
    return client.options if isinstance(client, ClaimingClient) else xla.CompileOptions()


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


@pytest.fixture(autouse=True)
def disturbed(request: pytest.FixtureRequest) -> Iterator[None]:
    """Disturbs the test in the profile stress, if it checks data alone."""
    if request.config.getoption("xla_profile") != "stress" or not may_be_disturbed(request.path.name):
        yield
        return
    executor, random = request.getfixturevalue("executor"), request.getfixturevalue("random")
    with disturb(executor, random.spawn(1)[0]):
        yield


# -- which tests run --------------------------------------------------------------------------------------------------


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("xla conformance")
    group.addoption("--xla-backend", required=False, default="", help="the backend to test")
    group.addoption("--xla-profile", choices=PROFILES, default="quick")
    group.addoption("--xla-seed", type=int, default=0, help="the seed of every random choice")
    group.addoption("--xla-shared", type=Path, help="a folder for what the workers of one run share")
    group.addoption("--xla-test", action="append", default=[], help="make no other tests of ops; default: all")
    group.addoption("--xla-set", action="append", default=[], help="NAME=VALUE, an option of the backend")
    group.addoption("--xla-stablehlo-tests", default="", help="a folder of StableHLO's own test files")


def pytest_configure(config: pytest.Config) -> None:
    own_standard_output()
    config.add_cleanup(functools.partial(shutil.rmtree, own_temporary_folder(), ignore_errors=True))
    if threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's command in the background ignores it
    config.addinivalue_line("markers", "profile(name): the smallest profile that runs this test; default quick")
    config.addinivalue_line("markers", "alone: no other process may use the device while this test runs")
    config.addinivalue_line("markers", "other_process: another process opens the device while this test runs")
    config.addinivalue_line("markers", "joint(program): one worker runs the tests of a name, which may share a program")
    config.addinivalue_line("markers", "promise(id, ...): the sentences of the contract that this test checks")
    if config.getoption("xla_backend") and not config.pluginmanager.has_plugin("xla_conformance.runner.worker"):
        settle_devices(config)  # a worker has done that when it opened the device


def settle_devices(config: pytest.Config) -> None:
    """Gives the backend's platform as many devices as the tests need, before its first client is made."""
    few = _DEVICES[config.getoption("xla_profile")]
    count = _STABLEHLO_DEVICES if config.getoption("xla_stablehlo_tests") else few
    name = config.getoption("xla_backend")
    for backend in (name,) if name else backends():
        set_device_count(backend, count)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call() -> object:
    """Checks after each test the state that no test may change."""
    before = Invariants()
    result = yield
    before.check()
    return result


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    level = PROFILES.index(config.getoption("xla_profile"))
    chosen: list[pytest.Item] = []
    left_out: list[pytest.Item] = []
    for item in items:
        marker = item.get_closest_marker("profile")
        wanted = marker is None or PROFILES.index(marker.args[0]) <= level
        (chosen if wanted else left_out).append(item)
    items[:] = chosen
    config.hook.pytest_deselected(items=left_out)

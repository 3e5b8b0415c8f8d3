"""Fixtures that tests of several files use."""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable, Iterator

import pytest

from xla_conformance.device.gates import Gate
from xla_conformance.device.launches import Launcher, make_launcher
from xla_conformance.device.memories import known_memory
from xla_conformance.device.old_objects import OldObjects
from xla_conformance.refusals import Refuse, refusing
from xla_core import Client, Device
from xla_core.backend import CompileOptions, Platform, Stream, StreamExecutor


@pytest.fixture
def gate() -> Iterator[Gate]:
    """A gate that opens at the end of the test, if the test doesn't open it."""
    made = Gate()
    yield made
    made.open()


@pytest.fixture
def other(executor: StreamExecutor) -> Iterator[Stream]:
    """A second stream of the first device."""
    made = executor.create_stream()
    yield made
    made.synchronize()
    made.close()


@pytest.fixture
def hasty() -> Iterator[None]:
    """Lets Python change threads often, so that a race shows in few runs."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    yield
    sys.setswitchinterval(before)


@pytest.fixture(scope="session")  # a worker of `xla conform` keeps nothing else from test to test
def old_objects() -> OldObjects:
    return OldObjects()


@pytest.fixture
def short_collections(request: pytest.FixtureRequest, old_objects: OldObjects) -> None:
    """Lets collections of garbage skip the objects that were there before the first test of the file."""
    old_objects.skip(request.path.name, request.session.testsfailed)


@pytest.fixture
def idle(client: Client, short_collections: None) -> Iterator[Device]:
    """The first device, with nothing in the core's pool."""
    gc.collect()
    client.synchronize()
    client.devices[0].allocator.trim()
    known_memory(client.devices[0].executor)
    yield client.devices[0]
    client.devices[0].allocator.trim()


@pytest.fixture(scope="module")
def refuse(open_client: Callable[[], Client]) -> Iterator[Refuse]:
    with refusing(open_client) as without:
        yield without


@pytest.fixture(scope="session")
def launcher(platform: Platform, executor: StreamExecutor, options: CompileOptions) -> Launcher | None:
    """The program "double"; None if the backend claims no such program."""
    return make_launcher(platform, executor, options)


@pytest.fixture(scope="session")
def large_launcher(platform: Platform, executor: StreamExecutor, options: CompileOptions) -> Launcher | None:
    """The same for 2 MiB and one element more, because a backend may run large work in another way."""
    return make_launcher(platform, executor, options, size=(2 << 20) + 4)


@pytest.fixture(scope="module")
def second_client(open_client: Callable[[], Client]) -> Iterator[Client]:
    with open_client() as made:
        yield made

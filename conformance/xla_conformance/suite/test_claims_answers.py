"""What the backend says of itself is of its type, true, the same again, and the same in each state."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping, MutableMapping
from typing import Any

import numpy as np
import pytest
from pydantic import BaseModel

from xla_conformance.answers import ANSWERS, PROGRAM, PROMISES, STATES, Answer, Subject
from xla_conformance.device.gates import PATIENCE
from xla_conformance.device.memories import allocated
from xla_conformance.device.threads import run_at_once
from xla_conformance.failures import Failure
from xla_core import Client
from xla_core.backend.executable import ExecutableMemoryStats
from xla_core.hlo import Shape

_ALL = pytest.mark.promise(
    "platform.device-count",
    "compiler.target-is-data",
    "executable.immutable",
    "executable.memory-stats",
    "transfer-manager.byte-size",
    "transfer-manager.infeed",
    "executor.thread-safe",
    "features.works-without",
    "executor.description",
    "stream.error",
    "event.never-recorded",
    "executor.allocate",
)


@pytest.fixture
def subject(client: Client) -> Iterator[Subject]:
    with Subject(client) as made:
        yield made


@_ALL
def test_answers_are_true(subject: Subject) -> None:
    """Their types and bounds, what two of them say of one thing, and that a caller may change what it is given."""
    for of, name, answer in _each():
        value = answer.read(subject)
        if not isinstance(value, answer.kind) or (type(value) is bool and answer.kind is not bool):
            raise _wrong(of, name, f"is {value!r}, which has another type than {answer.kind}.")
        for sentence, is_true in answer.holds.items():
            if not is_true(subject, value):
                raise _wrong(of, name, f"is {value!r}. {sentence}")
        if of == "Executable" and isinstance(value, MutableMapping):
            value[next(iter(value), "other")] = "changed"
            if "changed" in answer.read(subject).values():
                raise _wrong(of, name, "gives its own data away: what a caller does with it changes the next answer.")


@_ALL
@pytest.mark.parametrize("state", STATES, ids=lambda state: state.replace(" ", "-"))
def test_answers_stay(subject: Subject, open_client: Callable[[], Client], state: str) -> None:
    """Two answers are equal, also in another thread, in any state."""
    before = _said(subject)
    with STATES[state](subject, open_client):
        found: list[Mapping[tuple[str, str], Any]] = []
        run_at_once([lambda: found.append(_said(subject))], PATIENCE)
        for seen in (*found, _said(subject)):
            _require_same(before, seen, state)


@pytest.mark.promise("executable.immutable", "executable.memory-stats", "executable.cost", "executable.fingerprint")
def test_a_closed_executable_says_the_same(client: Client, subject: Subject) -> None:
    subject.executable = client.compile(PROGRAM.module).executable
    before = _said(subject)
    subject.executable.close()
    _require_same(before, _said(subject), "after it was closed")


_OWN = (
    *("CompilationReport", "Executable.report", "Executable.artifacts"),
    *("StreamExecutor.address", "DeviceMemory.handle"),
    *("StreamExecutor.description", "DeviceDescription.memory_bytes"),  # which may be the memory that is free
)
"""What depends on the time, or on which objects are asked. The other fields of a description do not."""


@pytest.mark.promise("executable.fingerprint", "executor.description", "compiler.target-is-data")
def test_a_second_client_is_told_the_same(open_client: Callable[[], Client], subject: Subject) -> None:
    """The program was compiled once more, after others. What is no object has to be equal."""
    with open_client() as other, Subject(other) as second:
        second.executable = other.compile(PROGRAM.module).executable
        first, found = (
            {key: value for key, value in _said(s).items() if _is_data(value) and not ".".join(key).startswith(_OWN)}
            for s in (subject, second)
        )
        assert len(found) > len(ANSWERS)
        _require_same(first, found, "in a second client")


def _is_data(value: object) -> bool:
    parts = value if isinstance(value, (list, tuple)) else [value]
    kinds = (str, bytes, bool, int, float, tuple, Shape, Mapping, BaseModel, ExecutableMemoryStats, type(None))
    return all(isinstance(part, kinds) for part in parts)


@pytest.mark.promise("executor.address", "executor.host-view", "features.memory-slices")
def test_memory_says_where_it_is(subject: Subject) -> None:
    """Each of many blocks has an address of its own, at a multiple of the alignment, and its view is there."""
    executor, alignment = subject.executor, subject.compiler.target_config.alignment.allocation
    blocks = [allocated(executor, size) for size in (1, 2, 63, 64, 65, 4095, 4096, 4097, 70_001)]
    try:
        places = [(executor.address(block), block.size) for block in blocks]
        known = sorted((at, size) for at, size in places if at is not None)
        assert len(known) in (0, len(blocks)), "Either all memory has an address, or none."
        assert all(at % alignment == 0 for at, _ in known), "Addresses are multiples of the target's alignment."
        for (one, size), (other, _) in itertools.pairwise(known):
            assert one + size <= other, "The addresses of two blocks are apart."
        for block in blocks:
            view = executor.host_view(block)
            if view is not None and known:
                start = np.frombuffer(view, np.uint8).ctypes.data
                assert start == executor.address(block), "A view for the host begins at the memory's address."
    finally:
        for block in blocks:
            executor.deallocate(block)


def _each() -> Iterator[tuple[str, str, Answer]]:
    for of, answers in ANSWERS.items():
        for name, answer in answers.items():
            yield of, name, answer


def _said(subject: Subject) -> Mapping[tuple[str, str], Any]:
    """Asks for everything whose answers are equal in any state."""
    return {(of, name): answer.read(subject) for of, name, answer in _each() if answer.is_same}


def _require_same(before: Mapping[tuple[str, str], Any], seen: Mapping[tuple[str, str], Any], state: str) -> None:
    for (of, name), value in seen.items():
        if value != before[of, name]:
            raise _wrong(of, name, f"is {value!r} {state}, but was {before[of, name]!r}.")


def _wrong(of: str, name: str, what: str) -> Failure:
    return Failure(f"{of}.{name} {what}", promise=PROMISES[of])

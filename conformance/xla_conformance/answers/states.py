"""The states in which a backend is asked. What it says of the same things is the same in each."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager

import numpy as np

from xla_conformance.answers.subject import BYTES, Subject
from xla_conformance.device.gates import Gate, fail
from xla_conformance.device.memories import allocated
from xla_core import Client, XlaError

OpenClient = Callable[[], Client]
State = Callable[[Subject, OpenClient], AbstractContextManager[None]]

_OTHER = "HloModule other\n\nENTRY e {\n  x = s32[33] parameter(0)\n  ROOT y = s32[33] add(x, x)\n}\n"


@contextlib.contextmanager
def _while_work_waits(subject: Subject, open_client: OpenClient) -> Iterator[None]:
    gate = Gate()
    stream = subject.executor.create_stream()
    gate.hold(stream)
    stream.memset(subject.other_memory, 1)
    try:
        yield
        gate.require_closed("what was asked")
    finally:
        gate.open()
        stream.synchronize()
        stream.close()


@contextlib.contextmanager
def _behind_a_failure(subject: Subject, open_client: OpenClient) -> Iterator[None]:
    stream = subject.executor.create_stream()
    stream.host_callback(fail())
    stream.synchronize()
    try:
        yield
    finally:
        stream.recover()
        stream.synchronize()
        stream.close()


@contextlib.contextmanager
def _after_a_recovery(subject: Subject, open_client: OpenClient) -> Iterator[None]:
    subject.stream.host_callback(fail())
    subject.stream.recover()
    subject.stream.synchronize()
    yield


@contextlib.contextmanager
def _after_a_wrong_program(subject: Subject, open_client: OpenClient) -> Iterator[None]:
    with contextlib.suppress(XlaError):
        subject.client.compile(_OTHER.replace("add(x, x)", "add(x, z)"))
    yield


@contextlib.contextmanager
def _after_other_programs(subject: Subject, open_client: OpenClient) -> Iterator[None]:
    executable = subject.client.compile(_OTHER)
    for _ in range(3):
        for result in executable(np.arange(33, dtype=np.int32)):
            result.block_until_ready()
    yield


@contextlib.contextmanager
def _with_more_memory_in_use(subject: Subject, open_client: OpenClient) -> Iterator[None]:
    blocks = [allocated(subject.executor, size) for size in (1, BYTES, 1 << 20)]
    try:
        yield
    finally:
        for block in blocks:
            subject.executor.deallocate(block)


@contextlib.contextmanager
def _beside_a_second_client(subject: Subject, open_client: OpenClient) -> Iterator[None]:
    with open_client() as other:
        other.platform.executor(0).create_stream().close()
        yield


@contextlib.contextmanager
def _after_a_second_client(subject: Subject, open_client: OpenClient) -> Iterator[None]:
    open_client().close()
    yield


@contextlib.contextmanager
def _after_much_work(subject: Subject, open_client: OpenClient) -> Iterator[None]:
    for value in range(50):
        subject.stream.memset(subject.memory, value)
        subject.stream.memcpy_d2d(subject.other_memory, subject.memory)
        subject.stream.finish()
    subject.stream.synchronize()
    yield


@contextlib.contextmanager
def _after_a_run(subject: Subject, open_client: OpenClient) -> Iterator[None]:
    loaded = subject.client.load(subject.executable)
    shapes = subject.executable.parameter_shapes
    for result in loaded(*(np.ones(s.dimensions, s.dtype) for s in shapes)):
        np.asarray(result)
    yield


STATES: Mapping[str, State] = {
    "while work waits": _while_work_waits,
    "behind a failure": _behind_a_failure,
    "after a recovery": _after_a_recovery,
    "after a wrong program": _after_a_wrong_program,
    "after other programs": _after_other_programs,
    "after a run": _after_a_run,
    "after much work": _after_much_work,
    "with more memory in use": _with_more_memory_in_use,
    "beside a second client": _beside_a_second_client,
    "after a second client was closed": _after_a_second_client,
}

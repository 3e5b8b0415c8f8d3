"""Arguments whose memory a run takes over."""

from __future__ import annotations

import numpy as np
import pytest

import xla_core
from tests.xla_core.runtime import programs
from xla_core.errors import (
    FailedPreconditionError,
    InternalError,
    InvalidArgumentError,
    ResourceExhaustedError,
)
from xla_core.hlo import ElementType, Shape

A = np.arange(4, dtype=np.float32)
B = np.ones(4, np.float32)


def test_a_donated_argument_is_gone_and_its_memory_is_the_result(client) -> None:
    exe = client.compile(programs.step())
    assert exe.donated_parameters == (0,)
    state = client.buffer_from_host(A)
    memory = state.memory
    new, product = exe(state, B)
    assert new.memory is memory
    assert np.asarray(new).tolist() == [1, 2, 3, 4]
    assert np.asarray(product).tolist() == [0, 1, 2, 3]
    assert state.is_deleted()
    for use in (np.asarray, lambda b: exe(b, B), lambda b: b.block_until_ready()):
        with pytest.raises(FailedPreconditionError, match=r"(?s)was donated to step.*donate=\(\)"):
            use(state)


def test_a_donated_argument_that_is_looked_at_is_copied(client) -> None:
    exe = client.compile(programs.step())
    state = client.buffer_from_host(A)
    view = np.asarray(state)
    new, _ = exe(state, B)
    assert view.tolist() == [0, 1, 2, 3]
    assert np.asarray(new).tolist() == [1, 2, 3, 4]
    assert state.is_deleted()


def test_a_donated_buffer_passed_twice(client) -> None:
    exe = client.compile(programs.step())
    state = client.buffer_from_host(A)
    with pytest.raises(InvalidArgumentError, match="arguments 0 and 1 of step are the same buffer, and it is donated"):
        exe.execute([state, state])
    assert np.asarray(state).tolist() == [0, 1, 2, 3]


def test_donation_is_the_callers_to_change(client) -> None:
    keep = client.compile(programs.step(), xla_core.CompileOptions(donate=()))
    state = client.buffer_from_host(A)
    keep(state, B)
    assert not state.is_deleted()
    give = client.compile(programs.step(donate=False), xla_core.CompileOptions(donate=(1,)))
    x = client.buffer_from_host(B)
    new, _ = give(state, x)
    assert x.is_deleted()
    assert not state.is_deleted()
    assert np.asarray(new).tolist() == [1, 2, 3, 4]
    with pytest.raises(InvalidArgumentError, match="donate names parameter 7"):
        client.compile(programs.step(), xla_core.CompileOptions(donate=(7,)))


def test_a_donated_argument_is_dead_though_the_run_fails_later(client, toy, monkeypatch) -> None:
    exe = client.compile(programs.step())
    monkeypatch.setattr(exe.executable, "failure", ValueError("boom"), raising=False)
    state = client.buffer_from_host(A)
    outs = exe(state, B)
    assert state.is_deleted()
    with pytest.raises(InternalError, match="boom"):
        np.asarray(outs[0])


def test_a_run_that_is_refused_keeps_what_it_was_given(client) -> None:
    big = Shape.array(ElementType.F32, (1 << 16,))
    exe = client.compile(programs.step(big))
    state, x = (client.buffer_from_host(np.ones(1 << 16, np.float32)) for _ in range(2))
    client.devices[0].memory_limit = 3 << 18
    with pytest.raises(ResourceExhaustedError):
        exe(state, x)
    assert np.asarray(state)[0] == 1
    client.devices[0].memory_limit = None
    assert np.asarray(exe(state, x)[0])[0] == 2


def test_a_steady_loop_takes_no_memory_from_the_device(client) -> None:
    exe = client.compile(programs.step())
    state, x = client.buffer_from_host(A), client.buffer_from_host(B)
    for i in range(20):
        if i == 3:
            before = client.devices[0].memory_stats().allocations
        state, _ = exe.execute([state, x])
    assert client.devices[0].memory_stats().allocations == before
    assert np.asarray(state).tolist() == [20, 21, 22, 23]

"""Random use of a client, from several threads, against a model in numpy: values, donation, deletion, failures, memory."""

from __future__ import annotations

import gc
import threading

import numpy as np
import pytest

import xla_core
from tests.xla_core.runtime import programs
from xla_core.hlo import ElementType, Shape


class User:
    """One thread's buffers with the values that they must have; None for a value whose computation failed."""

    def __init__(self, client, seed: int, executables: dict) -> None:
        self.client = client
        self.rng = np.random.default_rng(seed)
        self.executables = executables
        self.held: list[tuple[object, np.ndarray | None]] = []
        self.views: list[tuple[np.ndarray, np.ndarray]] = []

    def step(self) -> None:
        actions = (self.put, self.add, self.donate, self.fail, self.read, self.delete, self.view, self.chain)
        actions[self.rng.integers(len(actions))]()
        if len(self.held) > 12:
            del self.held[int(self.rng.integers(len(self.held)))]

    def pick(self) -> int:
        if not self.held:
            self.put()
        return int(self.rng.integers(len(self.held)))

    def put(self) -> None:
        array = self.rng.integers(-8, 8, 64).astype(np.float32)
        self.held.append((self.client.buffer_from_host(array), array.copy()))
        array[:] = np.nan

    def add(self) -> None:
        (a, x), (b, y) = self.held[self.pick()], self.held[self.pick()]
        (out,) = self.executables["add"].execute([a, b])
        self.held.append((out, None if x is None or y is None else x + y))

    def donate(self) -> None:
        index = self.pick()
        state, value = self.held.pop(index)
        x = self.rng.integers(-2, 3, 64).astype(np.float32)
        new, product = self.executables["step"](state, x)
        assert state.is_deleted()
        self.held.append((new, None if value is None else value + x))
        self.held.append((product, None if value is None else value * x))

    def fail(self) -> None:
        (a, _), (b, _) = self.held[self.pick()], self.held[self.pick()]
        self.held.append((self.executables["fail"].execute([a, b])[0], None))

    def read(self) -> None:
        buffer, value = self.held[self.pick()]
        if value is None:
            with pytest.raises(xla_core.InternalError, match="planned"):
                np.asarray(buffer)
        else:
            assert np.array_equal(np.asarray(buffer), value)

    def delete(self) -> None:
        buffer, _ = self.held.pop(self.pick())
        buffer.delete()

    def view(self) -> None:
        buffer, value = self.held[self.pick()]
        if value is not None:
            self.views = [*self.views[-5:], (np.asarray(buffer), value)]
        for array, wanted in self.views:
            assert np.array_equal(array, wanted)

    def chain(self) -> None:
        for _ in range(5):
            self.donate()

    def finish(self) -> None:
        for buffer, value in self.held:
            if value is not None:
                assert np.array_equal(np.asarray(buffer), value)
        for array, wanted in self.views:
            assert np.array_equal(array, wanted)


@pytest.mark.parametrize("microseconds", [1.0, float("inf")], ids=["inline", "worker"])
def test_random_use_from_several_threads(client, microseconds: float) -> None:
    shape = Shape.array(ElementType.F32, (64,))
    executables = {
        "add": client.compile(programs.add(shape)),
        "step": client.compile(programs.step(shape)),
        "fail": client.compile(programs.add(shape)),
    }
    for exe in executables.values():
        exe.executable.microseconds = microseconds
    executables["fail"].executable.failure = ValueError("planned")
    client.devices[0].memory_limit = 1 << 20
    failures: list[BaseException] = []

    def use(seed: int) -> None:
        try:
            user = User(client, seed, executables)
            for _ in range(150):
                user.step()
            user.finish()
        except BaseException as error:
            failures.append(error)
            raise

    threads = [threading.Thread(target=use, args=(seed,)) for seed in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    executables.clear()
    del exe
    gc.collect()
    client.synchronize()  # memory of dropped buffers returns after the last work that reads it
    assert client.devices[0].memory_stats().bytes_in_use == 0

"""The default transfer manager, and the queues of infeed and outfeed."""

from __future__ import annotations

import os
import signal
import threading

import ml_dtypes
import numpy as np
import pytest

from xla_core.backend import LiteralQueue, TransferManager
from xla_core.errors import CancelledError, DeadlineExceededError
from xla_core.hlo import ElementType, Layout, Literal, Shape
from xla_core.target import LayoutRules, TargetConfig


def test_a_queue_is_first_in_first_out() -> None:
    queue = LiteralQueue("q")
    for i in range(3):
        queue.put(Literal(np.int32(i)))
    assert len(queue) == 3
    assert [queue.get().item() for _ in range(3)] == [0, 1, 2]
    with pytest.raises(DeadlineExceededError, match=r"no value arrived in q within 0\.01 s"):
        queue.get(timeout=0.01)


def test_a_queue_waits_and_closing_ends_the_wait() -> None:
    queue = LiteralQueue("q")
    threading.Timer(0.05, queue.put, [Literal(np.int32(5))]).start()
    assert queue.get(timeout=10).item() == 5
    threading.Timer(0.05, queue.close).start()
    with pytest.raises(CancelledError, match="q was closed"):
        queue.get()
    with pytest.raises(CancelledError, match="q is closed"):
        queue.put(Literal(np.int32(5)))


def test_control_c_ends_a_wait() -> None:
    threading.Timer(0.1, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
    with pytest.raises(KeyboardInterrupt):
        LiteralQueue("q").get()


def test_each_device_has_queues_of_its_own() -> None:
    manager = TransferManager(TargetConfig(name="t"))
    assert manager.infeed(0) is manager.infeed(0)
    assert len({id(q) for q in (manager.infeed(0), manager.infeed(1), manager.outfeed(0), manager.outfeed(1))}) == 4


def test_layouts_and_sizes_are_the_targets() -> None:
    rules = LayoutRules(default=lambda s: Layout(tuple(range(s.rank)), ((2, 2),) if s.rank == 2 else ()), packed=True)
    manager = TransferManager(TargetConfig(name="t", layouts=rules))
    shape = manager.device_shape(Shape.array(ElementType.S4, (3, 5)))
    assert shape.layout == Layout((0, 1), ((2, 2),), 4)
    assert manager.byte_size(shape) == 6 * 4 // 2
    array = np.arange(-8, 7).reshape(3, 5).astype(ml_dtypes.int4)
    data = manager.to_device(array, shape)
    assert data.nbytes == manager.byte_size(shape)
    assert np.array_equal(manager.from_device(data, shape).astype(int), array.astype(int))

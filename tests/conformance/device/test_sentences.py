"""What failures of tests of memory and events say."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from xla_core.cli import main

pytest.importorskip("xla_backend_template", reason="xla-backend-template is not installed")

Put = Callable[[str, str], str]

SMALL_BLOCKS = """
class Device(TemplateExecutor):
    def allocate(self, size, memory_space=0):
        return super().allocate(size, memory_space) if size <= 1 << 16 else None

put(executor=Device)
"""
EARLY = """
from xla_backend_template.executor import TemplateStream
from xla_core.runtime import HostEvent

class Early(HostEvent):
    asked = 0

    def synchronize(self, timeout=None):
        Early.asked += 1
        return Early.asked % 5 == 0 or super().synchronize(timeout)

class Stream(TemplateStream):
    def create_event(self):
        return Early()

put(stream=Stream)
"""


def test_a_device_without_large_blocks(put_backend: Put, capfd: pytest.CaptureFixture[str]) -> None:
    backend = put_backend("small", SMALL_BLOCKS)
    assert main(["conform", "--backend", backend, "-k", "test_small_blocks_come_back_to_a_full_device[1]"]) == 1
    printed = capfd.readouterr().out
    assert "    An empty device of 268435456 bytes gave no block of 262144 bytes.\n" in printed
    assert "executor.allocate-large" in printed


def test_an_event_that_ends_waits_early(put_backend: Put, capfd: pytest.CaptureFixture[str]) -> None:
    backend = put_backend("early", EARLY)
    assert main(["conform", "--backend", backend, "-k", "test_threads_wait_for_one_event"]) == 1
    printed = capfd.readouterr().out
    assert " 18 of 18 threads that wait for one event came back in time, and " in printed
    assert "then `ready` was False, `error` was None, and the work before was not done.\n" in printed

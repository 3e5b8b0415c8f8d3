"""The suite passes right devices that differ from the template in what the contract leaves open."""

from __future__ import annotations

from collections.abc import Callable

from xla_conformance.results import Run, State
from xla_conformance.runner import run_suite

Put = Callable[[str, str], str]

PAGES = """
from xla_core.backend import DeviceMemory

class Executor(TemplateExecutor):
    def __init__(self, ordinal, memory_bytes):
        super().__init__(ordinal, 4 << 30)

    def allocate(self, size, memory_space=0):
        return super().allocate(-(-size // (2 << 20)) * (2 << 20), memory_space)

put(executor=Executor)
"""
UNKNOWN_MEMORY = """
class Executor(TemplateExecutor):
    @property
    def description(self):
        return super().description.model_copy(update={"memory_bytes": 0})

put(executor=Executor)
"""
SMALL = """
class Executor(TemplateExecutor):
    def __init__(self, ordinal, memory_bytes):
        super().__init__(ordinal, 64 << 20)

put(executor=Executor)
"""


def wrong(run: Run) -> list[tuple[str, str]]:
    assert run.count(State.PASS)
    assert not run.problem
    return [(r.name, r.message) for r in run.results if r.state not in (State.PASS, State.NOT_SUPPORTED)]


def test_a_device_whose_blocks_are_whole_pages(put_backend: Put) -> None:
    backend = put_backend("pages", PAGES)
    chosen = (
        "test_copies_of_every_size or smaller_size or test_any_order or small_blocks or figures_follow or test_bytes_at"
    )
    assert wrong(run_suite(backend, expression=chosen)) == []


def test_a_device_that_does_not_say_how_much_memory_it_has(put_backend: Put) -> None:
    run = run_suite(put_backend("unknown", UNKNOWN_MEMORY), expression="test_memory_device or test_any_order_of_uses")
    assert wrong(run) == []
    assert {r.state for r in run.results if r.name == "test_any_order_of_uses"} == {State.PASS}


def test_a_device_of_the_least_memory(put_backend: Put) -> None:
    chosen = "test_very_large or test_large_arrays or test_memory_device or test_executables_contract or test_memory.py"
    run = run_suite(
        put_backend("small", SMALL), "full", expression=f"({chosen}) and not thousands and not test_any_long"
    )
    assert wrong(run) == []
    assert {r.state for r in run.results if r.name.startswith("test_very_large_arrays")} == {State.NOT_SUPPORTED}

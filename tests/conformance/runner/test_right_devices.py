"""The suite passes right devices that differ from the template in what the contract leaves open."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from xla_conformance.report.failure import command_of
from xla_conformance.results import Run, State
from xla_conformance.runner import Limits, run_suite

Put = Callable[[str, str], str]
ROOT = Path(__file__).parents[3]

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
NEEDS_DEVICE = """
from xla_core.errors import FailedPreconditionError

class Compiler(TemplateCompiler):
    def compile_ahead_of_time(self, module, options=None):
        raise FailedPreconditionError("the compiler asks the device")

put(compiler=Compiler)
"""
EXCLUSIVE = """
import fcntl
from xla_core.errors import UnavailableError

FILES = []  # of this process; closing any file of a path gives up its lock

class Executor(TemplateExecutor):
    def close(self):
        super().close()
        HELD.discard(self)
        if not HELD:
            fcntl.lockf(FILES[0], fcntl.LOCK_UN)

HELD = set()

class Platform(TemplatePlatform):
    exclusive = True

    def create_executor(self, ordinal):
        if not FILES:
            FILES.append(open(os.environ["EXCLUSIVE_DEVICE"], "w"))
        try:
            fcntl.lockf(FILES[0], fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise UnavailableError(f"device {ordinal} is in use by another process") from None
        made = Executor(ordinal, 1 << 28)
        HELD.add(made)
        return made

@hookimpl
def xla_backend():
    return spec(platform=Platform, stream_executor=Executor)
"""
REORDERING = """
from tests.conformance.zoo.mutants.promises_loading import AddsInAnotherOrder

class Compiler(TemplateCompiler):
    @property
    def target_config(self):
        return super().target_config.model_copy(update={"reorders_sums": True})

put(compiler=Compiler, kernel=AddsInAnotherOrder)
"""
CAREFUL_PROBE = """
import ctypes.util
import platform as machine
import sys

from xla_core.backend import Availability

class Finder:  # as `import six` and `import setuptools` bring
    def find_spec(self, *arguments):
        return None

Finder.__module__ = "six"
sys.meta_path.append(Finder())

def probe():
    ctypes.util.find_library("acme_driver")
    machine.processor()
    return Availability(True)

@hookimpl
def xla_backend():
    return spec(probe=probe)
"""
SLOW = """
class Executor(TemplateExecutor):
    def __init__(self, ordinal, memory_bytes):
        if ordinal == 0:
            time.sleep(5)
        super().__init__(ordinal, memory_bytes)

put(executor=Executor)
"""


def wrong(run: Run) -> list[tuple[str, str]]:
    assert run.count(State.PASS)
    assert not run.problem
    return [(r.name, r.message) for r in run.results if r.state not in (State.PASS, State.NOT_SUPPORTED)]


def test_a_device_whose_blocks_are_whole_pages(put_backend: Put) -> None:
    backend = put_backend("pages", PAGES)
    chosen = (
        "test_copies_of_every_size or smaller_size or test_any_order or small_blocks or test_memory_refusals "
        "or figures_follow or test_bytes_at"
    )
    assert wrong(run_suite(backend, expression=chosen)) == []


def test_a_device_that_does_not_say_how_much_memory_it_has(put_backend: Put) -> None:
    chosen = "test_memory_device or test_memory_refusals or test_any_order_of_uses"
    run = run_suite(put_backend("unknown", UNKNOWN_MEMORY), expression=chosen)
    assert wrong(run) == []
    assert {r.state for r in run.results if r.name == "test_any_order_of_uses"} == {State.PASS}


def test_a_device_of_the_least_memory(put_backend: Put) -> None:
    chosen = (
        "test_very_large or test_large_arrays or test_memory_device or test_memory_refusals or test_memory.py "
        "or test_executables_contract"
    )
    run = run_suite(
        put_backend("small", SMALL), "full", expression=f"({chosen}) and not thousands and not test_any_long"
    )
    assert wrong(run) == []
    assert {r.state for r in run.results if r.name.startswith("test_very_large_arrays")} == {State.NOT_SUPPORTED}


def test_a_device_that_one_process_at_a_time_can_open(
    put_backend: Put, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("EXCLUSIVE_DEVICE", str(tmp_path / "lock"))
    chosen = "test_loading or test_run_in_another_process or test_events.py"
    run = run_suite(put_backend("exclusive", EXCLUSIVE), expression=chosen, workers=2)
    assert wrong(run) == []
    assert not run.not_run
    found = {r.name: r.state for r in run.results}
    assert found["test_another_process_opens_the_devices_or_is_refused"] is State.PASS
    assert found["test_each_stage_of_loading_ends[first run]"] is State.PASS
    assert found["test_run_in_another_process[temporaries]"] is State.PASS


def test_a_compiler_that_needs_a_device(put_backend: Put) -> None:
    """What it refuses shows nothing, so the test of it doesn't pass."""
    run = run_suite(put_backend("needy", NEEDS_DEVICE), expression="open_no_device or first_program or compiled_ahead")
    assert wrong(run) == []
    found = {r.name: r.state for r in run.results}
    assert found["test_compiling_and_counting_open_no_device[compile]"] is State.NOT_SUPPORTED
    assert found["test_compiling_and_counting_open_no_device[compiler]"] is State.PASS
    assert found["test_compiled_ahead_of_time[loop]"] is State.NOT_SUPPORTED
    assert found["test_a_first_program_is_right"] is State.PASS


def test_a_device_that_reorders_its_sums(put_backend: Put, monkeypatch: pytest.MonkeyPatch) -> None:
    """The device is the zoo's, with the declaration that makes it a right one."""
    monkeypatch.syspath_prepend(str(ROOT))
    assert wrong(run_suite(put_backend("reordering", REORDERING), expression="test_programs_run")) == []


def test_a_probe_that_looks_for_libraries(put_backend: Put) -> None:
    assert (
        wrong(run_suite(put_backend("careful", CAREFUL_PROBE), expression="test_loading_touches or whole_process"))
        == []
    )


@pytest.mark.slow
def test_patience_multiplies_the_limits_within_tests(put_backend: Put) -> None:
    backend, chosen = put_backend("slow", SLOW), "test_each_stage_of_loading_ends and open"
    (hasty,) = run_suite(backend, expression=chosen, patience=0.1, limits=Limits.of("quick")).results
    assert hasty.state is State.FAIL
    assert "it hung: it did not end in 4 s" in hasty.message
    assert command_of(Run(backend, "quick", environment={"patience": 0.1}), hasty).count("--patience 0.1") == 1
    assert wrong(run_suite(backend, expression=chosen)) == []

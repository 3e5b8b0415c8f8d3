"""The suite passes right backends, fails wrong ones, and survives backends that crash or hang."""

from __future__ import annotations

import importlib.resources
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from xla_conformance.report.failure import command_of
from xla_conformance.results import GROUPS, STABLEHLO_GROUP, Result, Run, State, Unclaimed, group_of, suite_files
from xla_conformance.runner import Limits, run_suite

from tests.conformance.runner.broken_backends import HANGING
from xla_core import evaluate, parse

Put = Callable[[str, str], str]

RIGHT = "put()"
WRONG_NEGATE = """
class Kernel(HloKernel):
    def __init__(self, instruction, *rest):
        if instruction.opcode == "negate":
            instruction = instruction.parent.add("abs", instruction.operand(0))
        super().__init__(instruction, *rest)

put(kernel=Kernel)
"""
RAISING = """
class Compiler(TemplateCompiler):
    def run_hlo_passes(self, module, options, executor=None):
        if any(i.opcode == "cbrt" for c in module.computations for i in c.instructions):
            raise ValueError("no root today")
        return super().run_hlo_passes(module, options, executor)

put(compiler=Compiler)
"""
ALIASING = """
class Stream(TemplateStream):
    def upload(self, destination, source):
        self.memcpy_h2d(destination, source)  # "the caller may change source" is forgotten

    def memcpy_h2d(self, destination, source):
        self.enqueue(lambda: (time.sleep(0.02), self.write(destination, source)))

put(stream=Stream)
"""
NOT_CLAIMING = """
class Compiler(TemplateCompiler):
    @property
    def target_config(self):
        config = super().target_config
        return config.model_copy(update={"capabilities": config.capabilities.without_ops("topk")})

    def run_hlo_passes(self, module, options, executor=None):
        from xla_core.errors import UnimplementedError
        for computation in module.computations:
            for instruction in computation.instructions:
                if instruction.opcode in REFUSED:
                    raise UnimplementedError("this device has no " + instruction.opcode)
        return super().run_hlo_passes(module, options, executor)

REFUSED = ("topk", "atan2")

put(compiler=Compiler)
"""
LITTLE = """
from xla_core.hlo import ElementType
from xla_core.target import Capabilities, TargetConfig

F32, PRED = ElementType.F32, ElementType.PRED

class Compiler(TemplateCompiler):
    @property
    def target_config(self):
        capabilities = (
            Capabilities()
            .with_ops(["add", "subtract", "multiply", "divide", "maximum", "exponential", "compare"], [F32])
            .with_ops(["broadcast", "reshape", "select"], [F32, PRED])
            .with_ops(["and", "or", "not"], [PRED])
        )
        return TargetConfig(name="little", capabilities=capabilities)

put(compiler=Compiler)
"""
OWN_MEMORY = """
from xla_core.runtime import HostStream

BLOCKS = {}

class Stream(HostStream):
    def __init__(self, executor):
        super().__init__(executor, "own")

    def write(self, destination, source):
        BLOCKS[destination.handle][: source.size] = source

    def read(self, destination, source):
        destination[:] = BLOCKS[source.handle][: destination.size]

    def copy(self, destination, source):
        size = min(destination.size, source.size)
        BLOCKS[destination.handle][:size] = BLOCKS[source.handle][:size]

    def fill(self, destination, value):
        BLOCKS[destination.handle][: destination.size] = value

class Executor(TemplateExecutor):
    def allocate(self, size, memory_space=0):
        memory = super().allocate(size, memory_space)
        if memory is not None:
            BLOCKS[memory.handle] = np.zeros(size, np.uint8)
        return memory

    def deallocate(self, memory):
        del BLOCKS[memory.handle]
        super().deallocate(memory)

put(stream=Stream, executor=Executor)
"""
DYING = """
class Compiler(TemplateCompiler):
    def run_backend(self, module, options, executor=None):
        opcodes = {i.opcode for i in module.entry.instructions}
        if "cbrt" in opcodes:
            print("cbrt: chip on fire", flush=True)
            os.abort()
        if "erf" in opcodes:
            os._exit(3)
        return super().run_backend(module, options, executor)

put(compiler=Compiler)
"""


def by_op(run: Run) -> dict[str, set[State]]:
    found: dict[str, set[State]] = {}
    for result in run.results:
        found.setdefault(result.properties.get("opcode", ""), set()).add(result.state)
    return found


def states(run: Run) -> dict[str, State]:
    return {result.name: result.state for result in run.results}


def test_every_file_of_the_suite_is_in_a_group():
    suite = importlib.resources.files("xla_conformance").joinpath("suite")
    files = {f.name for f in suite.iterdir() if f.name.startswith("test_")}
    assert {group_of(name) for name in files} == {*GROUPS, STABLEHLO_GROUP}
    assert {Path(f).name for f in suite_files((*GROUPS, STABLEHLO_GROUP))} == files


def test_a_group_may_have_several_files():
    assert group_of("test_streams.py") == group_of("test_streams_order.py") == "streams"
    assert Result("suite/test_streams_order.py::test_x[1]", State.PASS).group == "streams"


def test_a_right_backend_conforms(put_backend: Put) -> None:
    seen: list[tuple[int, Result]] = []
    run = run_suite(
        put_backend("right", RIGHT),
        expression="test_transfers.py or test_events or test_op[tanh",
        progress=lambda total, result: seen.append((total, result)),
    )
    bad = [(r.name, r.message) for r in run.results if r.state is not State.PASS]
    assert bad == []
    assert run.passes
    assert [r for _, r in seen] == run.results
    assert {total for total, _ in seen} == {len(run.results)}
    tanh = [r for r in run.results if r.properties.get("opcode") == "tanh"]
    assert {r.group for r in tanh} == {"ops"}
    assert "f32" in {r.properties["element_type"] for r in tanh}
    assert all(r.properties["max_ulp"] <= 4 for r in tanh)


def test_a_wrong_op_is_found(put_backend: Put, tmp_path: Path) -> None:
    run = run_suite(put_backend("wrong", WRONG_NEGATE), expression="test_op[negate or test_op[abs", artifacts=tmp_path)
    assert not run.passes
    failed = [r for r in run.wrong if r.properties["opcode"] == "negate"]
    assert {"f32", "s32"} <= {r.properties["element_type"] for r in failed}
    assert by_op(run)["abs"] == {State.PASS}
    wrong = next(r for r in failed if r.properties["element_type"] == "f32")
    assert {"module", "index", "operands", "got", "wanted"} <= set(wrong.failure)
    assert "negate" in wrong.failure["module"]
    assert "negate f32" in wrong.properties["runs_as"]
    folder = tmp_path / wrong.failure["folder"]
    assert {f.name for f in folder.iterdir()} == set(wrong.failure["files"])
    arguments, results = ([np.load(path) for path in folder.glob(f"{name}_*.npy")] for name in ("argument", "result"))
    right = {(-argument).tobytes() for argument in arguments if argument.dtype == np.float32}
    assert not all(result.tobytes() in right for result in results)
    assert "assert" not in wrong.message + wrong.details, "no Python source"


def test_a_failure_leaves_the_program_that_ran_with_its_arguments(put_backend: Put, tmp_path: Path) -> None:
    run = run_suite(put_backend("wrong", WRONG_NEGATE), expression="test_values[negate-f32", artifacts=tmp_path)
    assert run.wrong
    for result in run.wrong:
        folder = tmp_path / result.failure["folder"]
        module = parse((folder / "module.hlo").read_text())
        kinds = {kind: sorted(folder.glob(f"{kind}_*.npy")) for kind in ("argument", "expected")}
        arguments, expected = ([np.load(f) for f in files] for files in kinds.values())
        assert len(arguments) == len(module.parameter_shapes), result.name
        assert len(result.failure["operands"]) == 1, "what its context adds is no operand"
        for got, wanted in zip(evaluate(module, *arguments), expected, strict=True):
            np.testing.assert_array_equal(got, wanted)
        minimal = parse((folder / "minimal.mlir").read_text())
        (got,) = evaluate(minimal, *arguments)
        np.testing.assert_array_equal(got, expected[result.failure.get("result", 0)])


def test_a_compiler_that_raises_leaves_the_program(put_backend: Put, tmp_path: Path) -> None:
    run = run_suite(put_backend("raising", RAISING), expression="test_op[cbrt-f32", artifacts=tmp_path)
    assert run.wrong
    for result in run.wrong:
        assert "no root today" in result.message
        assert result.failure["files"] == ["module.hlo"]
        assert "cbrt(" in (tmp_path / result.failure["folder"] / "module.hlo").read_text()


ALIASED = (
    "test_the_callers_array_is_not_aliased",
    "test_upload_takes_the_array_at_once",
    "test_the_transfer_manager_keeps_layouts",
)
"""Tests that find an array of the caller's that is read too late."""


def test_an_aliased_array_is_found(put_backend: Put) -> None:
    found = states(run_suite(put_backend("aliasing", ALIASING), expression=" or ".join(ALIASED)))
    assert {name.partition("[")[0] for name, state in found.items() if state is State.FAIL} >= set(ALIASED)


def test_claims_decide_between_failure_and_not_supported(put_backend: Put) -> None:
    expression = "test_op[topk or test_op[atan2 or test_op[tanh"
    found = by_op(run_suite(put_backend("modest", NOT_CLAIMING), expression=expression))
    assert found["topk"] == {State.NOT_SUPPORTED}
    assert State.FAIL in found["atan2"]
    assert found["tanh"] == {State.PASS}


@pytest.mark.slow
def test_own_memory_and_queues_under_simulated_kernels(put_backend: Put) -> None:
    run = run_suite(put_backend("own", OWN_MEMORY), expression="test_transfers or test_streams or test_memory")
    assert run.passes, [(r.name, r.message[-300:]) for r in run.results if r.state is not State.PASS]


def test_what_is_not_claimed_is_not_supported(put_backend: Put) -> None:
    run = run_suite(
        put_backend("little", LITTLE),
        expression="test_results_are_right or test_every_element_type or test_op[add or test_op[convert-f32",
    )
    wrong = [(r.name, r.message[-300:]) for r in run.results if r.state not in (State.PASS, State.NOT_SUPPORTED)]
    assert wrong == []
    found = states(run)
    adds = {r.properties["element_type"]: r for r in run.results if r.properties.get("opcode") == "add"}
    assert adds["f32"].state is State.PASS
    assert adds["f64"].state is State.NOT_SUPPORTED
    assert adds["f64"].message == "the device holds no f64"
    assert adds["f64"].properties["unclaimed"] == Unclaimed.ELEMENT_TYPE.value
    converts = [r for r in run.results if r.properties.get("opcode") == "convert"]
    lacking = [r.message for r in converts if r.properties.get("unclaimed") == Unclaimed.ELEMENT_TYPE.value]
    assert lacking
    assert all("the device holds no " in message for message in lacking)
    assert found["test_every_element_type[f64]"] is State.NOT_SUPPORTED
    assert found["test_every_element_type[f32]"] is State.PASS
    messages = {r.name: r.message for r in run.results}
    assert "reduce" in messages["test_results_are_right"]


def test_tests_of_two_devices_say_that_there_is_one(put_backend: Put, monkeypatch: pytest.MonkeyPatch) -> None:
    """They don't pass: they test nothing."""
    monkeypatch.setenv("XLA_CORE_FLAGS", "--xla_template_device_count=1")
    of_two = ("test_feeds_are_of_one_device", "test_wrong_buffers_leave_it_usable[loop-device]", "test_between_devices")
    run = run_suite(put_backend("single", RIGHT), expression=" or ".join(of_two))
    found = {r.name: r.state for r in run.results if r.name in of_two}
    assert found == dict.fromkeys(of_two, State.NOT_SUPPORTED)


def test_a_crash_costs_one_test(put_backend: Put, tmp_path: Path) -> None:
    expression = "test_op and f32 and ([cbrt or [erf or [tanh or [sine)"
    run = run_suite(put_backend("dying", DYING), expression=expression, artifacts=tmp_path)
    found = by_op(run)
    assert State.CRASH in found["cbrt"]
    assert State.CRASH in found["erf"]
    assert found["sine"] == found["tanh"] == {State.PASS}
    crashed = {r.properties["opcode"]: r for r in run.wrong}
    assert "SIGABRT" in crashed["cbrt"].message
    assert "chip on fire" in crashed["cbrt"].details
    assert "code 3" in crashed["erf"].message
    assert "cbrt(" in (tmp_path / crashed["cbrt"].failure["folder"] / "module.hlo").read_text()


DYING_BESIDE = """
class Compiler(TemplateCompiler):
    def run_backend(self, module, options, executor=None):
        types = {i.shape.element_type.value for i in module.entry.instructions if i.opcode == "cbrt"}
        if %s:
            os.abort()
        return super().run_backend(module, options, executor)

put(compiler=Compiler)
"""


def test_a_crash_of_a_shared_program_costs_one_test(put_backend: Put) -> None:
    """The cases that shared it run alone, and only the one that crashes then is wrong."""
    run = run_suite(put_backend("dying_beside", DYING_BESIDE % '"f16" in types'), expression="test_op[cbrt")
    assert {r.properties["element_type"] for r in run.wrong} == {"f16"}
    assert {r.state for r in run.wrong} == {State.CRASH}
    assert run.not_run == 0
    assert len(run.results) > 12


def test_a_crash_of_a_shared_program_alone_is_told(put_backend: Put, tmp_path: Path) -> None:
    """Its program is kept, and the command that is told runs all of its cases."""
    backend = put_backend("dying_together", DYING_BESIDE % "len(types) > 1")
    run = run_suite(backend, expression="test_op[cbrt", artifacts=tmp_path)
    assert run.wrong
    for result in run.wrong:
        assert "each of them is right alone" in result.message
        assert (tmp_path / result.failure["folder"] / "module.hlo").read_text().count(" cbrt(") > 1
        assert command_of(run, result).count("--test") == len(result.properties["together"]) > 1


def test_a_hang_costs_one_test(put_backend: Put) -> None:
    limits = Limits(test=4, stage=60, total=300)
    backend = put_backend("hanging", HANGING)
    run = run_suite(backend, expression="test_op and s16 and ([popcnt or [xor) and not size.0", limits=limits)
    hung = run.wrong[0]
    assert by_op(run) == {"popcnt": {State.TIMEOUT}, "xor": {State.PASS}}
    assert hung.message == "it did not end within 4 s, and its process was killed"
    assert "stacks:" in hung.details
    assert "in _run" in hung.details, "the frame of the kernel that hangs"
    assert "in test_op" in hung.details
    assert "/_pytest/" not in hung.details
    assert "/pluggy/" not in hung.details


DYING_LATER = """
import threading
from xla_backend_template.platform import TemplatePlatform

class Compiler(TemplateCompiler):
    def run_backend(self, module, options, executor=None):
        if any(i.opcode == "cbrt" for i in module.entry.instructions):
            import pytest, xla_conformance.runner.worker as worker
            ended = worker._Worker._end
            def end(self, *arguments, **entry):
                ended(self, *arguments, **entry)
                print("the watchdog bites", flush=True)
                os.abort()
            worker._Worker._end = end
        return super().run_backend(module, options, executor)

put(compiler=Compiler)
"""


def test_a_crash_after_a_test_is_that_tests(put_backend: Put) -> None:
    run = run_suite(put_backend("later", DYING_LATER), expression="test_op and f32 and ([cbrt or [cosine)")
    found = by_op(run)
    assert State.CRASH in found["cbrt"]
    assert found["cosine"] == {State.PASS}
    assert all("after it, its process was ended by SIGABRT" in r.message for r in run.wrong)


LOSING = """
class Kernel(HloKernel):
    lost = False

    def _run(self, stream, arguments):
        if "cosh" in self.name or Kernel.lost:
            Kernel.lost = True
            raise RuntimeError("the bus is gone")
        super()._run(stream, arguments)

class Stream(TemplateStream):
    def read(self, destination, source):
        if Kernel.lost:
            raise RuntimeError("the bus is gone")
        super().read(destination, source)

put(kernel=Kernel, stream=Stream)
"""


def test_a_lost_device_costs_one_test(put_backend: Put) -> None:
    run = run_suite(put_backend("losing", LOSING), expression="f32 and (test_op[cosh or test_op[sinh or test_op[tanh)")
    found = by_op(run)
    assert State.DEVICE_LOST in found["cosh"]
    assert found["sinh"] == found["tanh"] == {State.PASS}
    assert "the bus is gone" in run.wrong[0].message


def test_a_device_lost_by_a_shared_program_costs_one_test(put_backend: Put) -> None:
    """The cases that shared it run alone, and only the one that loses the device then is wrong."""
    source = LOSING.replace(
        '"cosh" in self.name', '"cosh" in self.name and str(self.result_shapes[0]).startswith("f16")'
    )
    assert source != LOSING
    run = run_suite(put_backend("losing_beside", source), expression="test_op[cosh")
    assert {r.properties["element_type"] for r in run.wrong} == {"f16"}
    assert {r.state for r in run.wrong} == {State.DEVICE_LOST}
    assert run.not_run == 0
    assert len(run.results) > 12


LOSING_TOGETHER = LOSING.replace(
    "    lost = False\n",
    """    lost = False
    made = []  # the environment of each kernel of the op, which is its program's

    def __init__(self, instruction, environment=None):
        super().__init__(instruction, environment)
        if "reverse" in self.name:
            Kernel.made.append(environment)
        self.number = sum(each is environment for each in Kernel.made)
""",
).replace('"cosh" in self.name or', '"reverse" in self.name and self.number > 1 or')


def test_a_device_lost_by_a_shared_program_alone_is_told(put_backend: Put, tmp_path: Path) -> None:
    """Its program is kept, not that of the case which ran when the loss was noticed."""
    backend = put_backend("losing_together", LOSING_TOGETHER)
    run = run_suite(backend, expression="test_op[reverse-s and not (kernels or constants or fused)", artifacts=tmp_path)
    assert {r.state for r in run.wrong} == {State.DEVICE_LOST}
    together = [r for r in run.wrong if "each of them is right alone" in r.message]
    assert together
    for result in together:
        assert (tmp_path / result.failure["folder"] / "module.hlo").read_text().count(" reverse(") > 1


ONE_MEMORY = """
import fcntl

ROOT = os.environ["SHARED_DEVICE"]

def take(ordinal, size):
    # adds to what this process uses; false if all living processes together use more than there is
    with open(ROOT + "/lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        used = {name: int(open(f"{ROOT}/{name}").read()) for name in os.listdir(ROOT) if name.endswith(f"-{ordinal}")}
        alive = {name: n for name, n in used.items() if os.path.exists("/proc/" + name.partition("-")[0])}
        if sum(alive.values()) + size > 1 << 28:
            return False
        name = f"{os.getpid()}-{ordinal}"
        with open(f"{ROOT}/{name}", "w") as file:
            file.write(str(alive.get(name, 0) + size))
        return True

class Executor(TemplateExecutor):
    def allocate(self, size, memory_space=0):
        return super().allocate(size, memory_space) if take(self.ordinal, size) else None

    def deallocate(self, memory):
        super().deallocate(memory)
        take(self.ordinal, -memory.size)

put(executor=Executor)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_tests_that_fill_the_device_have_it_for_themselves(
    put_backend: Put, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The workers share the memory of one device, as they do that of a real one."""
    shared = tmp_path / "device"
    shared.mkdir()
    monkeypatch.setenv("SHARED_DEVICE", str(shared))
    chosen = "test_the_device_has_the_memory_that_it_says or test_a_block_larger or test_transfers_layouts"
    run = run_suite(put_backend("shared", ONE_MEMORY), expression=chosen, workers=2)
    assert run.passes, [(r.name, r.message) for r in run.results if r.state is not State.PASS]
    files = [r.id.partition("::")[0] for r in run.results]
    assert files == sorted(files, key="test_memory_device.py".__eq__), "these come last"


def test_workers_share_the_tests(put_backend: Put) -> None:
    run = run_suite(put_backend("shared", RIGHT), expression="test_streams.py or test_events", workers=2)
    assert run.passes, [(r.name, r.message) for r in run.results if r.state is not State.PASS]
    assert len({r.id for r in run.results}) == len(run.results) > 20


def test_nothing_matches(put_backend: Put) -> None:
    run = run_suite(put_backend("nothing", RIGHT), expression="test_no_such")
    assert run.results == []
    assert not run.passes

"""Loading the backend: its description, classes and platform. Nothing opens a device before it is needed."""

from __future__ import annotations

import inspect
import re
import signal
import threading
from collections.abc import Callable

import pytest

from xla_conformance.child_process import Outcome
from xla_conformance.claims import not_supported
from xla_conformance.loading import SECONDS, STAGES, load_in_process, open_in_process
from xla_core import Client
from xla_core.backend import (
    CONTRACT_VERSION,
    Availability,
    BackendSpec,
    CompileOptions,
    Compiler,
    Platform,
    StreamExecutor,
    TransferManager,
    backends,
    inspect_backends,
)
from xla_core.config import flag_variable
from xla_core.errors import InvalidArgumentError
from xla_core.hlo import ElementType
from xla_core.target import TargetConfig

_TRIES = 3  # processes in which something must be slow
FRAMEWORKS = {"IPython", "jax", "jaxlib", "keras", "llvmlite", "matplotlib", "pandas", "scipy", "tensorflow", "torch"}
"""Packages that take long to import, and that no description of a backend needs."""


@pytest.fixture(scope="session")  # a worker of `xla conform` keeps nothing else from test to test
def loaded(backend: str, settings: tuple[str, ...]) -> Outcome:
    return load_in_process(backend, settings)


def _in_one_worker(test: Callable[..., None]) -> Callable[..., None]:
    """Marks a test of that process, of which there is one."""
    for mark in (pytest.mark.joint("loaded"), pytest.mark.other_process):
        test = mark(test)
    return test


# -- in a process of its own -----------------------------------------------------------------------------------------


@pytest.mark.promise(
    "hooks.spec",
    "hooks.entry-point",
    "spec.probe-raises-nothing",
    "spec.probe-quick",
    "spec.platform-without-arguments",
    "platform.create-compiler",
    "platform.create-executor",
    "platform.close",
    "executor.close",
)
@pytest.mark.parametrize("stage", STAGES)
@_in_one_worker
def test_each_stage_of_loading_ends(loaded: Outcome, stage: str) -> None:
    """It raises nothing, ends no process and doesn't hang."""
    loaded.require(stage, STAGES[stage])


@pytest.mark.promise(
    "hooks.touches-no-device",
    "hooks.leaves-nothing",
    "spec.probe-opens-no-device",
    "platform.making-touches-no-device",
)
@pytest.mark.parametrize("stage", ["import", "hook", "probe", "platform"])
@_in_one_worker
def test_loading_touches_no_device(loaded: Outcome, stage: str) -> None:
    touched = loaded.require(stage, STAGES[stage])["touched"]
    assert not touched, f"{STAGES[stage].capitalize()} touches no device: it {' and '.join(touched)}."


_MAY_LOG = ("open", "client", "first run", "fork", "close")


@pytest.mark.promise("hooks.changes-nothing", "hooks.prints-nothing")
@pytest.mark.parametrize("stage", [stage for stage in STAGES if stage != "exit"])
@_in_one_worker
def test_nothing_of_the_whole_process_changes(loaded: Outcome, stage: str) -> None:
    """A driver may say something on the standard error stream once a device is opened."""
    changed = loaded.require(stage, STAGES[stage])["changed"]
    found = [what for what in changed if not (what.endswith("standard error") and stage in _MAY_LOG)]
    assert not found, f"A backend changes nothing of the whole process: {STAGES[stage]} {' and '.join(found)}."


@pytest.mark.promise("compiler.needs-no-device", "compiler.ahead-of-time", "platform.making-touches-no-device")
@pytest.mark.parametrize("stage", ["compiler", "compile", "count"])
@_in_one_worker
def test_compiling_and_counting_open_no_device(loaded: Outcome, stage: str) -> None:
    data = loaded.require(stage, STAGES[stage])
    opened = [what for what in data["touched"] if what.startswith(("opens", "leaves"))]
    if "refused" in data:
        not_supported(f"its compiler compiles nothing without a device: {data['refused']}")
    assert not opened, f"{STAGES[stage].capitalize()} opens no device: it {' and '.join(opened)}."


@pytest.mark.promise("hooks.imports-little")
@_in_one_worker
def test_describing_the_backend_imports_little(loaded: Outcome) -> None:
    modules = loaded.require("probe", STAGES["probe"])["modules"]
    found = sorted(FRAMEWORKS & set(modules))
    assert not found, f"The hook imports as little as possible: it imports {' and '.join(found)}."


@pytest.mark.promise("spec.probe-quick")
@pytest.mark.parametrize(("stage", "most"), [("import", 10), ("hook", 10), ("probe", 2), ("platform", 2), ("count", 2)])
@_in_one_worker
def test_what_comes_before_a_device_is_quick(
    loaded: Outcome, backend: str, settings: tuple[str, ...], stage: str, most: float
) -> None:
    """`xla backends` does this for each installed backend. The best of several tries counts, for busy machines."""
    tries = [loaded.require(stage, STAGES[stage])["seconds"]]
    while min(tries) >= most and len(tries) < _TRIES:
        tries.append(load_in_process(backend, settings).require(stage, STAGES[stage])["seconds"])
    slow = f"in {_TRIES} processes it took {min(tries):.1f} s or more"
    assert min(tries) < most, f"{STAGES[stage].capitalize()} is quick: {slow}."


@pytest.mark.promise("executable.run")
@_in_one_worker
def test_a_first_program_is_right(loaded: Outcome) -> None:
    data = loaded.require("first run", STAGES["first run"])
    if "refused" in data:
        not_supported(f"it compiles no addition: {data['refused']}")
    assert data["right"], "The first program of a process gives its results."


@pytest.mark.promise("platform.create-executor-in-child")
@_in_one_worker
def test_a_child_of_fork_can_use_the_backend(loaded: Outcome) -> None:
    data = loaded.require("fork", STAGES["fork"])
    if "code" not in data:
        not_supported("this system makes no child processes by fork")
    code = data["code"]
    wrong = "another error came, or its first program was wrong"
    died = f"it was ended by {signal.Signals(-code).name}" if code < 0 else wrong
    assert code != -signal.SIGALRM, "A forked child opens the devices or gets an XlaError, but it hung."
    assert code == 0, f"A forked child opens the devices or gets an XlaError, but {died}."


@pytest.mark.promise("compiler.target-is-data", "compiler.fingerprint")
@_in_one_worker
def test_two_processes_agree_about_the_target(loaded: Outcome, spec: BackendSpec) -> None:
    """Serialized executables are refused unless the fingerprints agree."""
    data = loaded.require("compiler", STAGES["compiler"])
    compiler = spec.platform().create_compiler()
    assert compiler.target_config.fingerprint() == data["target"], "The target is the same in each process."
    after = loaded.require("first run", STAGES["first run"])["target"]
    assert after == data["target"], "The target is the same before and after a compilation."
    assert isinstance(compiler.fingerprint(), str), "Compiler.fingerprint() is a text."
    assert compiler.fingerprint() == data["fingerprint"], "Compiler.fingerprint() is the same in each process."


@pytest.mark.promise("platform.device-count", "platform.device-count-flag")
@_in_one_worker
def test_two_processes_count_the_same_devices(loaded: Outcome, spec: BackendSpec) -> None:
    data = loaded.require("count", STAGES["count"])
    assert data["count"] == spec.platform().visible_device_count(), (
        "The number of devices is the same for each process."
    )


# -- what it says of itself -------------------------------------------------------------------------------------------


@pytest.mark.promise("hooks.entry-point")
def test_entry_point_names_it(backend: str) -> None:
    assert backend in backends(), "The entry point's name is the platform's name."


@pytest.mark.promise("spec.version", "spec.description", "spec.contract-versions")
def test_spec_says_what_it_is(spec: BackendSpec) -> None:
    assert spec.version, "A backend has a version, which serialized executables record."
    assert spec.description, "A backend has a description, one line for `xla backends`."
    assert "\n" not in spec.description, "A backend's description is one line."
    assert spec.contract_versions, "A backend says which versions of the contract it accepts."


@pytest.mark.promise("spec.contract-versions")
def test_contract_version_is_accepted(spec: BackendSpec) -> None:
    majors = {major for major, _ in spec.contract_versions}
    assert CONTRACT_VERSION[0] in majors, f"It accepts versions {spec.contract_versions}, the core {CONTRACT_VERSION}."


@pytest.mark.promise("spec.classes")
def test_no_class_lacks_a_method(spec: BackendSpec) -> None:
    classes = [cls for cls, _ in spec.classes().values() if inspect.isabstract(cls)]
    lacking = {cls.__name__: sorted(getattr(cls, "__abstractmethods__", ())) for cls in classes}
    assert not lacking, f"The classes of a backend have all abstract methods: {lacking} are missing."


@pytest.mark.promise("spec.classes", "executor.create-stream", "stream.create-event")
def test_the_platform_uses_the_classes_of_the_spec(spec: BackendSpec, client: Client) -> None:
    platform = client.platform
    executor = platform.executor(0)
    stream = executor.create_stream()
    made = {
        "platform": platform,
        "compiler": platform.compiler,
        "stream_executor": executor,
        "transfer_manager": platform.transfer_manager,
        "stream": stream,
        "event": stream.create_event(),
    }
    stream.close()
    for name, (cls, _) in spec.classes().items():
        if name in made:
            assert isinstance(made[name], cls), f"The platform uses the spec's class {cls.__name__} as its {name}."


@pytest.mark.promise("spec.probe", "availability.cause", "requirement.hint")
def test_probe_answers(spec: BackendSpec) -> None:
    answer = spec.probe()
    assert isinstance(answer, Availability), "The probe returns an Availability."
    assert answer.available, f"The backend is available where it is tested: {answer.cause}"
    for requirement in answer.requirements:
        assert requirement.name, "A requirement has a name."
        assert requirement.met or requirement.hint, f"{requirement.name} is missing, and nothing says how to get it."
    assert bool(answer.cause) != answer.available, "An Availability has a cause where the backend can't be used."


def test_the_core_lists_it_as_usable(backend: str) -> None:
    info = next(info for info in inspect_backends() if info.name == backend)
    assert info.error is None, f"The core finds the backend usable: {info.error}\n{info.details}"
    assert info.usable, "The core finds the backend usable."


@pytest.mark.promise("platform.making-touches-no-device", "platform.device-count")
def test_making_a_platform_opens_no_device(spec: BackendSpec, monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[int] = []

    def create_executor(self: Platform, ordinal: int) -> StreamExecutor:
        opened.append(ordinal)
        raise AssertionError("a device is opened too early")

    monkeypatch.setattr(spec.platform, "create_executor", create_executor)
    platform = spec.platform()
    assert isinstance(platform, Platform), "The spec's platform is called without arguments."
    assert platform.visible_device_count() >= 1, "A platform counts its devices."
    assert not opened, "Making a platform and counting its devices opens none."


@pytest.mark.promise("spec.options")
def test_options_have_defaults(spec: BackendSpec) -> None:
    options = spec.options()
    assert CompileOptions(backend=options).backend == options
    assert spec.options.model_config.get("extra") == "forbid", "A misspelt option must be an error."


@pytest.mark.promise("spec.flags", "platform.device-count-flag")
def test_flags_have_defaults(spec: BackendSpec) -> None:
    if spec.flags is not None:
        spec.flags()
        assert spec.flags.model_config.get("extra") == "forbid", "A misspelt flag must be an error."
    flag = spec.platform.device_count_flag
    assert flag == "" or re.fullmatch(r"\w+", flag), "device_count_flag is the name of a flag, without dashes."
    if flag:
        assert flag_variable(flag), "device_count_flag is a flag of XLA_FLAGS or XLA_CORE_FLAGS."


# -- the platform -----------------------------------------------------------------------------------------------------


@pytest.mark.promise("platform.ordinals", "platform.create-executor", "platform.create-compiler")
def test_platform_and_executors_are_kept(platform: Platform, backend: str) -> None:
    assert platform.name == backend
    count = platform.visible_device_count()
    for ordinal in range(count):
        assert platform.executor(ordinal) is platform.executor(ordinal)
        assert platform.executor(ordinal).ordinal == ordinal, "The ordinals of devices count from 0."
    executors = {id(platform.executor(ordinal)) for ordinal in range(count)}
    assert len(executors) == count, "Each ordinal is another device."
    assert platform.compiler is platform.compiler
    assert isinstance(platform.compiler, Compiler), "create_compiler makes a Compiler."
    assert isinstance(platform.transfer_manager, TransferManager), "create_transfer_manager makes a TransferManager."


@pytest.mark.promise("platform.no-such-ordinal", "platform.device-count")
def test_an_ordinal_that_does_not_exist(platform: Platform) -> None:
    count = platform.visible_device_count()
    assert {platform.visible_device_count() for _ in range(30)} == {count}, (
        "The number of devices doesn't change by itself."
    )
    for ordinal in (count, -1):
        with pytest.raises(InvalidArgumentError):
            platform.executor(ordinal)


@pytest.mark.promise("executor.description")
def test_device_is_described(client: Client) -> None:
    for device in client.devices:
        assert device.description.name, "A device has a name."
        assert 0 <= device.description.memory_bytes < 1 << 50, "A device's memory is given in bytes."
        assert device.description.core_count >= 1, "A device has cores."
        assert device.description == device.description, "A device's description doesn't change."


@pytest.mark.promise("compiler.target-is-data")
def test_target_is_described(target: TargetConfig, platform: Platform) -> None:
    assert platform.compiler.target_config == target, "The target doesn't change."
    assert target.fingerprint() == platform.compiler.target_config.fingerprint(), "The target doesn't change."
    assert target.capabilities.held_types, "The target holds an element type."
    assert ElementType.TUPLE not in target.capabilities.held_types, "Only arrays are in memory."
    spaces = [space.number for space in target.memory_spaces]
    assert len(set(spaces)) == len(spaces), "Each memory space has its number."
    assert 0 in spaces, "The default memory space is number 0."


def test_a_second_client_works_beside_the_first(open_client: Callable[[], Client], client: Client) -> None:
    with open_client() as second:
        assert len(second.devices) == len(client.devices)
        assert second.buffer_from_host([1, 2, 3]).to_numpy().tolist() == [1, 2, 3]
    assert client.buffer_from_host([4, 5]).to_numpy().tolist() == [4, 5]


@pytest.mark.promise("platform.create-executor", "platform.create-executor-thread")
def test_another_thread_opens_the_devices(open_client: Callable[[], Client]) -> None:
    said: list[object] = []

    def use() -> None:
        try:
            with open_client() as made:
                said.append(made.buffer_from_host([1, 2]).to_numpy().tolist())
        except BaseException as error:  # SystemExit too
            said.append(error)

    thread = threading.Thread(target=use, daemon=True)
    thread.start()
    thread.join(SECONDS)
    assert said == [[1, 2]], f"Any thread may open the devices, but a thread got {said or 'no answer'}."


@pytest.mark.promise("platform.close")
def test_closing_a_platform_closes_its_devices(spec: BackendSpec, backend: str) -> None:
    platform = spec.platform()
    platform.name = backend
    closed: list[int] = []
    for ordinal in range(platform.visible_device_count()):
        executor = platform.executor(ordinal)
        close = executor.close

        def noted(close: Callable[[], None] = close, ordinal: int = ordinal) -> None:
            closed.append(ordinal)
            close()

        try:
            executor.close = noted  # type: ignore[method-assign]
        except AttributeError:
            not_supported("its devices take no attributes")
    platform.close()
    assert sorted(closed) == list(range(platform.visible_device_count())), "Platform.close closes the open devices."


@pytest.mark.promise("platform.exclusive")
def test_another_process_opens_the_devices_or_is_refused(
    executor: StreamExecutor, platform: Platform, backend: str
) -> None:
    """This process has opened them."""
    refusal = open_in_process(backend).require("open", "opening a device that another process has opened")["refusal"]
    if platform.exclusive:
        assert refusal, "Another process can't open the devices of an `exclusive` platform, but one could."
    assert not refusal or platform.exclusive, (
        f"A platform whose devices serve one process at a time declares `exclusive`. Another process got: {refusal}"
    )


@pytest.mark.promise("platform.close", "executor.close")
def test_clients_come_and_go(open_client: Callable[[], Client]) -> None:
    """A device that was closed can be opened again."""
    for number in range(5):
        with open_client() as made:
            assert made.buffer_from_host([number, 1]).to_numpy().tolist() == [number, 1]

"""The pytest plugin within a worker (`-p xla_conformance.runner.worker`).

It opens the device, collects the tests once, and runs those that the parent names. It writes events to the parent as
JSON lines. Whatever ends this process or holds it up is seen by the parent, which replaces it.
"""

from __future__ import annotations

import contextlib
import faulthandler
import gc
import json
import os
import sys
import threading
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO, Any

import numpy as np
import pytest

from xla_conformance.child_process import end_with_parent
from xla_conformance.claims import ClaimingClient, NotSupported
from xla_conformance.clients import WrongSettingError
from xla_conformance.environment import describe_environment
from xla_conformance.failures import Failure
from xla_conformance.last_program import LastProgram
from xla_conformance.last_test import LastTest
from xla_conformance.ops.joint import BESIDE
from xla_conformance.patience import FACTOR
from xla_conformance.plugin import CLIENT, settle_devices
from xla_conformance.results import State
from xla_conformance.runner.explanation import explain, lacks_room, save_failure
from xla_conformance.runner.process import folder_name, stage_limit
from xla_conformance.runner.processors import Processors, use_one_blas_thread
from xla_core import parse
from xla_core.errors import XlaError
from xla_core.hlo import OPS, Opcode, Trait

_NAME = "xla-conformance-worker"
_ALLOCATIONS = 200_000  # of objects between collections of garbage; compilers make many that live as long as a program
_ANSWER_SECONDS = 10.0 * FACTOR  # in which a device must move a few bytes after a test that failed


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("xla conformance worker")
    group.addoption("--xla-commands", type=int, help="a file descriptor with a JSON object a line, from the parent")
    group.addoption("--xla-events", type=int, help="a file descriptor for a JSON object a line, to the parent")
    group.addoption("--xla-scratch", help="a folder for this worker")
    group.addoption("--xla-artifacts", default="", help="a folder for the data of failures")
    group.addoption(
        "--xla-open", choices=("device", "later", "nothing", "evaluator"), default="device", help="what to open first"
    )
    group.addoption("--xla-processor", type=int, help="the processor that it keeps to in tests that check data alone")
    group.addoption("--xla-test-seconds", type=float, default=60.0)
    group.addoption("--xla-stage-seconds", type=float, default=120.0)


@pytest.hookimpl(trylast=True)
def pytest_configure(config: pytest.Config) -> None:
    worker = _Worker(config)
    config.pluginmanager.register(worker, _NAME)
    worker.open()


@pytest.fixture
def record_property(request: pytest.FixtureRequest) -> Callable[[str, Any], None]:
    """Does the same as pytest's fixture, and passes each property to the parent, in case the test crashes."""
    worker = request.config.pluginmanager.get_plugin(_NAME)
    assert isinstance(worker, _Worker)

    def record(name: str, value: Any) -> None:
        request.node.user_properties.append((name, value))
        worker.test.add(name, value)

    return record


class _Worker:
    def __init__(self, config: pytest.Config) -> None:
        self._config = config
        self._events = config.getoption("xla_events")
        descriptor = config.getoption("xla_commands")
        for each in (self._events, descriptor):
            os.set_inheritable(each, False)
        self._commands: IO[str] = os.fdopen(descriptor)
        scratch = Path(config.getoption("xla_scratch"))
        self._stacks = (scratch / "stacks").open("w")
        self._program, self.test = LastProgram(scratch), LastTest(scratch)
        faulthandler.enable(self._stacks)
        end_with_parent()
        self._processors = Processors(config.getoption("xla_processor"))
        use_one_blas_thread()
        self._client: ClaimingClient | None = None
        self._answered = False
        self._entry: dict[str, Any] = {}

    # -- events ------------------------------------------------------------------------------------------------------

    def send(self, event: str, **data: Any) -> None:
        rest = (json.dumps({"event": event, **data}) + "\n").encode()
        while rest:
            rest = rest[os.write(self._events, rest) :]

    @contextlib.contextmanager
    def _limited(self, seconds: float) -> Iterator[None]:
        """Writes the stacks of all threads if the block takes longer. The parent then ends this process."""
        self._stacks.truncate(0)
        self._stacks.seek(0)
        faulthandler.dump_traceback_later(seconds, file=self._stacks)
        try:
            yield
        finally:
            faulthandler.cancel_dump_traceback_later()

    def _stage(self, name: str) -> contextlib.AbstractContextManager[None]:
        self.send("stage", name=name)
        return self._limited(stage_limit(name, self._config.getoption("xla_stage_seconds")))

    # -- the device --------------------------------------------------------------------------------------------------

    def open(self) -> None:
        """Opens the device. An error is sent to the parent, and ends this process."""
        how = self._config.getoption("xla_open")
        if how == "evaluator":
            self.send("opened", backend="", environment=describe_environment(), exclusive=False)
        if how == "later":
            settle_devices(self._config)
        if how != "device":
            return
        with self._stage("open"):
            try:
                option = self._config.option
                settle_devices(self._config)
                with _shown_warnings() as warned:
                    self._client = ClaimingClient(option.xla_backend or None, option.xla_set, kept=self._program)
                    option.xla_backend = self._client.platform_name
                    environment = describe_environment(self._client, option.xla_set)
                    self._answered = self._answers()
                if warned:
                    environment["warnings"] = [str(warning.message) for warning in warned]
            except WrongSettingError as error:
                self.send("refused", **_refusal(error) | {"refuses": True})
                os._exit(0)
            except BaseException as error:  # SystemExit too
                self.send("refused", **_refusal(error))
                os._exit(0)
        self._config.stash[CLIENT] = self._client
        exclusive = self._client.platform.exclusive
        self.send("opened", backend=option.xla_backend, environment=environment, exclusive=exclusive)

    def _answers(self) -> bool:
        """Whether every device still moves a few bytes there and back."""
        client = self._client
        if client is None:
            return False
        right: list[bool] = []

        def ask() -> None:
            sent = np.arange(8, dtype=np.int32)
            with contextlib.suppress(Exception):
                right.extend(
                    np.array_equal(client.buffer_from_host(sent, device=d).to_numpy(), sent) for d in client.devices
                )

        thread = threading.Thread(target=ask, daemon=True)
        thread.start()
        thread.join(_ANSWER_SECONDS)
        return len(right) == len(client.devices) and all(right)

    # -- pytest's hooks ----------------------------------------------------------------------------------------------

    @pytest.hookimpl(wrapper=True)
    def pytest_collection(self) -> Any:
        with self._stage("collect"):
            gc.disable()  # thousands of tests are made, and no garbage
            try:
                return (yield)
            finally:
                gc.freeze()  # collections need not look at the tests each time, and the first one would at once
                gc.enable()

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        if report.failed:
            text = report.longreprtext.strip()
            message = text.splitlines()[-1].removeprefix("E").strip() if text else "it can't be collected"
            self.send(
                "end",
                id=report.nodeid,
                state=State.FAIL.value,
                seconds=0.0,
                message=message,
                details=text,
                properties={},
            )

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        gc.set_threshold(_ALLOCATIONS)
        items = {item.nodeid: item for item in session.items}
        alone, elsewhere = (
            [id for id, item in items.items() if item.get_closest_marker(name)] for name in ("alone", "other_process")
        )
        marked = {id: item.get_closest_marker("joint") for id, item in items.items()}
        joint = {id: str(marker.args[0]) for id, marker in marked.items() if marker is not None}
        promises = _promises(session.items)
        self.send("collected", ids=list(items), promises=promises, alone=alone, elsewhere=elsewhere, joint=joint)
        for line in self._commands:
            command = json.loads(line)
            if "run" not in command:
                break
            self._config.stash[BESIDE] = [items[id] for id in command["beside"] if id in items]
            self._run(session, items.get(command["run"]), command["run"])
        self.send("stage", name="close")
        faulthandler.dump_traceback_later(self._config.getoption("xla_stage_seconds"), file=self._stacks)
        return True

    def _run(self, session: pytest.Session, item: pytest.Item | None, id: str) -> None:
        if item is None:
            self._end(id, state=State.FAIL.value, message="another worker collected this test and this one did not")
            return
        self._processors.enter(item.path.name)
        if not self.test.begin(id):
            self.send("begun", id=id)
        self._entry = {"state": State.PASS.value, "seconds": 0.0, "message": "", "details": "", "failure": {}}
        self._program.clear()
        interrupted = ""
        with self._limited(self._config.getoption("xla_test_seconds")):
            try:
                # Fixtures of the session are kept for the next test, whichever that is; the package has no others.
                kept = item.getparent(pytest.Package) or session
                item.config.hook.pytest_runtest_protocol(item=item, nextitem=kept)
            except BaseException as error:
                interrupted = f"it raised {type(error).__name__}, which ends a process"
        if interrupted:
            self._entry |= {"state": State.CRASH.value, "message": interrupted}
        entry, properties = self._entry, dict(item.user_properties)
        lost = entry["state"] == State.FAIL.value and self._answered and not self._answers()
        if lost:
            entry["state"] = State.DEVICE_LOST.value
        if entry["state"] != State.PASS.value and "opcode" in properties:
            properties["runs_as"] = self._ops()
        self._end(id, **entry, properties=properties)
        if lost or interrupted:
            os._exit(0)

    def _end(self, id: str, **entry: Any) -> None:
        self.send("end", id=id, **{"seconds": 0.0, "details": "", "properties": {}, **entry})

    def _ops(self) -> list[str]:
        """The ops that the last program was compiled to, each with the element types of its operands and results."""
        executable = self._client.last if self._client is not None else None
        if executable is None:
            return []
        try:
            computations = parse(executable.as_text()).computations
        except XlaError:  # a backend's own text
            return []
        return sorted(
            {
                f"{i.opcode} {leaf.element_type}"
                for c in computations
                for i in c.instructions
                if i.opcode is not Opcode.FUSION and Trait.NOP not in OPS[i.opcode].traits
                for shape in (i.shape, *(o.shape for o in i.operands))
                for leaf in shape.array_leaves()
            }
        )

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(self, item: pytest.Item, call: pytest.CallInfo[None]) -> Any:
        report = yield
        self._entry["seconds"] += call.duration
        error = call.excinfo.value if call.excinfo is not None else None
        if error is None or self._entry["state"] in (State.FAIL.value, State.SUITE_ERROR.value):
            return report
        if isinstance(error, NotSupported):
            item.user_properties.append(("unclaimed", error.kind.value))
            self._entry |= {"state": State.NOT_SUPPORTED.value, "message": error.reason}
            return report
        if isinstance(error, pytest.skip.Exception):
            self._entry |= {"state": State.FAIL.value, "message": f"the test was skipped: {error}"}
            return report
        explained = explain(error)
        purpose = (getattr(getattr(item, "function", None), "__doc__", None) or "").strip().split("\n\n")[0]
        sentence = explained.sentence or " ".join(purpose.split()) or item.name.replace("_", " ")
        self._entry |= {
            "state": (State.SUITE_ERROR if lacks_room(error) else State.FAIL).value,
            "message": sentence,
            "details": explained.details,
            "failure": explained.failure,
        }
        self._save(item.nodeid, error)
        return report

    def _save(self, id: str, error: BaseException) -> None:
        """Writes the data of the failure; for another exception, such as a compiler's, the program compiled last."""
        artifacts = self._config.getoption("xla_artifacts")
        if not artifacts:
            return
        name = folder_name(id)
        folder = Path(artifacts) / name
        files: list[str] = []
        with contextlib.suppress(OSError):  # such as for lack of room
            files = save_failure(error, folder) if isinstance(error, Failure) else self._program.keep(folder)
        if files:
            self._entry["failure"] |= {"folder": name, "files": files}

    def pytest_unconfigure(self) -> None:
        if self._client is not None:
            self._client.close()
        faulthandler.cancel_dump_traceback_later()
        self.send("closed")
        gc.freeze()  # so that Python doesn't examine every object once more at its end


@contextlib.contextmanager
def _shown_warnings() -> Iterator[list[warnings.WarningMessage]]:
    """Keeps the warnings, and prints them at the end, for the log."""
    with warnings.catch_warnings(record=True) as warned:
        try:
            yield warned
        finally:
            for each in warned:
                text = warnings.formatwarning(each.message, each.category, each.filename, each.lineno)
                print(text, file=sys.stderr, flush=True)


def _promises(items: list[pytest.Item]) -> dict[str, list[str]]:
    """The ids of the contract's sentences that each test names."""
    named = {item.nodeid: [str(a) for m in item.iter_markers("promise") for a in m.args] for item in items}
    return {id: promises for id, promises in named.items() if promises}


def _refusal(error: BaseException) -> dict[str, Any]:
    """The error as data. It is the backend's own refusal if nothing but an XlaError led to it."""
    details = explain(error).details
    if not isinstance(error, XlaError):
        message = f"{type(error).__name__}: {error}"
        return {"refuses": False, "code": "", "message": message, "hint": None, "details": details}
    own = error.__cause__ is None or isinstance(error.__cause__, XlaError)
    return {
        "refuses": own and error.code.name in ("NOT_FOUND", "ALREADY_EXISTS", "UNAVAILABLE"),
        "code": error.code.name,
        "message": error.message,
        "hint": error.hint,
        "details": details,
    }

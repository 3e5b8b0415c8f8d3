"""Runs the suite's tests on mutants.

The tests are collected once, in a new process of pytest for each profile and seed: the caller may have threads, which a
fork would lose. For each mutant that process forks: the child becomes the mutant's process and runs the selected tests
until one finds the fault, so that a mutant costs no more than its tests, and one that crashes or hangs costs only its
child.
"""

from __future__ import annotations

import contextlib
import functools
import importlib.resources
import json
import os
import random
import select
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from xla_conformance.claims import NotSupported, held_types
from xla_conformance.expressions import compile_expression
from xla_conformance.results import suite_files

from tests.conformance.zoo.kernels import EFFECTS
from tests.conformance.zoo.mutant import VARIABLE, Mutant, address_of, at_address
from tests.conformance.zoo.own_mistakes import mistake_in, mistake_in_text, watch
from xla_core.backend import registry
from xla_core.hlo import HloInstruction

BACKEND = "zoo"
ROOT = Path(__file__).parents[3]
TEST_SECONDS = 90
GRACE_SECONDS = 10


@contextlib.contextmanager
def installed() -> Iterator[None]:
    """Installs the backend `zoo` in a temporary folder, for this process and those that it starts."""
    with tempfile.TemporaryDirectory(prefix="xla-zoo-") as folder:
        info = Path(folder, "zoo-1.0.dist-info")
        info.mkdir()
        (info / "METADATA").write_text("Metadata-Version: 2.1\nName: zoo\nVersion: 1.0\n")
        (info / "entry_points.txt").write_text(f"[xla_core.backends]\n{BACKEND} = tests.conformance.zoo.backend\n")
        path, variable = [*sys.path], os.environ.get("PYTHONPATH")
        sys.path[:0] = [folder, str(ROOT)]
        os.environ["PYTHONPATH"] = os.pathsep.join(p or os.getcwd() for p in sys.path)
        registry.clear_cache()
        try:
            yield
        finally:
            sys.path[:] = path
            del os.environ["PYTHONPATH"]
            if variable is not None:
                os.environ["PYTHONPATH"] = variable
            registry.clear_cache()


def run_profile(
    mutants: Sequence[Mutant], profile: str, seed: int | None = None, *, verbose: bool = False
) -> Iterator[dict[str, Any]]:
    """Runs the tests of a profile on each mutant. Yields for each what became of it.

    The result has `mutant`, `verdict` ("caught", "missed" or "broken"), and for a caught one `test`, `how` (FAIL, ERROR,
    crash or timeout), `message`, and `named`: whether the test names the promise that the mutant breaks. A mutant is
    broken if a test failed after a mistake in the mutant's own Python, which `message` describes.
    """
    reader, writer = os.pipe()
    request = {
        "mutants": [address_of(mutant) for mutant in mutants],
        "profile": profile,
        "seed": seed,
        "verbose": verbose,
        "writer": writer,
    }
    with tempfile.NamedTemporaryFile("w", suffix=".json", delete=False) as file:  # too long for an argument
        json.dump(request, file)
    process = subprocess.Popen(
        [sys.executable, "-m", __name__, file.name], cwd=ROOT, pass_fds=[writer], stdin=subprocess.DEVNULL
    )
    os.close(writer)
    count = 0
    with process, os.fdopen(reader) as results:
        for line in results:
            count += 1
            yield json.loads(line)
    if count < len(mutants):
        raise RuntimeError(
            f"the process of pytest ended with {process.returncode} after {count} of {len(mutants)} mutants"
        )


def _main(request: Path) -> int:
    """Runs pytest over the mutants that `run_profile` asked for, in a process of its own. Removes the request's file."""
    asked = json.loads(request.read_text())
    request.unlink()
    mutants = {address: at_address(address) for address in asked["mutants"]}
    if not asked["verbose"]:
        _silence()
    os.environ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"
    arguments = _arguments(list(mutants.values()), asked["profile"], asked["seed"])
    code = pytest.main(arguments, plugins=[_Loop(mutants, asked["writer"])])
    if code not in (0, 1, 5):
        os.write(asked["writer"], json.dumps({"problem": f"pytest ended with code {code}"}).encode() + b"\n")
    return 0


def _arguments(mutants: Sequence[Mutant], profile: str, seed: int | None) -> list[str]:
    suite = importlib.resources.files("xla_conformance").joinpath("suite")
    return [
        "-q",
        "--capture=no",
        "--tb=short",
        *("-p", "xla_conformance.plugin", "-p", "pytest_timeout"),
        *(f"--rootdir={suite}", f"--confcutdir={suite}", "-c", str(suite.joinpath("pytest.ini"))),
        *(f"--xla-backend={BACKEND}", f"--xla-profile={profile}", f"--timeout={TEST_SECONDS}"),
        *(() if seed is None else (f"--xla-seed={seed}",)),
        *_expression(mutants),
        *suite_files(),
    ]


def _expression(mutants: Sequence[Mutant]) -> list[str]:
    """The option that leaves out tests which no mutant selects, so that they needn't be made."""
    selections = {mutant.select for mutant in mutants}
    return ["-k", " or ".join(f"({s})" for s in sorted(selections))] if selections and "" not in selections else []


def _silence() -> None:
    """Sends what is printed to a file, as workers do: the suite checks that nothing is."""
    with tempfile.TemporaryFile() as file:
        os.dup2(file.fileno(), 1)
        os.dup2(file.fileno(), 2)


class _Loop:
    """Replaces pytest's loop over the tests by one over the mutants, by address."""

    def __init__(self, mutants: Mapping[str, Mutant], writer: int) -> None:
        self._mutants, self._writer = mutants, writer

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        for address, mutant in self._mutants.items():
            result = {"mutant": mutant.name, **_try(mutant, address, session)}
            os.write(self._writer, (json.dumps(result) + "\n").encode())
        return True


def _try(mutant: Mutant, address: str, session: pytest.Session) -> dict[str, Any]:
    chosen = _chosen(mutant, session.items)
    if not chosen:
        cases = sum(_opcode(item) == mutant.opcode for item in session.items) if mutant.opcode else 0
        return {"verdict": "missed", "tests": 0, "cases": cases, "seconds": 0.0}
    start = time.monotonic()
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reader)
        _become(address)
        if mutant.prepare is not None:
            mutant.prepare()
        _Judge(writer).run(session, chosen)
        os._exit(0)
    os.close(writer)
    events, how = _read(reader, TEST_SECONDS + GRACE_SECONDS, mutant.seconds)
    if how != "ended":
        os.kill(child, signal.SIGKILL)
    status = os.waitpid(child, 0)[1]
    result = _verdict(events, how, os.waitstatus_to_exitcode(status))
    named = any(item.nodeid == result.get("test") and _names(item, mutant) for item in chosen)
    return {
        **result,
        "named": named,
        "tests": len(chosen),
        "cases": len(chosen),
        "seconds": round(time.monotonic() - start, 2),
    }


def _chosen(mutant: Mutant, items: Sequence[pytest.Item]) -> list[pytest.Item]:
    """The mutant's tests: first those that name what it breaks. Wrong code may show in any op: their order is random."""
    wanted = compile_expression(mutant.select) if mutant.select else None
    chosen = []
    for item in items:
        if mutant.opcode and (mutant.opcode != _opcode(item) or not _meets(mutant, item.callspec.params.get("case"))):
            continue
        name = item.nodeid.lower()
        if wanted is None or wanted.evaluate(lambda word, name=name: word.lower() in name):
            chosen.append(item)
    if mutant.level == "code":
        random.Random(mutant.name).shuffle(chosen)
    return sorted(chosen, key=lambda item: not _names(item, mutant))


def _opcode(item: pytest.Item) -> str:
    """The op whose case the test is, or which its cases are of, or ""."""
    parameters = item.callspec.params if hasattr(item, "callspec") else {}
    return str(getattr(parameters.get("case"), "opcode", parameters.get("opcode", "")))


def _meets(mutant: Mutant, case: Any) -> bool:
    """Whether a case has an instruction in which the mutant's fault may show; a test of many cases, None, may have."""
    applies = mutant.applies
    return applies is None or case is None or any(applies(instruction) for instruction in _instructions(case))


@functools.cache
def _instructions(case: Any) -> list[HloInstruction]:
    computations = case.module().computations
    return [i for c in computations for i in c.instructions if i.opcode == case.opcode]


def _names(item: pytest.Item, mutant: Mutant) -> bool:
    if mutant.opcode or mutant.level == "code":
        return True
    return any(mutant.breaks in marker.args for marker in item.iter_markers("promise"))


def _become(address: str) -> None:
    os.environ[VARIABLE] = address
    registry.clear_cache()
    held_types.cache_clear()
    sys.modules.pop("tests.conformance.zoo.backend", None)


class _Judge:
    """Runs tests until one fails, and writes events as JSON lines."""

    def __init__(self, writer: int) -> None:
        self._writer = writer
        self._failed = False

    def _send(self, **event: Any) -> None:
        os.write(self._writer, (json.dumps(event) + "\n").encode())

    def run(self, session: pytest.Session, items: Sequence[pytest.Item]) -> None:
        session.config.pluginmanager.register(self, "zoo-judge")
        watch(self._tell)
        for item, following in zip(items, [*items[1:], None], strict=True):
            self._send(start=item.nodeid)
            item.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
            if self._failed:
                return
        self._send(passed=True, effects=EFFECTS[0])

    def _tell(self, mistake: str) -> None:
        self._send(mistake=mistake)

    def pytest_exception_interact(self, call: pytest.CallInfo[Any]) -> None:
        mistake = mistake_in(call.excinfo.value if call.excinfo is not None else None)
        if mistake:
            self._tell(mistake)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(self, call: pytest.CallInfo[Any]) -> Any:
        """A test that is skipped without a claim that the backend lacks has failed."""
        report = yield
        error = call.excinfo.value if call.excinfo is not None else None
        if isinstance(error, pytest.skip.Exception) and not isinstance(error, NotSupported):
            report.outcome = "failed"
        return report

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.failed and not self._failed:
            mistake = mistake_in_text(report.longreprtext)
            if mistake:
                self._tell(mistake)
            self._failed = True
            how = "FAIL" if report.when == "call" else "ERROR"
            self._send(failed=report.nodeid, how=how, message=report.longreprtext[-400:])


def _read(reader: int, silence: float, total: float) -> tuple[list[dict[str, Any]], str]:
    """Reads the child's events until it "ended", is silent for too long ("hung"), or took too long in all ("cut")."""
    data = b""
    end = time.monotonic() + total
    with os.fdopen(reader, "rb", buffering=0) as pipe:
        while True:
            left = end - time.monotonic()
            if left <= 0 or not select.select([pipe], [], [], min(left, silence))[0]:
                complete = data[: data.rfind(b"\n") + 1]
                return [json.loads(line) for line in complete.splitlines()], "cut" if left <= silence else "hung"
            more = pipe.read(65536)
            if not more:
                return [json.loads(line) for line in data.splitlines()], "ended"
            data += more


def _verdict(events: list[dict[str, Any]], how: str, code: int) -> dict[str, Any]:
    started = [event["start"] for event in events if "start" in event]
    failed = next((event for event in events if "failed" in event), None)
    passed = next((event for event in events if "passed" in event), None)
    mistake = next((event["mistake"] for event in events if "mistake" in event), "")
    if mistake and passed is None and how != "cut":
        return {"verdict": "broken", "message": mistake}
    if failed is not None:
        return {"verdict": "caught", "test": failed["failed"], "how": failed["how"], "message": failed["message"]}
    if passed is not None:
        return {"verdict": "missed", "effects": passed["effects"]}
    if how == "cut":
        return {"verdict": "missed", "effects": 1, "cut": True}
    if not started:
        return {"verdict": "broken", "message": f"its process {how} before a test began"}
    died = f"crash ({code})" if how == "ended" else "timeout"
    return {"verdict": "caught", "test": started[-1] if started else "", "how": died, "message": ""}


if __name__ == "__main__":
    os._exit(_main(Path(sys.argv[1])))

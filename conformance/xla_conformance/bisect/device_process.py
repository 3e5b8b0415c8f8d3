"""DeviceProcess: compiles and runs programs in a process of its own, which a driver may crash or hang."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from multiprocessing.connection import Connection
from typing import Any, TypeVar

import numpy as np

from xla_conformance.bisect.programs import OptimizedCompiler
from xla_conformance.child_process import child_environment
from xla_core import Client, LoadedExecutable
from xla_core.backend import Compiler
from xla_core.cli import programs
from xla_core.errors import InternalError, as_xla_error
from xla_core.hlo import ElementType, HloModule, parse_hlo
from xla_core.passes import observe_passes

_START = "the start"
_START_SECONDS = 60.0  # in which Python and the backend load, at least
_SLOWER = 10.0  # how much longer than any step before a step may take, once one has hung
_LEAST_SECONDS = 2.0  # which a step may take in any case
_TAIL = 20  # lines of the process's output, stacks included, that an error's hint shows
_WORDS = 3  # lines of the driver's own that the error shows

_Found = TypeVar("_Found")

Step = Callable[[str, str, HloModule], None]
"""Called for each pass that changed the module: its pipeline, its name and the module."""


class DeviceProcess:
    """A client of a backend in another process.

    If the process dies or hangs during a call, the call raises an error, and the next call starts a new process. After
    the first step that hung, a step hangs that takes much longer than every step that ended; see `patiently`.

    Args:
        backend: the backend's name; None for the default one.
        settings: options of all compilations, NAME=VALUE.
        seconds: how long a step of a compilation or a run may take.

    Attributes:
        platform_name: the backend's name.
        doing: the last step of the process, "the pass optimization/cse" or "the run".
        hurries: whether steps may take less than `seconds`, because one has hung.
    """

    def __init__(self, backend: str | None, settings: Sequence[str] = (), seconds: float = 300.0) -> None:
        self._backend, self._settings, self._seconds = backend, list(settings), seconds
        self._process: subprocess.Popen[bytes] | None = None
        self._log = tempfile.TemporaryFile()  # noqa: SIM115  (closed by close)
        self.platform_name = ""
        self.doing = ""
        self.hurries = False
        self._is_patient = False
        self._slowest = 0.0  # seconds of a step that ended
        self._start()

    def compile(self, module: HloModule, step: Step = lambda pipeline, name, module: None) -> None:
        """Compiles a whole program, and calls `step` for each pass.

        Raises:
            XlaError: the compiler's error, or an InternalError where the process died or hung.
        """
        self._ask(("compile", module.to_text()), step)

    def run(self, module: HloModule, arrays: Sequence[np.ndarray]) -> list[np.ndarray]:
        """Compiles and runs a whole program. Raises as `compile` does, and errors of the run."""
        return self._results(("run", module.to_text(), [np.asarray(a) for a in arrays]))

    def run_optimized(self, module: HloModule, arrays: Sequence[np.ndarray]) -> list[np.ndarray]:
        """The same for an optimized module, which `run_backend` compiles after scheduling alone."""
        return self._results(("run_optimized", module.to_text(), [np.asarray(a) for a in arrays]))

    def _results(self, request: tuple[Any, ...]) -> list[np.ndarray]:
        """The results, with the dtypes that numpy and ml_dtypes have: what is unpickled has copies of them."""
        return [np.asarray(array, ElementType.from_numpy(array.dtype).dtype) for array in self._ask(request)]

    @contextmanager
    def patiently(self) -> Iterator[None]:
        """Within it, steps may take all their seconds: what hung in a hurry may be slow alone."""
        self._is_patient = True
        try:
            yield
        finally:
            self._is_patient = False

    def confirmed(self, find: Callable[[], _Found | None], repeat: Callable[[_Found], _Found | None]) -> _Found | None:
        """Returns what `find` finds.

        If steps hurried, `repeat` runs the finding again, patiently. If nothing is wrong then, `find` searches again.
        """
        found = find()
        if found is None or not self.hurries:
            return found
        with self.patiently():
            return repeat(found) or find()

    def renew(self) -> None:
        """Ends the process, so that the next call begins in one that has compiled and run nothing."""
        self._stop()

    def close(self) -> None:
        self._stop()
        self._log.close()

    def __enter__(self) -> DeviceProcess:
        return self

    def __exit__(self, *raised: object) -> None:
        self.close()

    # -- the process -------------------------------------------------------------------------------------------------

    def _start(self) -> None:
        reader, theirs = os.pipe()
        their_reader, writer = os.pipe()
        self._log.seek(0)
        self._log.truncate()
        self._process = subprocess.Popen(
            [sys.executable, "-m", __name__, str(their_reader), str(theirs)],
            stdin=subprocess.DEVNULL,
            stdout=self._log,
            stderr=subprocess.STDOUT,
            pass_fds=[their_reader, theirs],
            env=child_environment(),
        )
        os.close(theirs)
        os.close(their_reader)
        self._events, self._requests = Connection(reader, writable=False), Connection(writer, readable=False)
        self.platform_name = self._ask((self._backend, self._settings))

    def _ask(self, request: tuple[Any, ...], step: Step = lambda pipeline, name, module: None) -> Any:
        if self._process is None:
            self._start()
        self.doing = _START
        try:
            self._requests.send(request)
            while True:
                seconds, start = self._limit(), time.monotonic()
                if not self._events.poll(seconds):
                    self.hurries = self.hurries or self.doing != _START
                    raise self._ended(f"did not end in {seconds:g} s")
                kind, *data = self._events.recv()
                if self.doing != _START:
                    self._slowest = max(self._slowest, time.monotonic() - start)
                if kind == "doing":
                    self.doing = data[0]
                elif kind == "step":
                    pipeline, name, text = data
                    step(pipeline, name, parse_hlo(text))
                elif kind == "error":
                    raise data[0]
                else:
                    return data[0]
        except (EOFError, BrokenPipeError, ConnectionResetError):
            raise self._ended() from None

    def _limit(self) -> float:
        """How many seconds the current step may take."""
        if self.doing == _START:
            return max(self._seconds, _START_SECONDS)
        hurries = self.hurries and not self._is_patient
        return min(self._seconds, max(_LEAST_SECONDS, _SLOWER * self._slowest)) if hurries else self._seconds

    def _ended(self, how: str = "") -> InternalError:
        """Ends the process, and says how it ended and what it printed last."""
        assert self._process is not None
        if not how:
            code = self._process.wait()
            how = f"ended the process by {signal.Signals(-code).name}" if code < 0 else f"ended the process: {code}"
        self._stop()
        self._log.seek(0)
        printed = self._log.read().decode(errors="replace")
        words = printed.partition("Fatal Python error")[0].splitlines()[-_WORDS:]
        lines = printed.splitlines()[-_TAIL:]
        return InternalError(
            f"{self.doing} {how}" + (f", and printed: {' / '.join(words)}" if words else ""),
            hint="\n".join(["it printed:", *lines]) if lines else None,
        )

    def _stop(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None
            self._events.close()
            self._requests.close()


# -- in the process ---------------------------------------------------------------------------------------------------


class _Server:
    def __init__(self, client: Client, settings: Sequence[str], events: Connection) -> None:
        self.platform_name = client.platform_name
        self._client, self._events = client, events
        self._options = programs.compile_options(settings, donate=())
        self._optimized = OptimizedCompiler(client, self._options)
        self._compiled: dict[tuple[str, str], LoadedExecutable] = {}
        compiler = client.platform.compiler
        telling = type("Telling", (type(compiler),), {"run_backend": self._told(type(compiler).run_backend)})
        try:
            compiler.__class__ = telling
        except TypeError:  # its class has another layout: an error names the last pass
            return

    def _told(self, run_backend: Callable[..., Any]) -> Callable[..., Any]:
        def told(compiler: Compiler, module: HloModule, *rest: Any) -> Any:
            self._doing("run_backend")
            return run_backend(compiler, module, *rest)

        return told

    def _doing(self, what: str) -> None:
        self._events.send(("doing", what))

    def _compile(self, kind: str, text: str) -> LoadedExecutable:
        found = self._compiled.get((kind, text))
        if found is None:
            module = parse_hlo(text)
            found = self._optimized.compile(module) if kind == "run_optimized" else self._whole(module)
            self._compiled[kind, text] = found
        return found

    def _whole(self, module: HloModule) -> LoadedExecutable:
        def step(pipeline: str, name: str, changed: HloModule) -> None:
            self._events.send(("step", pipeline, name, changed.to_text()))

        def starting(pipeline: str, name: str) -> None:
            self._doing(f"the pass {pipeline}/{name}")

        with observe_passes(step, starting):
            return self._client.compile(module, self._options)

    def serve(self, kind: str, text: str, arrays: Sequence[np.ndarray] = ()) -> list[np.ndarray]:
        executable = self._compile("run" if kind == "compile" else kind, text)
        if kind == "compile":
            return []
        self._doing("the run")
        return [np.asarray(result) for result in executable(*arrays)]


def _main(requests: Connection, events: Connection) -> None:
    backend, settings = requests.recv()

    def answer(work: Callable[..., Any], *given: Any) -> None:
        try:
            events.send(("done", work(*given)))
        except Exception as error:
            name = server[0].platform_name if server else backend
            events.send(("error", as_xla_error(error, f"the backend {name!r}")))

    server: list[_Server] = []

    def start() -> str:
        client = Client(backend)
        server.append(_Server(client, settings, events))
        return client.platform_name

    answer(start)
    while server:
        try:
            request = requests.recv()
        except EOFError:
            os._exit(0)
        answer(server[0].serve, *request)


if __name__ == "__main__":
    _main(
        Connection(int(sys.argv[1]), writable=False),
        Connection(int(sys.argv[2]), readable=False),
    )

"""Loads a backend stage by stage in a process of its own, and watches the effects of each stage."""

from __future__ import annotations

import contextlib
import functools
import math
import os
import signal
import stat
import sys
import tempfile
import threading
import time
import traceback
import warnings
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from xla_conformance.child_process import Enter, Outcome, run_in_stages
from xla_conformance.clients import SettingsClient
from xla_conformance.fair_time import own_waited_seconds
from xla_conformance.patience import FACTOR
from xla_conformance.process_state import ProcessState
from xla_core import Client, parse
from xla_core.backend import ENTRY_POINT_GROUP, Availability, StreamExecutor, load_backend
from xla_core.errors import UnavailableError

SECONDS = 40.0 * FACTOR
"""How long a stage may take, on a machine that is busy."""

STAGES = {
    "import": "importing the entry point's module",
    "hook": "calling the hook xla_backend",
    "checks": "checking what the hook returned",
    "probe": "probing the backend",
    "platform": "making the platform",
    "compiler": "making the compiler",
    "compile": "compiling ahead of time, without a device",
    "count": "counting the devices",
    "open": "opening the devices",
    "client": "making a client",
    "first run": "compiling and running a first program",
    "fork": "forking the process, and using the backend in the child",
    "close": "closing the client",
    "exit": "ending the interpreter",
}
"""The stages of loading, and a description of each for failures."""

_FORKED_SECONDS = math.ceil(30 * FACTOR)
_HARMLESS = {"/dev/null", "/dev/urandom", "/dev/random", "/dev/zero", "/dev/tty", "/dev/stdin", "/dev/stdout"}
_EVENTS = {
    "socket.connect": "connects a socket",
    "socket.bind": "binds a socket",
    "subprocess.Popen": "starts a process",
    "os.posix_spawn": "starts a process",
    "os.fork": "forks",
    "os.system": "starts a process",
}
_PROGRAMS = ("subprocess.Popen", "os.posix_spawn")
_HELPERS = {"ldconfig", "uname", "cc", "gcc", "ld", "objdump"}
"""Programs that Python starts to look for a library (`ctypes.util.find_library`) and to name the machine."""

_PROGRAM = """\
HloModule first

ENTRY e {
  x = f32[4] parameter(0)
  ROOT r = f32[4] add(x, x)
}
"""


def load_in_process(backend: str, settings: Sequence[str]) -> Outcome:
    """Runs all stages. The data of each says in words what the stage did.

    "touched" lists resources that only an open device needs, "changed" lists changed state of the whole process, and
    "seconds" is the time without waits for a processor.
    """
    return run_in_stages(_load, [backend, [*settings]], SECONDS)


def open_in_process(backend: str) -> Outcome:
    """Opens the first device in another process. The "refusal" of the stage "open" is the UnavailableError's text."""
    return run_in_stages(_open, backend, SECONDS)


def _open(enter: Enter, backend: Any) -> None:
    with enter("open") as data:
        platform = load_backend(backend).platform()
        platform.name = backend
        data["refusal"] = ""
        try:
            platform.executor(0)
        except UnavailableError as error:
            data["refusal"] = error.message
        platform.close()


class _Watch:
    """Records which devices are opened, and the threads, files and processes that earlier stages leave."""

    def __init__(self) -> None:
        self.notes: list[str] = []
        self._output = tempfile.TemporaryFile()  # noqa: SIM115  (it is the process's standard output from now on)
        sys.stdout.flush()
        os.dup2(self._output.fileno(), 1)
        sys.addaudithook(self._audit)
        self._count_executors()

    def _audit(self, event: str, arguments: tuple[Any, ...]) -> None:
        if event == "open":
            path, mode, _ = arguments
            if isinstance(path, (str, bytes, os.PathLike)) and _is_device(os.fsdecode(path)):
                self.notes.append(f"opens {os.fsdecode(path)}")
            elif isinstance(mode, str) and set(mode) & set("wax+") and not _may_be_written(str(path)):
                self.notes.append(f"writes {path}")
        elif event in _EVENTS and not (event in _PROGRAMS and Path(os.fsdecode(arguments[0])).name in _HELPERS):
            self.notes.append(_EVENTS[event])

    def _count_executors(self) -> None:
        make = object.__new__
        notes = self.notes

        def counted(cls: type, *arguments: Any, **named: Any) -> Any:
            notes.append(f"opens a device: it makes a {cls.__name__}")
            return make(cls)

        StreamExecutor.__new__ = counted  # type: ignore[method-assign]

    @contextlib.contextmanager
    def stage(self, data: dict[str, Any]) -> Iterator[None]:
        self.notes.clear()
        before, state, printed = _Held(), ProcessState(), self._printed()
        start = time.perf_counter() - own_waited_seconds()
        yield
        data["seconds"] = time.perf_counter() - own_waited_seconds() - start
        data["touched"] = sorted({*self.notes, *before.more(_Held())})
        data["changed"] = list(state.changes(ProcessState()))
        data["changed"] += [f"prints to the standard {s}" for s, size in self._printed().items() if size > printed[s]]

    def _printed(self) -> dict[str, int]:
        """The bytes that the process has written to each standard stream, also from native code."""
        sys.stdout.flush()
        sys.stderr.flush()
        return {"output": os.fstat(1).st_size, "error": os.fstat(2).st_size}


_CACHED = (".pyc", ".nbi", ".nbc")
_PAGES = os.sysconf("SC_PAGE_SIZE")
_RESERVED = 512 << 20  # bytes of address space; libraries reserve some for their threads and code


def _may_be_written(path: str) -> bool:
    """Whether it holds compiled Python, or is the folder of a temporary file, which has no name here."""
    return path.endswith(_CACHED) or Path(path).is_dir()


def _is_device(path: str) -> bool:
    if path in _HARMLESS:
        return False
    with contextlib.suppress(OSError):
        mode = Path(path).stat().st_mode
        return stat.S_ISCHR(mode) or stat.S_ISBLK(mode) or stat.S_ISSOCK(mode)
    return False


class _Held:
    """The threads, files and memory of the process now, from Linux's files in /proc."""

    def __init__(self) -> None:
        tasks, descriptors, memory = (Path("/proc/self") / name for name in ("task", "fd", "statm"))
        self.threads = len(os.listdir(tasks)) if tasks.exists() else threading.active_count()
        self.files: dict[str, str] = {}
        for name in os.listdir(descriptors) if descriptors.exists() else ():
            with contextlib.suppress(OSError):
                self.files[name] = str((descriptors / name).readlink())
        self.reserved = int(memory.read_text().split()[0]) * _PAGES if memory.exists() else 0

    def more(self, after: _Held) -> Iterator[str]:
        if after.threads > self.threads:
            yield f"starts {after.threads - self.threads} threads"
        for name in sorted(after.files.keys() - self.files.keys()):
            if not after.files[name].endswith("random"):  # which a library may keep
                yield f"leaves {after.files[name]} open"
        if after.reserved - self.reserved > _RESERVED:
            yield f"reserves {(after.reserved - self.reserved) >> 20} MiB"


def _load(enter: Enter, argument: Any) -> None:
    """Loads the backend, in a process of its own."""
    import importlib.metadata

    import xla_core.passes.pipeline  # noqa: F401  (what the core loads is not the backend's)
    from xla_core.hlo import parse_hlo

    backend, settings = argument
    parse_hlo(_PROGRAM)
    watch = _Watch()

    def stage(name: str, work: Callable[[dict[str, Any]], Any]) -> Any:
        with enter(name) as data, watch.stage(data):
            return work(data)

    point, *_ = importlib.metadata.entry_points(group=ENTRY_POINT_GROUP, name=backend)
    before = set(sys.modules)
    plugin = stage("import", lambda data: point.load())
    stage("hook", lambda data: plugin.xla_backend())
    loaded = sorted({name.partition(".")[0] for name in set(sys.modules) - before})
    spec = stage("checks", lambda data: load_backend(backend))

    def probe(data: dict[str, Any]) -> None:
        answer = spec.probe()
        data["modules"] = loaded
        data["answer"] = isinstance(answer, Availability) and answer.available
        data["text"] = str(answer)

    stage("probe", probe)
    platform = stage("platform", lambda data: spec.platform())
    platform.name = backend
    compiler = stage("compiler", functools.partial(_make_compiler, platform))
    stage("compile", functools.partial(_compile, compiler))
    count = stage("count", lambda data: data.setdefault("count", platform.visible_device_count()))

    def open_all(data: dict[str, Any]) -> None:
        for ordinal in range(count):
            executor = platform.executor(ordinal)
            executor.create_stream().close()
        platform.close()

    stage("open", open_all)
    client = stage("client", lambda data: SettingsClient(backend, settings))
    stage("first run", functools.partial(_run, client))
    unopened = spec.platform()
    unopened.name = backend
    stage("fork", functools.partial(_fork, backend, settings, unopened))
    stage("close", lambda data: client.close())


def _make_compiler(platform: Any, data: dict[str, Any]) -> Any:
    compiler = platform.create_compiler()
    data["target"] = compiler.target_config.fingerprint()
    data["fingerprint"] = compiler.fingerprint()
    return compiler


def _compile(compiler: Any, data: dict[str, Any]) -> None:
    from xla_core import FailedPreconditionError, UnimplementedError

    try:
        data["bytes"] = len(compiler.compile_ahead_of_time(parse(_PROGRAM)))
    except (FailedPreconditionError, UnimplementedError) as error:
        data["refused"] = error.message


def _fork(backend: str, settings: Sequence[str], unopened: Any, data: dict[str, Any]) -> None:
    """Makes a child process, which opens the devices for itself, or is refused.

    It opens them by a platform that the parent made, and by one that it makes itself.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # Python warns of threads
        child = os.fork() if hasattr(os, "fork") else 0
    if child:
        data["code"] = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    elif hasattr(os, "fork"):
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        signal.alarm(_FORKED_SECONDS)  # ends the child, which the parent waits for
        code = _open_in_child(unopened)
        signal.alarm(_FORKED_SECONDS)
        os._exit(code or _run_in_child(backend, settings))


def _open_in_child(platform: Any) -> int:
    """Returns the exit code: 0 if the platform opens its first device, or raises an XlaError."""
    from xla_core import XlaError

    try:
        platform.executor(0)
        platform.close()
    except XlaError:
        return 0
    except BaseException:
        traceback.print_exc()
        return 1
    return 0


def _run_in_child(backend: str, settings: Sequence[str]) -> int:
    """Returns the exit code: 0 if the first program is right, or opening the devices raises an XlaError."""
    from xla_core import XlaError

    data: dict[str, Any] = {}
    try:
        client = SettingsClient(backend, settings)
    except XlaError:
        return 0
    try:
        _run(client, data)
        client.close()
    except BaseException:
        traceback.print_exc()
        return 1
    return 0 if data.get("right", True) else 1


def _run(client: Client, data: dict[str, Any]) -> None:
    from xla_core import UnimplementedError

    x = np.arange(4, dtype=np.float32)
    try:
        executable = client.compile(_PROGRAM)
    except UnimplementedError as error:
        data["refused"] = error.message
    else:
        data["right"] = bool((np.asarray(executable(x)[0]) == x + x).all())
    data["target"] = client.platform.compiler.target_config.fingerprint()

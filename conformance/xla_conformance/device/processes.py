"""The resources that this process holds."""

from __future__ import annotations

import contextlib
import ctypes
import os
import tempfile
import threading
from pathlib import Path

_OWN_FOLDER = "xla-suite-"


def thread_count() -> int:
    """The number of threads of this process; of Python threads if the system doesn't report it."""
    tasks = Path("/proc/self/task")
    return len(os.listdir(tasks)) if tasks.exists() else threading.active_count()


def open_files() -> int:
    """The number of files that this process has open; 0 where the system doesn't tell."""
    files = Path("/proc/self/fd")
    return len(os.listdir(files)) if files.exists() else 0


def child_processes() -> int:
    """The number of processes that this one has started and that are still there; 0 where the system doesn't tell."""
    parents = []
    for file in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):  # it has ended
            parents.append(int(file.read_text().rpartition(")")[2].split()[1]))
    return parents.count(os.getpid())


def own_temporary_folder() -> Path:
    """Makes a folder for the temporary files of this process, its native code and the processes that it starts."""
    folder = tempfile.mkdtemp(prefix=_OWN_FOLDER)
    tempfile.tempdir = os.environ["TMPDIR"] = folder
    return Path(folder)


def temporary_files() -> int:
    """The number of files in the folder for temporary files; 0 if other processes use it too."""
    folder = Path(tempfile.gettempdir())
    if not folder.name.startswith(_OWN_FOLDER):
        return 0
    return sum(len(folders) + len(files) for _, folders, files in os.walk(folder))


def resident_bytes() -> int:
    """The bytes of this process that are in memory; 0 where the system doesn't tell."""
    statistics = Path("/proc/self/statm")
    return int(statistics.read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") if statistics.exists() else 0


class _Mallinfo(ctypes.Structure):
    """The structure `mallinfo2` of glibc."""

    _fields_ = [
        *((name, ctypes.c_size_t) for name in ("arena", "ordblks", "smblks", "hblks", "hblkhd")),
        *((name, ctypes.c_size_t) for name in ("usmblks", "fsmblks", "uordblks", "fordblks", "keepcost")),
    ]


def native_bytes() -> int:
    """The bytes that native code has allocated by the C library and not freed; 0 where it doesn't tell."""
    try:
        mallinfo = ctypes.CDLL(None).mallinfo2
    except (OSError, AttributeError, TypeError):
        return 0
    mallinfo.restype = _Mallinfo
    found = mallinfo()
    return int(found.uordblks + found.hblkhd)

"""What this process holds."""

from __future__ import annotations

import os
import threading
from pathlib import Path

__all__ = ["open_files", "thread_count"]


def thread_count() -> int:
    """The number of threads of this process; of Python's where the system doesn't tell."""
    tasks = Path("/proc/self/task")
    return len(os.listdir(tasks)) if tasks.exists() else threading.active_count()


def open_files() -> int:
    """The number of files that this process has open; 0 where the system doesn't tell."""
    files = Path("/proc/self/fd")
    return len(os.listdir(files)) if files.exists() else 0

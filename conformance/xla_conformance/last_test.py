"""The test that a worker runs, in a file that outlives a process that crashes."""

from __future__ import annotations

import contextlib
import json
import os
from pathlib import Path
from typing import Any


class LastTest:
    """A file of a folder with the test that started last and the properties that it has recorded.

    The worker writes it, and the parent reads it if the process ends. Events for each property would wake the parent
    several times a test.
    """

    def __init__(self, folder: Path) -> None:
        self._path = folder / "test"
        self._file = -1

    def begin(self, id: str) -> bool:
        """Replaces the test by another one. Returns whether this machine has room for it."""
        try:
            if self._file < 0:
                self._file = os.open(self._path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC)
            os.ftruncate(self._file, 0)
            self._write(id)
        except OSError:
            return False
        return True

    def add(self, name: str, value: Any) -> None:
        """Adds a property. A later value of the same name replaces it."""
        with contextlib.suppress(OSError):
            self._write([name, value])

    def _write(self, entry: Any) -> None:
        os.write(self._file, (json.dumps(entry) + "\n").encode())

    def read(self) -> tuple[str, dict[str, Any]]:
        """Returns the test's id, "" before the first test, and its properties."""
        entries: list[Any] = []
        with contextlib.suppress(OSError, ValueError):  # the process may have ended while it wrote the last line
            for line in self._path.read_text().splitlines():
                entries.append(json.loads(line))
        return (entries[0], dict(entries[1:])) if entries else ("", {})

"""Results that the workers of one run share: one worker makes each of them, and the others read it."""

from __future__ import annotations

import contextlib
import fcntl
import os
import pickle
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Generic, TypeVar

T = TypeVar("T")


class SharedResults(Generic[T]):
    """Results by name, in files of a folder. Without room for them, each worker makes all of them.

    Args:
        folder: the run's own.
        make: makes the result of a name, which depends on nothing else and can be pickled.
    """

    def __init__(self, folder: Path, make: Callable[[str], T]) -> None:
        self._folder, self._make = folder, make

    def of(self, names: Iterable[str]) -> dict[str, T]:
        """Returns the results of some names. Workers that call it at the same time each make a part of them."""
        left = list(dict.fromkeys(names))
        found: dict[str, T] = {}
        for waits in (False, True):
            for name in left:
                if name not in found:
                    with contextlib.suppress(BlockingIOError):  # another worker makes it
                        found[name] = self._one(name, waits)
        return found

    def _one(self, name: str, waits: bool) -> T:
        try:
            lock = os.open(self._folder / f"{name}.lock", os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600)
        except OSError:
            return self._make(name)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | (0 if waits else fcntl.LOCK_NB))  # a process that ends unlocks it
            return self._read_or_make(self._folder / name)
        finally:
            os.close(lock)

    def _read_or_make(self, file: Path) -> T:
        with contextlib.suppress(FileNotFoundError):
            found: T = pickle.loads(file.read_bytes())
            return found
        made = self._make(file.name)
        with contextlib.suppress(OSError):
            new = file.with_suffix(".new")
            new.write_bytes(pickle.dumps(made))
            new.rename(file)  # a process that ends meanwhile leaves no part of it
        return made

"""SpecializationCache: the compilations of a program with dynamic shapes, one for each signature."""

from __future__ import annotations

import dataclasses
import itertools
import threading
from collections.abc import Callable
from concurrent.futures import CancelledError, Future
from typing import Any

from xla_core.errors import XlaError
from xla_core.runtime.executables.static_executable import StaticExecutable
from xla_core.runtime.programs.signature import Signature


@dataclasses.dataclass(slots=True, eq=False)
class Specialization:
    """One compilation. `used` orders the compilations by their last lookup."""

    executable: StaticExecutable
    signature: Signature
    used: int


class SpecializationCache:
    """Keeps at most `limit` compilations and drops the least recently used one.

    If a compilation's executable is deleted, the next request compiles again.
    """

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._table: dict[tuple[Any, ...], Specialization] = {}  # by `Signature.key`
        self._times = itertools.count(1)
        self._under_way: dict[tuple[Any, ...], Future[Specialization]] = {}
        self._lock = threading.Lock()
        self._closed: XlaError | None = None

    def lookup(self, key: tuple[Any, ...]) -> Specialization | None:
        """Returns the compilation for a `Signature.key`, or None.

        Every call of the program calls this, so it takes no lock and relies on dictionary reads, which are atomic.
        """
        found = self._table.get(key)
        if found is None or found.executable.is_deleted():
            return None
        found.used = next(self._times)
        return found

    def usable(self) -> list[Specialization]:
        """Returns the compilations that are not deleted, the least recently used first."""
        with self._lock:
            made = [s for s in self._table.values() if not s.executable.is_deleted()]
        return sorted(made, key=lambda s: s.used)

    def find_or_compile(self, signature: Signature, compile: Callable[[], StaticExecutable]) -> Specialization:
        """Returns the compilation for a signature, and calls `compile` if there is none.

        If several threads need the same compilation, one thread compiles and the others wait.
        """
        key = signature.key
        while True:
            with self._lock:
                if self._closed is not None:
                    raise self._closed.with_traceback(None)
                found = self.lookup(key)
                if found is not None:
                    return found
                theirs = self._under_way.get(key)
                if theirs is None:
                    mine = self._under_way[key] = Future()
                    break
            try:
                return theirs.result()
            except CancelledError:  # the other thread's compilation was interrupted, so this thread tries again
                continue
            except Exception as error:
                raise error.with_traceback(None) from error.__cause__
        try:
            made = Specialization(compile(), signature, next(self._times))
        except BaseException as error:
            self._end(key, None)
            if isinstance(error, Exception):
                mine.set_exception(error)
            else:
                mine.cancel()
            raise
        self._end(key, made)
        mine.set_result(made)
        return made

    def _end(self, key: tuple[Any, ...], made: Specialization | None) -> None:
        """Ends a compilation that is under way, and keeps its executable."""
        with self._lock:
            del self._under_way[key]
            if made is not None:
                self._keep(made)

    def add(self, signature: Signature, executable: StaticExecutable) -> None:
        with self._lock:
            self._keep(Specialization(executable, signature, next(self._times)))

    def _keep(self, made: Specialization) -> None:
        if self._closed is not None:
            made.executable.delete()
            return
        table, key = self._table, made.signature.key
        table.pop(key, None)  # a deleted executable's entry
        while len(table) >= self._limit:
            del table[min(table, key=lambda k: table[k].used)]
        table[key] = made

    def close(self, error: XlaError) -> None:
        """Deletes all compilations. Later requests raise `error`."""
        with self._lock:
            self._closed = error
            made = list(self._table.values())
            self._table.clear()
        for specialization in made:
            specialization.executable.delete()

"""Work of host queues: functions without arguments, their names in profiles, and the errors that stand for work."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable
from typing import Any, NoReturn

from xla_core.errors import FailedPreconditionError

Work = Callable[[], None]


def raiser(error: Exception) -> Callable[..., Any]:
    """Returns a function that raises `error`, whatever its arguments are."""

    def fail(*arguments: object) -> NoReturn:
        raise error.with_traceback(None)

    return fail


def forked_error() -> FailedPreconditionError:
    return FailedPreconditionError(
        "this client was made before a fork, and its threads and devices stayed in the parent process",
        hint='make a new xla_core.Client in the child, or start processes with multiprocessing\'s "spawn"',
    )


def label_of(work: Work) -> str:
    """Returns the name of work in a profile: its own, that of a method's object (a kernel) or of the function."""
    if isinstance(work, NamedWork):
        return work.name
    function = work.func if isinstance(work, functools.partial) else work
    name = getattr(getattr(function, "__self__", None), "name", None)
    if isinstance(name, str) and name:
        return name
    return getattr(function, "__qualname__", type(function).__name__).split(".<locals>")[0].rpartition(".")[2]


@dataclasses.dataclass(frozen=True, slots=True)
class NamedWork:
    work: Work
    name: str

    def __call__(self) -> None:
        self.work()

"""Tells a fault that a test finds from a mistake in the mutant's own Python, which any test finds and proves nothing."""

from __future__ import annotations

import linecache
import re
import sys
import threading
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path

ROOT = Path(__file__).parents[3]
ZOO = Path(__file__).parent
_KINDS = (NameError, AttributeError, TypeError)
_NOT_MUTANTS = (ZOO / "run.py", Path(__file__))
_TEXT = re.compile(
    r"^.*(?P<place>tests/conformance/zoo/mutants/\w+\.py)\D*(?P<line>\d+).*\n"
    r"(?:[ \t]+(?P<code>\S.*)\n)?(?:[ \t~^]+\n)?"
    r"(?:E +)?(?P<error>(?:NameError|UnboundLocalError|AttributeError|TypeError): .*)$",
    re.MULTILINE,
)
"""The end of a traceback, as Python or pytest prints it."""


def mistake_in(error: BaseException | None) -> str:
    """Describes the first mistake among an exception, its causes and contexts; "" if there is none.

    A mistake is a NameError, AttributeError or TypeError of the mutant's own code, which no `raise` there raised.
    """
    for found in _chain(error):
        frames = [f for f in traceback.extract_tb(found.__traceback__) if ROOT in Path(f.filename).parents]
        place = Path(frames[-1].filename) if frames else ROOT
        if not isinstance(found, _KINDS) or ZOO not in place.parents or place in _NOT_MUTANTS:
            continue
        line = linecache.getline(frames[-1].filename, frames[-1].lineno or 0).strip()
        if not line.startswith("raise "):
            return f"{place.name}:{frames[-1].lineno}: `{line}`: {type(found).__name__}: {found}"
    return ""


def mistake_in_text(text: str) -> str:
    """Describes the first mistake whose traceback is printed in a text, such as the output of another process."""
    for found in _TEXT.finditer(text):
        if not (found["code"] or "").startswith("raise "):
            return f"{Path(found['place']).name}:{found['line']}: `{found['code'] or ''}`: {found['error']}"
    return ""


_listeners: list[Callable[[str], None]] = []


def note(error: BaseException | None) -> None:
    """Tells who watches this process, if the error is a mistake or was caused by one."""
    mistake = mistake_in(error)
    if mistake:
        for tell in _listeners:
            tell(mistake)


def watch(tell: Callable[[str], None]) -> None:
    """Calls `tell` with each mistake that this process has in a thread or on one of the zoo's streams.

    No test sees those: a stream keeps the exception of its work as its own error.
    """
    _listeners.append(tell)
    in_thread, unraisable = threading.excepthook, sys.unraisablehook

    def noted_in_thread(arguments: threading.ExceptHookArgs) -> None:
        note(arguments.exc_value)
        in_thread(arguments)

    def noted_unraisable(arguments: sys.UnraisableHookArgs) -> None:
        note(arguments.exc_value)
        unraisable(arguments)

    threading.excepthook = noted_in_thread
    sys.unraisablehook = noted_unraisable


def _chain(error: BaseException | None) -> Iterator[BaseException]:
    seen: list[BaseException] = []
    left = [error]
    while left:
        found = left.pop()
        if found is not None and found not in seen:
            seen.append(found)
            left += [found.__context__, found.__cause__]
            yield found

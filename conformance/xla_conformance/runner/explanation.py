"""Turns an exception of a test into a sentence, details without Python source, and the data of a `Failure`."""

from __future__ import annotations

import dataclasses
import errno
import math
import os
import traceback
from pathlib import Path
from typing import Any

import numpy as np

import xla_conformance
from xla_conformance.child_process import StageError
from xla_conformance.failures import Failure
from xla_conformance.runner.minimal import minimal_program
from xla_core.errors import XlaError

_FRAMES = 12  # of an exception's traceback, the innermost ones
_NO_PROMISE = {"promise": ""}
"""Data of an exception, which says of no sentence of the contract that it is broken."""

_NO_ROOM = {errno.ENOSPC, errno.EDQUOT, errno.EROFS}
_SUITE = Path(xla_conformance.__file__).parent
_LIBRARIES = (Path(os.__file__).parent, Path(np.__file__).parent)
_TRACEBACK = "Traceback (most recent call last)"
_HIDDEN = ("/_pytest/", "/pluggy/", "/hypothesis/")


@dataclasses.dataclass(frozen=True)
class Explanation:
    """`sentence` is empty for an assertion that has no message."""

    sentence: str
    details: str = ""
    failure: dict[str, Any] = dataclasses.field(default_factory=dict)


def explain(error: BaseException) -> Explanation:
    """Explains the exception of a test."""
    if isinstance(error, BaseExceptionGroup) and error.exceptions:
        first = explain(error.exceptions[0])
        many = f"It is the first of {len(error.exceptions)} different failures."
        return dataclasses.replace(first, details=_joined(many, first.details))
    notes = "\n".join(getattr(error, "__notes__", ()))
    if isinstance(error, Failure):
        return Explanation(error.sentence, notes, _data(error))
    if isinstance(error, AssertionError):
        sentence, _, compared = str(error).partition("\nassert ")
        if sentence.startswith("assert "):
            sentence, compared = "", str(error).removeprefix("assert ")
        compared = f"assert {compared}" if compared else ""
        failed = {"stage": error.stage} if isinstance(error, StageError) else {}
        return Explanation(_one_line(sentence), _joined(_rest(sentence), compared, _frames(error), notes), failed)
    name = "" if isinstance(error, XlaError) else f"{type(error).__name__}: "
    text = f"{name}{error}".rstrip(": ") or type(error).__name__
    return Explanation(_one_line(text), _joined(_rest(text), _frames(error), notes), _NO_PROMISE)


def lacks_room(error: BaseException) -> bool:
    """Whether the suite's own code could not write a file, as this machine has no room for it."""
    if not isinstance(error, OSError) or error.errno not in _NO_ROOM:
        return False
    for frame in reversed(traceback.extract_tb(error.__traceback__)):
        if Path(frame.filename).is_relative_to(_SUITE):  # perhaps within a library's folder, as site-packages may be
            return True
        if not any(Path(frame.filename).is_relative_to(library) for library in _LIBRARIES):
            return False
    return False


def save_failure(failure: Failure, folder: Path) -> list[str]:
    """Writes the module as HLO text, its part with the wrong result as StableHLO, and the arrays as .npy files.

    Returns the files' names.
    """
    folder.mkdir(parents=True, exist_ok=True)
    written = []
    if failure.module:
        (folder / "module.hlo").write_text(failure.module)
        written.append("module.hlo")
        if minimal := minimal_program(failure.module, failure.number):
            (folder / "minimal.mlir").write_text(minimal)
            written.append("minimal.mlir")
    arrays = {"argument": failure.arguments, "result": failure.results, "expected": failure.expected}
    for kind, values in arrays.items():
        for number, value in enumerate(values):
            name = f"{kind}_{number}.npy"
            np.save(folder / name, np.ascontiguousarray(value).reshape(np.shape(value)), allow_pickle=False)
            written.append(name)
    return written


def _data(failure: Failure) -> dict[str, Any]:
    data = {
        "promise": failure.promise,
        "module": failure.module,
        "result": failure.number,
        "index": failure.index if failure.index is None else list(failure.index),
        "operands": failure.operands,
        "got": failure.got,
        "wanted": failure.wanted,
        "ulp": failure.ulp if failure.ulp is not None and math.isfinite(failure.ulp) else None,
        "seed": failure.seed,
    }
    return {key: value for key, value in data.items() if value not in (None, "", [])}


def _frames(error: BaseException) -> str:
    """Where each exception of the chain was raised: file, line and function of its innermost frames."""
    shown: list[str] = []
    current: BaseException | None = error
    while current is not None:
        frames = [f for f in traceback.extract_tb(current.__traceback__) if not any(h in f.filename for h in _HIDDEN)]
        if current is not error:
            shown.append(f"caused by {type(current).__name__}: {current}")
        shown += [f"  {_short(f.filename)}:{f.lineno} in {f.name}" for f in frames[-_FRAMES:]]
        current = current.__cause__
    return "\n".join(shown)


def _short(path: str) -> str:
    return "/".join(Path(path).parts[-3:])


def _one_line(text: str) -> str:
    """The first line; of a heading that ends with a colon, the entry below it too; of a traceback, the last line."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    if not lines:
        return ""
    first, *more = lines
    if first.startswith(_TRACEBACK):
        return lines[-1]
    return f"{first} {more[0]}" if first.endswith(":") and more else first


def _rest(text: str) -> str:
    """The lines below the first one; of a traceback, all."""
    lines = text.strip().splitlines()
    return "\n".join(lines if lines and lines[0].startswith(_TRACEBACK) else lines[1:])


def _joined(*parts: str) -> str:
    return "\n".join(part for part in parts if part)

"""xla-core: a compiler and runtime by which hardware vendors connect a new chip to machine learning frameworks.

The names below load their modules when they are first used, so importing this package alone is quick.
"""

from __future__ import annotations

import importlib
from types import ModuleType
from typing import TYPE_CHECKING

from xla_core.errors import (
    AlreadyExistsError,
    CancelledError,
    DeadlineExceededError,
    FailedPreconditionError,
    InternalError,
    InvalidArgumentError,
    NotFoundError,
    ResourceExhaustedError,
    SourceLocation,
    StatusCode,
    UnavailableError,
    UnimplementedError,
    XlaError,
)
from xla_core.interruptible import run_uninterrupted
from xla_core.lazy_names import loads_on_use

if TYPE_CHECKING:
    from xla_core.backend import CompileOptions, backends
    from xla_core.hlo import ElementType, HloComputation, HloInstruction, HloModule, Layout, Literal, Shape
    from xla_core.profiler import trace
    from xla_core.runtime import Buffer, Client, Device, LoadedExecutable, evaluate, parse

__version__ = "0.1.0"

_LOADED_WHEN_USED = {
    **dict.fromkeys(("CompileOptions", "backends"), "backend"),
    **dict.fromkeys(
        ("ElementType", "HloComputation", "HloInstruction", "HloModule", "Layout", "Literal", "Shape"), "hlo"
    ),
    "trace": "profiler",
    **dict.fromkeys(("Buffer", "Client", "Device", "LoadedExecutable", "evaluate", "parse"), "runtime"),
}

__all__ = [
    "AlreadyExistsError",
    "Buffer",
    "CancelledError",
    "Client",
    "CompileOptions",
    "DeadlineExceededError",
    "Device",
    "ElementType",
    "FailedPreconditionError",
    "HloComputation",
    "HloInstruction",
    "HloModule",
    "InternalError",
    "InvalidArgumentError",
    "Layout",
    "Literal",
    "LoadedExecutable",
    "NotFoundError",
    "ResourceExhaustedError",
    "Shape",
    "SourceLocation",
    "StatusCode",
    "UnavailableError",
    "UnimplementedError",
    "XlaError",
    "backends",
    "evaluate",
    "parse",
    "trace",
]


def _load(module: str) -> ModuleType:
    return run_uninterrupted(lambda: importlib.import_module(module), f"import {module}")


__getattr__ = loads_on_use(__name__, _LOADED_WHEN_USED, _load)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})

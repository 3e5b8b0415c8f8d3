"""xla-core: a compiler and runtime by which hardware vendors connect a new chip to machine learning frameworks.

The names below load their modules when they are first used, so importing this package alone is quick.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

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
from xla_core.package_version import __version__ as __version__

if TYPE_CHECKING:
    from xla_core.backend import CompileOptions, backends
    from xla_core.hlo import ElementType, HloComputation, HloInstruction, HloModule, Layout, Literal, Shape
    from xla_core.profiler import trace
    from xla_core.runtime import Buffer, Client, Device, LoadedExecutable, evaluate, parse

_LOADED_WHEN_USED = {
    "xla_core.backend": "CompileOptions backends",
    "xla_core.hlo": "ElementType HloComputation HloInstruction HloModule Layout Literal Shape",
    "xla_core.profiler": "trace",
    "xla_core.runtime": "Buffer Client Device LoadedExecutable evaluate parse",
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


def __getattr__(name: str) -> Any:
    module = next((module for module, names in _LOADED_WHEN_USED.items() if name in names.split()), None)
    if module is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(run_uninterrupted(lambda: importlib.import_module(module), f"import {module}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})

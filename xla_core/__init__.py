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

if TYPE_CHECKING:
    from xla_core.backend import CompileOptions as CompileOptions
    from xla_core.backend import backends as backends
    from xla_core.hlo import ElementType as ElementType
    from xla_core.hlo import HloComputation as HloComputation
    from xla_core.hlo import HloInstruction as HloInstruction
    from xla_core.hlo import HloModule as HloModule
    from xla_core.hlo import Layout as Layout
    from xla_core.hlo import Literal as Literal
    from xla_core.hlo import Shape as Shape
    from xla_core.profiler import trace as trace
    from xla_core.runtime import Buffer as Buffer
    from xla_core.runtime import Client as Client
    from xla_core.runtime import Device as Device
    from xla_core.runtime import LoadedExecutable as LoadedExecutable
    from xla_core.runtime import evaluate as evaluate
    from xla_core.runtime import parse as parse

__version__ = "0.1.0"

_LAZY = {
    "Buffer": "xla_core.runtime",
    "Client": "xla_core.runtime",
    "CompileOptions": "xla_core.backend",
    "Device": "xla_core.runtime",
    "ElementType": "xla_core.hlo",
    "HloComputation": "xla_core.hlo",
    "HloInstruction": "xla_core.hlo",
    "HloModule": "xla_core.hlo",
    "Layout": "xla_core.hlo",
    "Literal": "xla_core.hlo",
    "LoadedExecutable": "xla_core.runtime",
    "Shape": "xla_core.hlo",
    "backends": "xla_core.backend",
    "evaluate": "xla_core.runtime",
    "parse": "xla_core.runtime",
    "trace": "xla_core.profiler",
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
    module = _LAZY.get(name)
    if module is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(run_uninterrupted(lambda: importlib.import_module(module), f"import {module}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})

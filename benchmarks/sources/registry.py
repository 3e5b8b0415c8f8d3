"""The table of the benchmark programs, and short names of the arrays that they take."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.suite import ArraySpec

Tree = Any
Function = Callable[..., Any]

SOURCES: dict[str, tuple[str, Function, tuple[ArraySpec, ...]]] = {}


def program(group: str, *arguments: ArraySpec) -> Callable[[Function], Function]:
    """Registers the decorated function under its own name."""

    def register(function: Function) -> Function:
        SOURCES[function.__name__] = (group, function, arguments)
        return function

    return register


def f32(*shape: int, low: float = -1.0, high: float = 1.0) -> ArraySpec:
    return ArraySpec(shape, "float32", low, high)


def bf16(*shape: int) -> ArraySpec:
    return ArraySpec(shape, "bfloat16", -1.0, 1.0)


def i32(*shape: int, high: int) -> ArraySpec:
    return ArraySpec(shape, "int32", 0, high)


def weights(*shape: int) -> ArraySpec:
    """Values that keep activations of the next layer near one."""
    bound = (3.0 / np.prod(shape[:-1])) ** 0.5
    return f32(*shape, low=-bound, high=bound)

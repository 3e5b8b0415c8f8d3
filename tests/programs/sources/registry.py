"""The list of sources, filled by the decorator `program`, and short names for input arrays."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

from tests.programs.arrays import ArraySpec

Function = Callable[..., Any]


@dataclasses.dataclass(frozen=True)
class Source:
    """A JAX function with all that is needed to export and run it."""

    name: str
    kind: str
    function: Function
    arguments: tuple[ArraySpec, ...]
    rtol: float
    atol: float
    donate: tuple[int, ...]
    x64: bool
    frames: int


SOURCES: list[Source] = []


def program(
    *arguments: ArraySpec,
    rtol: float = 1e-5,
    atol: float = 1e-5,
    donate: tuple[int, ...] = (),
    x64: bool = False,
    frames: int = 1,
) -> Callable[[Function], Function]:
    """Registers the decorated function under its own name; it takes arrays of `arguments` and returns a pytree.

    `frames` is how many stack frames its locations hold (more than one makes `callsite` locations; 0 leaves
    all locations out).
    """

    def register(function: Function) -> Function:
        kind = function.__module__.rpartition(".")[2]
        SOURCES.append(Source(function.__name__, kind, function, arguments, rtol, atol, donate, x64, frames))
        return function

    return register


def typed(dtype: str, *shape: int, low: float = -1.0, high: float = 1.0) -> ArraySpec:
    return ArraySpec(shape, dtype, low, high)


def f32(*shape: int, low: float = -1.0, high: float = 1.0) -> ArraySpec:
    return ArraySpec(shape, "float32", low, high)


def c64(*shape: int) -> ArraySpec:
    return ArraySpec(shape, "complex64")


def i32(*shape: int, low: int = 0, high: int = 10) -> ArraySpec:
    return ArraySpec(shape, "int32", low, high)


def u32(*shape: int, low: int = 0, high: int = 2**32) -> ArraySpec:
    return ArraySpec(shape, "uint32", low, high)


def boolean(*shape: int) -> ArraySpec:
    return ArraySpec(shape, "bool", 0, 2)

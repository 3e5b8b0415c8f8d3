"""The table of programs by kind, which the other modules fill, and functions that make inputs."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

from tests.programs.arrays import ArraySpec

Function = Callable[..., Any]


@dataclasses.dataclass(frozen=True)
class Program:
    """A jitted function and its arguments.

    `roundings` is how many roundings of its largest intermediate a floating-point result may be away from JAX's:
    |ours - JAX's| <= roundings * eps(type of the result) * largest magnitude in JAX's result. Sums of n terms have
    about n, solvers their condition number. `exact` asks for equal bits. `x64` has JAX use 64-bit types.
    """

    kind: str
    name: str
    function: Function
    arguments: tuple[ArraySpec, ...]
    roundings: float = 8
    exact: bool = False
    x64: bool = False
    donate: tuple[int, ...] = ()

    def __str__(self) -> str:
        return f"{self.kind}: {self.name}"


KINDS: dict[str, list[Program]] = {}


def program(name: str, function: Function, *arguments: ArraySpec, **options: Any) -> Program:
    """A program of the kind that it is given to."""
    return Program("", name, function, arguments, **options)


def kind(name: str, *programs: Program) -> None:
    """Adds a kind, with its programs (two at least)."""
    assert name not in KINDS, name
    assert len(programs) >= 2, name
    KINDS[name] = [dataclasses.replace(p, kind=name) for p in programs]
    assert len({p.name for p in programs}) == len(programs), name


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

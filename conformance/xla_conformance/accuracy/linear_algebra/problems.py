"""Problems of linear algebra: a program, its arguments, and what must hold of its results."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from xla_core.hlo import ElementType

__all__ = ["Problem", "Trial", "custom_call", "ints", "lapack_call", "nothing", "program", "rectangles", "registering"]

Array = np.ndarray
T = ElementType

Residuals = Callable[..., Mapping[str, float]]
Facts = Callable[..., Mapping[str, tuple[Any, Any]]]


def nothing(*results: Array) -> Mapping[str, Any]:
    return {}


@dataclasses.dataclass(frozen=True)
class Trial:
    """A program and its arguments; residuals of its results, relative to norms; facts: what is, and what must be."""

    program: str
    arguments: Sequence[Array]
    residuals: Residuals
    facts: Facts = nothing


Problem = Callable[[T, int], Iterator[Trial]]
"""(element type, rows) -> trials."""


def registering(problems: dict[str, Problem]) -> Callable[[str], Callable[[Problem], Problem]]:
    """A decorator that enters a problem by its name."""

    def named(name: str) -> Callable[[Problem], Problem]:
        def register(problem: Problem) -> Problem:
            problems[name] = problem
            return problem

        return register

    return named


def type_text(t: T, shape: Sequence[int]) -> str:
    return f"{t.value}[{','.join(map(str, shape))}]"


def program(op: str, operands: Sequence[Array], results: Sequence[tuple[T, Sequence[int]]]) -> str:
    lines = [f"  p{i} = {type_text(T.from_numpy(o.dtype), o.shape)} parameter({i})" for i, o in enumerate(operands)]
    types = [type_text(t, s) for t, s in results]
    result = f"({', '.join(types)})" if len(types) > 1 else types[0]
    body = "\n".join(lines)
    return f"HloModule m\n\nENTRY main {{\n{body}\n  ROOT r = {result} {op}\n}}\n"


def _letter(t: T) -> str:
    return {T.F32: "s", T.F64: "d", T.C64: "c", T.C128: "z"}[t]


def lapack_call(
    routine: str,
    t: T,
    operands: Sequence[Array],
    results: Sequence[tuple[T, Sequence[int]]],
    **attributes: int | str | bool,
) -> str:
    """A LAPACK custom call, as JAX writes it. Attributes of one letter are its code."""
    names = {"orgqr": "ungqr", "ormqr": "unmqr", "syevd": "heevd", "sytrd": "hetrd"}
    routine = names.get(routine, routine) if t.is_complex else routine
    return custom_call(f"lapack_{_letter(t)}{routine}_ffi", operands, results, **attributes)


def custom_call(
    target: str, operands: Sequence[Array], results: Sequence[tuple[T, Sequence[int]]], **attributes: int | str | bool
) -> str:
    written = []
    for name, value in attributes.items():
        if isinstance(value, bool):
            written.append(f"{name} = {str(value).lower()}")
        elif isinstance(value, str):
            written.append(f"{name} = {ord(value)} : ui8")
        else:
            written.append(f"{name} = {value} : i32")
    names = ", ".join(f"p{i}" for i in range(len(operands)))
    config = f"backend_config={{{', '.join(written)}}}"
    op = f'custom-call({names}), custom_call_target="{target}", api_version=API_VERSION_TYPED_FFI, {config}'
    return program(op, operands, results)


def ints(*shape: int) -> tuple[T, tuple[int, ...]]:
    return T.S32, shape


def rectangles(n: int) -> Iterator[tuple[int, int]]:
    """(rows, columns): square, tall and wide."""
    yield n, n
    if n:
        yield n, max(n // 2, 1)
        yield max(n // 2, 1), n

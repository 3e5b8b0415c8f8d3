"""Problems of linear algebra: a program, its arguments, and the conditions on its results."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from xla_core.hlo import ElementType

Array = np.ndarray
T = ElementType

Residuals = Callable[..., Mapping[str, float]]
Facts = Callable[..., Mapping[str, tuple[Any, Any]]]


def nothing(*results: Array) -> Mapping[str, Any]:
    return {}


@dataclasses.dataclass(frozen=True)
class Trial:
    """A program, its arguments, and the conditions on its results.

    `residuals` computes errors by name, relative to norms. `facts` returns pairs (found, required) by name.
    """

    program: str
    arguments: Sequence[Array]
    residuals: Residuals
    facts: Facts = nothing


Problem = Callable[[T, int], Iterator[Trial]]
"""(element type, number of rows) -> trials."""


def info_is(*expected: int, of: str = "info") -> Facts:
    """Requires the values of `info`, the last result of a LAPACK call, for the matrices of the batch."""
    return lambda *results: {of: (results[-1].tolist(), list(expected))}


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
    """Writes a LAPACK custom call as JAX does. A letter as an attribute becomes its character code."""
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
    """Yields (rows, columns) of a square, a tall and a wide matrix."""
    yield n, n
    if n:
        yield n, max(n // 2, 1)
        yield max(n // 2, 1), n

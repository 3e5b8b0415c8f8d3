"""Compares a random program on a backend with the reference evaluator, and reduces a program that shows a difference."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any

import numpy as np
from xla_conformance.bisect.shrinking import shrink

import xla_core as xla
from tests.random_programs.bounds import Value
from tests.random_programs.generator import RandomProgram
from tests.random_programs.quantized import QuantizedProgram
from xla_core.hlo import HloModule

Program = RandomProgram | QuantizedProgram

MAX_STEPS = 2_000_000
LEVELS = {"cpu": {"llvm_optimization_level": (2, 0, 0, 0, 1, 0, 0, 0)}}
"""Options of backends of which a program takes one value or another, by its seed."""


def seeded(seed: int, size: int | None = None) -> Program:
    """Makes an HLO program. Every twentieth one is a program of quantized StableHLO."""
    rng = random.Random(seed)
    size = size or rng.randint(5, 60)
    return QuantizedProgram(rng, size) if seed % 20 == 19 else RandomProgram(rng, size)


def compile_options(seed: int, backend: str) -> xla.CompileOptions:
    """Chooses options: mostly full optimization, and lower levels for some programs."""
    level = {5: 1, 13: 0}.get(seed % 25, 2)
    own = {name: values[seed % len(values)] for name, values in LEVELS.get(backend, {}).items()}
    return xla.CompileOptions(optimization_level=level, backend=own)


class Difference(AssertionError):
    """A result that differs from the evaluator's. `index` is its number."""

    def __init__(self, index: int, message: str) -> None:
        super().__init__(message)
        self.index = index


def difference(result: np.ndarray, want: np.ndarray, value: Value, strict: bool = True) -> str:
    """Returns what is wrong with a result, or nothing.

    The payload of a NaN and the sign of a zero count if `strict` and the bounds say that the bits are known.
    """
    if result.dtype != want.dtype or result.shape != want.shape:
        return f"{result.dtype}{list(result.shape)}, expected {want.dtype}{list(want.shape)}"
    largest = 0.0
    if not value.rounds or (value.bits and strict):
        wrong = np.any(_bytes(result) != _bytes(want), axis=-1)
    elif value.is_exact:
        wrong = ~((result == want) | ((result != result) & (want != want)))
    else:
        with np.errstate(all="ignore"):
            kind = np.complex128 if value.type.is_complex else np.float64
            apart = result.astype(kind) - want.astype(kind)
            far = np.maximum(np.abs(apart.real), np.abs(apart.imag))
        wrong = ~(far <= 2 * value.error)
        largest = float(far.max()) if far.size else 0.0
    wrong = np.asarray(wrong)
    if not wrong.any():
        return ""
    at = tuple(int(i[0]) for i in np.nonzero(wrong)) if wrong.ndim else ()
    return (
        f"{int(wrong.sum())} of {wrong.size} elements differ; at {list(at)} {result[at]!r}, expected {want[at]!r} "
        f"(allowed {2 * value.error:.3g}, largest {largest:.3g})"
    )


def _bytes(array: np.ndarray) -> np.ndarray:
    if array.dtype.name in ("int2", "int4", "uint2", "uint4"):
        array = array.astype(np.int8)
    return np.ascontiguousarray(array).reshape(*array.shape, 1).view(np.uint8)


def check(program: Program, client: Any, seed: int = 0) -> None:
    """The program, printed and read again, compiled and run, gives what the evaluator gives, to within its bounds; its
    arguments stay as they were; a second run gives the same. Raises Difference.
    """
    module = xla.parse(program.module.to_text())
    arguments = program.arguments(seed)
    expected = xla.evaluate(module, *arguments, max_steps=MAX_STEPS)
    exe = client.compile(module, compile_options(seed, client.platform_name))
    given = [client.buffer_from_host(a) if (seed + i) % 3 == 0 else a for i, a in enumerate(arguments)]
    outs = exe(*given)
    results = [np.asarray(buffer) for buffer in outs]
    assert len(results) == len(expected) == len(program.results)
    for index, (result, want, value) in enumerate(zip(results, expected, program.results, strict=True)):
        if wrong := difference(result, want, value, program.strict):
            raise Difference(index, f"result {index}, {value.instruction.name} {value.shape}: {wrong}")
    for index, (before, after) in enumerate(zip(arguments, given, strict=True)):
        if not (isinstance(after, xla.Buffer) and after.is_deleted):
            assert (_bytes(np.asarray(after)) == _bytes(before)).all(), f"argument {index} was written to"
    if seed % 8 == 0:
        again = [np.asarray(buffer) for buffer in exe(*arguments)]
        for index, (first, second) in enumerate(zip(results, again, strict=True)):
            assert (_bytes(first) == _bytes(second)).all(), f"result {index} of a second run is another"


def smallest(program: Program, client: Any, seed: int, index: int) -> str:
    """Finds the smallest program that shows the difference of the result with this number, and its arguments."""
    options = compile_options(seed, client.platform_name)

    def fails(module: HloModule, arguments: Sequence[np.ndarray]) -> bool:
        try:
            (want,) = xla.evaluate(module, *arguments, max_steps=MAX_STEPS)
            (result,) = (np.asarray(b) for b in client.compile(module, options)(*arguments))
        except Exception:
            return False
        return bool(difference(result, want, program.results[index], program.strict))

    return _shown(*shrink(xla.parse(program.module.to_text()), program.arguments(seed), index, fails))


def smallest_error(program: Program, client: Any, seed: int, message: str) -> str:
    """Does the same as `smallest` for programs that don't compile or run, with the same message."""
    options = compile_options(seed, client.platform_name)

    def fails(module: HloModule, arguments: Sequence[np.ndarray]) -> bool:
        try:
            client.compile(module, options)(*arguments)
        except Exception as error:
            return str(error)[:40] == message[:40]
        return False

    module = xla.parse(program.module.to_text())
    for index in range(len(program.results)):
        found, arguments = shrink(module, program.arguments(seed), index, fails)
        if fails(found, arguments, index):
            return _shown(found, arguments)
    return module.to_text()


def _shown(module: HloModule, arguments: Sequence[np.ndarray]) -> str:
    given = "\n".join(
        f"# argument {i}: {np.array2string(a.ravel()[:12], separator=', ')}" for i, a in enumerate(arguments)
    )
    return f"{module.to_text()}{given}"

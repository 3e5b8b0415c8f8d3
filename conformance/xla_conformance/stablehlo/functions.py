"""Runs functions without checks on random arguments, and compares the results with the reference evaluator's.

So the lowerings of CHLO's ops are run, not only read. On the evaluator itself nothing is compared.
"""

from __future__ import annotations

import zlib
from collections.abc import Sequence

import numpy as np

from xla_conformance.accuracy.real_functions.formats import epsilon
from xla_conformance.stablehlo.program import Run, run_on_evaluator
from xla_core.hlo import ElementType, Shape, Tolerance, compare_arrays, evaluate
from xla_core.stablehlo import Module, Op, TensorType, lower

_ROUNDINGS = 64
"""How many epsilons of the type two decompositions may differ by; wrong results differ by more."""


def run_functions(module: Module, run: Run) -> tuple[str | None, int, int]:
    """Returns the first problem (or None), how many results were compared, and how many functions ran. Functions with
    dynamic shapes are only verified.
    """
    compared = ran = 0
    for name, function in module.functions.items():
        if not _is_static(function):
            continue
        program = lower(module, name)
        random = np.random.default_rng(zlib.crc32(name.encode()))
        arguments = [_argument(shape, random) for shape in program.parameter_shapes]
        results: Sequence[np.ndarray] = run(program, arguments)
        ran += 1
        if run is run_on_evaluator:
            continue
        expected = evaluate(lower(module, name), *arguments)
        for number, (got, want) in enumerate(zip(results, expected, strict=True)):
            difference = compare_arrays(np.asarray(got), want, _tolerance(want.dtype))
            if not difference.equal:
                return f"@{name}: result {number} is not the evaluator's: {difference}", compared, ran
            compared += 1
    return None, compared, ran


def _tolerance(dtype: np.dtype) -> Tolerance:
    if dtype.kind in "iub":
        return Tolerance()
    allowed = _ROUNDINGS * epsilon(ElementType.from_numpy(dtype).component)
    return Tolerance(ulp=16, rtol=allowed, atol=allowed)


def _is_static(function: Op) -> bool:
    """Whether the function has a body in which every tensor has a static shape."""
    if not function.regions or not function.regions[0].blocks:
        return False
    values = [*function.regions[0].block.arguments, *(r for op in function.walk() for r in op.results)]
    return all(not isinstance(v.type, TensorType) or v.type.is_static for v in values)


def _argument(shape: Shape, random: np.random.Generator) -> np.ndarray:
    """Random numbers in a range where most functions are defined."""
    kind = shape.element_type
    if kind.is_integral or shape.dtype == np.bool_:
        return random.integers(0, 2 if shape.dtype == np.bool_ else 5, shape.dimensions).astype(shape.dtype)
    values = random.uniform(0.25, 2.0, shape.dimensions)
    if kind.is_complex:
        return (values + 1j * random.uniform(0.25, 2.0, shape.dimensions)).astype(shape.dtype)
    return values.astype(shape.dtype)

"""One cell of the matrix: an op's example in one element type, on one subject."""

from __future__ import annotations

import dataclasses
import enum
import zlib

import numpy as np

import xla_core as xla
from xla_conformance.ops.values import moderate
from xla_conformance.subjects import EvaluatorSubject, ReplicaSubject
from xla_core.errors import InvalidArgumentError, UnimplementedError, XlaError
from xla_core.hlo import (
    ElementType,
    HloModule,
    Shape,
    Tolerance,
    compare_arrays,
)
from xla_core.stablehlo import OpExample, op_example

ANY = "any"
"""The column of ops whose example has no element type to choose."""

_QUANTIZED = {"q4": "i4", "q8": "i8", "qu8": "ui8", "q16": "i16", "q32": "i32"}


def _spelling(element: ElementType) -> str:
    """Returns the name in MLIR: `ui8`, `f8E4M3FN`, `complex<f32>`."""
    if element.is_complex:
        return f"complex<{element.component.value}>"
    if element.is_floating:
        return element.name[0].lower() + element.name[1:] if element.bit_width < 16 else element.value
    return f"{'u' if element.is_unsigned else ''}i{element.bit_width}"


def _column(element: ElementType) -> str:
    return element.value if element.is_complex else _spelling(element)


ELEMENT_TYPES: dict[str, str] = {
    **{_column(t): _spelling(t) for t in ElementType if t.is_array},
    **{name: f"!quant.uniform<{storage}:f32, 5.000000e-01:1>" for name, storage in _QUANTIZED.items()},
}
"""Columns: their names, and the element types in MLIR's spelling. q8 is stored as i8, of scale 0.5 and zero point 1."""


class CellState(enum.Enum):
    """INVALID: the verifier refuses the program. PASS: right. UNSUPPORTED: refused with UNIMPLEMENTED. WRONG: the
    result isn't the evaluator's. ERROR: any other error, or a crash.
    """

    INVALID = "invalid"
    PASS = "pass"
    UNSUPPORTED = "unsupported"
    WRONG = "wrong"
    ERROR = "error"


@dataclasses.dataclass(frozen=True, slots=True)
class Cell:
    """The result of a run. `reason` is the first line of the error or difference."""

    state: CellState
    reason: str = ""


def _infeed(module: HloModule, example: OpExample) -> list[tuple[np.ndarray, ...]]:
    """The values of the infeed: the example's results."""
    return [tuple(_array(s, 99, example) for s in module.result_shape.leaves())] if example.infeed else []


def run_cell(subject: ReplicaSubject, name: str, column: str) -> Cell:
    """Runs the example of op `name` in the element type of a column."""
    example = op_example(name)
    if ("$T" in example.text) == (column == ANY):
        return Cell(CellState.INVALID)
    element = "" if column == ANY else ELEMENT_TYPES[column]
    if element and example.types and element not in example.types:
        return Cell(CellState.INVALID)
    if element == "f8E8M0FNU" and "$zero" in example.text:  # it has no zero
        return Cell(CellState.INVALID)
    try:
        module = xla.parse(example.program(element or "f32"))
    except InvalidArgumentError:
        return Cell(CellState.INVALID)
    except XlaError as error:
        return _failed(error)
    rows = [
        [_array(s, r + 7 * i, example, i in example.positive) for i, s in enumerate(module.parameter_shapes)]
        for r in range(example.devices)
    ]
    try:
        infeed = _infeed(module, example)
        expected = EvaluatorSubject().run_replicas(module, rows, infeed)
        evaluated = isinstance(subject, EvaluatorSubject)
        results = expected if evaluated else subject.run_replicas(module.clone(), rows, infeed)
    except Exception as error:  # any exception of a backend is a result
        return _failed(error)
    return _compared(module, example, results, expected)


def _array(shape: Shape, number: int, example: OpExample, positive: bool = False) -> np.ndarray:
    random = np.random.default_rng(zlib.crc32(f"{example.op} {number}".encode()))
    return moderate(shape, random, positive=positive)


def _compared(
    module: HloModule, example: OpExample, results: list[list[np.ndarray]], expected: list[list[np.ndarray]]
) -> Cell:
    """Integers must be equal. Floats may differ by 4 ULP (narrow types: 1) or 32 roundings of the largest element."""
    shapes = list(module.result_shape.leaves())
    for row, wanted in zip(results, expected, strict=True):
        for actual, right, shape in zip(row, wanted, shapes, strict=True):
            if actual.dtype != shape.dtype or actual.shape != right.shape:
                return Cell(CellState.WRONG, f"gave {actual.dtype}{list(actual.shape)}, not {shape.without_layout()}")
            if example.is_random:
                continue
            difference = compare_arrays(actual, right, _tolerance(shape.element_type))
            if not difference.equal:
                return Cell(CellState.WRONG, str(difference).splitlines()[0])
    return Cell(CellState.PASS)


def _tolerance(element: ElementType) -> Tolerance:
    part = element.component
    if not part.is_floating:
        return Tolerance()
    if part.bit_width <= 16:
        return Tolerance(ulp=1)
    return Tolerance(ulp=4, scaled=32 * float(np.finfo(part.dtype).eps))


def _failed(error: Exception) -> Cell:
    state = CellState.UNSUPPORTED if isinstance(error, UnimplementedError) else CellState.ERROR
    message = error.message if isinstance(error, XlaError) else f"{type(error).__name__}: {error}"
    return Cell(state, " ".join(message.split())[:300])

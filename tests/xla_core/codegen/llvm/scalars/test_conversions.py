"""Conversions between all element types: 8-bit and 16-bit ones exhaustively."""

from __future__ import annotations

import numpy as np
import pytest

from tests.xla_core.codegen.llvm.kernels import Loaded, array, assert_same, fuse, host_abi, random_array
from xla_core.codegen.llvm import LoopAbi
from xla_core.hlo import OPS
from xla_core.hlo.evaluator import evaluate_computation
from xla_core.hlo.values.element_type import ElementType as T

ARRAYS = [t for t in T if t.is_array]
SMALL = [t for t in T if t.is_floating and t.bit_width <= 16]


def all_values(t: T) -> np.ndarray:
    """Every value of a type of up to 16 bits; else random bits, and numbers of all sizes."""
    if t.bit_width <= 16 and t is not T.PRED:
        unsigned = np.uint16 if t.bit_width == 16 else np.uint8
        values = np.arange(1 << t.bit_width).astype(unsigned)
        return values.view(t.dtype) if not t.is_integral or t.bit_width > 4 else values.astype(t.dtype)
    if t is T.PRED or t.is_integral:
        return random_array(array(t, 500))
    rng = np.random.default_rng(5)
    part = t.component.dtype
    bits = rng.integers(0, 1 << 62, 2000, np.int64).view(np.uint32 if part == np.float32 else np.uint64).view(part)
    spread = rng.standard_normal(2000) * 10.0 ** rng.integers(-12, 12, 2000)
    real = np.concatenate([bits, spread.astype(part), np.array([0, -0.0, np.inf, -np.inf, np.nan, 1, 255, 256], part)])
    return real.astype(t.dtype) if t.is_complex else real


@pytest.mark.parametrize("source", ARRAYS, ids=str)
def test_to_every_type(source: T) -> None:
    values = all_values(source)
    with np.errstate(all="ignore"):
        tiny = (T.S2, T.U2, T.S4, T.U4)  # numpy has no casts between these
        targets = [t for t in ARRAYS if t is not source and not (t in tiny and source in tiny)]
        instruction = fuse(
            lambda c, x: [c.add("convert", x, shape=array(t, len(values))) for t in targets], array(source, len(values))
        )
        expected = evaluate_computation(instruction.attribute("calls"), [values])
    for target, got, want in zip(targets, Loaded(instruction, opt_level=1)(values), expected, strict=True):
        try:
            assert_same(got, np.asarray(want), 0)
        except AssertionError as error:
            raise AssertionError(f"{source} to {target}: {error}") from error


@pytest.mark.parametrize("t", SMALL, ids=str)
def test_in_integer_operations_alone(t: T) -> None:
    """The target has no small float type in hardware."""
    host = host_abi()
    abi = LoopAbi(host.triple, host.cpu, host.features, native_floats=frozenset())
    values = np.concatenate([all_values(T.F32), all_values(t).astype(np.float32)])
    shape = array(T.F32, len(values))
    instruction = fuse(
        lambda c, x: c.add("convert", c.add("convert", x, shape=array(t, len(values))), shape=shape), shape
    )
    with np.errstate(all="ignore"):
        (want,) = evaluate_computation(instruction.attribute("calls"), [values])
    (got,) = Loaded(instruction, abi, opt_level=1)(values)
    assert_same(got, np.asarray(want), 0)


@pytest.mark.parametrize(
    "opcode", ["add", "subtract", "multiply", "divide", "maximum", "sqrt", "negate", "floor", "sign"]
)
def test_results_of_bf16_are_rounded_without_a_test_for_nan(opcode: str) -> None:
    host = host_abi()
    abi = LoopAbi(host.triple, host.cpu, host.features, native_floats=frozenset(), has_short_nans=True)
    every = all_values(T.BF16)
    special = [0.0, -0.0, 1.0, 3.0, -1e-3, 1e38, -1e38, np.inf, -np.inf, np.nan]
    others = np.concatenate(
        [np.array(special).astype(every.dtype), np.array([0x7F81, 0xFFC0], np.uint16).view(every.dtype)]
    )
    x, y = np.repeat(every, len(others)), np.tile(others, len(every))
    operands = [x, y] if OPS[opcode].arity == 2 else [x]
    shape = array(T.BF16, len(x))
    instruction = fuse(lambda c, *values: c.add(opcode, *values, shape=shape), *[shape] * len(operands))
    with np.errstate(all="ignore"):
        (want,) = evaluate_computation(instruction.attribute("calls"), operands)
    (got,) = Loaded(instruction, abi, opt_level=1)(*operands)
    assert_same(got, np.asarray(want), 0)


@pytest.mark.parametrize(
    ("source", "target", "dims", "result"),
    [
        (T.F32, T.S32, (6,), (6,)),
        (T.F32, T.U8, (6,), (6, 4)),
        (T.U8, T.F32, (6, 4), (6,)),
        (T.F64, T.U16, (3,), (3, 4)),
        (T.C64, T.C64, (5,), (5,)),
        (T.S8, T.U4, (5,), (5, 2)),
    ],
)
def test_bitcast_convert(source: T, target: T, dims: tuple[int, ...], result: tuple[int, ...]) -> None:
    values = random_array(array(source, *dims))
    instruction = fuse(lambda c, x: c.add("bitcast-convert", x, shape=array(target, *result)), array(source, *dims))
    (want,) = evaluate_computation(instruction.attribute("calls"), [values])
    (got,) = Loaded(instruction)(values)
    assert np.ascontiguousarray(got).tobytes() == np.asarray(want).tobytes()

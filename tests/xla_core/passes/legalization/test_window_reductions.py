"""reduce-window on devices that lack it: the reference evaluator gives the same before and after.

Reducers are associative and commutative: the order within a window is nobody's promise.
"""

from __future__ import annotations

import numpy as np
import pytest

from tests.xla_core.passes.legalization.devices import PRIMITIVES
from xla_core.hlo import ElementType, HloInstruction, HloModule, Literal, WindowDimension, parse_hlo, verify
from xla_core.hlo.evaluator import evaluate
from xla_core.passes.legalization import legalize, unsupported_instructions
from xla_core.target import Capabilities

SIMPLE = Capabilities.all_of([ElementType.F32, ElementType.S32, ElementType.U32, ElementType.PRED], opcodes=PRIMITIVES)
COMPUTATIONS = """
HloModule m
add { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT c = f32[] add(a, b) }
last { a = f32[] parameter(0)  b = f32[] parameter(1)  z = f32[] constant(0)  p = pred[] compare(b, z), direction=EQ
  ROOT c = f32[] select(p, a, b) }
greatest { a = f32[] parameter(0)  b = f32[] parameter(1)  p = pred[] compare(a, b), direction=GT  ROOT c = f32[] select(p, a, b) }
identity { x = f32[] parameter(0)  ROOT r = f32[] copy(x) }
zero { x = f32[] parameter(0)  ROOT r = f32[] constant(0) }
branching { a = f32[] parameter(0)  b = f32[] parameter(1)  d = f32[] subtract(b, a)  p = pred[] compare(a, b), direction=LT
  c = f32[] conditional(p, d, d), true_computation=identity, false_computation=zero  ROOT r = f32[] add(a, c) }
best { a = f32[] parameter(0)  i = s32[] parameter(1)  b = f32[] parameter(2)  j = s32[] parameter(3)
  more = pred[] compare(a, b), direction=GT  same = pred[] compare(a, b), direction=EQ  first = pred[] compare(i, j), direction=LT
  and = pred[] and(same, first)  c = pred[] or(more, and)  x = f32[] select(c, a, b)  k = s32[] select(c, i, j)
  ROOT r = (f32[], s32[]) tuple(x, k) }
ENTRY e { x = f32[5,7] parameter(0)  y = s32[5,7] parameter(1)  ROOT t = (f32[5,7], s32[5,7]) tuple(x, y) }
"""
W = WindowDimension
WINDOWS = {
    "strides and padding": (W(3, stride=2, padding_low=1, padding_high=1), W(2, padding_high=1)),
    "dilation": (W(2, padding_high=1, base_dilation=2), W(3, stride=2, padding_low=2, window_dilation=2)),
    "negative padding": (W(2, padding_low=-1), W(2, padding_high=-2)),
    "reversal": (W(3, window_reversal=True), W(2, stride=2, window_reversal=True)),
    "large": (W(5, padding_low=4), W(14, padding_low=13)),
    "no window fits": (W(6), W(2)),
    "single elements": (W(1, stride=2), W(1, stride=3)),
}


def both(window: tuple[WindowDimension, ...], reducer: str, *initial: np.ndarray) -> list[list[np.ndarray]]:
    """The windows of as many operands as there are initial values: as they are, and legalized."""

    def make() -> HloModule:
        module = parse_hlo(COMPUTATIONS)
        entry = module.entry
        start: list[HloInstruction] = [entry.add("constant", literal=Literal(v)) for v in initial]
        data = entry.parameters[: len(initial)]
        body = next(c for c in module.computations if c.name == reducer)
        entry.set_root(entry.add("reduce-window", *data, *start, window=window, to_apply=body))
        verify(module)
        return module

    x = np.random.default_rng(0).integers(-9, 9, (5, 7)).astype(np.float32)
    arguments = x, np.arange(35, dtype=np.int32).reshape(5, 7)
    legal = make()
    legalize(legal, SIMPLE.check)
    verify(legal)
    assert not unsupported_instructions(legal, SIMPLE.check)
    return [list(evaluate(m, *arguments)) for m in (make(), legal)]


@pytest.mark.parametrize("window", WINDOWS)
@pytest.mark.parametrize("reducer", ["add", "branching"])
def test_one_operand(window: str, reducer: str) -> None:
    (expected,), (found,) = both(WINDOWS[window], reducer, np.float32(3))
    np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("window", WINDOWS)
def test_several_operands(window: str) -> None:
    expected, found = both(WINDOWS[window], "best", np.float32(-99), np.int32(99))
    for a, b in zip(found, expected, strict=True):
        np.testing.assert_array_equal(a, b)


def test_elements_are_combined_in_their_order() -> None:
    """The reducer keeps the last element: it is associative, but not commutative."""
    window = W(3, stride=2), W(29, window_dilation=2)
    text = COMPUTATIONS.replace("[5,7]", "[9,200]")
    modules = [parse_hlo(text), parse_hlo(text)]
    for module in modules:
        start = module.entry.add("constant", literal=Literal(np.float32(0)))
        last = next(c for c in module.computations if c.name == "last")
        operands = module.entry.parameters[0], start
        module.entry.set_root(module.entry.add("reduce-window", *operands, window=window, to_apply=last))
    legalize(modules[0], SIMPLE.check)
    x = np.arange(1800, dtype=np.float32).reshape(9, 200)
    arguments = x, np.zeros(x.shape, np.int32)
    (found,), (expected,) = (evaluate(m, *arguments) for m in modules)
    np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("size", [5, 100])
def test_reversal_leaves_the_order_of_the_elements(size: int) -> None:
    modules = [parse_hlo(COMPUTATIONS.replace("[5,7]", "[1,120]")) for _ in range(2)]
    for module in modules:
        start = module.entry.add("constant", literal=Literal(np.float32(0)))
        last = next(c for c in module.computations if c.name == "last")
        window = W(1), W(size, window_reversal=True)
        operands = module.entry.parameters[0], start
        module.entry.set_root(module.entry.add("reduce-window", *operands, window=window, to_apply=last))
    legalize(modules[0], SIMPLE.check)
    x = np.arange(1, 121, dtype=np.float32).reshape(1, 120)
    for module in modules:
        (found,) = evaluate(module, x, np.zeros(x.shape, np.int32))
        np.testing.assert_array_equal(found, x[:, size - 1 :])


def test_windows_of_thousands_of_elements_become_a_program_without_loops() -> None:
    """A reducer that isn't one op, and a window that a loop would step through 12,312 times."""
    window = W(2, padding_high=1), W(513, stride=7, base_dilation=3, window_dilation=3), W(2), W(6, stride=2)
    module = parse_hlo(COMPUTATIONS.replace("[5,7]", "[1,9000,3,9]"))
    start = module.entry.add("constant", literal=Literal(np.float32(0)))
    best = next(c for c in module.computations if c.name == "greatest")
    module.entry.set_root(
        module.entry.add("reduce-window", module.entry.parameters[0], start, window=window, to_apply=best)
    )
    legalize(module, SIMPLE.check)
    verify(module)
    assert not unsupported_instructions(module, SIMPLE.check)
    assert not [i for c in module.computations for i in c.instructions if i.opcode == "while"]
    assert sum(len(c.instructions) for c in module.computations) < 300
    x = np.zeros((1, 9000, 3, 9), np.float32)
    x[0, 5000, 1, 3] = 7
    (found,) = evaluate(module, x, np.zeros(x.shape, np.int32))
    rows = sorted({row for _, row, _, _ in np.argwhere(found).tolist()})
    assert rows == [n for n in range(found.shape[1]) if 3 * 5000 - 7 * n in range(0, 3 * 513, 3)]
    assert set(found.reshape(-1).tolist()) == {0.0, 7.0}


@pytest.mark.parametrize("reducer", ["add", "best"])
def test_large_windows_that_overlap_become_a_short_program(reducer: str) -> None:
    window = W(129, stride=2, padding_low=60), W(3, padding_high=1, base_dilation=2, window_reversal=True)
    initial = (np.float32(0), np.int32(99))[: 1 + (reducer == "best")]
    text = COMPUTATIONS.replace("[5,7]", "[400,7]")
    modules = []
    for _ in range(2):
        module = parse_hlo(text)
        start = [module.entry.add("constant", literal=Literal(v)) for v in initial]
        body = next(c for c in module.computations if c.name == reducer)
        data = module.entry.parameters[: len(initial)]
        module.entry.set_root(module.entry.add("reduce-window", *data, *start, window=window, to_apply=body))
        modules.append(module)
    legalize(modules[0], SIMPLE.check)
    verify(modules[0])
    assert not unsupported_instructions(modules[0], SIMPLE.check)
    instructions = [i for c in modules[0].computations for i in c.instructions if i.opcode != "constant"]
    assert len(instructions) < 200
    x = np.random.default_rng(0).integers(-9, 9, (400, 7)).astype(np.float32)
    arguments = x, np.arange(x.size, dtype=np.int32).reshape(x.shape)
    for found, expected in zip(*(evaluate(m, *arguments) for m in modules), strict=True):
        np.testing.assert_array_equal(found, expected)

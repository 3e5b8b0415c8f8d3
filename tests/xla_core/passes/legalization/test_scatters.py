"""Scatters of many updates on devices that lack scatter: the reference evaluator gives the same before and after."""

from __future__ import annotations

import numpy as np
import pytest

from tests.xla_core.passes.legalization.devices import PRIMITIVES
from xla_core.hlo import ElementType, HloInstruction, HloModule, parse_hlo, verify
from xla_core.hlo.evaluator import evaluate
from xla_core.passes import PassContext, default_pipeline
from xla_core.passes.legalization import legalize, scatters, unsupported_instructions
from xla_core.target import Capabilities, TargetConfig

SIMPLE = Capabilities.all_of([ElementType.F32, ElementType.S32, ElementType.PRED], opcodes=[*PRIMITIVES, "maximum"])
SCATTERS = {
    "elements": (
        "f32[41]", "s32[3000]", "f32[3000]",
        "update_window_dims={}, inserted_window_dims={0}, scatter_dims_to_operand_dims={0}, index_vector_dim=1",
    ),
    "rows": (
        "f32[511,5]", "s32[2000,1]", "f32[2000,5]",
        "update_window_dims={1}, inserted_window_dims={0}, scatter_dims_to_operand_dims={0}, index_vector_dim=1",
    ),
    "windows that overlap": (
        "f32[9,3,8]", "s32[2,1500]", "f32[2,1500,3]",
        "update_window_dims={0,2}, inserted_window_dims={1}, scatter_dims_to_operand_dims={2,0}, index_vector_dim=0",
    ),
    "batches": (
        "f32[2,50]", "s32[2,900,1]", "f32[2,900]",
        "update_window_dims={}, inserted_window_dims={1}, scatter_dims_to_operand_dims={1}, input_batching_dims={0},"
        " scatter_indices_batching_dims={0}, index_vector_dim=2",
    ),
    "a large operand": (
        "f32[70001]", "s32[1200,1]", "f32[1200]",
        "update_window_dims={}, inserted_window_dims={0}, scatter_dims_to_operand_dims={0}, index_vector_dim=1",
    ),
}  # fmt: skip
COMBINERS = ("add", "maximum", "replace")


def program(case: str, combiner: str) -> HloModule:
    x, indices, updates, rest = SCATTERS[case]
    root = (
        "ROOT b = f32[] parameter(1)"
        if combiner == "replace"
        else f"b = f32[] parameter(1)\n ROOT r = f32[] {combiner}(b, a)"
    )
    computation = f"c {{ a = f32[] parameter(0)\n {root} }}\n"
    return parse_hlo(
        f"HloModule m\n{computation}ENTRY e {{\n x = {x} parameter(0)\n i = {indices} parameter(1)\n"
        f" u = {updates} parameter(2)\n ROOT s = {x} scatter(x, i, u), {rest}, to_apply=c\n}}\n"
    )


@pytest.mark.parametrize(
    ("case", "combiner"),
    # which of several windows that overlap is the last one is nobody's promise
    [(case, c) for case in SCATTERS for c in COMBINERS if (case, c) != ("windows that overlap", "replace")],
)
def test_many_updates_are_sorted(case: str, combiner: str) -> None:
    module, legal = program(case, combiner), program(case, combiner)
    legalize(legal, SIMPLE.check)
    verify(legal)
    assert not unsupported_instructions(legal, SIMPLE.check)
    assert not [i for c in legal.computations for i in c.instructions if i.opcode == "while"]
    rng = np.random.default_rng(0)
    x, indices, updates = (p.shape.dimensions for p in module.entry.parameters)
    arguments = (
        rng.integers(-9, 9, x).astype(np.float32),
        rng.integers(-3, max(x) + 3, indices).astype(np.int32),
        rng.integers(-9, 9, updates).astype(np.float32),
    )
    (found,), (expected,) = evaluate(legal, *arguments), evaluate(module, *arguments)
    np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("indices", ["none inside", "all the same", "the ends"])
def test_places_of_all_kinds(indices: str) -> None:
    values = {"none inside": [-1, 41], "all the same": [17], "the ends": [0, 40, -(2**31), 2**31 - 1]}[indices]
    module, legal = program("elements", "add"), program("elements", "add")
    legalize(legal, SIMPLE.check)
    arguments = np.ones(41, np.float32), np.resize(np.int32(values), 3000), np.ones(3000, np.float32)
    (found,), (expected,) = evaluate(legal, *arguments), evaluate(module, *arguments)
    np.testing.assert_array_equal(found, expected)


def test_few_updates_are_a_loop_over_them() -> None:
    few = parse_hlo(program("elements", "add").to_text().replace("3000", "30"))
    legalize(few, SIMPLE.check)
    (loop,) = (i for i in few.entry.instructions if i.opcode == "while")
    assert trip_count(loop) == 30


def trip_count(loop: HloInstruction) -> int:
    """The most iterations of a loop with a counter."""
    constants = [i for i in loop.attribute("condition").instructions if i.opcode == "constant"]
    return max(int(i.literal.array) for i in constants if i.shape.element_type is ElementType.S32)


LEXICAL = """HloModule m
best { a = f32[] parameter(0)
  n = s32[] parameter(1)
  c = f32[] parameter(2)
  k = s32[] parameter(3)
  more = pred[] compare(c, a), direction=GT
  x = f32[] select(more, c, a)
  y = s32[] select(more, k, n)
  ROOT t = (f32[], s32[]) tuple(x, y) }
ENTRY e { x = f32[5000] parameter(0)
  n = s32[5000] parameter(1)
  i = s32[3000,1] parameter(2)
  u = f32[3000] parameter(3)
  k = s32[3000] parameter(4)
  ROOT s = (f32[5000], s32[5000]) scatter(x, n, i, u, k), update_window_dims={}, inserted_window_dims={0},
    scatter_dims_to_operand_dims={0}, index_vector_dim=1, unique_indices=true, to_apply=best }
"""


ONE_AFTER_ANOTHER = LEXICAL.replace("unique_indices=true, ", "")


@pytest.mark.parametrize(
    ("kind", "places"),
    [
        (ElementType.F32, 40),
        (ElementType.BF16, 999),
        pytest.param(ElementType.F32, 5000, marks=pytest.mark.slow),
        pytest.param(ElementType.U32, 999, marks=pytest.mark.slow),
    ],
)
def test_other_combiners_are_applied_in_rounds(kind: ElementType, places: int) -> None:
    text = ONE_AFTER_ANOTHER.replace("f32[", f"{kind}[")
    module, legal = parse_hlo(text), parse_hlo(text)
    PassContext(invariants=[verify]).run(default_pipeline(TargetConfig(name="plain", capabilities=PLAIN)), legal, ())
    assert len([i for c in legal.computations for i in c.instructions if i.opcode == "while"]) == 1
    rng = np.random.default_rng(places)
    x, u = (rng.integers(0, 9, size).astype(kind.dtype) for size in (5000, 3000))
    if kind.is_floating:
        x[::50], u[::70] = np.nan, np.nan  # comparisons with NaN make the order matter
    n, k = (np.arange(size, dtype=np.int32) for size in (5000, 3000))
    arguments = x, n, rng.integers(-3, places + 3, (3000, 1)).astype(np.int32), u, k
    for found, expected in zip(evaluate(legal, *arguments), evaluate(module, *arguments), strict=True):
        np.testing.assert_array_equal(found.astype(np.float64), expected.astype(np.float64))


@pytest.mark.parametrize("places", [500, 7])
def test_a_loop_applies_what_rounds_leave(places: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Updates of many elements with few of one place take few rounds; many of one place take no more than a loop."""
    monkeypatch.setattr(scatters, "_MOST_IN_ROUNDS", 1 << 9)
    monkeypatch.setattr(scatters, "_STEP", 1 << 5)
    monkeypatch.setattr(scatters, "_GAIN", 1 / 64)
    text = ONE_AFTER_ANOTHER.replace("[3000", "[300").replace("[5000", "[500")
    module, legal = parse_hlo(text), parse_hlo(text)
    PassContext(invariants=[verify]).run(default_pipeline(TargetConfig(name="plain", capabilities=PLAIN)), legal, ())
    loops = [i for c in legal.computations for i in c.instructions if i.opcode == "while"]
    assert sorted(map(trip_count, loops)) == [30, 800]
    rng = np.random.default_rng(places)
    x, u = (rng.integers(0, 99, size).astype(np.float32) for size in (500, 300))
    n, k = (np.arange(size, dtype=np.int32) for size in (500, 300))
    arguments = x, n, rng.integers(0, places, (300, 1)).astype(np.int32), u, k
    for found, expected in zip(evaluate(legal, *arguments), evaluate(module, *arguments), strict=True):
        np.testing.assert_array_equal(found, expected)


def test_rounds_take_many_elements() -> None:
    """A loop over 300,000 updates takes minutes on a device that a host drives."""
    text = ONE_AFTER_ANOTHER.replace("[3000", "[300000").replace("[5000", "[400000")
    legal = parse_hlo(text)
    legalize(legal, SIMPLE.check)
    loops = [i for c in legal.computations for i in c.instructions if i.opcode == "while"]
    assert sorted(map(trip_count, loops)) == [63636, 700000]


def test_updates_of_places_of_their_own_may_have_any_combiner() -> None:
    module, legal = parse_hlo(LEXICAL), parse_hlo(LEXICAL)
    legalize(legal, SIMPLE.check)
    verify(legal)
    assert not [i for c in legal.computations for i in c.instructions if i.opcode == "while"]
    rng = np.random.default_rng(0)
    x, u = (rng.standard_normal(size).astype(np.float32) for size in (5000, 3000))
    n, k = (np.arange(size, dtype=np.int32) for size in (5000, 3000))
    arguments = x, n, rng.permutation(5100)[:3000, None].astype(np.int32), u, k
    for found, expected in zip(evaluate(legal, *arguments), evaluate(module, *arguments), strict=True):
        np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize(
    ("kind", "combiner"),
    [
        (ElementType.U32, "maximum"),
        (ElementType.BF16, "add"),
        pytest.param(ElementType.U32, "minimum", marks=pytest.mark.slow),
        pytest.param(ElementType.U8, "add", marks=pytest.mark.slow),
    ],
    ids=str,
)
def test_types_that_the_device_lacks_are_combined_too(kind: ElementType, combiner: str) -> None:
    text = program("elements", combiner).to_text().replace("f32[", f"{kind}[")
    module, legal = parse_hlo(text), parse_hlo(text)
    PassContext(invariants=[verify]).run(default_pipeline(TargetConfig(name="plain", capabilities=PLAIN)), legal, ())
    assert not [i for c in legal.computations for i in c.instructions if i.opcode == "while"]
    rng = np.random.default_rng(0)
    low, high = (-9, 9) if kind.is_floating else kind.integer_range
    x, u = (rng.integers(low, high, size).astype(kind.dtype) for size in (41, 3000))
    u = u * kind.dtype.type(kind.is_integral or combiner != "add")  # sums of bf16 depend on their order
    arguments = x, rng.integers(-3, 44, 3000).astype(np.int32), u
    (found,), (expected,) = evaluate(legal, *arguments), evaluate(module, *arguments)
    np.testing.assert_array_equal(found, expected)


PLAIN = Capabilities.all_of([ElementType.F32, ElementType.S32, ElementType.PRED], opcodes=PRIMITIVES)


@pytest.mark.parametrize("combiner", ["maximum", "minimum", "multiply"])
def test_ops_that_the_device_lacks_combine_too(combiner: str) -> None:
    module, legal = program("rows", combiner), program("rows", combiner)
    legalize(legal, PLAIN.check)
    assert not unsupported_instructions(legal, PLAIN.check)
    assert not [i for c in legal.computations for i in c.instructions if i.opcode == "while"]
    rng = np.random.default_rng(0)
    x, updates = (rng.choice(np.float32([-1, 1, 2]), shape) for shape in ((511, 5), (2000, 5)))
    indices = rng.integers(0, 511, (2000, 1)).astype(np.int32)
    (found,), (expected,) = (evaluate(m, x, indices, updates) for m in (legal, module))
    np.testing.assert_array_equal(found, expected)


SEVERAL = """HloModule m
both { a = f32[] parameter(0)
  n = s32[] parameter(1)
  c = f32[] parameter(2)
  k = s32[] parameter(3)
  r = f32[] maximum(c, a)
  s = s32[] add(n, k)
  ROOT t = (f32[], s32[]) tuple(r, s) }
ENTRY e { x = f32[70,3] parameter(0)
  n = s32[70,3] parameter(1)
  i = s32[COUNT] parameter(2)
  u = f32[COUNT,3] parameter(3)
  k = s32[COUNT,3] parameter(4)
  ROOT s = (f32[70,3], s32[70,3]) scatter(x, n, i, u, k), update_window_dims={1}, inserted_window_dims={0},
    scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=both }
"""


@pytest.mark.parametrize(("count", "loops"), [(1500, 0), (12, 1)])
def test_several_results_are_combined_side_by_side(count: int, loops: int) -> None:
    text = SEVERAL.replace("COUNT", str(count))
    module, legal = parse_hlo(text), parse_hlo(text)
    legalize(legal, PLAIN.check)
    verify(legal)
    assert not unsupported_instructions(legal, PLAIN.check)
    assert len([i for c in legal.computations for i in c.instructions if i.opcode == "while"]) == loops
    rng = np.random.default_rng(count)
    x, u = (rng.standard_normal(shape).astype(np.float32) for shape in ((70, 3), (count, 3)))
    n, k = (rng.integers(-9, 9, shape).astype(np.int32) for shape in ((70, 3), (count, 3)))
    arguments = x, n, rng.integers(-3, 75, count).astype(np.int32), u, k
    for found, expected in zip(evaluate(legal, *arguments), evaluate(module, *arguments), strict=True):
        np.testing.assert_array_equal(found, expected)


DIVISOR = """HloModule m
goes_on { p = (s32[], s32[]) parameter(0)
  b = s32[] get-tuple-element(p), index=1
  zero = s32[] constant(0)
  ROOT more = pred[] compare(b, zero), direction=NE }
step { p = (s32[], s32[]) parameter(0)
  a = s32[] get-tuple-element(p), index=0
  b = s32[] get-tuple-element(p), index=1
  q = s32[] divide(a, b)
  m = s32[] multiply(q, b)
  r = s32[] subtract(a, m)
  ROOT t = (s32[], s32[]) tuple(b, r) }
divisor { a = s32[] parameter(0)
  b = s32[] parameter(1)
  start = (s32[], s32[]) tuple(a, b)
  end = (s32[], s32[]) while(start), condition=goes_on, body=step
  ROOT g = s32[] get-tuple-element(end), index=0 }
of_twelve { a = s32[] parameter(0)
  b = s32[] parameter(1)
  twelve = s32[] constant(12)
  x = s32[] call(a, twelve), to_apply=divisor
  y = s32[] call(b, twelve), to_apply=divisor
  ROOT less = pred[] compare(x, y), direction=LT }
ENTRY e { x = s32[4,6] parameter(0)
  i = s32[9,1] parameter(1)
  u = s32[9,1,2] parameter(2)
  s = s32[4,6] scatter(x, i, u), update_window_dims={1,2}, inserted_window_dims={}, scatter_dims_to_operand_dims={0},
    index_vector_dim=1, to_apply=divisor
  o = s32[4,6] sort(x), dimensions={1}, is_stable=true, to_apply=of_twelve
  ROOT t = (s32[4,6], s32[4,6]) tuple(s, o) }
"""


def test_computations_with_loops_are_called_for_each_element() -> None:
    module, legal = parse_hlo(DIVISOR), parse_hlo(DIVISOR)
    legalize(legal, PLAIN.check)
    verify(legal)
    assert not unsupported_instructions(legal, PLAIN.check)
    rng = np.random.default_rng(0)
    x, u = (rng.integers(1, 9, shape).astype(np.int32) * 6 for shape in ((4, 6), (9, 1, 2)))
    arguments = x, np.int32([[0], [3], [1], [4], [-1], [1], [1], [2], [3]]), u
    for found, expected in zip(evaluate(legal, *arguments), evaluate(module, *arguments), strict=True):
        np.testing.assert_array_equal(found, expected)

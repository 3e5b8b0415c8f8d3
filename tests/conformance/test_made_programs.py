"""Programs of counters, states, branches and constants are valid, and have what a pass may overlook."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import pytest
from xla_conformance.ops.near_misses import RESEMBLANCES
from xla_conformance.ops.variations import readings
from xla_conformance.programs.arrangements import arrangements
from xla_conformance.programs.constant_operands import CONSTANT_TYPES, constant_operands
from xla_conformance.programs.loops import Counter, counters, loops
from xla_conformance.programs.padded_windows import padded_windows
from xla_conformance.programs.rewrites import Rewritten
from xla_conformance.programs.structures import branches, states
from xla_conformance.programs.wide_sums import wide_sums
from xla_conformance.programs.widenings import widenings

from xla_core import evaluate
from xla_core.hlo import ElementType, verify
from xla_core.passes.patterns import uniform_value

_CONSTANTS = [program for t in CONSTANT_TYPES for program in constant_operands(t, 0, every=True)]
_PROGRAMS = [
    *loops(0, every=True),
    *arrangements(0, every=True),
    *states(0, every=True),
    *branches(0, every=True),
    *padded_windows(0, every=True),
    *widenings(0, every=True),
    *wide_sums(0, every=True),
    *_CONSTANTS,
]


@pytest.mark.parametrize("program", _PROGRAMS, ids=lambda program: program.name)
def test_programs_are_valid(program: Rewritten) -> None:
    verify(program.module())
    assert all(e.wrong(e.value).sum() == 0 for e in program.expected(program.arguments(0)))


def test_a_counter_has_as_many_turns_as_its_loop() -> None:
    unsigned = Counter(ElementType.U8, 254, 0, 1, "NE")
    assert unsigned.turns() == 2
    assert Counter(ElementType.S32, 0, 5, 2, "LT").turns() == 3
    assert Counter(ElementType.S8, 0, 127, 1, "LE").turns() is None
    for program, counter in zip(loops(1, every=True), (c for c in counters(1) for _ in range(2)), strict=True):
        if "unread" not in program.name:
            _, value = evaluate(program.module(), *program.arguments(0))
            assert int(np.asarray(value)) == counter.wrapped(counter.start + (counter.turns() or 0) * counter.step)


def test_each_direction_wraps_counts_down_and_passes_its_limit() -> None:
    kinds = [counter.kind() for counter in counters(0)]
    assert len(set(kinds)) == len(kinds) > 60
    assert {kind[0] for kind in kinds} == {"LT", "LE", "GT", "GE", "NE", "EQ"}
    assert {(kind[4], kind[5]) for kind in kinds if len(kind) > 2} == {(w, e) for w in (0, 1) for e in (0, 1)}


def test_each_counter_has_a_plain_loop() -> None:
    plain = [program for program in loops(2, every=False) if program.name.endswith("[]")]
    assert len(plain) >= len(counters(2))


@pytest.mark.parametrize("make", [loops, states, branches, arrangements, widenings, wide_sums])
def test_programs_depend_on_the_seed_alone(make: Callable[..., Sequence[Rewritten]]) -> None:
    texts = [[program.text for program in make(seed, every=False)] for seed in (3, 3, 4)]
    assert texts[0] == texts[1] != texts[2]


def test_each_op_has_constants_in_one_type_of_numbers_at_least() -> None:
    some = [p.name.split()[0] for t in CONSTANT_TYPES for p in constant_operands(t, 1, every=False)]
    assert set(some) == {program.name.split()[0] for program in _CONSTANTS}


def test_a_division_by_a_constant_is_also_one_whose_reciprocal_is_infinite() -> None:
    divide = next(p for p in constant_operands(ElementType.F32, 0, every=True) if p.name.startswith("divide"))
    divisors = [i.operand(1) for i in divide.module().entry.instructions if i.opcode == "divide"]
    numbers = [uniform for divisor in divisors if (uniform := uniform_value(divisor)) is not None]
    with np.errstate(all="ignore"):
        assert any(n != 0 and np.isinf(1 / n) for n in numbers)


def test_each_value_within_a_pattern_is_a_result() -> None:
    pattern = next(r for r in RESEMBLANCES if r.name == "softmax").programs()[""]
    every = readings(pattern)
    assert len(every) == 6
    for module in every.values():
        verify(module)
        assert len(module.result_shape.tuple_shapes) == 2
    parts = [readings(pattern, slice(n, None, 3)) for n in range(3)]
    assert {name for part in parts for name in part} == set(every)


def test_parts_that_are_not_in_order_show() -> None:
    for seed in range(3):
        for program in arrangements(seed, every=False):
            (result,) = evaluate(program.module(), *(arguments := program.arguments(seed)))
            is_whole = np.array_equal(result, arguments[0])
            assert is_whole == program.name.endswith("in order"), program.name


def test_sums_of_narrow_types_are_other_ones_in_wider_types() -> None:
    for program in widenings(0, every=False):
        wider = program.module().clone()
        entry = wider.entry
        for result in list(entry.root.operands):
            value = result.operand(0)
            if value.opcode in ("add", "subtract", "multiply"):
                shape = result.shape
                entry.replace_with(
                    result, entry.add(value.opcode, *(entry.add("convert", o, shape=shape) for o in value.operands))
                )
        arguments = program.arguments(0)
        pairs = zip(evaluate(program.module(), *arguments), evaluate(wider, *arguments), strict=True)
        assert sum(np.asarray(a).tobytes() != np.asarray(b).tobytes() for a, b in pairs) == 3, program.name


def test_sums_in_wide_types_are_not_those_in_narrow_ones() -> None:
    differ = []
    for program in wide_sums(0, every=True):
        narrow, wide = program.name.split(" of ")[-1].split(" in ")
        if "|x|" in program.name or "convolution" in program.name or narrow == "f32":
            continue  # they may be the same numbers, or have a constant that the narrow type lacks
        in_narrow = program.text.replace(f"{wide}[", f"{narrow}[")
        arguments = program.arguments(0)
        values = [np.asarray(evaluate(text, *arguments)[0]) for text in (program.text, in_narrow)]
        with np.errstate(all="ignore"):
            differ.append(not np.array_equal(values[0], values[1].astype(values[0].dtype)))
    assert np.mean(differ) > 0.9


@pytest.mark.parametrize("opcode", ["maximum", "minimum", "multiply"])
def test_zeros_beside_a_window_are_not_the_identity(opcode: str) -> None:
    """A window of the padded array gives another result than one whose padding stands for the identity."""
    (program,) = (p for p in padded_windows(0, every=False) if p.name == f"windows of padded f32 arrays, {opcode}")
    padded, windows = evaluate(program.module(), *program.arguments(0))[0], program.arguments(0)[0]
    assert np.asarray(padded).shape == (6, 4)
    assert not np.array_equal(np.asarray(padded)[0], windows[0])

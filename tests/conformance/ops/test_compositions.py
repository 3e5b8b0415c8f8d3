"""Compositions have every pair of links in the full profile, and in the quick one the pairs that passes merge."""

from __future__ import annotations

import numpy as np
import pytest
from xla_conformance.ops.comparison import rule_for
from xla_conformance.ops.compositions import Composition, compositions
from xla_conformance.ops.links import links

from xla_core import evaluate
from xla_core.hlo import OPS, ElementType, HloInstruction, Opcode

_F32 = ElementType.F32


def _quick(seed: int) -> dict[Opcode, Composition]:
    """The compositions of the quick profile, of which the first one of an op has most pairs."""
    return {c.opcode: c for c in reversed(list(compositions(seed, every=False)))}


def test_each_exact_op_of_floats_is_a_link() -> None:
    exact = {o for o, op in OPS.items() if op.is_elementwise and op.arity in (1, 2) and rule_for(op, _F32).is_exact}
    left_out = {Opcode.BITCAST_CONVERT, Opcode.STOCHASTIC_CONVERT, Opcode.RNG_BIT_GENERATOR}
    assert exact - {link.opcode for link in links()} <= left_out


def test_the_full_profile_has_every_pair() -> None:
    assert all(c.first == links() or c.functions for c in compositions(0, every=True))


@pytest.mark.parametrize("seed", [0, 1, 2])
@pytest.mark.parametrize(
    ("last", "first"),
    [
        (Opcode.CONVERT, "convert.bf16"),
        (Opcode.TRANSPOSE, "transpose.rotated"),
        (Opcode.NOT, "compare.LT"),
        (Opcode.SELECT, "compare.GT"),
        (Opcode.SLICE, "concatenate.first"),
        (Opcode.PAD, "pad.crop"),
        (Opcode.DYNAMIC_SLICE, "dynamic-slice.above"),
        (Opcode.DYNAMIC_UPDATE_SLICE, "dynamic-update-slice.start"),
        (Opcode.SLICE, "pad.edges"),
        (Opcode.REDUCE, "reduce.first"),
        (Opcode.REDUCE, "broadcast.scalar"),
        (Opcode.REDUCE, "convert.s64"),
        (Opcode.GATHER, "transpose.rotated"),
        (Opcode.DOT, "transpose.swapped"),
    ],
)
def test_related_ops_come_after_each_other(last: Opcode, first: str, seed: int) -> None:
    assert first in [link.name for link in _quick(seed)[last].first]


def test_floats_lie_between_integers() -> None:
    modules = [c.module() for c in compositions(0, every=False) if c.opcode == Opcode.CONVERT]
    conversions = [i for m in modules if m is not None for i in m.entry.instructions if i.opcode == Opcode.CONVERT]
    kinds = {(o.operand(0).shape.element_type, o.shape.element_type, i.shape.element_type)
             for i in conversions for o in i.operands if o.opcode == Opcode.CONVERT}  # fmt: skip
    assert {(ElementType.S32, _F32, ElementType.S32), (_F32, ElementType.S32, _F32)} <= kinds


def test_of_two_functions_the_results_without_an_error_count() -> None:
    """log(exp(a)) isn't a where exp(a) is an infinity."""
    composition = next(c for c in compositions(0, every=False) if c.functions and c.opcode == Opcode.LOG)
    module = composition.module()
    assert module is not None
    arguments = composition.arguments(module, 0)
    number = next(n for n, i in enumerate(module.entry.root.operands) if i.operand(0).opcode == Opcode.EXPONENTIAL)
    expected = composition.expected(module, arguments)[number]
    a = arguments[0]
    wrong = expected.wrong(a)
    assert wrong[a > 1e30].any()
    assert not wrong[np.abs(a) < 10].any()
    assert not expected.wrong(expected.value).any()


@pytest.mark.parametrize("seed", [0, 1])
def test_programs_are_compiled_at_several_levels(seed: int) -> None:
    levels = {opcode: set(composition.levels) for opcode, composition in _quick(seed).items()}
    assert levels[Opcode.PAD] == levels[Opcode.REDUCE] == {0, 1, 2}
    assert all(2 in some and len(some) > 1 for some in levels.values())
    assert set().union(*(some for opcode, some in levels.items() if OPS[opcode].is_elementwise)) == {0, 1, 2}


@pytest.mark.parametrize(
    ("opcode", "place"),
    [(Opcode.PAD, 1), (Opcode.REDUCE, 1), (Opcode.CLAMP, 2), (Opcode.MULTIPLY, 1), (Opcode.ADD, 1)],
)
def test_an_op_of_its_own_result_has_other_constants(opcode: Opcode, place: int) -> None:
    """A pass that joins the two and takes one constant for both then gives another result."""
    module = _quick(0)[opcode].module()
    assert module is not None
    pairs = [(i, o) for i in module.entry.instructions for o in i.operands if {i.opcode, o.opcode} == {opcode}]
    numbers = [{_number(i.operand(place)) for i in pair} for pair in pairs]
    assert any(len(number) == 2 and None not in number for number in numbers)


def _number(i: HloInstruction) -> float | None:
    """The value of a scalar constant, or of one that is broadcast."""
    if i.opcode == Opcode.BROADCAST:
        return _number(i.operand(0))
    return float(np.ravel(i.literal.value)[0]) if i.opcode == Opcode.CONSTANT else None


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_ops_of_floats_get_integers(seed: int) -> None:
    """A negative integer times 0 is -0, which passes that ignore the signs of zeros get wrong."""
    composition = _quick(seed)[Opcode.MULTIPLY]
    module = composition.module()
    assert module is not None
    converted = [i for i in module.entry.instructions if i.opcode == Opcode.CONVERT and i.shape.element_type is _F32]
    arguments = composition.arguments(module, seed)
    results = evaluate(module, *arguments)
    of = [
        np.asarray(result)
        for result, i in zip(results, module.entry.root.operands, strict=True)
        if i.opcode == Opcode.MULTIPLY and any(o in converted for o in i.operands)
    ]
    assert any(((result == 0) & np.signbit(result)).any() for result in of)


@pytest.mark.parametrize("opcode", [Opcode.DYNAMIC_SLICE, Opcode.DYNAMIC_UPDATE_SLICE])
def test_starts_of_slices_are_constants_and_values(opcode: Opcode) -> None:
    module = _quick(0)[opcode].module()
    assert module is not None
    starts = {i.operands[-1].opcode for i in module.entry.instructions if i.opcode == opcode}
    assert starts == {Opcode.CONSTANT, Opcode.SELECT}


def test_all_pairs_of_values_meet() -> None:
    composition = _quick(0)[Opcode.MULTIPLY]
    module = composition.module()
    assert module is not None
    arguments = composition.arguments(module, 3)
    for x, y in zip(arguments[::2], arguments[1::2], strict=True):
        pairs = {(a.tobytes(), b.tobytes()) for a, b in zip(x.ravel(), y.ravel(), strict=True)}
        assert len(pairs) == len({a for a, _ in pairs}) * len({b for _, b in pairs})


def test_operands_are_those_of_the_last_op() -> None:
    composition = _quick(0)[Opcode.NEGATE]
    module = composition.module()
    assert module is not None
    arguments = composition.arguments(module, 0)
    (operand,) = composition.operands(module, arguments, 0)
    np.testing.assert_array_equal(-operand, np.asarray(evaluate(module, *arguments)[0]))


def test_products_that_are_added_have_one_user() -> None:
    module = _quick(0)[Opcode.ADD].module()
    assert module is not None
    products = [i for i in module.entry.instructions if i.opcode == Opcode.MULTIPLY]
    assert len(products) > 10
    assert len({tuple(o.name for o in product.operands) for product in products}) == len(products)
    assert all(len(product.users) == 1 for product in products)


@pytest.mark.parametrize("seed", [0, 1, 2])
@pytest.mark.parametrize(
    ("last", "first"),
    [
        ("subtract.right", "add.left"),
        ("shift-right-logical.left", "shift-left.left"),
        ("divide.left", "multiply.left"),
        ("xor.self", "or.right"),
    ],
)
def test_integers_have_the_ops_that_passes_merge(last: str, first: str, seed: int) -> None:
    found = [c for c in compositions(seed, every=False) if c.element_type is ElementType.S32 and not c.functions]
    pairs = {(after.name, before.name) for c in found for after in c.last for before in c.first}
    assert (last, first) in pairs


def test_functions_come_after_a_square() -> None:
    made = [c for c in compositions(0, every=False) if c.functions and c.opcode == Opcode.SQRT]
    assert [c for c in made if "multiply.self" in [link.name for link in c.first]]


def test_sums_and_products_of_floats_are_also_compiled_with_constants() -> None:
    folded = {c.opcode for c in compositions(0, every=False) if c.folded}
    assert folded == {Opcode.ADD, Opcode.SUBTRACT, Opcode.MULTIPLY, Opcode.DIVIDE}

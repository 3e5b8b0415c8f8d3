"""The HLO op table: every entry is complete and consistent."""

from __future__ import annotations

import importlib

import pytest

from xla_core.errors import AlreadyExistsError, InvalidArgumentError
from xla_core.hlo import OPS, OpDef, Trait, lookup
from xla_core.hlo.table.op_table import define

IMPLIED = [
    (Trait.FORWARDING, Trait.NOP),
    (Trait.BARRIER, Trait.NOP),
    (Trait.HOST_TRANSFER, Trait.SIDE_EFFECT),
    (Trait.NONDETERMINISTIC, Trait.SIDE_EFFECT),
    (Trait.TRANSCENDENTAL, Trait.ELEMENTWISE),
    (Trait.IDEMPOTENT, Trait.ELEMENTWISE),
    (Trait.PROJECTION, Trait.ELEMENTWISE),
    (Trait.COMMUTATIVE, Trait.ELEMENTWISE),
    (Trait.GIVEN, Trait.NOP),
    (Trait.CONVERSION, Trait.ELEMENTWISE),
]
EXCLUDED = [
    (Trait.NOP, Trait.SIDE_EFFECT),
    (Trait.NOP, Trait.COLLECTIVE),
    (Trait.COLLECTIVE, Trait.HOST_TRANSFER),
    (Trait.CONTROL_FLOW, Trait.ELEMENTWISE),
    (Trait.IDEMPOTENT, Trait.PROJECTION),
    (Trait.TRANSCENDENTAL, Trait.EXACT_IN_WIDER_INTEGERS),
]


@pytest.fixture(params=OPS.values(), ids=lambda op: op.opcode)
def op(request: pytest.FixtureRequest) -> OpDef:
    found: OpDef = request.param
    return found


def test_an_entry_is_whole(op: OpDef) -> None:
    assert op.doc
    assert op.group
    assert op.evaluate is not None
    least, most = (op.arity, op.arity) if isinstance(op.arity, int) else op.arity
    assert most is None or least <= most


def test_traits_fit_each_other(op: OpDef) -> None:
    for one, other in IMPLIED:
        assert one not in op.traits or other in op.traits, (one, other)
    for one, other in EXCLUDED:
        assert not {one, other} <= op.traits, (one, other)


def test_a_function_takes_longer_than_an_addition(op: OpDef) -> None:
    assert op.cost > 1 or Trait.TRANSCENDENTAL not in op.traits


def test_operands_that_are_named_are_there(op: OpDef) -> None:
    least = op.arity if isinstance(op.arity, int) else max(op.arity[0], 3)
    assert all(0 <= number < least for number in op.index_operands(least))
    assert op.predicate_operand is None or op.predicate_operand < least


def test_pairs_fit(op: OpDef) -> None:
    assert all(start in OPS for start in op.waits_for)
    if op.waits_for or op.operands_at is not None or op.result_at is not None:
        assert Trait.ASYNC in op.traits
    if Trait.ASYNC in op.traits:  # a start is waited for
        assert op.waits_for or any(op.opcode in other.waits_for for other in OPS.values())


def test_each_op_runs_in_one_way() -> None:
    """Nothing, control flow, a transfer, several devices, or a kernel: the choices of what emits programs."""
    ways = (Trait.NOP, Trait.CONTROL_FLOW, Trait.HOST_TRANSFER, Trait.COLLECTIVE, Trait.PER_DEVICE)
    assert [op.opcode for op in OPS.values() if sum(way in op.traits for way in ways) > 1] == []


def test_an_opcode_is_defined_once_and_found_by_name() -> None:
    with pytest.raises(AlreadyExistsError):
        define(OPS["add"])
    with pytest.raises(InvalidArgumentError, match="unknown HLO opcode") as caught:
        lookup("ad")
    assert "add" in str(caught.value.hint)


def test_a_group_is_the_file_that_has_the_entry(op: OpDef) -> None:
    module = importlib.import_module(f"xla_core.hlo.ops.{op.group}")
    assert module.entry.__self__.name == op.group

from __future__ import annotations

import importlib

import pytest

from xla_core.errors import AlreadyExistsError, UnimplementedError
from xla_core.stablehlo import ir
from xla_core.stablehlo.table import op_table
from xla_core.stablehlo.table.op_table import OPS, REQUIRED, Arity, Kind, OpDef, OpGroup, Trait, commutative_ops, lookup


def _of(dialect: str) -> list[str]:
    return [name for name in OPS if name.startswith(dialect + ".")]


def test_it_has_every_op_of_both_dialects():
    assert len(_of("stablehlo")) == 118
    assert len(_of("chlo")) == 51
    assert _of("mhlo") == ["mhlo.copy"]


@pytest.mark.parametrize("name", sorted(OPS))
def test_every_op_is_lowered_documented_and_well_formed(name: str):
    op = OPS[name]
    assert op.lower is not None or Trait.TERMINATOR in op.traits
    assert op.doc
    assert op.name == name
    least, most = op.operand_count
    assert most is None or 0 <= least <= most
    assert sum(v.arity is Arity.VARIADIC for v in op.operands) <= 2
    for attribute in op.attributes.values():
        assert (attribute.kind in (Kind.ENUM, Kind.CASE_NUMBER, Kind.PRECISIONS)) == bool(attribute.cases)
        if attribute.minimum is not None:
            assert attribute.kind in (Kind.INT, Kind.INT32)


def test_the_ops_that_a_reduce_may_apply_are_the_commutative_ones():
    names = ("add", "and", "maximum", "minimum", "multiply", "or", "xor")
    assert commutative_ops() == {f"stablehlo.{name}" for name in names}


def test_names_of_operands_come_from_short_text():
    op = OPS["stablehlo.concatenate"]
    assert [(v.name, v.arity) for v in op.operands] == [("inputs", Arity.VARIADIC)]
    assert OPS["stablehlo.add"].operand_count == (2, 2)
    assert OPS["stablehlo.concatenate"].operand_count == (0, None)
    assert OPS["stablehlo.dynamic_pad"].operands[2].static
    assert OPS["stablehlo.sort"].attributes["dimension"].default == -1
    assert OPS["stablehlo.iota"].attributes["iota_dimension"].default is REQUIRED


def test_an_attribute_that_is_not_there_has_its_default():
    op = ir.Op("stablehlo.sort", [], [])
    assert OPS["stablehlo.sort"].attribute(op, "dimension") == -1


def test_an_unknown_op_is_an_error_that_names_the_nearest():
    with pytest.raises(UnimplementedError, match="unknown op") as caught:
        lookup(ir.Op("stablehlo.ad", [], []))
    assert "stablehlo.add" in str(caught.value.hint)


def test_an_op_is_defined_once():
    with pytest.raises(AlreadyExistsError):
        OpGroup("test").define("stablehlo.add", "lhs rhs", lower=None)
    assert op_table.OPS["stablehlo.add"].lower is not None


@pytest.mark.parametrize("op", OPS.values(), ids=OPS)
def test_a_group_is_the_file_that_defines_the_op(op: OpDef) -> None:
    module = importlib.import_module(f"xla_core.stablehlo.ops.{op.group}")
    assert module.define.__self__.name == op.group

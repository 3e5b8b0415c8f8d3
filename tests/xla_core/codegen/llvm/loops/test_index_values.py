"""The values of index expressions: with constants for variables, the builder folds each to its value."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.xla_core.analysis.indexing.expressions import Meaning, X, Y, Z, expressions
from tests.xla_core.codegen.llvm.kernels import host_abi
from xla_core.analysis.indexing import IndexExpr, Variable
from xla_core.codegen.llvm import IrBuilder, IrFunction, IrModule, Value
from xla_core.codegen.llvm.loops.context import EmissionContext
from xla_core.codegen.llvm.loops.index_values import IndexValues


def context() -> EmissionContext:
    module = IrModule("test")
    function = module.add_function(IrFunction("f", "void", [("i64", "", "n")]))
    return EmissionContext(IrBuilder(module, function), host_abi())


@settings(max_examples=200)
@given(expressions(6), st.integers(0, 11), st.integers(0, 6), st.integers(0, 3))
def test_a_value_is_that_of_the_expression(pair: tuple[IndexExpr, Meaning], x: int, y: int, z: int) -> None:
    expr, meaning = pair
    indices = IndexValues(context())
    values = {X: x, Y: y, Z: z}
    for variable, value in values.items():
        indices.bind(variable, IrBuilder.int_(value))
    assert indices.value(expr).integer == meaning(values)


def test_what_an_outer_loop_knows_is_computed_there() -> None:
    made = context()
    b, indices = made.builder, IndexValues(made)
    outer, inner = Variable("outer", 8), Variable("inner", 16)

    def row(index: Value) -> None:
        indices.bind(outer, index)

        def element(place: Value) -> None:
            indices.bind(inner, place)
            indices.value(IndexExpr.of(outer) * 16 + IndexExpr.of(inner))

        made.each(b.int_(0), b.int_(16), element, name="element")

    made.each(b.int_(0), b.int_(8), row, name="row")
    blocks = {block.label: "\n".join(block.lines) for block in b.function.blocks}
    (body,) = (text for label, text in blocks.items() if label.startswith("row.body"))
    (innermost,) = (text for label, text in blocks.items() if label.startswith("element.body"))
    assert "mul nuw nsw i64" in body
    assert "mul" not in innermost
    assert "add nuw nsw i64" in innermost


def test_a_variable_without_a_value_is_a_defect() -> None:
    with pytest.raises(AssertionError, match="has no value here"):
        IndexValues(context()).value(IndexExpr.of(X))

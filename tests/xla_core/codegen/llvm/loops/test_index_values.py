"""The values of index expressions: with constants for variables, the builder folds each to its value."""

from __future__ import annotations

from typing import Literal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.xla_core.analysis.indexing.expressions import Meaning, X, Y, Z, expressions
from tests.xla_core.codegen.llvm.kernels import host_abi
from xla_core.analysis.indexing import IndexExpr, Variable, floor_div, modulo
from xla_core.codegen.llvm import IrBuilder, IrFunction, IrModule, LoopAbi, Value
from xla_core.codegen.llvm.loops.context import EmissionContext
from xla_core.codegen.llvm.loops.index_values import IndexValues
from xla_core.target import ParallelModel


def context(index_bits: Literal[32, 64] = 64) -> EmissionContext:
    module = IrModule("test")
    function = module.add_function(IrFunction("f", "void", [("i64", "", "n")]))
    return EmissionContext(
        IrBuilder(module, function), LoopAbi(host_abi().triple, parallel=ParallelModel(index_bits=index_bits))
    )


@pytest.mark.parametrize("index_bits", [32, 64])
@settings(max_examples=200, deadline=None)
@given(expressions(6), st.integers(0, 11), st.integers(0, 6), st.integers(0, 3))
def test_a_value_is_that_of_the_expression(
    index_bits: Literal[32, 64], pair: tuple[IndexExpr, Meaning], x: int, y: int, z: int
) -> None:
    expr, meaning = pair
    indices = IndexValues(context(index_bits))
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


def emitted(expr: IndexExpr, *variables: Variable) -> str:
    """The code of a 32-bit target for an expression of i64 values."""
    made = context(32)
    indices = IndexValues(made)
    for variable in variables:
        indices.bind(variable, Value("i64", f"%{variable.name}"))
    assert indices.value(expr).type == "i64"
    return "\n".join(line for block in made.builder.function.blocks for line in block.lines)


def test_expressions_that_fit_are_computed_in_32_bits() -> None:
    a, b = Variable("a", 1 << 10, "a"), Variable("b", 1 << 10, "b")
    text = emitted(floor_div(IndexExpr.of(a) * 12 + IndexExpr.of(b), 5) * 7 + IndexExpr.of(b), a, b)
    assert "udiv i32" in text
    assert "i64" not in text.replace("trunc i64", "").replace("to i64", "")
    assert text.count("to i64") == 1


@pytest.mark.parametrize(
    "expr",
    [
        lambda x: x * (1 << 20),  # the value is too large
        lambda x: modulo(x * (1 << 20), 7),  # only a part of the computation is
        lambda x: x * (1 << 20) - (1 << 31),
    ],
)
def test_expressions_that_may_overflow_are_computed_in_64_bits(expr) -> None:
    a = Variable("a", 1 << 12, "a")
    assert "mul nuw nsw i64" in emitted(expr(IndexExpr.of(a)), a)


def test_a_negative_value_keeps_its_sign() -> None:
    a = Variable("a", 9, "a")
    assert "sext i32" in emitted(IndexExpr.of(a) - 4, a)
    assert "zext i32" in emitted(IndexExpr.of(a) + 4, a)


def test_a_variable_without_a_value_is_a_defect() -> None:
    with pytest.raises(AssertionError, match="has no value here"):
        IndexValues(context()).value(IndexExpr.of(X))

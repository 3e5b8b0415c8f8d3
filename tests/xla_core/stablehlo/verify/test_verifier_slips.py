"""Verifier rules on any input that a reader can make report an error of the program, and never fail themselves."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pytest

from xla_core.errors import InternalError, InvalidArgumentError, SourceLocation, UnimplementedError, XlaError
from xla_core.stablehlo import OPS, ir, op_example, parse_text, verify
from xla_core.stablehlo import ir as a
from xla_core.stablehlo.ir import DYNAMIC, FunctionType, OpaqueType, QuantizedType, TensorType, TokenType, TupleType
from xla_core.stablehlo.table import op_table


def dense(shape: tuple[int, ...], element: str, values: Any) -> a.DenseElements:
    return a.DenseElements(TensorType(shape, element), np.asarray(values))


MESH = a.Mesh((("x", 2),))
VALUES: Sequence[Any] = (
    *(True, 0, -1, 7, 1 << 62, a.TypedInt(1, "i32"), a.TypedInt(-3, "i32"), 1.5, float("nan"), "text", ""),
    *(a.SymbolRef("main"), a.SymbolRef("f"), a.EnumAttribute("EQ", "comparison_direction"), {}, {"a": 1}, a.UNIT),
    *((), (1,), ("a",), ((1, 2),), ((),), (1, "a"), (True,), (a.SymbolRef("main"),), ({},), (1.5,), (-1, 0)),
    *((1 << 62,) * 3, tuple(range(9)), a.OpaqueAttribute("#foo<bar>")),
    a.DenseArray((), "i64"),
    a.DenseArray((1, 2), "i64"),
    a.DenseArray((1.5,), "f32"),
    a.DenseArray((True, False), "i1"),
    a.DenseArray((-1,) * 5, "i64"),
    dense((), "i64", np.int64(1)),
    dense((2,), "i64", [1, 2]),
    dense((2, 2), "i64", [[0, 1], [1, 0]]),
    dense((2, 2), "i32", np.zeros((2, 2), np.int32)),
    dense((2, 2), "f32", np.ones((2, 2), np.float32)),
    dense((0, 2), "i64", np.zeros((0, 2), np.int64)),
    dense((1, 1, 1), "i64", np.zeros((1, 1, 1), np.int64)),
    dense((3,), "i1", [True, False, True]),
    dense((2,), "complex<f32>", np.array([1j, 2], np.complex64)),
    dense((1 << 20, 1 << 30), "i64", np.int64(1)),
    *(TensorType((2,), "i64"), TokenType(), FunctionType((), ())),
    *(a.GatherDimensionNumbers(), a.GatherDimensionNumbers((9,), (9,), (9,), (9,), (9,), 9)),
    *(a.ScatterDimensionNumbers(), a.ScatterDimensionNumbers((9,), (9,), (9,), (9,), (9,), 9)),
    *(a.ConvDimensionNumbers(), a.ConvDimensionNumbers(9, 9, (9, 9), 9, 9, (9, 9), 9, 9, (9, 9))),
    *(a.DotDimensionNumbers(), a.DotDimensionNumbers((9,), (9,), (9,), (9,)), a.DotDimensionNumbers((-1,), (-1,))),
    *(a.RaggedDotDimensionNumbers(), a.RaggedDotDimensionNumbers((9,), (9,), (9,), (9,), (9,), (9,))),
    a.DotAlgorithm("f32", "f32", "f32", 1, 1, 1, False),
    a.DotAlgorithm("foo", "bar", "baz", -1, 0, 0, True),
    *(a.ChannelHandle(0, 0), a.ChannelHandle(1, 9), a.OutputOperandAlias((9,), 9, (9,))),
    *((a.OutputOperandAlias(),), (a.OutputOperandAlias((9,), 9, (9,)),), (a.OutputOperandAlias((0,), -1, ()),)),
    *(a.ResultAccuracy(), a.ResultAccuracy(-1.0), a.ResultAccuracy(mode="X"), a.TypeExtensions((1,))),
    *(MESH, a.Mesh((("x", 2), ("x", 0))), a.Mesh((("x", 2),), dense((2,), "i64", [0, 5]))),
    a.ReplicaGroupMeshAxes(a.SymbolRef("m"), (a.AxisRef("x"),)),
    a.ReplicaGroupMeshAxes(MESH, (a.AxisRef("x", 3, 5), a.AxisRef("y"))),
    a.ReplicaGroupMeshAxes(a.Mesh((("x", 0),)), (a.AxisRef("x", 0, 0),)),
)

TYPES: Sequence[ir.Type] = (
    *(TensorType(shape, "f32") for shape in ((), (2,), (2, 3, 4, 5), (DYNAMIC,), (1 << 40, 1 << 40))),
    *(TensorType(shape, "i32") for shape in ((), (0,), (2, 3), (DYNAMIC, DYNAMIC))),
    TensorType((DYNAMIC, 3), "f32", (5, None)),
    *(TensorType((2,), element) for element in ("i1", "index", "complex<f32>", "!stablehlo.token")),
    TensorType((2,), QuantizedType("i8", "f32", (0.5,), (1,))),
    TensorType((2, 3), QuantizedType("i8", "f32", (0.5, 0.25), (1, 0), 0)),
    TensorType((2,), QuantizedType("i8", "f32", (0.5, 0.25), (1, 0), 7)),
    *(TokenType(), TupleType(()), TupleType((TensorType((2,), "f32"), TokenType())), FunctionType((), ())),
    *(OpaqueType("tensor<*xf32>"), OpaqueType("!foo.bar"), OpaqueType("memref<2xf32>"), ir.ScalarType("f32")),
)


def programs(name: str) -> Iterator[str]:
    """The op's example with floats, integers and quantized numbers, where it takes them."""
    for element in ("f32", "i32", "!quant.uniform<i8:f32, 5.000000e-01:1>"):
        text = op_example(name).program(element)
        try:
            verify(parse_text(text))
        except XlaError:
            continue
        yield text


def find(module: ir.Module, name: str) -> ir.Op | None:
    ops = [*module.others, *(op for f in module.functions.values() for op in f.walk())]
    return next((op for op in ops if op.name == name), None)


def change(op: ir.Op, rng: random.Random) -> str:
    """Changes one thing of an op: an attribute, a type, or how many there are of something."""
    blocks = [block for region in op.regions for block in region.blocks]
    values = [
        *op.operands,
        *op.results,
        *(v for b in blocks for v in b.arguments),
        *(v for b in blocks for i in b.ops[-1:] for v in i.operands),
    ]
    kind = rng.randrange(6)
    if kind <= 2:
        name = rng.choice(sorted({*OPS[op.name].attributes, *op.attributes}) or ["unknown"])
        value = rng.choice([None, *VALUES])
        op.attributes = {k: v for k, v in {**op.attributes, name: value}.items() if v is not None}
        return f"{name} = {value!r}"
    if kind <= 4 and values:
        value = rng.choice(values)
        value.type = rng.choice(TYPES)
        return f"{value!r} of type {value.type}"
    lists: list[tuple[Any, str]] = [(op, "operands"), (op, "results"), *((r, "blocks") for r in op.regions)]
    for block in blocks:
        lists += [(block, "arguments"), (block, "ops"), *((inner, "operands") for inner in block.ops[-1:])]
    owner, part = rng.choice(lists)
    items = list(getattr(owner, part))
    setattr(owner, part, rng.choice([[], items[:-1], items[-1:], items * 2]))
    return f"{part} of {owner!r}"


def slips(name: str, count: int, seed: int) -> list[str]:
    rng = random.Random(f"{name} {seed}")
    texts, found = list(programs(name)), []
    for _ in range(count if texts else 0):
        module = parse_text(rng.choice(texts))
        op = find(module, name)
        if op is None:
            continue
        changes = [change(op, rng) for _ in range(rng.choice([1, 1, 2, 3]))]
        for function in module.functions.values():
            if function.regions and function.regions[0].blocks:
                inputs = tuple(v.type for v in function.regions[0].block.arguments)
                results = function.attributes["function_type"].results
                function.attributes["function_type"] = FunctionType(inputs, results)
        try:
            verify(module)
        except InternalError as error:
            found.append(f"{changes}: {error}")
        except XlaError:
            pass
    return found


def test_no_rule_slips() -> None:
    assert [slip for name in OPS for slip in slips(name, 20, 0)] == []


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(1, 9))
def test_no_rule_slips_on_many(seed: int) -> None:
    assert [slip for name in OPS for slip in slips(name, 250, seed)] == []


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            '%0 = "stablehlo.slice"(%x) {start_indices = [0, "a"], limit_indices = array<i64: 2, 2>, '
            "strides = array<i64: 1, 1>} : (tensor<2x2xf32>) -> tensor<2x2xf32>",
            "attribute 'start_indices' failed to satisfy constraint: i64 dense array attribute",
        ),
        (
            '%0 = "stablehlo.reverse"(%x) {dimensions = dense<0> : tensor<9999999999xi64>} '
            ": (tensor<2x2xf32>) -> tensor<2x2xf32>",
            "attribute 'dimensions' failed to satisfy constraint: i64 dense array attribute",
        ),
        (
            '%0 = "stablehlo.collective_permute"(%x) {source_target_pairs = [1]} '
            ": (tensor<2x2xf32>) -> tensor<2x2xf32>",
            "attribute 'source_target_pairs' failed to satisfy constraint: 64-bit signless integer elements attribute",
        ),
        (
            '%0 = "stablehlo.constant"() {value = []} : () -> tensor<2x2xf32>',
            "attribute 'value' failed to satisfy constraint: constant vector/tensor attribute",
        ),
        (
            '%0 = "stablehlo.custom_call"(%x) {call_target_name = "f", operand_layouts = [1], result_layouts = [1]} '
            ": (tensor<2x2xf32>) -> tensor<2x2xf32>",
            "attribute 'operand_layouts' failed to satisfy constraint: Array of layout (1D tensor of index type)",
        ),
    ],
)
def test_attributes_of_wrong_parts_are_refused(text: str, message: str) -> None:
    module = parse_text(f"func.func @main(%x: tensor<2x2xf32>) -> () {{\n{text}\nreturn\n}}")
    with pytest.raises(InvalidArgumentError) as caught:
        verify(module)
    assert message in caught.value.message
    assert caught.value.location is not None
    assert caught.value.location.line == 2


def test_a_scatter_of_nothing_is_refused() -> None:
    module = parse_text(op_example("stablehlo.scatter").program("f32"))
    op = find(module, "stablehlo.scatter")
    assert op is not None
    op.operands = op.operands[1:2]
    with pytest.raises(InvalidArgumentError, match="Reduction-region must take 0 parameters"):
        verify(module)


def test_slices_may_be_given_as_tensors() -> None:
    """As old programs have them."""
    lists = "start_indices = dense<0> : tensor<2xi64>, limit_indices = dense<[2, 1]> : tensor<2xi64>"
    verify(
        parse_text(
            f"""func.func @main(%x: tensor<2x2xf32>) -> tensor<2x1xf32> {{
            %0 = "stablehlo.slice"(%x) {{{lists}, strides = dense<1> : tensor<2xi64>}} : (tensor<2x2xf32>) -> tensor<2x1xf32>
            return %0 : tensor<2x1xf32> }}"""
        )
    )


def test_a_rule_that_needs_a_rank_says_so() -> None:
    module = parse_text("""func.func @main(%x: tensor<*xf32>, %y: tensor<2x3x4xf32>, %g: tensor<2xi64>) {
        %0 = "chlo.ragged_dot"(%x, %y, %g) {ragged_dot_dimension_numbers = #chlo.ragged_dot<
          lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1], lhs_ragged_dimensions = [0],
          rhs_group_dimensions = [0]>} : (tensor<*xf32>, tensor<2x3x4xf32>, tensor<2xi64>) -> tensor<*xf32>
        return }""")
    with pytest.raises(UnimplementedError, match=r"'tensor<\*xf32>' has no rank") as caught:
        verify(module)
    assert caught.value.op == "chlo.ragged_dot"
    assert caught.value.location is not None
    assert caught.value.location.line == 2


def test_a_slip_of_a_rule_is_a_bug_of_ours() -> None:
    def rule(op: ir.Op, module: ir.Module) -> Sequence[ir.Type]:
        return [op.attributes["nowhere"]]

    op_table.OpGroup("test").define("stablehlo.slipping", "operand", rule=rule, lower=None)
    try:
        place = SourceLocation("user.py", 3, 1)
        module = parse_text("func.func @main(%x: tensor<2xf32>) -> () { return }")
        block = module.functions["main"].regions[0].block
        op = ir.Op("stablehlo.slipping", [block.arguments[0]], [TensorType((2,), "f32")], location=place)
        block.ops.insert(0, op)
        with pytest.raises(InternalError) as caught:
            verify(module)
    finally:
        del op_table.OPS["stablehlo.slipping"]
    error = caught.value
    assert (error.op, error.location) == ("stablehlo.slipping", place)
    assert "KeyError: 'nowhere'" in error.message
    assert "this is a bug of xla-core" in str(error)

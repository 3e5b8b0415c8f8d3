"""Modules, functions, regions, values, aliases and locations."""

from __future__ import annotations

import pytest

from tests.xla_core.stablehlo.reading import PROGRAM, first_op, in_function, refusal, tree
from xla_core.errors import SourceLocation
from xla_core.stablehlo import FunctionType, Module, TensorType, parse_text, split_modules
from xla_core.stablehlo.ir.attributes import UNIT, DenseElements
from xla_core.stablehlo.text import op_reader

F32 = TensorType((), "f32")


def test_module() -> None:
    module = parse_text("module @name attributes {mhlo.num_replicas = 2 : i32} {\n func.func private @f()\n}", "a.mlir")
    assert isinstance(module, Module)
    assert (module.name, module.file) == ("name", "a.mlir")
    assert module.attributes == {"mhlo.num_replicas": 2}
    assert list(module.functions) == ["f"]
    assert module.others == []


def test_ops_without_a_module() -> None:
    module = parse_text("func.func @f() { return }\nfunc.func @g() { return }")
    assert list(module.functions) == ["f", "g"]
    assert parse_text("").functions == {}
    assert parse_text("// only a comment").functions == {}


def test_generic_module() -> None:
    generic = """"builtin.module"() <{sym_name = "m"}> ({
      "func.func"() <{function_type = () -> (), sym_name = "f"}> ({
        "func.return"() : () -> ()
      }) : () -> ()
    }) {x = 1 : i32} : () -> ()
    """
    pretty = "module @m attributes {x = 1 : i32} { func.func @f() { return } }"
    assert tree(parse_text(generic)) == tree(parse_text(pretty))


def test_nested_modules() -> None:
    module = parse_text("module { module @inner { func.func @f() { return } } func.func @f() { return } }")
    assert list(module.functions) == ["f"]
    assert [op.name for op in module.others] == ["builtin.module"]


def test_function() -> None:
    function = parse_text(
        'func.func public @f(%a: tensor<f32> {x, y = 1} loc("name"), %b: tensor<f32>) -> (tensor<f32> {z}, tensor<f32>)'
        " attributes {w = 2} { return %b, %a : tensor<f32>, tensor<f32> }"
    ).functions["f"]
    assert function.attributes == {
        "sym_name": "f",
        "sym_visibility": "public",
        "function_type": FunctionType((F32, F32), (F32, F32)),
        "arg_attrs": ({"x": UNIT, "y": 1}, {}),
        "res_attrs": ({"z": UNIT}, {}),
        "w": 2,
    }
    block = function.regions[0].block
    assert [argument.name for argument in block.arguments] == ["a", "b"]
    assert [argument.owner for argument in block.arguments] == [block, block]
    assert block.argument_locations == [SourceLocation(name="name"), None]
    assert block.ops[0].operands == [block.arguments[1], block.arguments[0]]


def test_declaration() -> None:
    function = parse_text("func.func private @f(tensor<f32> {x}, tensor<i1>) -> tensor<f32>").functions["f"]
    assert function.attributes["function_type"] == FunctionType((F32, TensorType((), "i1")), (F32,))
    assert function.regions[0].blocks == []


def test_results_and_packs() -> None:
    body = (
        '%0:2, %1 = "x.y"(%a) : (tensor<f32>) -> (tensor<f32>, tensor<i1>, tensor<i32>)\n'
        '"x.z"(%0#0, %0#1, %1, %0, %1#0) : (tensor<f32>, tensor<i1>, tensor<i32>, tensor<f32>, tensor<i32>) -> ()'
    )
    first, second, _ = parse_text(in_function(body)).functions["f"].regions[0].block.ops
    assert [result.name for result in first.results] == ["0", "0", "1"]
    assert [result.index for result in first.results] == [0, 1, 2]
    assert second.operands == [*first.results, first.results[0], first.results[2]]


def test_names_end_with_their_region() -> None:
    body = (
        '"x.y"() ({\n %1 = stablehlo.add %a, %a : tensor<f32>\n "x.z"() : () -> ()\n}, {\n'
        " %1 = stablehlo.add %a, %a : tensor<f32>\n}) : () -> ()\n %1 = stablehlo.add %a, %a : tensor<f32>"
    )
    op = first_op(body)
    assert [len(region.block.ops) for region in op.regions] == [2, 1]
    error = refusal(in_function(body.replace("{\n %1 =", "{\n %2 =", 1).replace('"x.z"()', '"x.z"(%1)')))
    assert "use of undeclared SSA value name %1" in error.message


def test_empty_region() -> None:
    assert first_op('"x.y"() ({}) : () -> ()').regions[0].blocks == []


def test_a_function_sees_nothing_outside() -> None:
    assert (
        "use of undeclared SSA value name %a"
        in refusal("func.func @f(%a: tensor<f32>) { return }\nfunc.func @g() { return %a : tensor<f32> }").message
    )


def test_reduce_has_a_region_in_every_form() -> None:
    signature = "(tensor<2xf32>, tensor<f32>) -> tensor<f32>"
    head = "%0 = stablehlo.reduce(%a init: %b)"
    compact = first_op(
        f"{head} applies stablehlo.add across dimensions = [0] : {signature}", "%a: tensor<2xf32>, %b: tensor<f32>"
    )
    long = first_op(
        f"{head} across dimensions = [0] : {signature}\n reducer(%x: tensor<f32>, %y: tensor<f32>) {{\n"
        " %1 = stablehlo.add %x, %y : tensor<f32>\n stablehlo.return %1 : tensor<f32>\n}",
        "%a: tensor<2xf32>, %b: tensor<f32>",
    )
    for op in (compact, long):
        assert op.attributes == {"dimensions": (0,)}
        block = op.regions[0].block
        assert [inner.name for inner in block.ops] == ["stablehlo.add", "stablehlo.return"]
        assert block.ops[0].operands == block.arguments
        assert block.ops[1].operands == block.ops[0].results
        assert block.ops[0].location is not None


def test_reduce_of_several_inputs() -> None:
    op = first_op(
        "%0:2 = stablehlo.reduce(%a init: %b), (%c init: %d) across dimensions = [0] :"
        " (tensor<2xf32>, tensor<2xi32>, tensor<f32>, tensor<i32>) -> (tensor<f32>, tensor<i32>)\n"
        " reducer(%p: tensor<f32>, %q: tensor<f32>) (%r: tensor<i32>, %s: tensor<i32>) {\n"
        " stablehlo.return %p, %r : tensor<f32>, tensor<i32>\n}",
        "%a: tensor<2xf32>, %b: tensor<f32>, %c: tensor<2xi32>, %d: tensor<i32>",
    )
    assert [operand.name for operand in op.operands] == ["a", "c", "b", "d"]
    assert [argument.name for argument in op.regions[0].block.arguments] == ["p", "r", "q", "s"]


def test_while() -> None:
    function = parse_text(PROGRAM).functions["main"]
    loop = next(op for op in function.walk() if op.name == "stablehlo.while")
    condition, body = loop.regions
    assert [argument.type for argument in condition.block.arguments] == [result.type for result in loop.results]
    assert [argument.name for argument in body.block.arguments] == ["i", "x"]
    assert body.block.ops[-1].operands[1] is body.block.arguments[1]


# Locations


@pytest.mark.parametrize(
    ("text", "want"),
    [
        ('loc("f.py":3:4)', SourceLocation("f.py", 3, 4)),
        ('loc("f.py":3:4 to :9)', SourceLocation("f.py", 3, 4)),
        ('loc("f.py":3:4 to 5:9)', SourceLocation("f.py", 3, 4)),
        ('loc("jit(f)/add")', SourceLocation(name="jit(f)/add")),
        ('loc("jit(f)/add"("f.py":3:4))', SourceLocation("f.py", 3, 4, "jit(f)/add")),
        ('loc(callsite("g"("f.py":3:4) at "h"("main.py":1:2)))', SourceLocation("f.py", 3, 4, "g")),
        ('loc("n"(callsite("g"("f.py":3:4) at "main.py":1:2)))', SourceLocation("f.py", 3, 4, "n")),
        ('loc(fused<{x = "y"}>["a", "f.py":1:2, "g.py":3:4])', SourceLocation("f.py", 1, 2, "a")),
        ("loc(#loc1)", SourceLocation("f.py", 3, 4, "n")),
        ("loc(#early)", SourceLocation("e.py", 1, 1)),
        ("loc(#cycle)", SourceLocation(name="c")),
        ("loc(unknown)", SourceLocation()),
        ("", SourceLocation("t.mlir", 3, 8)),
    ],
)
def test_locations(text: str, want: SourceLocation) -> None:
    source = in_function(f"%0 = stablehlo.add %a, %a : tensor<f32> {text}", head='#early = loc("e.py":1:1)\n')
    source += '#loc2 = loc("f.py":3:4)\n#loc1 = loc("n"(#loc2))\n#cycle = loc("c"(#cycle))\n'
    op = parse_text(source, "t.mlir").functions["f"].regions[0].block.ops[0]
    assert op.location == want


def test_location_of_the_text_is_the_op_name() -> None:
    source = in_function('%0:2 =\n    "x.y"() : () -> (tensor<f32>, tensor<f32>)')
    location = parse_text(source).functions["f"].regions[0].block.ops[0].location
    assert location is not None
    assert (location.line, location.column) == (3, 5)


def test_an_undefined_location_alias() -> None:
    error = refusal(in_function("%0 = stablehlo.add %a, %a : tensor<f32> loc(#loc7)"))
    assert "#loc7 is never defined" in error.message


# Whole texts


def test_the_program_reads() -> None:
    module = parse_text(PROGRAM)
    ops = [op.name for op in module.functions["main"].regions[0].block.ops]
    assert ops[-3:] == ["stablehlo.custom_call", "func.call", "func.return"]
    add = module.functions["main"].regions[0].block.ops[4]
    assert add.location == SourceLocation("model.py", 10, 4, "jit(f)/add")
    constant = module.functions["main"].regions[0].block.ops[2].attributes["value"]
    assert isinstance(constant, DenseElements)
    assert constant.tolist() == [1, 2]


def test_the_fast_path_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    fast = tree(parse_text(PROGRAM), names=True, locations=True)
    monkeypatch.setattr(op_reader, "LINE_START", lambda source, position: None)
    assert tree(parse_text(PROGRAM), names=True, locations=True) == fast


def test_split_modules_keeps_line_numbers() -> None:
    parts = split_modules("// RUN\nmodule @a {}\n\n// -----\n\nmodule @b {\n  x\n}\n// -----\n")
    assert len(parts) == 2
    assert parse_text(parts[0]).name == "a"
    location = refusal(parts[1]).location
    assert location is not None
    assert (location.line, location.column) == (7, 3)
    assert split_modules("") == [""]


def test_spacing_and_comments_are_free() -> None:
    loose = PROGRAM.replace(" : ", "\n //c\n : ").replace(", ", "  ,\t")
    want = PROGRAM.replace("affine_map<(d0) -> (d0)>", "affine_map<(d0) -> (d0)>")
    assert tree(parse_text(loose)) == tree(parse_text(want))
    assert tree(parse_text(PROGRAM.replace("\n", "\r\n"))) == tree(parse_text(PROGRAM))


def test_a_hundred_nested_loops_are_read() -> None:
    text = "%arg0"
    for n in range(100):
        text = f"""%w{n} = stablehlo.while(%x{n} = {"%arg0" if n == 99 else f"%x{n + 1}"}) : tensor<i1>
        cond {{ stablehlo.return %x{n} : tensor<i1> }} do {{
        {text if n else ""}
        stablehlo.return {f"%w{n - 1}" if n else f"%x{n}"} : tensor<i1> }}"""
    program = f"func.func @main(%arg0: tensor<i1>) -> tensor<i1> {{\n{text}\nreturn %w99 : tensor<i1>\n}}"
    assert list(parse_text(program).functions) == ["main"]

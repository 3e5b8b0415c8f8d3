"""Errors in a text: the fault, its place, and a hint; and what hostile texts may cost."""

from __future__ import annotations

import time

import pytest

from tests.xla_core.stablehlo.reading import PROGRAM, in_function, refusal
from xla_core.errors import InvalidArgumentError, XlaError
from xla_core.stablehlo import parse_text

ADD = "%0 = stablehlo.add %a, %a : tensor<f32>"


@pytest.mark.parametrize(
    ("body", "message", "line", "column"),
    [
        ("%0 = stablehlo.add %a, %b : tensor<f32>", "use of undeclared SSA value name %b", 2, 26),
        ("%0 = stablehlo.add %a, %a : tensor<i32>", "use of value '%a' expects different type than prior uses: 'tensor<i32>' vs 'tensor<f32>'", 2, 22),
        ('%0 = "stablehlo.add"(%a, %a) : (tensor<f32>, tensor<i32>) -> tensor<f32>',
         "use of value '%a' expects different type than prior uses: 'tensor<i32>' vs 'tensor<f32>'", 2, 28),
        (f"{ADD}\n  {ADD}", "redefinition of SSA value '%0'", 3, 3),
        ("%a = stablehlo.add %a, %a : tensor<f32>", "redefinition of SSA value '%a'", 2, 3),
        ("%0:2 = stablehlo.add %a, %a : tensor<f32>", "operation defines 1 results but was provided 2 to bind", 2, 10),
        ("%0 = stablehlo.return %a : tensor<f32>", "cannot name an operation with no results", 2, 8),
        ("%0:0 = stablehlo.add %a, %a : tensor<f32>", "operation defines 1 results but was provided 0 to bind", 2, 10),
        ('%0 = "stablehlo.add"(%a) : (tensor<f32>, tensor<f32>) -> tensor<f32>',
         "expected 1 operand type but had 2", 2, 8),
        ("%0 = stablehlo.add %a, %a : (tensor<f32>) -> tensor<f32>",
         "custom op 'stablehlo.add' 2 operands present, but expected 1", 2, 31),
        ("%0 = stablehlo.transpose %a, dims = [] : (tensor<f32>, tensor<f32>) -> tensor<f32>",
         "custom op 'stablehlo.transpose' number of operands and types do not match: got 1 operands and 2 types", 2, 8),
        ("%0 = stablehlo.select %a, %a : tensor<f32>, tensor<f32>",
         "custom op 'stablehlo.select' number of operands and types do not match: got 2 operands and 3 types", 2, 8),
        ("%0 = stablehlo.complex %a : tensor<complex<f32>>",
         "custom op 'stablehlo.complex' number of operands and types do not match: got 1 operands and 2 types", 2, 8),
        ("%0 = stablehlo.tuple %a : tensor<f32>", "custom op 'stablehlo.tuple' expected tuple type", 2, 29),
        ("%0 = stablehlo.abs %a : tensor<f32>, tensor<f32>", "expected operation name in quotes", 2, 38),
        ("%0 = stablehlo.abs : tensor<f32>", "expected SSA operand", 2, 22),
        ("%0 = stablehlo.abs %a :", "expected non-function type", 2, 26),
        ("%0 = stablehlo.abs %a : (tensor<f32>)", "expected '->' in function type", 2, 40),
        ("%0 = stablehlo.abs %a {x = } : tensor<f32>", "expected attribute value", 2, 30),
        ("%0 = stablehlo.reshape %a : tensor<f32>", "custom op 'stablehlo.reshape' invalid kind of type specified:"
         " expected builtin.function, but found 'tensor<f32>'", 2, 31),
        ('%0 = "stablehlo.reshape"(%a) : tensor<f32>', "expected function type", 2, 34),
        ("%0 = stablehlo.pad %a, %a, high = [0]", "custom op 'stablehlo.pad' expected 'low'", 2, 30),
        ("%0 = stablehlo.reduce(%a init: %a) across dimensions = [] : (tensor<f32>, tensor<f32>) -> tensor<f32>",
         "custom op 'stablehlo.reduce' expected 'reducer'", 3, 3),
        ("%0 = stablehlo.iota dim = 1.5 : tensor<2xf32>", "floating point value not valid for specified type", 2, 29),
        ("%0 = stablehlo.iota dim = 9223372036854775808 : tensor<2xf32>",
         "integer constant out of range for attribute", 2, 29),
        ('%0 = stablehlo.iota dim = "x" : tensor<2xf32>',
         "custom op 'stablehlo.iota' invalid kind of attribute specified", 2, 29),
        ("%0 = stablehlo.composite @a %a : (tensor<f32>) -> tensor<f32>",
         "custom op 'stablehlo.composite' invalid kind of attribute specified", 2, 28),
        ("call f(%a) : (tensor<f32>) -> ()", "expected attribute value, found 'f'", 2, 8),
        ("%0 = stablehlo.transpose %a, dims = array<i64> : (tensor<f32>) -> tensor<f32>", "expected '['", 2, 39),
        ("%0 = stablehlo.transpose %a, dims = dense<[]> : tensor<0xi64> : (tensor<f32>) -> tensor<f32>",
         "expected '['", 2, 39),
        ("stablehlo.optimization_barrier", "expected '('", 2, 33),
        ('"stablehlo.abs" %a : tensor<f32>', "expected '(' to start operand list", 2, 19),
        ('"stablehlo.abs"(%a : tensor<f32>', "expected ')' to end operand list", 2, 22),
        ("%0 = stablehlo.slice %a [0:1:2:3] : (tensor<f32>) -> tensor<f32>", "expected ','", 2, 33),
        ("stablehlo.custom_call @f() {has_side_effect = 1} : () -> ()", "custom op 'stablehlo.custom_call'"
         " 'stablehlo.custom_call' op attribute 'has_side_effect' failed to satisfy constraint: bool attribute", 2, 30),
        ("%0 = stablehlo.dot_general %a, %a, contracting_dims = [] x [], algorithm = <lhs_precision_type = f32>",
         "expected ',' and rhs_precision_type", 2, 103),
        ("%0 = stablehlo.dot_general %a, %a, contracting_dims = [] x [], algorithm = <x = f32>",
         "custom op 'stablehlo.dot_general' expected 'lhs_precision_type'", 2, 79),
        ("%0 = stablehlo.concatenate %a, %a dim = 0 : (tensor<f32>, tensor<f32>) -> tensor<f32>",
         "expected ','", 2, 37),
        ("%0 = stablehlo.add %a, %a#1 : tensor<f32>", "reference to invalid result number", 2, 26),
        ("%0 = stablehlo.while(%i = %a) : (tensor<f32>) -> tensor<f32> cond {} do {}",
         "use of value '%a' expects different type than prior uses: '(tensor<f32>) -> tensor<f32>' vs 'tensor<f32>'",
         2, 29),
        *((f"%0 = stablehlo.constant {value}",
           "custom op 'stablehlo.constant' invalid kind of attribute specified", 2, 27)
          for value in ("1 : i32", "1.0", "true", "array<i32: 1>", '"1"')),
        ("%0 = stablehlo.constant dense<1> : i32", "elements literal must be a shaped type", 2, 41),
        ("%0 = stablehlo.slice %a [:1] : (tensor<f32>) -> tensor<f32>",
         "custom op 'stablehlo.slice' expected integer value", 2, 28),
        ('%0 = stablehlo.reduce_precision %a, format = "e5m2" : tensor<f32>',
         "custom op 'stablehlo.reduce_precision' expected valid keyword", 2, 48),
        ("%0 = stablehlo.dot_general %a, %a, contracting_dims = [] x [], batching_dims = [] x []",
         "custom op 'stablehlo.dot_general' expected 'precision'", 2, 66),
        ("%0 = stablehlo.convolution(%a, %a) dim_numbers = [b, 0, 3, f]x[0, 1, i, o]->[b, 0, 1, f]",
         "custom op 'stablehlo.convolution' Expected spatial dimensions 1, 2 not specified", 2, 52),
        ("%0 = stablehlo.convolution(%a, %a) dim_numbers = [b, 0, 1000000000000, f]x[0, 1, i, o]->[b, 0, 1, f]",
         "Expected spatial dimensions 1, 2, 3", 2, 52),
        ("%0 = stablehlo.add %a, %a", "expected ':' in stablehlo.add", 2, 28),
        ("%0 = stablehlo.add %a %a : tensor<f32>", "expected ',' in stablehlo.add, found '%'", 2, 25),
        ("%0 = stablehlo.iota dim = x : tensor<2xf32>", "expected attribute value, found 'x'", 2, 29),
        ("%0 = stablehlo.compare LS, %a, %a : (tensor<f32>, tensor<f32>) -> tensor<i1>",
         "expected ::mlir::stablehlo::ComparisonDirection to be one of: EQ, NE, GE, GT, LE, LT; found 'LS'", 2, 26),
        ("%0 = stablehlo.slice %a [0:1:] : (tensor<f32>) -> tensor<f32>", "expected integer value, the stride, found ']'", 2, 32),
        ('"x.y"(%a) {b = 1, b = 2} : (tensor<f32>) -> ()', "duplicate key 'b' in dictionary attribute", 2, 21),
        ("%0 = stablehlo.constant {value = dense<1> : tensor<i32>} dense<1> : tensor<i32>",
         "custom op 'stablehlo.constant' attribute 'value' occurs more than once in the attribute list", 2, 60),
        ('"x.y"(%a)[^bb1] : (tensor<f32>) -> ()', "StableHLO has no branches", 2, 12),
        ('"x.y"(%a) ({^bb0(%a: tensor<f32>): }) : (tensor<f32>) -> ()', "redefinition of SSA value '%a'", 2, 20),
        ('"x.y"(%a) ({ return } }', "expected ')' to end region list or ',', found '}'", 2, 25),
        ('"x.y"(%a) <{b = 1} : (tensor<f32>) -> ()', "expected '>' to close properties", 2, 22),
        ('"x.y"(%a) ({^bb0(%b: tensor<f32>) }) : (tensor<f32>) -> ()', "expected ':' after block name", 2, 37),
        ("%0 stablehlo.abs %a : tensor<f32>", "expected '=' after SSA name", 2, 6),
        ("%0 = stablehlo.while(%i = %a) : tensor<f32>, tensor<f32> cond {} do {}",
         "number of operands and types do not match: got 1 operands and 2 types", 2, 33),
        ("%0 = stablehlo.reduce(%a init: %a) applies stablehlo.divide across dimensions = [0] :"
         " (tensor<f32>, tensor<f32>) -> tensor<f32>", "expected the inner-op to be a commutative", 2, 8),
        ("%0 = stablehlo.reduce(%a init: %a) across dimensions = [] : (tensor<f32>, tensor<f32>) -> tensor<f32>\n"
         "reducer(%x: tensor<f32>, %y: tensor<f32>) (%z: tensor<f32>, %w: tensor<f32>) {}",
         "Reduction-region must take 2 parameters, but takes 4 parameter(s)", 2, 8),
    ],
)  # fmt: skip
def test_errors(body: str, message: str, line: int | None, column: int | None) -> None:
    error = refusal(in_function(body))
    assert isinstance(error, InvalidArgumentError)
    assert message in error.message
    assert error.location is not None
    if line is not None:
        assert (error.location.line, error.location.column) == (line, column)


@pytest.mark.parametrize(
    ("body", "message", "hint"),
    [
        (
            "%0 = stablehlo.addd %a, %a : tensor<f32>",
            "custom op 'stablehlo.addd' is unknown",
            "did you mean stablehlo.add?",
        ),
        (
            '%0 = "stablehlo.adds"(%a) : (tensor<f32>) -> tensor<f32>',
            "unregistered operation 'stablehlo.adds' found in dialect ('stablehlo') that does not allow unknown",
            "stablehlo.add?",
        ),
        (
            '%0 = "chlo.top_kk"(%a) : (tensor<f32>) -> tensor<f32>',
            "unregistered operation 'chlo.top_kk' found in dialect ('chlo') that does not allow unknown operations",
            "did you mean chlo.top_k?",
        ),
        (
            "%0 = stablehlo.gather %a, %a : tensor<f32>",
            "custom op 'stablehlo.gather' has no custom assembly form",
            '"stablehlo.gather"(...)',
        ),
        (
            "%0 = other.thing %a : tensor<f32>",
            "Dialect `other' not found for custom op 'other.thing'",
            "lower other dialects",
        ),
        ("%0 = stablehlo.add %aa, %a : tensor<f32>", "use of undeclared SSA value name %aa", "did you mean %a?"),
        ("%0 = stablehlo.add %y, %a : tensor<f32>", "use of undeclared SSA value name %y", "defined before it: %a"),
        ("retrun", "custom op 'retrun' is unknown (tried 'func.retrun' as well)", "did you mean return?"),
    ],
)
def test_hints(body: str, message: str, hint: str) -> None:
    error = refusal(in_function(body))
    assert message in error.message
    assert error.hint is not None
    assert hint in error.hint


def test_the_whole_message() -> None:
    error = refusal(in_function("%0 = stablehlo.add %arg0, %arg1 : tensor<f32>", "%arg0: tensor<f32>"))
    assert str(error) == (
        "test.mlir:2:29: INVALID_ARGUMENT: use of undeclared SSA value name %arg1 [op: stablehlo.add]\n"
        "    %0 = stablehlo.add %arg0, %arg1 : tensor<f32>\n"
        "                              ^\n"
        "  hint: did you mean %arg0?"
    )


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("func.func @f() { return }\nfunc.func @f() { return }", "redefinition of symbol named 'f'"),
        ("func.func @f(%a: tensor<f32>, %a: tensor<f32>) { return }", "region entry argument '%a' is already in use"),
        ("func.func @f(%a: tensor<f32>, tensor<f32>) { return }", "custom op 'func.func' expected SSA identifier"),
        (
            "func.func @f(tensor<f32>) { return }",
            "'func.func' op entry block must have 1 arguments to match function signature",
        ),
        ("module {", "expected operation name in quotes"),
        ("module {}}", "expected operation name in quotes"),
        ("module attributes {a = #b} {}\n#b = 1", "undefined symbol alias id 'b'"),
        ("#a = 1\n#a = 2\nmodule {}", "#a is defined already"),
        ("!a = f32\n!a = f32\nmodule {}", "!a is defined already"),
        ("{-# dialect_resources", "expected ':' after the resource's name"),
        ("\x00", "expected operation name in quotes"),
        ('"', "expected a string"),
    ],
)
def test_errors_of_modules(source: str, message: str) -> None:
    assert message in refusal(source).message


def test_a_long_line_is_cut() -> None:
    error = refusal(in_function(" " * 5000 + "%0 = stablehlo.add %a, %b : tensor<f32>" + " " * 5000))
    assert error.snippet is not None
    assert len(error.snippet) < 500
    line, caret = error.snippet.split("\n")
    assert line[caret.index("^") :].startswith("%b")


N = 100_000
DAG = "".join(f"!t{i + 1} = tuple<!t{i}, !t{i}>\n" for i in range(60))


@pytest.mark.parametrize(
    ("source", "message"),
    [
        (in_function("", "%a: " + "tuple<" * N + ">" * N), "nested more than 110 levels deep"),
        (in_function("", "%a: " + "(" * N), "nested more than 110 levels deep"),
        (in_function("", "%a: " + "!stablehlo.future<" * N), "nested more than 110 levels deep"),
        ("module attributes {a = " + "[" * N + "]" * N + "} {}", "nested more than 110 levels deep"),
        ("module attributes {a = " + "{a = " * N + "1" + "}" * N + "} {}", "nested more than 110 levels deep"),
        (in_function('"a.b"() ({ ' * N + "}) : () -> ()" * N), "nested more than 110 levels deep"),
        ("module { " * N + "}" * N, "nested more than 110 levels deep"),
        ("module {} loc(" + "callsite(" * N, "nested more than 110 levels deep"),
        (in_function("", "%a: tensor<1x!quant.uniform<i8:f32:{0:1}, " + "{" * N), "nested more than 110 levels deep"),
        ("!t0 = tensor<f32>\n" + DAG, "the alias expands to too much data"),
        (
            "#a0 = 1\n" + "".join(f"#a{i + 1} = [#a{i}, #a{i}]\n" for i in range(60)),
            "the alias expands to too much data",
        ),
        (
            "!t0 = tensor<f32>\n" + "".join(f"!t{i + 1} = tuple<!t{i}>\n" for i in range(5000)),
            "expand to too much data",
        ),
        (in_function("", "%a: tensor<" + "9" * N + "xf32>"), "too many digits"),
        (in_function("%0:999999 = stablehlo.add %a, %a : tensor<f32>"), "was provided 999999 to bind"),
        (in_function("%0 = stablehlo.tuple " + "%a, " * N), "expected SSA operand"),
        (in_function(" " * N + "x"), "custom op 'x' is unknown"),
        (in_function("%0 = stablehlo.add %" + "x" * N), "use of undeclared SSA value name"),
        (in_function("%0 = stablehlo." + "x" * N), "is unknown"),
        ("{-# " + "a" * N, "expected ':'"),
        ("{-#" * N, "expected a resource's name"),
        ('x: "0x00" ' * N + "{-#", "custom op 'x' is unknown"),
        ("(" * N, "expected operation name in quotes"),
        ("#" * N, "expected an alias"),
        ('module attributes {a = #x.y<"' + "x" * N, "the string never ends"),
        (
            in_function("%c = stablehlo.constant dense<" + "true" * N + "x> : tensor<i1>"),
            "expected element literal of primitive type",
        ),
        (in_function("%0 = chlo.erf %a : " + "tensor<f32> -> " * N), "expected operation name in quotes"),
    ],
)
def test_hostile_texts_are_refused_quickly(source: str, message: str) -> None:
    start = time.thread_time()
    error = refusal(source)
    assert message in error.message
    assert len(str(error)) < 2 * N + 1000
    assert time.thread_time() - start < 2


def test_hostile_texts_that_are_right() -> None:
    start = time.thread_time()
    parse_text("module attributes {a = #foo.bar" + "<" * N + ">" * N + "} {}")
    parse_text(in_function("", "%a: tensor<" + "1x" * 2000 + "f32>"))
    one_line = "".join(f" %{i} = stablehlo.add %a, %a : tensor<f32>" for i in range(5000))
    parse_text(f"func.func @f(%a: tensor<f32>) {{{one_line} return }}")
    links = "".join(f"#loc{i} = loc(callsite(#loc{i + 1} at #loc{i + 1}))\n" for i in range(5000))
    module = parse_text(links + '#loc5000 = loc("f":1:2)\nfunc.func @f() { return } loc(#loc0)')
    assert str(module.functions["f"].location) == "f:1:2"
    assert time.thread_time() - start < 5


def test_depth_up_to_the_limit_is_read() -> None:
    depth = 90
    body = '"a.b"() ({ ' * depth + ADD + " }) : () -> ()" * depth
    function = parse_text(in_function(body)).functions["f"]
    assert sum(1 for _ in function.walk()) == depth + 3


def test_every_truncation_is_an_error_or_a_module() -> None:
    for end in range(0, len(PROGRAM), 5):
        try:
            parse_text(PROGRAM[:end])
        except XlaError:
            refusal(PROGRAM[:end])


def test_an_unknown_op_is_the_op_of_its_error() -> None:
    with pytest.raises(XlaError, match=r"custom op 'stablehlo\.tahn' is unknown") as caught:
        parse_text("func.func @main(%x: tensor<f32>) -> tensor<f32> {\n  %y = stablehlo.tahn %x : tensor<f32>\n}")
    assert "[op:" not in str(caught.value)
    assert "stablehlo.tanh" in str(caught.value.hint)

"""Small programs that need much time or memory: deep nesting, huge sizes, sizes that double at each step."""

from __future__ import annotations

from collections.abc import Callable

DEPTH = 50_000
STEPS = 60  # doublings


def _function(body: str, argument: str = "tensor<f32>", result: str = "tensor<f32>") -> str:
    return f"func.func @main(%a: {argument}) -> {result} {{\n{body}\n}}\n"


def _nested(opening: str, inside: str, closing: str, depth: int = DEPTH) -> str:
    return opening * depth + inside + closing * depth


def _constant(attribute: str, type: str) -> str:
    return f"func.func @main() -> {type} {{\n %0 = stablehlo.constant dense<{attribute}> : {type}\n return %0 : {type}\n}}\n"


def _whiles(depth: int) -> str:
    opening = "".join(
        f"%w{i} = stablehlo.while(%x{i} = %{'a' if i == 0 else f'x{i - 1}'}) : tensor<f32>\n"
        f"cond {{ %c{i} = stablehlo.constant dense<false> : tensor<i1>\n stablehlo.return %c{i} : tensor<i1> }} do {{\n"
        for i in range(depth)
    )
    closing = "".join(f"stablehlo.return %w{i + 1} : tensor<f32> }}\n" for i in range(depth - 2, -1, -1))
    return _function(f"{opening} stablehlo.return %x{depth - 1} : tensor<f32> }}\n{closing} return %w0 : tensor<f32>")


def _calls_that_double(steps: int) -> str:
    functions = [
        f"func.func private @f{i}(%a: tensor<f32>) -> tensor<f32> {{\n %0 = call @f{i + 1}(%a) : (tensor<f32>) -> tensor<f32>\n"
        f" %1 = call @f{i + 1}(%0) : (tensor<f32>) -> tensor<f32>\n return %1 : tensor<f32>\n}}\n"
        for i in range(steps)
    ]
    last = f"func.func private @f{steps}(%a: tensor<f32>) -> tensor<f32> {{\n return %a : tensor<f32>\n}}\n"
    return (
        _function(" %0 = call @f0(%a) : (tensor<f32>) -> tensor<f32>\n return %0 : tensor<f32>")
        + "".join(functions)
        + last
    )


def _types_that_double(steps: int) -> str:
    aliases = "".join(f"!t{i + 1} = tuple<!t{i}, !t{i}>\n" for i in range(steps))
    return "!t0 = tensor<f32>\n" + aliases + _function(f" return %a : !t{steps}", f"!t{steps}", f"!t{steps}")


def _calls_in_a_circle(count: int) -> str:
    functions = [
        f"func.func private @f{i}(%a: tensor<f32>) -> tensor<f32> {{\n"
        f" %0 = call @f{(i + 1) % count}(%a) : (tensor<f32>) -> tensor<f32>\n return %0 : tensor<f32>\n}}\n"
        for i in range(count)
    ]
    return _function(" %0 = call @f0(%a) : (tensor<f32>) -> tensor<f32>\n return %0 : tensor<f32>") + "".join(functions)


def _chain(length: int) -> str:
    body = "".join(f" %{i + 1} = stablehlo.add %{i}, %{i} : tensor<f32>\n" for i in range(length))
    return _function(f" %0 = stablehlo.negate %a : tensor<f32>\n{body} return %{length} : tensor<f32>")


def _result(op: str, type: str) -> str:
    return _function(f" %0 = {op}\n return %0 : {type}", result=type)


def _hlo(entry: str, before: str = "") -> str:
    return f"HloModule m\n{before}\nENTRY e {{\n{entry}\n}}\n"


def _hlo_calls_that_double(steps: int) -> str:
    computations = [f"f{steps} {{\n ROOT p = f32[] parameter(0)\n}}\n"]
    computations += [
        f"f{i} {{\n p = f32[] parameter(0)\n c = f32[] call(p), to_apply=f{i + 1}\n"
        f" ROOT d = f32[] call(c), to_apply=f{i + 1}\n}}\n"
        for i in reversed(range(steps))
    ]
    return _hlo(" p = f32[] parameter(0)\n ROOT c = f32[] call(p), to_apply=f0", "".join(computations))


def _hlo_that_doubles(steps: int, op: str, entry: str, before: str = "") -> str:
    """Computations that refer twice to the next one, by `op`, which says {next}."""
    computations = [f"f{steps} {{\n p = f32[2] parameter(0)\n ROOT q = f32[2] exponential(p)\n}}\n"]
    computations += [
        f"f{i} {{\n p = f32[2] parameter(0)\n{op.format(next=f'f{i + 1}')}\n}}\n" for i in reversed(range(steps))
    ]
    return _hlo(f" p = f32[2] parameter(0)\n{entry}", before + "".join(computations))


BRANCH = """ s = f32[1] slice(p), slice={{[0:1]}}
 r = f32[] reshape(s)
 l = pred[] compare(r, r), direction=EQ
 ROOT c = f32[2] conditional(l, p, p), true_computation={next}, false_computation={next}"""
LOOPS = " w = f32[2] while(p), condition=is, body={next}\n ROOT v = f32[2] while(w), condition=is, body={next}"
CONDITION = "is {\n p = f32[2] parameter(0)\n ROOT t = pred[] constant(true)\n}\n"

HUGE = f"tensor<{1 << 60}xf32>"

# Programs that must be refused, or read quickly.
STRUCTURES: dict[str, Callable[[], str | bytes]] = {
    "types, deeply nested": lambda: _function(" return %a", _nested("tuple<", "tensor<f32>", ">")),
    "types, never closed": lambda: _function(" return %a", "tuple<" * DEPTH),
    "types that double": lambda: _types_that_double(STEPS),
    "a shape of many dimensions": lambda: _function(" return %a : tensor<f32>", "tensor<" + "1x" * DEPTH + "f32>"),
    "a shape whose size overflows": lambda: _constant("0.0", f"tensor<{'9223372036854775807x' * 40}f32>"),
    "a dimension of a million digits": lambda: _constant("0.0", f"tensor<{'9' * 1_000_000}xf32>"),
    "an integer of a million digits": lambda: _constant("9" * 1_000_000, "tensor<i32>"),
    "a float of a million digits": lambda: _constant("1." + "3" * 1_000_000, "tensor<f32>"),
    "an exponent of a million digits": lambda: _constant("1.0e" + "9" * 1_000_000, "tensor<f32>"),
    "a dense literal, deeply nested": lambda: _constant(_nested("[", "1.0", "]"), "tensor<1xf32>"),
    "a dense literal that claims 2^60 elements": lambda: _constant("[1.0, 2.0]", HUGE),
    "hexadecimal digits for 2^60 elements": lambda: _constant('"0x' + "00" * 64 + '"', HUGE),
    "hexadecimal digits that are no whole element": lambda: _constant('"0x' + "0" * 99 + '"', "tensor<12xf32>"),
    "an attribute, deeply nested": lambda: _function(f' "stablehlo.x"(%a) {{x = {_nested("[", "", "]")}}} : () -> ()'),
    "attributes that double": lambda: "".join(
        [f"#a{i + 1} = [#a{i}, #a{i}]\n" for i in range(STEPS)] + [f"module attributes {{x = #a{STEPS}}} {{}}"]
    ).replace("#a0", "1"),
    "regions, deeply nested": lambda: _whiles(3000),
    "locations, deeply nested": lambda: _function(" return %a : tensor<f32> loc(" + 'callsite("f" at ' * DEPTH),
    "parentheses": lambda: "(" * 1_000_000,
    "braces": lambda: "{" * 1_000_000,
    "modules in modules": lambda: _nested("module {\n", "", "}\n", 20_000),
    "an unterminated string": lambda: 'module attributes {x = "' + "a" * 1_000_000,
    "a string of escapes": lambda: 'module attributes {x = "' + "\\22" * 300_000 + '"} {}',
    "a comment of a megabyte": lambda: "//" + "x" * 1_000_000,
    "many comments": lambda: "// x\n" * 200_000,
    "a name of a megabyte": lambda: _function(f" %{'n' * 1_000_000} = stablehlo.add %a, %b : tensor<f32>"),
    "a symbol of a megabyte": lambda: f"func.func @{'f' * 1_000_000}() {{ return }}",
    "an op's name of a megabyte": lambda: _function(f" %0 = stablehlo.{'n' * 1_000_000} %a : tensor<f32>"),
    "a million results": lambda: _function(' %0:1000000 = "stablehlo.add"(%a, %a) : (tensor<f32>, tensor<f32>) -> tensor<f32>'),
    "10^18 results": lambda: _function(' %0:1000000000000000000 = "stablehlo.add"(%a) : (tensor<f32>) -> tensor<f32>'),
    "functions of one name": lambda: "func.func @f() { return }\n" * 20_000,
    "unknown ops": lambda: _function("".join(f' %{i} = "x.y"(%a) : (tensor<f32>) -> tensor<f32>\n' for i in range(20_000))),
    "a function that calls itself": lambda: _calls_in_a_circle(1),
    "functions that call each other": lambda: _calls_in_a_circle(500),
    "NUL bytes": lambda: "\0" * 100_000,
    "bytes that are no UTF-8": lambda: b"func.func @main\xff\xfe() { return }",
    "a magic number alone": lambda: b"ML\xefR",
    "HLO: shapes, deeply nested": lambda: _hlo(f" ROOT p = {_nested('(', 'f32[]', ')')} parameter(0)"),
    "HLO: a constant, deeply nested": lambda: _hlo(f" ROOT c = f32[1] constant({_nested('{', '1', '}')})"),
    "HLO: a constant that claims 2^60 elements": lambda: _hlo(f" ROOT c = f32[{1 << 60}] constant({{1, 2}})"),
    "HLO: a dimension of a million digits": lambda: _hlo(f" ROOT p = f32[{'9' * 1_000_000}] parameter(0)"),
    "HLO: a parameter number of a million digits": lambda: _hlo(f" ROOT p = f32[] parameter({'9' * 1_000_000})"),
    "HLO: parameter 10^12": lambda: _hlo(f" ROOT p = f32[] parameter({10**12})"),
    "HLO: a tuple index of 10^12": lambda: _hlo(f" p = (f32[]) parameter(0)\n ROOT g = f32[] get-tuple-element(p), index={10**12}"),
    "HLO: metadata that never ends": lambda: _hlo(' ROOT p = f32[] parameter(0), metadata={op_name="' + "a" * 1_000_000),
    "HLO: attributes, deeply nested": lambda: _hlo(f" ROOT p = f32[] parameter(0), x={_nested('{', '', '}')}"),
    "HLO: a computation that calls itself": lambda: _hlo(
        " p = f32[] parameter(0)\n ROOT c = f32[] call(p), to_apply=f",
        "f {\n p = f32[] parameter(0)\n ROOT c = f32[] call(p), to_apply=f\n}",
    ),
    "HLO: many computations of one name": lambda: _hlo(" ROOT p = f32[] parameter(0)", "f {\n ROOT p = f32[] parameter(0)\n}\n" * 20_000),
    "HLO: replica groups of 2^60 devices": lambda: _hlo(
        f" p = f32[4] parameter(0)\n ROOT g = f32[4] all-reduce(p), replica_groups=[1,{1 << 60}]<=[{1 << 60}], to_apply=f",
        "f {\n a = f32[] parameter(0)\n b = f32[] parameter(1)\n ROOT c = f32[] add(a, b)\n}",
    ),
    "HLO: comments that never end": lambda: _hlo(" ROOT p = f32[] parameter(0)") + "/* " * 100_000,
    "HLO: comments, and then no HLO": lambda: "/**/ " * 1000 + "module {}",
    "HLO: quotes in an unterminated string": lambda: _hlo(' ROOT p = f32[] parameter(0), metadata={op_name="' + '\\"' * 100_000),
    "HLO: quotes and a comment": lambda: _hlo(' ROOT p = f32[] parameter(0), backend_config="' + '\\"' * 100_000 + "// "),
    "HLO: braces in an unterminated string": lambda: _hlo(' ROOT p = f32[] parameter(0), sharding={"' + "{" * 1_000_000),
    "HLO: spaces between operands": lambda: _hlo(f" ROOT p = f32[] add({' ' * 200_000};"),
    "HLO: spaces in a value": lambda: _hlo(f" ROOT p = f32[] parameter(0), backend_config=a{' ' * 200_000}b;"),
    "HLO: a number that is none": lambda: _hlo(f" ROOT c = f32[] constant({'1' * 100_000}x)"),
    "HLO: an attribute's number that is none": lambda: _hlo(
        f" p = f32[] parameter(0)\n ROOT b = f32[] batch-norm-inference(p, p, p, p, p), epsilon={'1' * 100_000}x"
    ),
    "HLO: a constant of many dimensions": lambda: _hlo(
        f" ROOT c = f32[{','.join('1' * DEPTH)}] constant({_nested('{', '1', '}')})"
    ),
    "HLO: a tuple of many arrays": lambda: _hlo(
        f" ROOT c = ({','.join(['s32[1]'] * DEPTH)}) constant(({','.join(['{1}'] * DEPTH)}))"
    ),
    "HLO: many parameters": lambda: _hlo(
        "".join(f" p.{i} = f32[] parameter({i})\n" for i in range(DEPTH)) + " ROOT r = f32[] negate(p.0)"
    ),
    "HLO: replica groups of a million digits": lambda: _hlo(
        f" p = f32[4] parameter(0)\n ROOT g = f32[4] all-gather(p), dimensions={{0}}, replica_groups=[1,{'9' * 1_000_000}]<=[1]"
    ),
    "HLO: replica groups of many dimensions": lambda: _hlo(
        f" p = f32[4] parameter(0)\n ROOT g = f32[4] all-gather(p), dimensions={{0}}, replica_groups=[1,2]<=[{'9999999,' * DEPTH}1]"
    ),
    "HLO: a sharding of many dimensions": lambda: _hlo(
        f" ROOT p = f32[4] parameter(0), sharding={{devices=[{'9999999,' * DEPTH}1]<=[2]}}"
    ),
    "a sharding of many dimensions": lambda: _function(
        f' %0 = stablehlo.custom_call @f(%a) {{mhlo.sharding = "{{devices=[{"9999999," * DEPTH}1]<=[2]}}"}}'
        " : (tensor<f32>) -> tensor<f32>\n return %0 : tensor<f32>"
    ),
    "quotes in an unterminated string": lambda: _function(
        ' %0 = stablehlo.custom_call @f(%a) {backend_config = "' + '\\"' * 300_000
    ),
    "quotes in an unknown attribute": lambda: _function(' %0 = "stablehlo.add"(%a, %a) {x = #x.y<"' + '\\"' * 300_000),
    "a mesh's axis of many quotes": lambda: f'sdy.mesh @m = <["{chr(92)}22{"x" * DEPTH}{(chr(92) + "22") * 100_000}"=2]>\n'
    + _function(" return %a : tensor<f32>"),
    "VHLO: quotes in an unterminated string": lambda: _function(
        ' %0 = "vhlo.custom_call_v1"(%a) <{backend_config = #vhlo.string_v1<"' + '\\"' * 300_000
    ),
    "VHLO: types, deeply nested": lambda: _function(
        f' %0 = "vhlo.add_v1"(%a, %a) : ({_nested("!vhlo.tuple_v1<", "!vhlo.f32_v1", ">")}'
    ),
    "VHLO: a type of many dimensions": lambda: _function(
        f' %0 = "vhlo.add_v1"(%a, %a) : (!vhlo.tensor_v1<{"1x" * DEPTH}!vhlo.f32_v1>'
    ),
    "VHLO: attributes, deeply nested": lambda: _function(
        f' %0 = "vhlo.add_v1"(%a, %a) <{{x = {_nested("#vhlo.array_v1<[", "", "]>")}'
    ),
    "HLO: source and target pairs without end": lambda: _hlo(
        f" p = f32[] parameter(0)\n ROOT c = f32[] collective-permute(p), source_target_pairs={{{'{0,1},' * 100_000}"
    ),
}  # fmt: skip

# Well-formed programs that no machine could run: the compiler or the evaluator refuses them, whatever it folds.
BOMBS: dict[str, Callable[[], str | bytes]] = {
    "a splat of 2^60 elements": lambda: _constant("1.0", HUGE),
    "iota of 2^60 elements": lambda: _result(f"stablehlo.iota dim = 0 : {HUGE}", HUGE),
    "iota of 2^60 elements, reversed": lambda: _function(
        f" %0 = stablehlo.iota dim = 0 : {HUGE}\n %1 = stablehlo.reverse %0, dims = [0] : {HUGE}\n return %1 : {HUGE}", result=HUGE
    ),
    "a broadcast to 2^60 elements": lambda: _result(
        f"stablehlo.broadcast_in_dim %a, dims = [] : (tensor<f32>) -> {HUGE}", HUGE
    ),
    "padding to 2^60 elements": lambda: _function(
        f" %z = stablehlo.constant dense<0.0> : tensor<f32>\n %c = stablehlo.constant dense<1.0> : tensor<1xf32>\n"
        f" %0 = stablehlo.pad %c, %z, low = [{(1 << 60) - 1}], high = [0], interior = [0] : (tensor<1xf32>, tensor<f32>) -> {HUGE}\n"
        f" return %0 : {HUGE}", result=HUGE,
    ),
    "a product of 2^30 by 2^30": lambda: _function(
        f" %0 = stablehlo.dot_general %a, %a, contracting_dims = [] x [] : (tensor<{1 << 30}xf32>, tensor<{1 << 30}xf32>)"
        f" -> tensor<{1 << 30}x{1 << 30}xf32>\n return %0 : tensor<{1 << 30}x{1 << 30}xf32>",
        f"tensor<{1 << 30}xf32>", f"tensor<{1 << 30}x{1 << 30}xf32>",
    ),
    "a loop that never ends": lambda: _function(
        " %0 = stablehlo.while(%x = %a) : tensor<f32>\n cond {\n %c = stablehlo.constant dense<true> : tensor<i1>\n"
        " stablehlo.return %c : tensor<i1> } do {\n stablehlo.return %x : tensor<f32> }\n return %0 : tensor<f32>"
    ),
    "a loop of 2^60 steps over constants": lambda: _function(
        f" %z = stablehlo.constant dense<0> : tensor<i64>\n %n = stablehlo.constant dense<{1 << 60}> : tensor<i64>\n"
        " %one = stablehlo.constant dense<1> : tensor<i64>\n"
        " %0 = stablehlo.while(%i = %z) : tensor<i64>\n cond {\n %c = stablehlo.compare LT, %i, %n : (tensor<i64>, tensor<i64>) -> tensor<i1>\n"
        " stablehlo.return %c : tensor<i1> } do {\n %j = stablehlo.add %i, %one : tensor<i64>\n stablehlo.return %j : tensor<i64> }\n"
        " return %0 : tensor<i64>", result="tensor<i64>",
    ),
    "calls that double": lambda: _calls_that_double(STEPS),
    "HLO: calls that double": lambda: _hlo_calls_that_double(STEPS),
    "HLO: conditionals that double": lambda: _hlo_that_doubles(STEPS, BRANCH, " ROOT c = f32[2] call(p), to_apply=f0"),
    "HLO: loops that double": lambda: _hlo_that_doubles(
        STEPS, LOOPS, " ROOT w = f32[2] while(p), condition=is, body=f0", CONDITION
    ),
    "a long chain": lambda: _chain(3_000),
    "loops in loops": lambda: _whiles(60),
}  # fmt: skip

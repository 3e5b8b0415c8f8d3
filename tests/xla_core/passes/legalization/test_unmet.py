"""The error for instructions that a target can't run: one line for each cause."""

from __future__ import annotations

import pickle

import pytest

from xla_core import parse
from xla_core.errors import UnimplementedError
from xla_core.hlo import parse_hlo, register_custom_call
from xla_core.hlo.table.opcode import Opcode
from xla_core.hlo.values.element_type import ElementType
from xla_core.passes.legalization import NeedsFallbackError, legalize
from xla_core.target import Capabilities

FEW = Capabilities().with_ops(
    ("add", "multiply", "divide", "compare", "select", "broadcast", "subtract", "negate"),
    [ElementType.F32, ElementType.PRED],
)


def message(body: str) -> str:
    with pytest.raises(UnimplementedError) as caught:
        legalize(parse_hlo(f"HloModule m\n\nENTRY e {{\n  x = f32[4] parameter(0)\n{body}}}\n"), FEW.check)
    return caught.value.message


def test_instructions_that_lack_the_same_are_one_line() -> None:
    chain = [f"  c{n} = u64[4] add(c{n - 1}, c{n - 1})\n" for n in range(1, 90)]
    text = message("  c0 = u64[4] convert(x)\n" + "".join(chain) + "  ROOT r = f32[4] convert(c89)\n")
    assert len(text.splitlines()) == 3
    assert "cannot run 91 instructions" in text
    assert "the device holds no u64: 90 instructions, first c0 = u64[4] convert at <input>:5:3" in text
    assert "and 87 more places" in text
    assert "there is no convert: r = f32[4] convert at <input>:95:3" in text


def test_the_error_of_another_process_still_tells_what_the_target_lacks() -> None:
    with pytest.raises(NeedsFallbackError) as caught:
        legalize(
            parse_hlo("HloModule m\n\nENTRY e {\n  x = f32[4] parameter(0)\n  ROOT r = f32[4] sine(x)\n}\n"), FEW.check
        )
    again = pickle.loads(pickle.dumps(caught.value))
    assert again.lacks == caught.value.lacks != ()
    assert str(again) == str(caught.value)


def test_it_says_what_would_be_enough() -> None:
    text = message(
        '  s = f32[4] logistic(x), metadata={source_file="model.py" source_line=7}\n'
        '  t = f32[4] logistic(s), metadata={source_file="model.py" source_line=9}\n'
        "  ROOT r = f32[4] sine(t)\n"
    )
    assert "logistic needs exponential of f32, or bitcast-convert of f32 and " in text
    assert "model.py:7, model.py:9" in text


def test_what_a_wider_type_would_need() -> None:
    halves = Capabilities().with_ops(("add", "multiply", "convert"), [ElementType.BF16])
    text = "HloModule m\n\nENTRY e {\n  x = bf16[4] parameter(0)\n  ROOT r = bf16[4] tanh(x)\n}\n"
    with pytest.raises(UnimplementedError, match=r"tanh needs memory of f32 and convert of f32, or .*, or itself"):
        legalize(parse_hlo(text), halves.check)


def test_what_is_missing_is_not_said_twice() -> None:
    narrow = Capabilities().with_ops(("add", "convert"), [ElementType.BF16])
    text = "HloModule m\n\nENTRY e {\n  x = bf16[4] parameter(0)\n  ROOT r = f32[4] convert(x)\n}\n"
    with pytest.raises(UnimplementedError) as caught:
        legalize(parse_hlo(text), narrow.check)
    assert "the device holds no f32" in caught.value.message
    assert "needs" not in caught.value.message


@pytest.mark.parametrize(
    ("shape", "line", "missing", "needed"),
    [
        ("f32[8]", "concatenate(x, x), dimensions={0}", ("concatenate", "pad"), "pad of f32"),
        ("s32[4]", "shift-right-arithmetic(x, x)", ("shift-right-arithmetic", "shift-right-logical"),
         "shift-right-logical of s32"),
    ],
)  # fmt: skip
def test_ops_that_are_written_in_each_other(shape: str, line: str, missing: tuple[str, str], needed: str) -> None:
    """The decomposition of the second one needs the first one, which is the instruction itself."""
    capabilities = Capabilities.all_of(without=list(map(Opcode, missing)))
    text = f"HloModule m\n\nENTRY e {{\n  x = {shape[:3]}[4] parameter(0)\n  ROOT r = {shape} {line}\n}}\n"
    with pytest.raises(UnimplementedError) as caught:
        legalize(parse_hlo(text), capabilities.check)
    assert f"\n    {missing[0]} needs {needed}, or itself" in caught.value.message


@pytest.mark.parametrize("argument", ["tensor<4xi16>", "tuple<tensor<4xi16>>"])
def test_a_parameter_has_the_place_of_its_function(argument: str) -> None:
    program = f"""module {{
  func.func @main(%x: tensor<4xf32>, %k: {argument}) -> (tensor<4xf32>, {argument}) {{
    %0 = stablehlo.add %x, %x : tensor<4xf32>
    return %0, %k : tensor<4xf32>, {argument}
  }}
}}
"""
    module = parse(program, file="mixed.mlir")
    assert "source_line" not in str(module.entry.parameters[1])
    with pytest.raises(UnimplementedError, match=r"first k\S* = s16\[4\] parameter at mixed.mlir:2:3"):
        legalize(module, FEW.check)


def test_a_call_that_nobody_knows_is_refused_where_the_host_helps_too() -> None:
    body = '  s = f32[4] sine(x)\n  y = f32[4] custom-call(s), custom_call_target="CALL"\n  ROOT r = f32[4] negate(y)\n'
    text = f"HloModule m\n\nENTRY e {{\n  x = f32[4] parameter(0)\n{body}}}\n"
    with pytest.raises(UnimplementedError, match="the device has no custom call 'nobody': y = ") as caught:
        legalize(parse_hlo(text.replace("CALL", "nobody")), FEW.check, refuse=False)
    assert "cannot run 1 instruction" in caught.value.message
    assert "register_custom_call" in str(caught.value.hint)
    module = parse_hlo(text.replace("CALL", "known_to_the_host"))
    register_custom_call("known_to_the_host")(lambda context, instruction, values: values[0])
    legalize(module, FEW.check, refuse=False)
    assert {i.opcode for i in module.entry.instructions} >= {Opcode.SINE, Opcode.CUSTOM_CALL}

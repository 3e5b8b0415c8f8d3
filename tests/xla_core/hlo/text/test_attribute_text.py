"""Attributes of HLO text: what is printed is read back as the same value, and is what XLA prints."""

from __future__ import annotations

import re

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import xla_core
from tests.xla_core.hlo.structural_equality import structurally_equal
from xla_core.errors import InvalidArgumentError
from xla_core.hlo import HloComputation, HloInstruction, HloModule, OpMetadata, OutputToOperandAlias, Shape
from xla_core.hlo.ir.printer import instruction_to_text
from xla_core.hlo.parsing.parser import parse_hlo
from xla_core.hlo.text.strings import is_braced, quote, unescaped
from xla_core.hlo.values.element_type import ElementType

# Texts that are hard for a lexer, and arbitrary ones.
TEXTS = st.text() | st.text("{}\"'\\/*,= \na0é\udcff")
F32 = Shape(ElementType.F32, (4,))


def read(attribute: str, opcode: str = 'custom-call(p), custom_call_target="f"') -> HloInstruction:
    """The root that has an attribute, and comes before another one."""
    text = f"HloModule m\nENTRY e {{\n p = f32[4] parameter(0)\n q = f32[4] {opcode}, {attribute}\n ROOT r = f32[4] negate(q)\n}}\n"
    return parse_hlo(text).entry.root.operand(0)


def round_trip(**attributes: object) -> HloInstruction:
    computation = HloComputation("e")
    p = computation.parameter(0, F32)
    computation.add("negate", p, **attributes)
    module = HloModule("m")
    module.add_computation(computation, entry=True)
    again = parse_hlo(module.to_text())
    assert structurally_equal(module, again)
    assert again.to_text() == module.to_text()
    return again.entry.root


# -- strings and dictionaries ------------------------------------------------------------------------------------------


@settings(deadline=None)
@given(TEXTS)
def test_strings(text):
    quoted = quote(text)
    assert quoted.isascii()
    assert quoted.isprintable()
    assert unescaped(quoted[1:-1]) == text


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("{}", True),
        ('{"a": "}"}', True),
        ("{a = {b}, s = \"\\\"}\"}", True),
        ("{é}", True),
        ('{"url": "http://x /* "}', True),
        ("", False),
        ("{", False),
        ("}", False),
        ("{a}{b}", False),
        ("{a}b}", False),
        ('{"a}', False),
        ('{"a\\"}', False),
        ("{a /* } */}", False),
        ("{// }\n}", False),
        ("{\udcff}", False),
    ],
)  # fmt: skip
def test_what_stands_for_itself(text, expected):
    assert is_braced(text) is expected


@settings(deadline=None)
@given(TEXTS)
@example("hello world, x=1")
@example("{")
@example("{a}{b}")
@example('{"a')
@example("{a /* } */}")
@example("{// }")
@example("{\udcff}")
def test_any_backend_config_is_read_back(text):
    assert round_trip(backend_config=text).attribute("backend_config") == text


@settings(deadline=None)
@given(st.dictionaries(TEXTS, TEXTS))
def test_any_frontend_attributes_are_read_back(attributes):
    pairs = tuple(sorted(attributes.items()))
    assert round_trip(frontend_attributes=pairs).attribute("frontend_attributes") == pairs


@settings(deadline=None)
@given(TEXTS, TEXTS)
def test_any_metadata_is_read_back(name, file):
    computation = HloComputation("e")
    computation.add("parameter", shape=F32, parameter_number=0, metadata=OpMetadata(op_name=name, source_file=file))
    module = HloModule("m")
    module.add_computation(computation, entry=True)
    assert structurally_equal(module, parse_hlo(module.to_text()), metadata=True)


XLA_STRINGS = [
    "hello, x=1",
    "{a 'q' = 1}",
    "{a}{b}",
    'it\'s é "q"',
    "{é}",
    '{"a}',
    "{a /* } */}",
    "\x01\t\n\r\x7f",
    "\\{",
]


@pytest.mark.parametrize("text", XLA_STRINGS)
def test_xla_prints_the_same(text):
    hlo = pytest.importorskip("jaxlib._hlo", reason="this jaxlib has no HLO reader")
    ours = instruction_to_text(round_trip(backend_config=text, frontend_attributes=(("a", text),)))
    module = round_trip(backend_config=text).parent.module
    theirs = hlo.hlo_module_from_text(module.to_text()).to_string(hlo.HloPrintOptions())
    config = re.search(r"backend_config=(.*)$", ours, re.M)
    assert config
    assert f"backend_config={config[1]}\n" in theirs


@pytest.mark.parametrize(("text", "expected"), [
    ("backend_config={a = 1 : i64}", "{a = 1 : i64}"),
    ('backend_config="{a = 1 : i64}"', "{a = 1 : i64}"),
    ('backend_config="hello, x=1"', "hello, x=1"),
    ('backend_config="\\303\\251é\\x21\\""', 'éé!"'),
    ('backend_config=""', ""),
])  # fmt: skip
def test_backend_config_is_the_text_that_it_means(text, expected):
    assert read(text).attribute("backend_config") == expected


# -- shardings ---------------------------------------------------------------------------------------------------------

SHARDINGS = [
    "{replicated}", "{manual}", "{unknown}", "{unreduced}", "{maximal device=3}", "{}",
    "{devices=[2,1]0,1}", "{devices=[2]<=[2]}", "{devices=[2,2]<=[2,2]T(1,0) last_tile_dim_replicate}",
    "{devices=[1,2,1,2]<=[4] last_tile_dims={manual, replicated}}", "{replicated shard_as 1}",
    "{devices=[2]<=[2] shard_like 3}", '{replicated metadata={op_name="x}" source_line=3}}',
    "{{replicated}}", "{{replicated}, {maximal device=0}, {devices=[2]<=[2]}}", "{mesh['a'=2], [{'a'}]}",
]  # fmt: skip
BAD_SHARDINGS = [
    "{replicated", "{", "{foo}", "replicated", '"{replicated}"', "{{}}", "{devices=[2]0}", "{device=0}", "{maximal}",
    "{devices=[2]<=[3]}", "{replicated manual}", "{replicated}}", "{{replicated} {manual}}", "{replicatedx}",
    "{devices=[99999999999999999999]<=[1]}", "{{replicated}",
]  # fmt: skip


@pytest.mark.parametrize("text", SHARDINGS)
def test_shardings(text):
    assert read(f"sharding={text}").attribute("sharding") == text
    assert round_trip(sharding=text).attribute("sharding") == text
    module = xla_core.parse(stablehlo(f'mhlo.sharding = "{text}"') if '"' not in text else stablehlo("x = 1"))
    assert structurally_equal(module, xla_core.parse(module.to_text()))


@pytest.mark.parametrize("text", BAD_SHARDINGS)
def test_malformed_shardings_are_refused(text):
    with pytest.raises(InvalidArgumentError) as caught:
        read(f"sharding={text}")
    assert caught.value.location is not None
    with pytest.raises(InvalidArgumentError, match=r"mhlo.sharding is .*\n.*\n.*\^") as caught:
        xla_core.parse(stablehlo(f'mhlo.sharding = "{text}"'.replace('""', '"').replace('"{replicated}"', '"x"')))
    assert caught.value.location is not None
    assert caught.value.location.line == 2


@pytest.mark.parametrize("text", [*SHARDINGS, *BAD_SHARDINGS])
def test_xla_takes_the_same_shardings(text):
    hlo = pytest.importorskip("jaxlib._hlo", reason="this jaxlib has no HLO reader")
    program = f"HloModule m\nENTRY e {{\n ROOT p = f32[4] parameter(0), sharding={text}\n}}\n"
    if text in BAD_SHARDINGS and text not in ("{replicated manual}", "{devices=[2]<=[3]}"):  # XLA takes nonsense too
        with pytest.raises(Exception, match="INVALID_ARGUMENT"):
            hlo.hlo_module_from_text(program)
    else:
        hlo.hlo_module_from_text(program)


# -- what StableHLO's custom calls become ------------------------------------------------------------------------------


def stablehlo(attributes: str) -> str:
    return (
        "func.func @main(%a: tensor<2xf32>) -> tensor<2xf32> {\n"
        f"  %0 = stablehlo.custom_call @Foo(%a) {{{attributes}}} : (tensor<2xf32>) -> tensor<2xf32>\n"
        "  return %0 : tensor<2xf32>\n}\n"
    )


@pytest.mark.parametrize("config", ["hello world, x=1", "{", "hello world, {", "{a = 1}", "\\C3\\A9 \\FF \\22}", ""])
def test_configs_of_stablehlo_are_read_back(config):
    module = xla_core.parse(stablehlo(f'backend_config = "{config}"'))
    again = xla_core.parse(module.to_text())
    assert structurally_equal(module, again)
    assert again.entry.root.attribute("backend_config") == module.entry.root.attribute("backend_config")


def test_aliases_of_stablehlo_are_typed():
    alias = "#stablehlo.output_operand_alias<output_tuple_indices = [], operand_index = 0, operand_tuple_indices = []>"
    module = xla_core.parse(stablehlo(f"output_operand_aliases = [{alias}]"))
    assert module.entry.root.attribute("output_to_operand_aliasing") == (OutputToOperandAlias((), 0),)
    assert "output_to_operand_aliasing={{}: (0, {})}" in module.to_text()


# -- lists of numbers --------------------------------------------------------------------------------------------------


def test_aliasing_is_typed():
    text = (
        "HloModule m\nENTRY e {\n p = (f32[4], s32[]) parameter(0)\n q = s32[] parameter(1)\n"
        ' ROOT c = (s32[], f32[4]) custom-call(p, q), custom_call_target="f", output_to_operand_aliasing={{1}: (0, {0}), {0}: (1, {})}\n}\n'
    )
    module = xla_core.parse(text)
    aliases = (OutputToOperandAlias((1,), 0, (0,)), OutputToOperandAlias((0,), 1))
    assert module.entry.root.attribute("output_to_operand_aliasing") == aliases
    assert structurally_equal(module, xla_core.parse(module.to_text()))


@pytest.mark.parametrize(
    ("aliasing", "message"),
    [
        ("{{}: (0, {}) x}", "expected ',' or '}'"),
        ("{{}: 0}", r"expected '\(' before the operand"),
        ("hello", "expected '{'"),
        ("{{}: (1, {})}", "operand 1 of 1"),
        ("{{0}: (0, {})}", r"\[0\] is not within f32\[4\]"),
        ("{{}: (0, {2})}", r"\[2\] is not within f32\[4\]"),
    ],
)
def test_malformed_aliasing_is_refused(aliasing, message):
    program = (
        "HloModule m\nENTRY e {\n p = f32[4] parameter(0)\n"
        f' ROOT c = f32[4] custom-call(p), custom_call_target="f", output_to_operand_aliasing={aliasing}\n}}\n'
    )
    with pytest.raises(InvalidArgumentError, match=message) as caught:
        xla_core.parse(program)
    assert caught.value.location is not None
    assert caught.value.location.line == 4


def test_an_alias_has_the_operands_shape():
    program = (
        "HloModule m\nENTRY e {\n p = f32[5] parameter(0)\n"
        ' ROOT c = f32[4] custom-call(p), custom_call_target="f", output_to_operand_aliasing={{}: (0, {})}\n}\n'
    )
    with pytest.raises(InvalidArgumentError, match=r"the result at \[\] is f32\[4\], operand 0 at \[\] is f32\[5\]"):
        xla_core.parse(program)


def test_sizes_of_slices_are_numbers():
    opcode = "collective-permute(p, p, p, p), source_target_pairs={{0,1}}"
    made = read("slice_sizes={{1,2},{3}}", opcode)
    assert made.attribute("slice_sizes") == ((1, 2), (3,))
    assert instruction_to_text(made).endswith("slice_sizes={{1,2},{3}}")
    with pytest.raises(InvalidArgumentError, match="expected an integer"):
        read("slice_sizes={{x}}", opcode)


@pytest.mark.parametrize(
    ("attribute", "opcode"),
    [
        ('domain={kind="sharding", entry={replicated}, exit={manual}}', "domain(p)"),
        ("result_accuracy={mode=highest}", "exponential(p)"),
        ("result_layout={0}", "bitcast(p)"),
    ],
)
def test_what_is_kept_in_braces(attribute, opcode):
    name, _, value = attribute.partition("=")
    assert read(attribute, opcode).attribute(name) == value
    with pytest.raises(InvalidArgumentError, match="expected a value in braces"):
        read(f"{name}=hello", opcode)


def test_what_is_not_kept_may_be_anything():
    assert read('statistics={a={"}"}}, origin="x, {", outer_dimension_partitions=3, backend_config="z"').attribute(
        "backend_config"
    )


def test_a_config_that_is_no_string_is_refused():
    with pytest.raises(InvalidArgumentError, match="expected a dictionary in braces or a quoted string") as caught:
        read("backend_config=hello world, x=1")
    assert caught.value.snippet
    assert caught.value.snippet.endswith("^")

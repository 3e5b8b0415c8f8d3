"""HLO text: what is printed is read back as the same module, and XLA reads it as we do."""

from __future__ import annotations

import re
from pathlib import Path

import ml_dtypes
import numpy as np
import pytest

from tests.xla_core.hlo.structural_equality import structurally_equal
from xla_core.errors import InvalidArgumentError, XlaError
from xla_core.hlo import ElementType, HloComputation, HloModule, Layout, Literal
from xla_core.hlo.ir.printer import PrintOptions, instruction_to_text, module_to_text
from xla_core.hlo.parsing.parser import parse_hlo
from xla_core.hlo.text.cursor import Cursor
from xla_core.hlo.text.shapes import read_shape, shape_to_text

PROGRAMS = sorted((Path(__file__).parents[3] / "programs" / "text").glob("*.mlir"))

SMALL = """HloModule small, input_output_alias={ {0}: (1, {}, may-alias), {1}: 0 }, buffer_donor={ (0, {}) }, entry_computation_layout={(f32[2,3]{1,0}, f32[2,3]{0,1})->(f32[2,3]{1,0}, f32[2]{0})}, num_partitions=2, something_new={a={1,2}}

%sum (a: f32[], b: f32[]) -> f32[] {
  %a = f32[] parameter(0)
  %b = f32[] parameter(1)
  ROOT %add.1 = f32[] add(%a, %b)
}

ENTRY %main.5 (p0: f32[2,3], p1: f32[2,3]) -> (f32[2,3], f32[2]) {
  %p0 = f32[2,3]{1,0} parameter(0), sharding={replicated}, origin={{"p"}}
  %p1 = f32[2,3]{0,1} parameter(1), frontend_attributes={b="x\\"y",a={"k":1}}
  %add.3 = f32[2,3]{1,0} add(f32[2,3]{1,0} %p0, %p1), metadata={op_type="add" op_name="jit(f)/{add}" source_file="a \\"b\\".py" source_line=3 new_field={1,2}}
  // a comment
  zero = f32[] constant(0), statistics={visualizing_index=0,nan=1}
  %r = f32[2]{0} reduce(add.3, %zero), dimensions={1}, to_apply=%sum, control-predecessors={%p1}, backend_config={"x":{"y":"}"}}
  ROOT %t = (f32[2,3]{1,0}, f32[2]{0}) tuple(%add.3, /*index=1*/ %r)
}
"""


def entry(body: str, name: str = "m") -> str:
    return f"HloModule {name}\nENTRY e {{\n{body}\n}}\n"


def test_reads_what_xla_prints():
    module = parse_hlo(SMALL)
    assert module.name == "small"
    assert module.num_partitions == 2
    assert module.entry_layouts_fixed
    assert [(a.output_index, a.parameter_number) for a in module.input_output_aliases] == [((0,), 1), ((1,), 0)]
    assert module.buffer_donors == [(0, ())]
    main = module.entry
    assert main.name == "main.5"
    by_name = {i.name: i for i in main.instructions}
    assert by_name["p1"].shape.layout == Layout((0, 1))
    assert by_name["p1"].attributes["frontend_attributes"] == (("a", '{"k":1}'), ("b", 'x"y'))
    assert by_name["p0"].attributes["sharding"] == "{replicated}"
    metadata = by_name["add.3"].metadata
    assert (metadata.op_name, metadata.source_file, metadata.source_line) == ("jit(f)/{add}", 'a "b".py', 3)
    reduce = by_name["r"]
    assert reduce.control_predecessors == [by_name["p1"]]
    assert reduce.attributes["backend_config"] == '{"x":{"y":"}"}}'
    assert reduce.attributes["to_apply"].root.opcode == "add"
    assert main.root.operands == [by_name["add.3"], reduce]


def test_round_trip():
    module = parse_hlo(SMALL)
    text = module_to_text(module)
    again = parse_hlo(text)
    assert structurally_equal(module, again, metadata=True)
    assert module_to_text(again) == text
    assert "%add.3 = f32[2,3]{1,0} add(%p0, %p1), metadata={" in text
    assert "ENTRY %main.5 (p0: f32[2,3], p1: f32[2,3]) -> (f32[2,3], f32[2]) {" in text


def test_structural_equality_sees_differences():
    module = parse_hlo(SMALL)
    assert structurally_equal(module, parse_hlo(SMALL.replace("%add.3", "%other").replace("add.3,", "other,")))
    for old, new in (
        ("add(%a, %b)", "multiply(%a, %b)"),
        ("constant(0)", "constant(-0)"),
        ("add(%a, %b)", "add(%b, %a)"),
        (", control-predecessors={%p1}", ""),
        ("may-alias", "must-alias"),
    ):
        assert not structurally_equal(module, parse_hlo(SMALL.replace(old, new))), new
    relaid = parse_hlo(SMALL.replace("f32[2,3]{0,1}", "f32[2,3]{1,0}"))
    assert not structurally_equal(module, relaid)
    assert structurally_equal(module, relaid, layouts=False)
    assert not structurally_equal(module, parse_hlo(SMALL.replace("source_line=3", "source_line=4")), metadata=True)


def test_shapes_are_inferred_where_left_out():
    module = parse_hlo(entry("a = f32[2,3] parameter(0)\nROOT t = transpose(a), dimensions={1,0}"))
    assert module.entry.root.shape.dimensions == (3, 2)


def test_a_schedule_is_the_order_of_the_text():
    text = "HloModule m, is_scheduled=true\nENTRY e {\n p = f32[] parameter(0)\n b = f32[] negate(p)\n a = f32[] abs(p)\n ROOT t = (f32[], f32[]) tuple(a, b)\n}\n"
    module = parse_hlo(text)
    assert module.schedule is not None
    assert [i.name for i in module.schedule[module.entry]] == ["p", "b", "a", "t"]
    assert module_to_text(module).index("%b =") < module_to_text(module).index("%a =")
    assert "is_scheduled=true" in module_to_text(module)


def test_stack_frames_name_the_source():
    text = (
        'HloModule m\n\nFileNames\n1 "train.py"\n\nFunctionNames\n1 "f"\n\nFileLocations\n'
        "1 {file_name_id=1 function_name_id=1 line=8 end_line=8 column=12 end_column=38}\n\nStackFrames\n"
        "1 {file_location_id=1 parent_frame_id=1}\n\n\n"
        'ENTRY e {\n ROOT p = f32[] parameter(0), metadata={op_name="x" stack_frame_id=1}\n}\n'
    )
    metadata = parse_hlo(text).entry.root.metadata
    assert (metadata.op_name, metadata.source_file, metadata.source_line, metadata.source_column) == (
        "x", "train.py", 8, 12,
    )  # fmt: skip


def parse_shape(text):
    cursor = Cursor(text)
    shape = read_shape(cursor)
    if not cursor.at_end:
        raise cursor.error("expected nothing after the shape")
    return shape


@pytest.mark.parametrize(
    "text",
    [
        "f32[]",
        "pred[2,3]{1,0}",
        "bf16[2,<=3]{0,1:T(8,128)(2,1)E(4)S(1)}",
        "(f32[], (s32[4]{0}), token[])",
        "f8e4m3b11fnuz[0]{0}",
        "opaque[]",
        "()",
        "f32[]{:T(256)}",
    ],
)
def test_shapes_round_trip(text):
    assert shape_to_text(parse_shape(text)) == text


@pytest.mark.parametrize(
    "text",
    ["f32", "f33[2]", "f32[2", "f32[-1]", "f32[?]", "f32[2]{1}", "f32[2]{0,0}", "token[3]", "f32[2]{0:Q}", "(f32[]", "f32[] x", "f32[99999999999999999999999]", "(" * 200 + ")" * 200],
)  # fmt: skip
def test_bad_shapes_are_refused(text):
    with pytest.raises(InvalidArgumentError):
        parse_shape(text)


CONSTANTS = {
    "f32[4] constant({0.1, 1.1, 1e+10, 3e-07})": np.float32([0.1, 1.1, 1e10, 3e-7]),
    "f32[2,2] constant({ { -0, inf }, { -inf, 0.246640727 } })": np.float32([[-0.0, np.inf], [-np.inf, 0.246640727]]),
    "bf16[2] constant({0.1001, 3.141})": np.array([0.1, 3.14], ml_dtypes.bfloat16),
    "f16[2] constant({0.099976, 3.1406})": np.array([0.1, 3.14], np.float16),
    "f64[2] constant({0.1, 0.12345678901234566})": np.array([0.1, 0.12345678901234566]),
    "f8e4m3fn[2] constant({0.102, 448})": np.array([0.1, 448], ml_dtypes.float8_e4m3fn),
    "pred[] constant(true)": np.array(True),
    "pred[2] constant({1, 0})": np.array([True, False]),
    "s4[2] constant({-8, 7})": np.array([-8, 7], ml_dtypes.int4),
    "u64[] constant(18446744073709551615)": np.array(2**64 - 1, np.uint64),
    "s64[] constant(-9223372036854775808)": np.array(-(2**63), np.int64),
    "c64[2] constant({(0.1, 2), (1, -inf)})": np.array([0.1 + 2j, complex(1, -np.inf)], np.complex64),
    "f32[0,2] constant({  })": np.zeros((0, 2), np.float32),
    "f32[2,0] constant({ {}, {} })": np.zeros((2, 0), np.float32),
    "s32[2,1] constant({ {1}, {2} })": np.int32([[1], [2]]),
    "s32[1,1,2,2] constant({ { /*i0=0*/ { /*i1=0*/ { 1, 2 }, { 3, 4 } } } })": np.int32([[[[1, 2], [3, 4]]]]),
    "s32[30] constant({" + ", ".join(map(str, range(30))) + "})": np.arange(30, dtype=np.int32),
}


@pytest.mark.parametrize("text", CONSTANTS)
def test_constants(text):
    root = parse_hlo(entry(f"ROOT c = {text}")).entry.root
    assert root.literal.array.dtype == CONSTANTS[text].dtype
    assert root.literal.array.tobytes() == CONSTANTS[text].tobytes()
    assert instruction_to_text(root).endswith(text[text.index("constant") :])


@pytest.mark.parametrize("element_type", [t for t in ElementType if t.is_array and t.bit_width <= 16], ids=str)
def test_every_value_of_a_narrow_type_survives(element_type):
    """All bit patterns, NaN payloads too."""
    width = element_type.dtype.itemsize
    if element_type is ElementType.PRED:
        values = np.array([False, True])
    elif element_type.is_integral and element_type.bit_width < 8:
        bits = element_type.bit_width
        low = -(1 << (bits - 1)) if element_type.is_signed else 0
        values = np.arange(low, low + (1 << bits)).astype(element_type.dtype)
    else:
        values = np.arange(1 << element_type.bit_width).astype(f"u{width}").view(element_type.dtype)
    computation = HloComputation("e")
    computation.constant(Literal(values))
    module = HloModule("m")
    module.add_computation(computation, entry=True)
    again = parse_hlo(module_to_text(module)).entry.root.literal
    assert again.array.tobytes() == values.tobytes()


def test_wide_values_survive():
    generator = np.random.default_rng(0)
    for dtype, bits in ((np.float32, np.uint32), (np.float64, np.uint64), (np.complex64, np.uint64)):
        values = generator.integers(0, np.iinfo(bits).max, 2000, dtype=bits, endpoint=True).view(dtype)
        computation = HloComputation("e")
        computation.constant(Literal(values))
        module = HloModule("m")
        module.add_computation(computation, entry=True)
        assert parse_hlo(module_to_text(module)).entry.root.literal.array.tobytes() == values.tobytes()


def test_tuple_constants():
    root = parse_hlo(entry("ROOT c = (f32[], (s32[2])) constant(( 1, ( {2, 3} ) ))")).entry.root
    assert root.literal.elements[1].elements[0].array.tolist() == [2, 3]
    assert instruction_to_text(root).endswith("constant(( 1, ( {2, 3} ) ))")


def test_elided_constants_are_refused_with_a_way_out():
    module = parse_hlo(entry("ROOT c = s32[12] constant({0,1,2,3,4,5,6,7,8,9,10,11})"))
    text = module_to_text(module, PrintOptions(elide_constants_over=10))
    assert "constant({...})" in text
    with pytest.raises(InvalidArgumentError, match="left out") as error:
        parse_hlo(text)
    assert "--xla_dump_large_constants" in (error.value.hint or "")


ATTRIBUTES = """
a = f32[8,9] parameter(0)
i = f32[1,6,6,2] parameter(1)
k = f32[3,3,2,4] parameter(2)
z = f32[] constant(0)
s = f32[3,9] slice(a), slice={[1:7:2], [0:9:1]}
u = f32[2,9] slice(a), slice={[1:3], [0:9]}
p = f32[9,9] pad(a, z), padding=0_1x-1_1
q = f32[15,9] pad(a, z), padding=0_0_1x0_0_0
c = f32[1,3,6,4] convolution(i, k), window={size=3x3 stride=2x1 pad=1_1x1_1 rhs_reversal=1x0}, dim_labels=b01f_01io->b01f, operand_precision={highest,default}
d = f32[9,9] dot(a, a), lhs_contracting_dims={0}, rhs_contracting_dims={0}, algorithm=dot_bf16_bf16_f32
w = f32[8,8] custom-call(a), custom_call_target="f\\"g\\n", operand_layout_constraints={f32[8,9]{1,0}}, api_version=API_VERSION_TYPED_FFI, output_to_operand_aliasing={{}: (0, {})}
x = f32[8,9] all-reduce(a), channel_id=1, replica_groups={{0,1},{2,3}}, use_global_device_ids=true, to_apply=sum
y = f32[8,9] collective-permute(a), source_target_pairs={{0,1},{1,0}}
g = f32[8,9] all-reduce(a), replica_groups=[2,4]<=[4,2]T(1,0), to_apply=sum
n = f32[] parameter(3)
o = f32[] pad(n, z), padding=
ROOT t = f32[8,9] copy(a)
"""
SUM = "sum { x = f32[] parameter(0)\n y = f32[] parameter(1)\n ROOT s = f32[] add(x, y) }\n"


def test_every_spelling_of_attributes_round_trips():
    module = parse_hlo(f"HloModule m\n{SUM}ENTRY e {{{ATTRIBUTES}}}")
    by_name = {re.sub(r"\..*", "", i.name): i for i in module.entry.instructions}
    assert by_name["g"].attributes["replica_groups"] == ((0, 2, 4, 6), (1, 3, 5, 7))
    assert by_name["o"].attributes["padding"] == ()
    text = module_to_text(module)
    for line in ATTRIBUTES.strip().split("\n"):
        for attribute in re.findall(r"(?<!\w)(\w+=(?:\{.*?\}(?=, \w|$)|[^\s{}]+))", line):
            if "<=" not in attribute and "padding=0_0_1x" not in attribute and "to_apply" not in attribute:
                assert attribute.rstrip(",") in text, attribute
    again = parse_hlo(text)
    assert module_to_text(again) == text


@pytest.mark.parametrize(
    ("body", "expected", "column"),
    [
        ("ROOT a = f32[2] adt(a, b)", "unknown opcode 'adt'", 19),
        ("ROOT a = f32[2] add(b, b)", "instruction 'b' is not defined above", 23),
        ("a = f32[] parameter(0)\n  a = f32[] parameter(1)", "instruction 'a' is defined twice", 3),
        ("a = f32[] parameter(0)\n  ROOT b = f32[] negate(a, a)", "negate takes 1 operands, not 2", 18),
        ("a = f32[] parameter(0)\n  ROOT b = f32[] negate(a), colour=3", "negate has no attribute colour", 29),
        ("a = f32[2] parameter(0)\n  ROOT b = f32[2] reverse(a)", "reverse lacks attribute dimensions", 19),
        ("a = f32[2] parameter(0)\n  ROOT b = f32[2] reverse(a), dimensions={0;", "expected ',' or '}' in a list", 44),
        ("ROOT a = f32[2] constant({1})", "expected ',' and 1 more elements", 30),
        ("ROOT a = s8[2] constant({1, 300})", "'300' is not a value of type s8", 31),
        ("ROOT a = f32[] parameter(7)", "parameter number 7 is out of range", 28),
        ("ROOT a = f32[115292150460684697] constant({1})", "the text is too short", 45),
        ("ROOT a = f32[] parameter(0)\n  ROOT b = f32[] negate(a)", "second ROOT", 3),
        ("ROOT a = f32[2]{1} parameter(0)", "not an order of the 1 dimensions", 12),
        ("ROOT a = f32[] parameter(0", "expected ')'", 1),
    ],
)
def test_errors_have_line_column_and_caret(body, expected, column):
    with pytest.raises(InvalidArgumentError, match=re.escape(expected)) as caught:
        parse_hlo("HloModule m\nENTRY e {\n  " + body + "\n}\n", file="x.hlo")
    error = caught.value
    assert error.location is not None
    assert error.location.file == "x.hlo"
    line = ("HloModule m\nENTRY e {\n  " + body + "\n}\n").split("\n")[error.location.line - 1]
    assert error.location.column == column
    assert error.snippet == f"  {line}\n  {' ' * (column - 1)}^"


def test_an_unknown_opcode_names_the_nearest():
    with pytest.raises(InvalidArgumentError) as error:
        parse_hlo(entry("a = f32[] parameter(0)\nROOT b = f32[] negat(a)"))
    assert "negate" in (error.value.hint or "")


@pytest.mark.parametrize("text", ["", "HloModule", "HloModule m", "HloModule m\nENTRY e {", "HloModule m\nENTRY e {}", "func.func @f", "HloModule m\nENTRY e { ROOT a = f32[] parameter(0) } }"])  # fmt: skip
def test_what_is_no_module_is_refused(text):
    with pytest.raises(InvalidArgumentError):
        parse_hlo(text)


def test_an_entry_layout_must_fit():
    text = "HloModule m, entry_computation_layout={(f32[3]{0})->f32[2]{0}}\nENTRY e { ROOT a = f32[2] parameter(0) }"
    with pytest.raises(InvalidArgumentError, match="entry_computation_layout"):
        parse_hlo(text)


def test_mutated_text_is_a_module_or_an_error():
    generator = np.random.default_rng(7)
    source = SMALL + "\n"
    text = f"HloModule m\n{SUM}ENTRY e {{{ATTRIBUTES}}}"
    for original in (source, text):
        for _ in range(700):
            at = int(generator.integers(len(original)))
            kind = generator.integers(4)
            if kind == 0:
                mutant = original[:at]
            elif kind == 1:
                mutant = original[:at] + original[at + int(generator.integers(1, 9)) :]
            elif kind == 2:
                mutant = original[:at] + chr(int(generator.integers(32, 127))) + original[at + 1 :]
            else:
                other = int(generator.integers(len(original)))
                mutant = original[:at] + original[other : other + 20] + original[at:]
            try:
                module = parse_hlo(mutant)
            except XlaError:
                continue
            module_to_text(module)


# -- against XLA itself ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("path", PROGRAMS[::4], ids=lambda p: p.stem)
def test_programs_round_trip_and_xla_reads_them(path):
    jax_module = pytest.importorskip("jaxlib._jax", reason="jaxlib is not installed")
    hlo = pytest.importorskip("jaxlib._hlo", reason="this jaxlib has no HLO reader")
    options = hlo.HloPrintOptions()
    options.print_large_constants = True
    computation = jax_module.mlir.mlir_module_to_xla_computation(
        path.read_text(), use_tuple_args=False, return_tuple=False
    )
    text = computation.get_hlo_module().to_string(options)
    module = parse_hlo(text, file=path.name)
    printed = module_to_text(module)
    assert structurally_equal(module, parse_hlo(printed), metadata=True)
    theirs = hlo.hlo_module_from_text(printed).to_string(options)
    assert _comparable(theirs) == _comparable(printed)


def _comparable(text: str) -> list[str]:
    """The lines, whatever the order of computations and instructions; XLA's reader loses the sign of -0."""
    text = re.sub(r"(?<![\w.])-0(?![\w.])", "0", re.sub(r"/\*index=\d+\*/", "", text))
    return sorted(line.strip() for line in text.split("\n") if line.strip())


def test_compiled_text_of_jax_is_read():
    jax = pytest.importorskip("jax")

    def f(x):
        total, ys = jax.lax.scan(lambda c, t: (c + t.sum(), c * t), 0.0, x)
        return total, ys, jax.numpy.argsort(x), x.at[0].add(1.0)

    lowered = jax.jit(f, donate_argnums=0).lower(np.ones((4, 5), np.float32))
    unoptimized = parse_hlo(lowered.as_text(dialect="hlo"))
    assert unoptimized.input_output_aliases
    module = parse_hlo(lowered.compile().as_text())
    assert module.schedule is not None
    assert structurally_equal(module, parse_hlo(module_to_text(module)))

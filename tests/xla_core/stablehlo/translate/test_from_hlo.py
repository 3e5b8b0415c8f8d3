"""HLO converted to StableHLO keeps its content, and XLA computes the same results."""

from __future__ import annotations

import itertools
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from tests.programs import PROGRAMS, Program
from tests.random_programs.compare import seeded
from tests.xla_core.hlo.structural_equality import structurally_equal
from tests.xla_core.stablehlo.reading import stablehlo_tests, tree
from xla_core.errors import InvalidArgumentError, UnimplementedError, XlaError
from xla_core.hlo import OPS as HLO_OPS
from xla_core.hlo import (
    ElementType,
    HloComputation,
    HloModule,
    Shape,
    Trait,
    evaluate,
    evaluate_replicas,
    parse_hlo,
)
from xla_core.stablehlo import (
    OPS,
    Module,
    from_hlo,
    lower,
    op_example,
    parse_bytecode,
    parse_text,
    read,
    split_modules,
    to_hlo,
    verify,
    write_portable_artifact,
    write_text,
)
from xla_core.stablehlo.ir import ScalarType
from xla_core.stablehlo.translate.raising.context import RULES

WITHOUT = {"parameter": "a block's argument"}
"""Opcodes that have no rule, and why."""


def test_every_opcode_has_a_rule_or_a_reason() -> None:
    assert set(HLO_OPS) - set(RULES) == set(WITHOUT)


def through_text(module: HloModule) -> HloModule:
    """HLO to StableHLO's text and back."""
    written = parse_text(write_text(from_hlo(module)))
    verify(written)
    return lower(written)


def names(module: Module) -> list[str]:
    """The ops of main, outermost first."""
    return [op.name for op in module.functions["main"].walk()][1:]


@pytest.mark.parametrize("program", PROGRAMS, ids=str)
def test_programs_come_back_the_same(program: Program) -> None:
    module = to_hlo(program.text)
    assert structurally_equal(module, through_text(module), metadata=False)


@pytest.mark.parametrize(
    "program",
    [
        pytest.param(program, id=program.name, marks=[] if index % 8 == 3 else [pytest.mark.slow])
        for index, program in enumerate(PROGRAMS)
    ],
)
def test_xla_computes_the_expected_results_of_what_comes_back(program: Program) -> None:
    jax = pytest.importorskip("jax")
    xla_client = pytest.importorskip("jaxlib.xla_client")
    device = jax.devices("cpu")[0]
    options = xla_client.CompileOptions()
    options.env_option_overrides = [("xla_allow_excess_precision", False)]
    text = write_text(from_hlo(to_hlo(program.text)))
    executable = device.client.compile_and_load(text, xla_client.DeviceList((device,)), options)
    with jax.enable_x64(True):
        arguments = [jax.device_put(array, device) for array in program.inputs()]
        results = executable.execute_sharded(arguments).disassemble_into_single_device_arrays()
        program.check([shards[0] for shards in results])


@pytest.mark.parametrize("folder", ["interpret", "chlo", "verify", pytest.param("testdata", marks=pytest.mark.slow)])
def test_stablehlos_files_come_back_the_same(folder: str) -> None:
    count = 0
    for path in sorted((stablehlo_tests() / folder).rglob("*.mlir")):
        if path.name == "verify_async_ops.mlir":  # the two halves of a pair become one op
            continue
        for part in split_modules(path.read_text()):
            for module in lowered(part):
                count += 1
                assert structurally_equal(module, through_text(module)), f"{path}\n{module}"
    assert count


def lowered(part: str) -> list[HloModule]:
    """Every function of a module that can be lowered."""
    found = []
    try:
        source = parse_text(part)
        verify(source)
    except XlaError:
        return []
    for name in source.functions:
        try:
            found.append(lower(source, name))
        except XlaError:  # a function of unknown sizes, of quantized types, without a body
            continue
    return found


@pytest.mark.parametrize("seed", [*range(10), *(pytest.param(n, marks=pytest.mark.slow) for n in range(10, 100))])
def test_random_programs_mean_the_same(seed: int) -> None:
    """As text they are the same tree, and from a portable artifact they compute the same."""
    program = seeded(seed)
    raised = from_hlo(program.module)
    for form in ({}, {"generic": True}):
        assert tree(parse_text(write_text(raised, **form))) == tree(raised)
    is_chlo = any(
        op.name.startswith("chlo.") for op in raised.walk()
    )  # in artifacts by formulas, which round elsewhere
    again = lower(raised if is_chlo else parse_bytecode(write_portable_artifact(raised)))
    arguments = program.arguments(seed)
    with np.errstate(all="ignore"):
        for result, want in zip(evaluate(again, *arguments), evaluate(program.module, *arguments), strict=True):
            assert result.dtype == want.dtype
            assert result.tobytes() == want.tobytes()  # NaNs and all


ELEMENTS = ("f32", "i32", "i1", "complex<f32>", "!quant.uniform<i8:f32, 2.0>")


def lowered_example(name: str) -> HloModule | None:
    """The program of an op in the reference, for the first element type that it takes."""
    example = op_example(name)
    for element in (example.shown, *example.types, *ELEMENTS):
        try:
            return lower(read(example.program(element)))
        except XlaError:
            continue
    return None


@pytest.mark.parametrize("name", sorted(OPS))
def test_every_op_of_the_table_comes_back_the_same(name: str) -> None:
    module = lowered_example(name)
    if module is None or name in ("stablehlo.async_start", "stablehlo.async_done"):  # these become what they start
        assert OPS[name].lower is None or "async" in name
        return
    if name == "mhlo.copy":  # StableHLO has no copy
        assert [i.opcode for i in through_text(module).entry.instructions] == ["parameter"]
        return
    assert structurally_equal(module, through_text(module))


# One by one


def hlo(body: str, head: str = "") -> HloModule:
    return parse_hlo(f"HloModule m{head}\n\n{body}")


def test_calls_become_functions_and_fusions_vanish() -> None:
    module = hlo("""\
twice { p = f32[4] parameter(0)
  ROOT r = f32[4] add(p, p) }
fused { p = f32[4] parameter(0)
  n = f32[4] negate(p)
  ROOT e = f32[4] exponential(n) }
ENTRY main { x = f32[4] parameter(0)
  a = f32[4] call(x), to_apply=twice
  b = f32[4] fusion(a), kind=kLoop, calls=fused
  ROOT c = f32[4] call(b), to_apply=twice }
""")
    raised = from_hlo(module)
    assert list(raised.functions) == ["main", "twice"]
    assert raised.functions["twice"].attributes["sym_visibility"] == "private"
    assert names(raised) == ["func.call", "stablehlo.negate", "stablehlo.exponential", "func.call", "func.return"]
    x = np.arange(4, dtype=np.float32)
    np.testing.assert_allclose(evaluate(lower(raised), x)[0], 2 * np.exp(-2 * x), rtol=1e-6)


def test_composites_stay_composites() -> None:
    text = """\
func.func @main(%a: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.composite "my.gelu" %a {composite_attributes = {approximate = true, k = 3 : i32},\
 decomposition = @gelu, version = 2 : i32} : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
func.func private @gelu(%a: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.negate %a : tensor<4xf32>
  return %0 : tensor<4xf32>
}
"""
    raised = from_hlo(to_hlo(text))
    composite = raised.functions["main"].regions[0].block.ops[0]
    assert composite.name == "stablehlo.composite"
    assert composite.attributes == {
        "name": "my.gelu",
        "composite_attributes": {"approximate": True, "k": 3},
        "decomposition": "gelu",
        "version": 2,
    }


def test_top_k_without_chlo() -> None:
    module = hlo("""\
ENTRY main { x = f32[2,5] parameter(0)
  a = (f32[2,3], s32[2,3]) topk(x), k=3, largest=true
  ROOT r = (f32[2,3], s32[2,3]) copy(a) }
""")
    x = np.array([[1, np.nan, -np.inf, 5, 1], [0.0, -0.0, 3, 3, 2]], np.float32)
    assert "chlo.top_k" in names(from_hlo(module))
    raised = from_hlo(module, has_chlo=False)
    assert "stablehlo.sort" in names(raised)
    for got, want in zip(evaluate(lower(raised), x), evaluate(module, x), strict=True):
        np.testing.assert_array_equal(got, want)


@pytest.mark.parametrize("kind", ["s4", "u8", "s64"])
def test_mulhi_without_chlo(kind: str) -> None:
    module = hlo(
        f"ENTRY main {{ x = {kind}[5] parameter(0)\n y = {kind}[5] parameter(1)\n ROOT z = {kind}[5] mulhi(x, y) }}\n"
    )
    assert "chlo.mulhi" in names(from_hlo(module))
    assert [i.opcode for i in lower(from_hlo(module)).entry.instructions].count("mulhi") == 1
    raised = from_hlo(module, has_chlo=False)
    assert not any(name.startswith("chlo.") for name in names(raised))
    dtype = ElementType(kind).dtype
    x, y = np.array([0, 1, 7, -8, -1]).astype(dtype), np.array([3, -1, 7, -8, -8]).astype(dtype)
    for got, want in zip(evaluate(lower(raised), x, y), evaluate(module, x, y), strict=True):
        np.testing.assert_array_equal(got, want)


def test_tuples_vanish_at_the_boundary_and_donations_stay() -> None:
    module = hlo(
        """\
ENTRY main { p = (f32[2], (f32[3], s32[])) parameter(0)
  q = f32[3] parameter(1)
  inner = (f32[3], s32[]) get-tuple-element(p), index=1
  x = f32[3] get-tuple-element(inner), index=0
  s = f32[3] add(x, q)
  t = (f32[3]) tuple(s)
  ROOT r = ((f32[3]), (f32[2], (f32[3], s32[]))) tuple(t, p) }
""",
        ", input_output_alias={ {0, 0}: (0, {1, 0}, may-alias) }",
    )
    main = from_hlo(module).functions["main"]
    type = main.attributes["function_type"]
    assert list(map(str, type.inputs)) == ["tensor<2xf32>", "tensor<3xf32>", "tensor<i32>", "tensor<3xf32>"]
    assert list(map(str, type.results)) == ["tensor<3xf32>", "tensor<2xf32>", "tensor<3xf32>", "tensor<i32>"]
    assert main.attributes["arg_attrs"] == ({}, {"tf.aliasing_output": 0}, {}, {})


def test_branches_take_what_they_need() -> None:
    module = hlo("""\
up { p = (f32[2], f32[2]) parameter(0)
  a = f32[2] get-tuple-element(p), index=0
  b = f32[2] get-tuple-element(p), index=1
  ROOT s = f32[2] add(a, b) }
down { p = f32[2] parameter(0)
  ROOT n = f32[2] negate(p) }
same { p = f32[2] parameter(0)
  ROOT c = f32[2] copy(p) }
ENTRY main { i = s32[] parameter(0)
  x = f32[2] parameter(1)
  both = (f32[2], f32[2]) tuple(x, x)
  ROOT r = f32[2] conditional(i, both, x, x), branch_computations={up, down, same} }
""")
    raised = from_hlo(module)
    assert names(raised)[0] == "stablehlo.case"
    x = np.array([1, 2], np.float32)
    again = lower(raised)
    for index, want in ((0, 2 * x), (1, -x), (2, x), (7, x), (-1, x)):
        np.testing.assert_array_equal(evaluate(again, np.int32(index), x)[0], want)
        np.testing.assert_array_equal(evaluate(module, np.int32(index), x)[0], want)


def test_bitcasts_follow_the_layouts() -> None:
    module = hlo("""\
ENTRY main { x = f32[2,3]{0,1} parameter(0)
  ROOT b = f32[3,2]{1,0} bitcast(x) }
""")
    x = np.arange(6, dtype=np.float32).reshape(2, 3)
    np.testing.assert_array_equal(evaluate(lower(from_hlo(module)), x)[0], x.T)


def test_asynchronous_pairs_become_what_they_start() -> None:
    module = hlo(
        """\
ENTRY main { x = f32[2] parameter(0)
  start = (f32[2], f32[4]) all-gather-start(x), dimensions={0}, replica_groups={{0,1}}
  done = f32[4] all-gather-done(start)
  c = (f32[4], f32[4], u32[]) copy-start(done)
  ROOT d = f32[4] copy-done(c) }
""",
        ", replica_count=2",
    )
    assert "stablehlo.all_gather" in names(from_hlo(module))
    xs = [[np.array([1, 2], np.float32)], [np.array([3, 4], np.float32)]]
    for results in evaluate_replicas(lower(from_hlo(module)), xs):
        np.testing.assert_array_equal(results[0], [1, 2, 3, 4])


def test_groups_are_spelled_out() -> None:
    module = hlo(
        """\
add { a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT s = f32[] add(a, b) }
ENTRY main { x = f32[2] parameter(0)
  ROOT r = f32[2] all-reduce(x), replica_groups={}, to_apply=add }
""",
        ", replica_count=4",
    )
    op = from_hlo(module).functions["main"].regions[0].block.ops[0]
    assert op.attributes["replica_groups"].tolist() == [[0, 1, 2, 3]]


def test_custom_calls_keep_all_that_they_say() -> None:
    text = """\
func.func @main(%a: tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<i32>) {
  %0:2 = stablehlo.custom_call @target(%a) {api_version = 4 : i32, backend_config = {k = 2 : i64, name = "x"},\
 has_side_effect = true, operand_layouts = [dense<[0, 1]> : tensor<2xindex>],\
 output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [0], operand_index = 0,\
 operand_tuple_indices = []>], result_layouts = [dense<[0, 1]> : tensor<2xindex>, dense<> : tensor<0xindex>]}\
 : (tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<i32>)
  return %0#0, %0#1 : tensor<2x3xf32>, tensor<i32>
}
"""
    source = parse_text(text)
    want = source.functions["main"].regions[0].block.ops[0].attributes
    assert from_hlo(lower(source)).functions["main"].regions[0].block.ops[0].attributes == want


def test_locations_and_frontend_attributes() -> None:
    module = hlo("""\
ENTRY main { x = f32[2] parameter(0)
  ROOT n = f32[2] negate(x), frontend_attributes={k="v"}, sharding={replicated},\
 metadata={op_name="jit(f)/neg" source_file="f.py" source_line=3} }
""")
    op = from_hlo(module).functions["main"].regions[0].block.ops[0]
    assert str(op.location) == "f.py:3 (jit(f)/neg)"
    assert op.attributes == {"mhlo.frontend_attributes": {"k": "v"}, "mhlo.sharding": "{replicated}"}


def test_bounded_sizes_stay_bounded() -> None:
    module = hlo("""\
ENTRY main { x = f32[<=5] parameter(0)
  ROOT n = f32[<=5] negate(x) }
""")
    type: Any = from_hlo(module).functions["main"].attributes["function_type"].inputs[0]
    assert str(type) == "tensor<?xf32, #stablehlo.bounds<5>>"


SAID_OTHERWISE = {
    "bitcast-convert",
    "compare",
    "convert",
    "copy",
    "map",
    "reduce-precision",
    "select",
    "stochastic-convert",
}
"""Elementwise ops that say more than their operands do, or nothing."""

ELEMENTWISE = sorted({name for name, op in HLO_OPS.items() if Trait.ELEMENTWISE in op.traits} - SAID_OTHERWISE)
EVERY_BIT = np.array([0, 1, 2, 3, 5, 100, 200, 255], np.uint8)


@pytest.mark.parametrize("opcode", ELEMENTWISE)
def test_elementwise_ops_are_raised_for_every_type_that_they_take(opcode: str) -> None:
    """Also for those that StableHLO's op of the same name does not take: unsigned integers, pred."""
    count = 0
    for element, number in itertools.product(ElementType, (1, 2, 3)):
        shape = Shape(element, (8,))
        computation = HloModule(opcode).add_computation(HloComputation("main"), entry=True)
        parameters = [computation.parameter(i, shape) for i in range(number)]
        try:
            computation.set_root(computation.add(opcode, *parameters))
        except XlaError:
            continue  # it takes no operands of this type, or not so many
        count += 1
        assert computation.module is not None
        again = lower(from_hlo(computation.module))
        if element.is_unsigned or element is ElementType.PRED:
            arguments = [np.roll(EVERY_BIT, i).astype(shape.dtype) for i in range(number)]
            (got,), (want,) = evaluate(again, *arguments), evaluate(computation.module, *arguments)
            np.testing.assert_array_equal(got, want, err_msg=str(element))
    assert count


# Ops that StableHLO lacks


@pytest.mark.parametrize("has_chlo", [True, False])
@pytest.mark.parametrize("flags", ["", ", is_reverse=true", ", is_reverse=true, is_associative=true"])
def test_scan(has_chlo: bool, flags: str) -> None:
    module = hlo(f"""\
step {{ x = s32[3] parameter(0)
  c = s32[3] parameter(1)
  d = s32[3] multiply(x, c)
  e = s32[3] add(d, x)
  ROOT t = (s32[3], s32[3]) tuple(d, e) }}
ENTRY main {{ x = s32[3,4] parameter(0)
  c = s32[3] parameter(1)
  ROOT r = (s32[3,4], s32[3]) scan(x, c), dimensions={{1}}, num_carries=1{flags}, to_apply=step }}
""")
    raised = from_hlo(module, has_chlo=has_chlo)
    assert any(op.name == "chlo.scan" for op in raised.walk()) == has_chlo
    verify(raised)
    again = lower(raised)
    assert [i.opcode for i in again.entry.instructions].count("scan") == has_chlo
    x, c = np.arange(12, dtype=np.int32).reshape(3, 4), np.array([1, -2, 3], np.int32)
    for got, want in zip(evaluate(again, x, c), evaluate(module, x, c), strict=True):
        np.testing.assert_array_equal(got, want)


def test_scan_without_inputs_says_how_often() -> None:
    module = hlo("""\
step { c = s32[] parameter(0)
  one = s32[] constant(1)
  d = s32[] add(c, one)
  ROOT t = (s32[], s32[]) tuple(c, d) }
ENTRY main { c = s32[] parameter(0)
  ROOT r = (s32[5], s32[]) scan(c), dimensions={0}, num_carries=1, to_apply=step }
""")
    raised = from_hlo(module)
    assert raised.functions["main"].regions[0].block.ops[0].attributes["scan_dim_size"] == 5
    outputs, carry = evaluate(lower(raised), np.int32(2))
    assert outputs.tolist() == [2, 3, 4, 5, 6]
    assert carry == 7


def test_stochastic_convert_rounds_as_the_bits_say() -> None:
    module = hlo("""\
ENTRY main { x = f32[6] parameter(0)
  r = u32[6] parameter(1)
  ROOT c = s8[6] stochastic-convert(x, r) }
""")
    quarter = 1 << 30
    x = np.array([2.25, 2.25, -2.25, 1e9, np.nan, 0.25], np.float32)
    bits = np.array([quarter - 1, quarter, 0, 0, 0, quarter - 1], np.uint32)
    want = np.array([3, 2, -3, 127, 0, 1], np.int8)
    np.testing.assert_array_equal(evaluate(module, x, bits)[0], want)
    np.testing.assert_array_equal(evaluate(lower(from_hlo(module)), x, bits)[0], want)


def test_scaled_dot_is_the_composite_that_jax_writes() -> None:
    module = hlo("""\
ENTRY main { x = f8e4m3fn[2,3,8] parameter(0)
  y = f8e4m3fn[2,8,5] parameter(1)
  a = f8e8m0fnu[2,3,2] parameter(2)
  b = f8e8m0fnu[2,2,5] parameter(3)
  ROOT r = f32[2,3,5] scaled-dot(x, y, a, b), lhs_batch_dims={0}, rhs_batch_dims={0}, lhs_contracting_dims={2},\
 rhs_contracting_dims={1} }
""")
    raised = from_hlo(module)
    op = raised.functions["main"].regions[0].block.ops[0]
    assert op.attributes["name"] == "xla.scaled_dot"
    assert op.attributes["composite_attributes"] == {
        "dimension_numbers": (((2,), (1,)), ((0,), (0,))),
        "preferred_element_type": ScalarType("f32"),
    }
    rng = np.random.default_rng(1)
    x, y = (rng.integers(-8, 9, s).astype(ml_dtypes.float8_e4m3fn) for s in ((2, 3, 8), (2, 8, 5)))
    a, b = ((2.0 ** rng.integers(-3, 4, s)).astype(ml_dtypes.float8_e8m0fnu) for s in ((2, 3, 2), (2, 2, 5)))
    np.testing.assert_array_equal(
        evaluate(through_text(module), x, y, a, b)[0], evaluate(module, x, y, a, b)[0]
    )  # sums of few small integers are exact


def test_ragged_all_to_all_is_a_custom_call() -> None:
    module = hlo(
        """\
ENTRY main { x = f32[4] parameter(0)
  o = f32[6] parameter(1)
  at = s32[2] parameter(2)
  n = s32[2] parameter(3)
  to = s32[2] parameter(4)
  m = s32[2] parameter(5)
  ROOT r = f32[6] ragged-all-to-all(x, o, at, n, to, m), replica_groups={{0,1}} }
""",
        ", replica_count=2",
    )
    op = from_hlo(module).functions["main"].regions[0].block.ops[0]
    assert (op.attributes["call_target_name"], op.attributes["api_version"]) == ("ragged_all_to_all", 4)
    assert structurally_equal(module, through_text(module))


def test_dynamic_reshape_takes_its_sizes_as_a_vector() -> None:
    module = hlo("""\
ENTRY main { x = f32[<=6] parameter(0)
  n = s32[] parameter(1)
  m = s32[] parameter(2)
  ROOT r = f32[<=2,<=3] dynamic-reshape(x, n, m) }
""")
    assert "stablehlo.dynamic_reshape" in names(from_hlo(module))
    for sizes in ((2, 3), (1, 3), (2, 1)):
        x = np.arange(sizes[0] * sizes[1], dtype=np.float32)
        arguments = (x, *map(np.int32, sizes))
        (want,) = evaluate(module, *arguments)
        assert want.shape == sizes
        np.testing.assert_array_equal(evaluate(through_text(module), *arguments)[0], want)


def test_what_has_a_state_of_its_own_is_refused_with_its_place() -> None:
    module = hlo("""\
ENTRY main { ROOT s = u64[2] rng-get-and-update-state(), delta=4,\
 metadata={op_name="f" source_file="f.py" source_line=7} }
""")
    with pytest.raises(UnimplementedError, match="no counterpart in StableHLO, whose programs have no state") as caught:
        from_hlo(module)
    assert caught.value.location is not None
    assert (caught.value.location.file, caught.value.location.line) == ("f.py", 7)


@pytest.mark.parametrize("dimensions", [None, (5, 0)])
def test_malformed_modules_are_refused_by_the_verifier(dimensions: tuple[int, ...] | None) -> None:
    module = hlo("ENTRY main { x = f32[2,3] parameter(0)\n  ROOT y = f32[3,2] transpose(x), dimensions={1,0} }\n")
    del module.entry.root.attributes["dimensions"]
    if dimensions is not None:
        module.entry.root.attributes["dimensions"] = dimensions
    with pytest.raises(InvalidArgumentError, match=r"y: .*dimensions"):
        from_hlo(module)

"""Portable artifacts: read back as the same program here and by jaxlib, at every release."""

from __future__ import annotations

import contextlib
import itertools
import math
from collections.abc import Sequence
from typing import Any

import ml_dtypes
import mpmath
import numpy as np
import pytest
import scipy.special
from xla_conformance.accuracy.bounds import bound

import xla_core as xla
from tests.programs import PROGRAMS, Program
from tests.xla_core.stablehlo.reading import PROGRAM, in_function, stablehlo_tests, tree
from xla_core.errors import InvalidArgumentError, UnimplementedError, XlaError
from xla_core.hlo import HloModule, evaluate
from xla_core.stablehlo import (
    OPS,
    Module,
    Op,
    VersionError,
    from_hlo,
    lower,
    op_example,
    parse_bytecode,
    parse_text,
    refine,
    split_modules,
    verify,
    write_portable_artifact,
    write_text,
)
from xla_core.stablehlo.ir.attributes import Unit
from xla_core.stablehlo.ir.structures import ChannelHandle
from xla_core.stablehlo.ops.common import OneOp
from xla_core.stablehlo.translate.bytecode.to_vhlo import _converted, to_vhlo
from xla_core.stablehlo.translate.expansion import expand
from xla_core.stablehlo.vhlo.conversion import is_default
from xla_core.stablehlo.vhlo.ops import by_operands, vhlo_ops
from xla_core.stablehlo.vhlo.versions import CURRENT, MINIMUM, Version

RELEASES = ("0.9.0", "0.10.0", "0.13.0", "0.14.3", "1.0.0", "1.5.0", "1.9.0", "1.17.0", "1.20.0")
"""Each format of bytecode, and what ops have changed with."""


def normal(module: Module) -> Any:
    """A module as plain data, without the attributes that have their defaults: VHLO doesn't tell them apart."""
    for op in module.walk():
        kept: dict[str, Any] = {}
        for name, value in op.attributes.items():
            known = value
            if isinstance(value, Unit):
                known = True
            elif isinstance(value, ChannelHandle) and op.name not in ("stablehlo.send", "stablehlo.recv"):
                known = value.handle  # of collectives the type is not kept
            if known not in ((), None, 0) and not is_default(name, _converted("", value)):
                kept[name] = known
        op.attributes = kept
    return tree(module)


def check(module: Module, release: str) -> None:
    version = Version.parse(release)
    artifact = write_portable_artifact(module, release)
    assert f"StableHLO_v{release}".encode() in artifact[:40]
    want = parse_text(write_text(expand(module, version)))  # a copy
    assert normal(parse_bytecode(artifact)) == normal(want)


@pytest.mark.parametrize("release", RELEASES)
def test_everything_reads_back(release: str) -> None:
    check(parse_text(PROGRAM), release)


@pytest.mark.parametrize("program", PROGRAMS, ids=str)
def test_programs_read_back(program: Program) -> None:
    for release in ("0.9.0", "1.20.0"):
        check(parse_text(program.text), release)


@pytest.mark.parametrize("release", RELEASES)
def test_older_releases_mean_the_same(release: str) -> None:
    """An expanded program computes the same results."""
    for program in [p for p in PROGRAMS if p.name in ("elementwise", "special_functions", "vmap_gather", "convnet")]:
        module = parse_bytecode(write_portable_artifact(parse_text(program.text), release))
        verify(module)
        program.check(list(evaluate(lower(module), *program.inputs())))


@pytest.mark.parametrize("folder", ["verify", pytest.param("testdata", marks=pytest.mark.slow)])
def test_stablehlos_files_read_back(folder: str) -> None:
    count = refused = 0
    for path in sorted((stablehlo_tests() / folder).rglob("*.mlir")):
        if path.name == "print_stablehlo.mlir":  # has functions that end in a stablehlo.return
            continue
        for part in split_modules(path.read_text()):
            try:
                module = parse_text(part)
                verify(module)
            except XlaError:
                continue
            count += 1
            try:
                check(module, str(CURRENT))
            except UnimplementedError:  # ops of the tests' own dialect
                refused += 1
    assert count
    assert refused < 0.06 * count


def test_locations_are_kept() -> None:
    module = parse_text(PROGRAM)
    again = parse_bytecode(write_portable_artifact(module))
    places = [[str(op.location) for op in m.walk() if op.name == "stablehlo.add"] for m in (module, again)]
    assert places[0][0] == places[1][0] == "model.py:10:4 (jit(f)/add)"
    bare = parse_bytecode(write_portable_artifact(module, locations=False))
    assert {str(op.location) for op in bare.walk()} == {"<unknown>"}


def test_constants_are_not_copied_element_by_element() -> None:
    data = np.arange(1 << 20, dtype=np.float32)
    text = in_function("%0 = stablehlo.constant dense<0.0> : tensor<1048576xf32>")
    module = parse_text(text)
    op = module.functions["f"].regions[0].block.ops[0]
    value = op.attributes["value"]
    op.attributes["value"] = type(value)(value.type, data)
    artifact = write_portable_artifact(module)
    assert data.tobytes() in artifact
    assert parse_bytecode(artifact).functions["f"].regions[0].block.ops[0].attributes["value"].array.tolist()[:3] == [
        0.0,
        1.0,
        2.0,
    ]


# Releases


def test_the_table_of_releases_is_in_order() -> None:
    for op in vhlo_ops().values():
        assert (MINIMUM.major, MINIMUM.minor) <= op.first <= (CURRENT.major, CURRENT.minor)
        base, _, number = op.written.rpartition("_v")
        later = vhlo_ops().get(f"{base}_v{int(number) + 1}")
        assert later is None or op.first < later.first


@pytest.mark.parametrize(
    ("body", "needed"),
    [
        ("%0 = stablehlo.exponential %a {result_accuracy = #stablehlo.result_accuracy<mode = "
         "#stablehlo.result_accuracy_mode<HIGHEST>>} : tensor<f32>", "1.9.0"),
        ("%0 = stablehlo.tanh %a {result_accuracy = #stablehlo.result_accuracy<mode = "
         "#stablehlo.result_accuracy_mode<HIGHEST>>} : tensor<f32>", "1.10.0"),
        ("%0 = stablehlo.convert %a : (tensor<f32>) -> tensor<f8E4M3FNUZ>", "0.10.0"),
        ("%0 = stablehlo.convert %a : (tensor<f32>) -> tensor<i2>", "1.2.0"),
        ("%0 = stablehlo.convert %a : (tensor<f32>) -> tensor<f4E2M1FN>", "1.8.0"),
        ('%0 = "stablehlo.collective_broadcast"(%a) {replica_groups = dense<0> : tensor<1x1xi64>}'
         " : (tensor<f32>) -> tensor<f32>", "0.16.0"),
        ('%0 = stablehlo.composite "a.b" %a {decomposition = @g} : (tensor<f32>) -> tensor<f32>', "0.19.0"),
        ('%0:2 = "stablehlo.all_reduce"(%a, %a) ({\n^b(%x: tensor<f32>, %y: tensor<f32>):\nstablehlo.return %x :'
         " tensor<f32>\n}) {replica_groups = dense<0> : tensor<1x1xi64>} : (tensor<f32>, tensor<f32>) ->"
         " (tensor<f32>, tensor<f32>)", "1.5.0"),
        ("%0 = stablehlo.dot_general %a, %a, contracting_dims = [] x [], algorithm = <lhs_precision_type = f32,"
         " rhs_precision_type = f32, accumulation_type = f32, lhs_component_count = 1, rhs_component_count = 1,"
         " num_primitive_operations = 1, allow_imprecise_accumulation = false>"
         " : (tensor<f32>, tensor<f32>) -> tensor<f32>", "1.6.0"),
    ],
)  # fmt: skip
def test_what_needs_a_later_release_says_which(body: str, needed: str) -> None:
    called = "func.func private @g(%a: tensor<f32>) -> tensor<f32> {\n  return %a : tensor<f32>\n}\n"
    module = parse_text(in_function(body) + called, "p.mlir")
    version = Version.parse(needed)
    before = Version(version.major, version.minor - 1)
    write_portable_artifact(module, version)
    write_text(module, version=version)
    for write in (write_portable_artifact, lambda m, v: write_text(m, version=v)):
        with pytest.raises(VersionError, match=f"needs StableHLO {needed}, but the program is written for") as caught:
            write(module, before)
        assert caught.value.location is not None
        assert caught.value.location.file == "p.mlir"


CALL = """\
module @m {
  func.func public @main(%a: tensor<f32>) -> tensor<f32> {
    %0 = call @outer(%a) : (tensor<f32>) -> tensor<f32> loc("jit(f)"("model.py":7:9))
    return %0 : tensor<f32>
  }
  func.func private @outer(%a: tensor<f32>) -> tensor<f32> {
    %0 = call @inner(%a) : (tensor<f32>) -> tensor<f32> loc("outer")
    return %0 : tensor<f32>
  }
  func.func private @inner(%a: tensor<f32>) -> tensor<f32> {
    OP loc("inner")
    return %0 : tensor<f32>
  }
}
"""


@pytest.mark.parametrize(
    ("given", "release", "written"),
    [
        ("api_version = 4 : i32, backend_config = {k = 1 : i64}", "1.2.0", {"mhlo.backend_config": {"k": 1}}),
        ("api_version = 4 : i32, backend_config = {}", "0.9.0", {"mhlo.backend_config": {}}),
        ("api_version = 4 : i32", "0.9.0", {"mhlo.backend_config": {}}),
        ("mhlo.backend_config = {k = 1 : i64}", "0.9.0", {"mhlo.backend_config": {"k": 1}}),
        (
            'mhlo.frontend_attributes = {a = "b"}, sdy.sharding_rule = #sdy.op_sharding_rule<([i])->([i]) {i=5}>',
            "1.10.0",
            {
                "mhlo.frontend_attributes": {
                    "a": "b",
                    "xla.sdy.sharding_rule": "#sdy.op_sharding_rule<([i])->([i]) {i=5}>",
                }
            },
        ),
        ('acme.hint = #acme.hint<fast>, acme.text = "kept"', "1.10.0", {"acme.text": "kept"}),
    ],
)
def test_attributes_that_a_release_cannot_hold(given: str, release: str, written: dict[str, Any]) -> None:
    """A typed call in JAX's form, Shardy's attributes as the text that XLA keeps of them, no hints of other dialects."""
    module = parse_text(
        CALL.replace("OP", f"%0 = stablehlo.custom_call @f(%a) {{{given}}} : (tensor<f32>) -> tensor<f32>")
    )
    want = {"call_target_name": "f", **written}
    for again in (
        parse_bytecode(write_portable_artifact(module, release)),
        parse_text(write_text(module, version=release)),
    ):
        attributes = dict(again.functions["inner"].regions[0].block.ops[0].attributes)
        assert attributes.pop("api_version", 1) == 1
        assert not attributes.pop("backend_config", "")
        assert {name: value for name, value in attributes.items() if value not in ((), False)} == want


def test_shardys_attributes_of_arguments_before_other_dialects() -> None:
    text = CALL.replace("OP", "%0 = stablehlo.negate %a : tensor<f32>").replace(
        "@main(%a: tensor<f32>", '@main(%a: tensor<f32> {sdy.sharding = #sdy.sharding<@mesh, []>, jax.arg_info = "a"}'
    )
    again = parse_bytecode(write_portable_artifact(parse_text(text), "1.10.0"))
    assert again.functions["main"].attributes["arg_attrs"] == (
        {"jax.arg_info": "a", "mhlo.frontend_attributes": {"xla.sdy.sharding": "#sdy.sharding<@mesh, []>"}},
    )


@pytest.mark.parametrize("is_bytecode", [False, True])
def test_an_error_in_a_function_without_places_says_where_it_is_called(is_bytecode: bool) -> None:
    """JAX gives ops of private functions names alone: the place in the program is that of the call."""
    module = parse_text(CALL.replace("OP", "%0 = stablehlo.tanh %a {result_accuracy = #stablehlo.result_accuracy<mode ="
                                     " #stablehlo.result_accuracy_mode<HIGHEST>>} : tensor<f32>"))  # fmt: skip
    if is_bytecode:
        module = parse_bytecode(write_portable_artifact(module))
    for write in (write_portable_artifact, lambda m, v: write_text(m, version=v)):
        with pytest.raises(VersionError) as caught:
            write(module, "1.0.0")
        assert str(caught.value.location) == "model.py:7:9 (inner)"


def test_versions_that_there_are_not() -> None:
    module = parse_text(in_function(""))
    for version in ("0.8.0", "1.21.0", "2.0.0", "1", "1.17.", "1.17.0.0", "new", ""):
        with pytest.raises(InvalidArgumentError):
            write_portable_artifact(module, version)
    assert write_portable_artifact(module, "1.20.7")  # a patch changes nothing
    assert write_portable_artifact(module, "1.17") == write_portable_artifact(module, "1.17.0")


def test_other_dialects_are_refused_by_name() -> None:
    with pytest.raises(UnimplementedError, match=r"my\.op is no op of StableHLO that portable artifacts can hold"):
        write_portable_artifact(parse_text(in_function('%0 = "my.op"(%a) : (tensor<f32>) -> tensor<f32>')))


def test_types_quantized_by_blocks_are_in_no_release() -> None:
    quantized = "tensor<2x2x!quant.uniform<i8:f32:{0:1, 1:2}, {{1.0}, {2.0}}>>"
    module = parse_text(in_function("", f"%a: {quantized}"))
    with pytest.raises(UnimplementedError, match="no release of VHLO has types that are quantized by blocks"):
        write_portable_artifact(module)


SHARDY = """\
module @m {
  sdy.mesh @mesh = <["x"=2, "y"=2]>
  func.func @main(%a: tensor<8x4xf32>) -> tensor<8x4xf32> {
    %0 = sdy.sharding_constraint %a <@mesh, [{"x"}, {?}]> : tensor<8x4xf32>
    %1 = stablehlo.add %0, %a : tensor<8x4xf32>
    %2 = sdy.manual_computation(%1) in_shardings=[<@mesh, [{"x"}, {}]>] out_shardings=[<@mesh, [{"x"}, {}]>]
        manual_axes={"x"} (%b: tensor<4x4xf32>) {
      %3 = stablehlo.negate %b : tensor<4x4xf32>
      %4 = stablehlo.multiply %3, %b : tensor<4x4xf32>
      sdy.return %4 : tensor<4x4xf32>
    } : (tensor<8x4xf32>) -> tensor<8x4xf32>
    sdy.sharding_group %2 group_id=1 : tensor<8x4xf32>
    %5 = stablehlo.add %2, %0 : tensor<8x4xf32>
    return %5 : tensor<8x4xf32>
  }
}
"""


def test_ops_of_shardy_stand_between_casts() -> None:
    module = parse_text(SHARDY)
    artifact = write_portable_artifact(module, "1.17.0")
    assert tree(parse_bytecode(artifact)) == tree(parse_text(SHARDY)) == tree(module)
    with pytest.raises(VersionError, match=r"needs StableHLO 1\.11\.0"):
        write_portable_artifact(module, "1.10.0")


def test_jaxlib_reads_ops_of_shardy(jaxlib: tuple[Any, Any]) -> None:
    stablehlo, context = jaxlib
    with context:
        read = str(
            stablehlo.deserialize_portable_artifact(context, write_portable_artifact(parse_text(SHARDY), "1.17.0"))
        )
    assert normal(parse_text(read)) == normal(parse_text(SHARDY))


def test_scan_becomes_a_loop() -> None:
    text = """\
func.func @main(%x: tensor<2x4xf32>, %c: tensor<2xf32>) -> (tensor<2x4xf32>, tensor<2xf32>) {
  %0:2 = chlo.scan(%x) inits(%c) dimension=1 attributes {is_reverse = true} {
  ^bb0(%a: tensor<2xf32>, %b: tensor<2xf32>):
    %1 = stablehlo.add %a, %b : tensor<2xf32>
    %2 = chlo.square %1 : tensor<2xf32> -> tensor<2xf32>
    stablehlo.return %1, %2 : tensor<2xf32>, tensor<2xf32>
  } : (tensor<2x4xf32>, tensor<2xf32>) -> (tensor<2x4xf32>, tensor<2xf32>)
  return %0#0, %0#1 : tensor<2x4xf32>, tensor<2xf32>
}
"""
    module = parse_bytecode(write_portable_artifact(parse_text(text), "1.0.0"))
    assert [op.name for op in module.walk()].count("stablehlo.while") == 1
    x, c = np.arange(8, dtype=np.float32).reshape(2, 4) / 4, np.array([1, -1], np.float32)
    for got, want in zip(evaluate(lower(module), x, c), evaluate(lower(parse_text(text)), x, c), strict=True):
        np.testing.assert_array_equal(got, want)


def test_ragged_dot_becomes_a_dot() -> None:
    text = """\
func.func @main(%x: tensor<5x4xi32>, %y: tensor<3x4x2xi32>, %n: tensor<3xi32>) -> tensor<5x2xi32> {
  %0 = "chlo.ragged_dot"(%x, %y, %n) {ragged_dot_dimension_numbers = #chlo.ragged_dot<lhs_contracting_dimensions = [1],
    rhs_contracting_dimensions = [1], lhs_ragged_dimensions = [0], rhs_group_dimensions = [0]>}
    : (tensor<5x4xi32>, tensor<3x4x2xi32>, tensor<3xi32>) -> tensor<5x2xi32>
  return %0 : tensor<5x2xi32>
}
"""
    module = parse_bytecode(write_portable_artifact(parse_text(text), "1.0.0"))
    x, y = np.arange(20, dtype=np.int32).reshape(5, 4), np.arange(24, dtype=np.int32).reshape(3, 4, 2) - 7
    want = np.concatenate([x[:2] @ y[0], x[2:3] @ y[1], x[3:4] @ y[2], np.zeros((1, 2), np.int32)])
    (got,) = evaluate(lower(module), x, y, np.array([2, 1, 1], np.int32))
    np.testing.assert_array_equal(got, want)


def test_every_op_of_stablehlo_has_a_form() -> None:
    """Each base name of VHLO's is taken by some op, and at the newest release by its newest version."""
    newest = {name.rpartition("_v")[0]: name for name in sorted(vhlo_ops())}
    op = parse_text(in_function("%0 = stablehlo.tanh %a : tensor<f32>")).functions["f"].regions[0].block.ops[0]
    assert to_vhlo(op, CURRENT)[0].written == newest["vhlo.tanh"] == "vhlo.tanh_v2"
    assert to_vhlo(op, MINIMUM)[0].written == "vhlo.tanh_v1"


class Watched:
    """An op, and which of its operands, results and regions somebody looked at."""

    def __init__(self, op: Op) -> None:
        self.op = op
        self.looked: set[str] = set()

    def __getattr__(self, name: str) -> Any:
        if name in ("operands", "results", "regions"):
            self.looked.add(name)
        return getattr(self.op, name)


def test_ops_whose_attributes_do_not_say_all_are_known() -> None:
    """The writer keeps what ops of equal attributes become: not where anything else is looked at, at any release."""
    examples = [op_example(name).program() for name in OPS if name.startswith("stablehlo.")]
    ops: dict[str, list[Op]] = {}
    for text in (*examples, PROGRAM, *(program.text for program in PROGRAMS)):
        for op in parse_text(text).walk():
            if op.name.startswith(("stablehlo.", "func.")):
                ops.setdefault(op.name, []).append(op)
    assert set(ops) >= {op.name for op in vhlo_ops().values()}
    releases = [Version.parse(release) for release in ("0.9.0", "0.16.0", "0.20.0", "1.0.0", "1.13.0", "1.20.0")]
    looking = set()
    for op, release in itertools.product(itertools.chain.from_iterable(ops.values()), releases):
        watched: Any = Watched(op)
        with contextlib.suppress(XlaError):
            to_vhlo(watched, release)
        if watched.looked:
            looking.add(op.name)
    assert looking == by_operands()


def test_what_an_op_becomes_follows_its_operands() -> None:
    """Two ops of one attribute's identity: the second promotes, or meets several operands."""
    sums = """({{
^b(%x: tensor<{0}>, %y: tensor<{0}>):
  stablehlo.return %x : tensor<{0}>
}}) {{replica_groups = dense<0> : tensor<1x1xi64>}} : (tensor<f32>) -> tensor<{0}>"""
    body = '%0 = "stablehlo.all_reduce"(%a) ' + sums.format("f32") + '\n%1 = "stablehlo.all_reduce"(%a) '
    module = parse_text(in_function(body + sums.format("f64")))
    assert write_portable_artifact(module, "0.17.0")
    with pytest.raises(VersionError, match="another element type"):
        write_portable_artifact(module, "0.16.0")


def test_transfers_of_hlo_have_a_form() -> None:
    module = from_hlo(
        xla.parse("""HloModule transfer
ENTRY e {
  t = token[] after-all()
  x = f32[2] parameter(0)
  s = (f32[2], u32[], token[]) send(x, t), channel_id=5, is_host_transfer=true
  sd = token[] send-done(s), channel_id=5, is_host_transfer=true
  r = (f32[2], u32[], token[]) recv(sd), channel_id=6
  rd = (f32[2], token[]) recv-done(r), channel_id=6
  ROOT y = f32[2] get-tuple-element(rd), index=0
}""")
    )
    check(module, "1.0.0")
    handles = [op.attributes["channel_handle"] for op in module.walk() if "channel_handle" in op.attributes]
    assert handles == [ChannelHandle(5, 2), ChannelHandle(6, 1)]


# Expansions


REFERENCES: dict[str, Any] = {
    "acos": np.arccos,
    "acosh": np.arccosh,
    "asin": np.arcsin,
    "asinh": np.arcsinh,
    "atan": np.arctan,
    "atanh": np.arctanh,
    "cosh": np.cosh,
    "erf": scipy.special.erf,
    "erfc": np.vectorize(math.erfc, otypes=[float]),  # scipy's is off by hundreds of ULP where it is small
    "erf_inv": scipy.special.erfinv,
    "sinh": np.sinh,
    "tan": np.tan,
}
"""Functions that HLO has an op for, and StableHLO none, or not from the first release on."""

INVERSES = ("acos", "acosh", "asin", "asinh", "atan", "atanh")


def test_every_function_of_chlo_alone_has_a_reference() -> None:
    assert {*REFERENCES, "mulhi", "top_k"} == {
        name.removeprefix("chlo.")
        for name, definition in OPS.items()
        if name.startswith("chlo.") and isinstance(definition.lower, OneOp)
    }


def test_the_high_half_of_products() -> None:
    t = "tensor<4xi32>"
    op = f"%0 = chlo.mulhi %x, %y : {t}, {t} -> {t}"
    program = rewritten(f"func.func @main(%x: {t}, %y: {t}) -> {t} {{\n  {op}\n  return %0 : {t}\n}}\n")
    x, y = np.int32([2**31 - 1, -(2**31), -5, 70000]), np.int32([2**31 - 1, 2**30, 7, -70000])
    np.testing.assert_array_equal(evaluate(program, x, y)[0], (x.astype(np.int64) * y) >> 32)


def through_artifact(name: str, type: str) -> HloModule:
    """A function of CHLO, written for the first release of StableHLO, and read again."""
    return rewritten(
        f"func.func @main(%x: {type}) -> {type} {{\n  %0 = chlo.{name} %x : {type} -> {type}\n  return %0 : {type}\n}}\n"
    )


def rewritten(text: str) -> HloModule:
    """A program with CHLO, written for the first release of StableHLO, and read again."""
    module = parse_bytecode(write_portable_artifact(parse_text(text), "1.0.0"))
    assert not any(op.name.startswith("chlo.") for op in module.walk())
    return lower(module)


def in_ulp(got: np.ndarray, want: np.ndarray) -> np.ndarray:
    """The distance in units in the last place of `got`'s type; 0 where both are the same infinity or NaN."""
    format = ml_dtypes.finfo(got.dtype)
    same = (got == want.astype(got.dtype)) | (np.isnan(got) & np.isnan(want))
    _, exponent = np.frexp(want)
    ulp = np.ldexp(1.0, np.maximum(exponent - 1, format.minexp) - format.nmant)
    return np.where(same, 0.0, np.abs(got.astype(np.float64) - want) / ulp)


@pytest.mark.parametrize("dtype", ["f32", "f64"])
@pytest.mark.parametrize("name", [*INVERSES, "cosh", "sinh", "tan"])
def test_complex_functions_are_right(name: str, dtype: str) -> None:
    """Each part within what the table of errors allows any backend."""
    rng = np.random.default_rng(4)
    x = (rng.uniform(-4, 4, 60) + 1j * rng.uniform(-4, 4, 60)).astype(
        {"f32": np.complex64, "f64": np.complex128}[dtype]
    )
    (got,) = evaluate(through_artifact(name, f"tensor<{x.size}xcomplex<{dtype}>>"), x)
    with mpmath.workdps(40):
        exact = [getattr(mpmath, name)(mpmath.mpc(complex(value))) for value in x]
    allowed = bound("complex", name, {"f32": "c64", "f64": "c128"}[dtype], "backend")
    assert allowed is not None
    for part in ("real", "imag"):
        error = in_ulp(getattr(got, part), np.array([float(getattr(value, part)) for value in exact]))
        assert error.max() <= allowed, (part, x[error.argmax()], error.max())


@pytest.mark.parametrize(("name", "dtype"), list(itertools.product(REFERENCES, ["f32", "f64", "bf16"])))
def test_functions_are_right(name: str, dtype: str) -> None:
    hlo = through_artifact(name, f"tensor<4000x{dtype}>")
    argument = hlo.parameter_shapes[0].dtype
    rng = np.random.default_rng(3)
    near = np.concatenate([rng.uniform(-1, 1, 2000), rng.uniform(-6, 6, 1000), rng.uniform(-80, 80, 980)])
    special = [0.0, -0.0, 1.0, -1.0, 1e-30, -1e-30, 1e30, -1e30, np.inf, -np.inf, np.nan, 2, 0.5, 1e-8, 3e-5, 7.0]
    x = np.concatenate([near, special, [1.0 + 1e-6] * 4]).astype(argument)
    with np.errstate(all="ignore"):
        error = in_ulp(evaluate(hlo, x)[0], REFERENCES[name](x.astype(np.float64)))
    allowed = bound("real", name, dtype, "backend")
    assert allowed is not None
    assert error.max() <= allowed, (x[error.argmax()], error.max())


def test_batching_dimensions_become_indices() -> None:
    text = """\
func.func @main(%x: tensor<3x4x5xf32>, %i: tensor<3x2x1xi8>) -> tensor<3x2x5xf32> {
  %0 = "stablehlo.gather"(%x, %i) {dimension_numbers = #stablehlo.gather<offset_dims = [2],
    collapsed_slice_dims = [1], operand_batching_dims = [0], start_indices_batching_dims = [0],
    start_index_map = [1], index_vector_dim = 2>, slice_sizes = array<i64: 1, 1, 5>}
    : (tensor<3x4x5xf32>, tensor<3x2x1xi8>) -> tensor<3x2x5xf32>
  return %0 : tensor<3x2x5xf32>
}
"""
    module = parse_text(text)
    old = expand(module, Version(1, 0))
    verify(old)
    assert tree(module) == tree(parse_text(text)), "the module that is written does not change"
    x = np.arange(60, dtype=np.float32).reshape(3, 4, 5)
    i = np.array([0, 3, 1, 1, 2, 0], np.int8).reshape(3, 2, 1)
    want = np.take_along_axis(x, i.astype(np.int64), 1)
    for each in (module, old):
        np.testing.assert_array_equal(evaluate(lower(each), x, i)[0], want)


def test_batching_dimensions_of_scatter() -> None:
    text = """\
func.func @main(%x: tensor<3x4xf32>, %i: tensor<3x2xi32>, %u: tensor<3x2xf32>) -> tensor<3x4xf32> {
  %0 = "stablehlo.scatter"(%x, %i, %u) ({
  ^b(%a: tensor<f32>, %b: tensor<f32>):
    %1 = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %1 : tensor<f32>
  }) {scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [1], input_batching_dims = [0],
    scatter_indices_batching_dims = [0], scatter_dims_to_operand_dims = [1], index_vector_dim = 2>}
    : (tensor<3x4xf32>, tensor<3x2xi32>, tensor<3x2xf32>) -> tensor<3x4xf32>
  return %0 : tensor<3x4xf32>
}
"""
    module = parse_text(text)
    old = expand(module, Version(1, 0))
    verify(old)
    x = np.zeros((3, 4), np.float32)
    i = np.array([[0, 3], [1, 1], [2, 9]], np.int32)  # 9 is nowhere
    u = np.arange(1, 7, dtype=np.float32).reshape(3, 2)
    want = np.array([[1, 0, 0, 2], [0, 7, 0, 0], [0, 0, 5, 0]], np.float32)
    for each in (module, old):
        np.testing.assert_array_equal(evaluate(lower(each), x, i, u)[0], want)


# jaxlib


@pytest.fixture(scope="module")
def jaxlib() -> tuple[Any, Any]:
    pytest.importorskip("jax")
    from jax.interpreters import mlir
    from jaxlib.mlir.dialects import stablehlo

    return stablehlo, mlir.make_ir_context()


@pytest.mark.parametrize("release", [release for release in RELEASES if release != "1.20.0"])
def test_jaxlib_reads_what_is_written(jaxlib: tuple[Any, Any], release: str) -> None:
    read_by_jaxlib(jaxlib, PROGRAMS[RELEASES.index(release) :: 12], release)


@pytest.mark.slow
@pytest.mark.parametrize("release", [release for release in RELEASES if release != "1.20.0"])
def test_jaxlib_reads_all_that_is_written(jaxlib: tuple[Any, Any], release: str) -> None:
    read_by_jaxlib(jaxlib, PROGRAMS, release)


def read_by_jaxlib(jaxlib: tuple[Any, Any], programs: Sequence[Program], release: str) -> None:
    stablehlo, context = jaxlib
    for program in programs:
        artifact = write_portable_artifact(parse_text(program.text), release)
        with context:
            read = str(stablehlo.deserialize_portable_artifact(context, artifact))
        assert normal(parse_text(read)) == normal(parse_bytecode(artifact)), program.name


def test_jaxlib_writes_the_same_program(jaxlib: tuple[Any, Any]) -> None:
    stablehlo, context = jaxlib
    count = 0
    for program in PROGRAMS:
        if "chlo." in program.text:
            continue
        count += 1
        with context:
            theirs = stablehlo.serialize_portable_artifact_str(program.text, "1.17.0")
        ours = write_portable_artifact(parse_text(program.text), "1.17.0")
        assert tree(parse_bytecode(ours)) == tree(parse_bytecode(theirs)), program.name
        assert len(ours) < 1.3 * len(theirs)
    assert count > 50


@pytest.mark.parametrize("program", PROGRAMS[::6], ids=str)
def test_what_reads_a_module_leaves_it_as_it_is(program: Program) -> None:
    """Ops that are read from bytecode share their attributes: who changed one in place would change many."""
    module = parse_bytecode(write_portable_artifact(parse_text(program.text)))
    before = tree(module, locations=True)
    lower(module)
    for release in RELEASES:
        with contextlib.suppress(VersionError):
            write_portable_artifact(module, release)
        with contextlib.suppress(VersionError):
            write_text(module, version=release)
    refine(module, [argument.type for argument in module.functions["main"].regions[0].block.arguments])
    assert tree(module, locations=True) == before

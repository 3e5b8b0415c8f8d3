"""Bytecode that JAX writes: portable artifacts of every age, StableHLO's own bytecode, and VHLO as text, against its
text.
"""

from __future__ import annotations

import io
import re
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import xla_core as xla
from tests.programs import PROGRAMS, Program
from tests.programs.transformer import training_step_text
from tests.xla_core.stablehlo.reading import stablehlo_tests, tree
from xla_core.stablehlo import Module, parse_bytecode, parse_text, split_modules
from xla_core.stablehlo.bytecode.sections import Sections

jax = pytest.importorskip("jax")
stablehlo = pytest.importorskip("jaxlib.mlir.dialects.stablehlo")
passmanager = pytest.importorskip("jaxlib.mlir.passmanager")
ir = pytest.importorskip("jaxlib.mlir.ir")

TARGETS = ("0.9.0", "0.12.0", "0.14.0", "0.15.0", "1.0.0", "1.8.0", stablehlo.get_current_version())
SAMPLE = [
    pytest.param(program, id=program.name, marks=[] if index % 4 == 0 else [pytest.mark.slow])
    for index, program in enumerate(PROGRAMS)
]


@pytest.fixture
def context() -> Iterator[Any]:
    """Where JAX's MLIR modules live."""
    from jax._src.interpreters import mlir

    context = mlir.make_ir_context()
    context.allow_unregistered_dialects = True
    with context:
        yield context


def printed(module: Any, **options: Any) -> str:
    return str(module.operation.get_asm(enable_debug_info=True, large_elements_limit=None, **options))


def artifact(text: str, target: str) -> bytes | None:
    """The program as a portable artifact, or None where that version of StableHLO lacks something in it."""
    try:
        return bytes(stablehlo.serialize_portable_artifact(ir.Module.parse(text), target))
    except Exception:  # whatever jaxlib raises: it is not what is tested
        return None


def without_inner_locations(module: Module) -> Any:
    """The tree without the locations in reductions: `applies op`, which is how text has them, has none for them."""
    for op in module.walk():
        if op.name == "stablehlo.reduce":
            for inner in op.regions[0].block.ops:
                inner.location = None
    return tree(module, locations=True)


def check_artifacts(context: Any, text: str, targets: tuple[str, ...]) -> int:
    """Artifacts read as what JAX's own reader makes of them; StableHLO's bytecode as the text. How many there were."""
    count = 0
    for target in targets:
        data = artifact(text, target)
        if data is not None:
            want = printed(stablehlo.deserialize_portable_artifact(context, data))
            got = parse_bytecode(data)
            assert without_inner_locations(got) == without_inner_locations(parse_text(want)), target
            count += 1
    module = ir.Module.parse(text)
    want = without_inner_locations(parse_text(printed(module)))
    for version in (None, 1, 4, 5):
        stream = io.BytesIO()
        module.operation.write_bytecode(stream, version)
        assert without_inner_locations(parse_bytecode(stream.getvalue())) == want, version
    return count


@pytest.mark.parametrize("program", SAMPLE)
def test_stored_programs(context: Any, program: Program) -> None:
    check_artifacts(context, program.text, TARGETS)


def test_artifacts_of_every_age_are_tested(context: Any) -> None:
    text = next(program.text for program in PROGRAMS if program.name == "convnet")
    assert all(artifact(text, target) is not None for target in TARGETS)


@pytest.mark.slow
def test_stablehlos_own_test_programs(context: Any) -> None:
    count = 0
    paths = [p for folder in ("testdata", "interpret", "chlo", "math") for p in (stablehlo_tests() / folder).rglob("*")]
    for path in sorted(path for path in paths if path.suffix == ".mlir")[::5]:
        for part in split_modules(path.read_text()):
            text = re.sub(r"^ *\"?check\..*\n", "", part, flags=re.MULTILINE)
            try:
                ir.Module.parse(text)
            except ir.MLIRError:  # newer than jaxlib, or no program without its checks
                continue
            count += check_artifacts(context, text, TARGETS[::3])
    assert count > 500


def vhlo_texts(text: str) -> tuple[str, list[str]]:
    """A program as jaxlib prints it, and as VHLO, with and without the pretty forms."""
    stablehlo.register_stablehlo_passes()
    module = ir.Module.parse(text)
    passmanager.PassManager.parse("builtin.module(stablehlo-legalize-to-vhlo{allow-other-dialects=true})").run(
        module.operation
    )
    texts = [printed(module), printed(module, print_generic_op_form=True)]
    passmanager.PassManager.parse("builtin.module(vhlo-legalize-to-stablehlo)").run(module.operation)
    return printed(module), texts


@pytest.mark.parametrize("program", SAMPLE)
def test_vhlo_as_text(context: Any, program: Program) -> None:
    want, texts = vhlo_texts(program.text)
    assert '"vhlo.' in texts[0]
    for text in texts:
        assert without_inner_locations(parse_text(text)) == without_inner_locations(parse_text(want))


def test_every_construct_of_vhlo_as_text(context: Any) -> None:
    source = (stablehlo_tests() / "vhlo" / "stablehlo_legalize_to_vhlo.1_16_0.mlir").read_text()
    source = re.sub(r"^ *//.*\n", "", source, flags=re.MULTILINE)
    count = 0
    for part in re.findall(r"^func\.func.*?^}\n", source, re.DOTALL | re.MULTILINE):
        try:
            want, texts = vhlo_texts(f"func.func private @mesh()\n{part}")
        except ir.MLIRError:  # it calls another function, or jaxlib is stricter than StableHLO's tests
            continue
        if "default_infeed" in part or "default_outfeed" in part:  # jaxlib writes the empty default out
            continue
        for text in texts:
            assert tree(parse_text(text)) == tree(parse_text(want)), part
        count += 1
    assert count > 200


def test_exported_functions_run() -> None:
    from jax import export

    def function(x: Any, y: Any) -> Any:
        z = jax.nn.softmax(x @ y)
        return (
            jax.numpy.sort(z, axis=-1),
            jax.lax.fori_loop(0, 3, lambda i, c: c * 2 + i, z.sum()),
            jax.scipy.special.erf(x),
        )

    rng = np.random.default_rng(0)
    x, y = (rng.standard_normal(s).astype(np.float32) for s in ((4, 5), (5, 6)))
    exported = export.export(jax.jit(function), platforms=["cpu"])(x, y)
    got = xla.evaluate(xla.parse(exported.mlir_module_serialized), x, y)
    for actual, want in zip(got, function(x, y), strict=True):
        np.testing.assert_allclose(actual, np.asarray(want), rtol=2e-6, atol=1e-6)


def test_exported_functions_with_unknown_sizes_read() -> None:
    from jax import export

    shape = export.symbolic_shape("b, 3")
    exported = export.export(jax.jit(lambda x: x.sum(0) * 2))(jax.ShapeDtypeStruct(shape, np.float32))
    module = parse_bytecode(exported.mlir_module_serialized)
    assert tree(module) == tree(parse_text(str(exported.mlir_module())))


SHARDED = """
sdy.mesh @mesh = <["x"=2, "y"=4], device_ids=[7, 6, 5, 4, 3, 2, 1, 0]>
sdy.mesh @one = <[], device_ids=[3]>
sdy.mesh @none = <[]>
func.func @main(%arg0: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x", ?}p1, {}], replicated={"y":(1)2}>},
    %arg1: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<mesh<["a"=2]>, [{}, {?}], unreduced={"a"}>}) -> tensor<8x8xf32> {
  %0 = stablehlo.add %arg0, %arg1 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}]>]>,
    sdy.sharding_rule = #sdy.op_sharding_rule<([i, j], [i, j])->([i, j]) {i=8, j=8}, custom>} : tensor<8x8xf32>
  %1 = sdy.sharding_constraint %0 <@mesh, [{"x"}, {}]> : tensor<8x8xf32>
  %2 = sdy.manual_computation(%1) in_shardings=[<@mesh, [{"x"}, {}]>] out_shardings=[<@mesh, [{"x"}, {}]>]
      manual_axes={"x"} (%arg2: tensor<4x8xf32>) {
    sdy.return %arg2 : tensor<4x8xf32>
  } : (tensor<8x8xf32>) -> tensor<8x8xf32>
  %3 = sdy.all_gather [{"x"}, {}] %2 out_sharding=<@mesh, [{}, {}]> : tensor<8x8xf32>
  return %3 : tensor<8x8xf32>
}
"""


def test_shardys_ops_and_attributes(context: Any) -> None:
    """JAX's artifacts have them as they are, among VHLO's."""
    module = ir.Module.parse(SHARDED)
    want = tree(parse_text(printed(module)))
    stream = io.BytesIO()
    module.operation.write_bytecode(stream)
    assert tree(parse_bytecode(stream.getvalue())) == want
    data = bytes(stablehlo.serialize_portable_artifact(ir.Module.parse(SHARDED), TARGETS[-1], True))
    assert tree(parse_bytecode(data)) == want


def test_an_exported_function_with_shardings_reads() -> None:
    from jax import export
    from jax.sharding import Mesh, NamedSharding, PartitionSpec

    axes: Any = PartitionSpec
    sharding = NamedSharding(Mesh(np.array(jax.devices("cpu")[:1]), ("x",)), axes("x"))
    function = jax.jit(lambda x: jax.lax.with_sharding_constraint(x * 2, sharding), in_shardings=sharding)
    exported = export.export(function)(np.ones((4,), np.float32))
    assert tree(parse_bytecode(exported.mlir_module_serialized)) == tree(parse_text(str(exported.mlir_module())))


def test_types_of_other_dialects(context: Any) -> None:
    types = (
        "memref<2x3xf32>, vector<4xf32>, tensor<*xf32>, f80, tf32, f4E2M1FN, f8E8M0FNU, tuple<i2, si8, ui4>, none,"
        " !stablehlo.token, !stablehlo.future<tensor<f32>>, !quant.uniform<i8:f32, 5.000000e-01:3>,"
        " tensor<2x!quant.uniform<u8:f32:0, {1.0,2.0:7}>>, tensor<?xf32, #stablehlo.bounds<4>>,"
        " tensor<2x!quant.uniform<i4<-7:7>:f32, 2.0>>"
    )
    module = ir.Module.parse(f'func.func private @f({types}) -> complex<f64> loc("a":1:2 to 3:4)')
    stream = io.BytesIO()
    module.operation.write_bytecode(stream)
    got = parse_bytecode(stream.getvalue())
    assert tree(got, locations=True) == tree(parse_text(printed(module)), locations=True)


def test_resources(context: Any, tmp_path: Path) -> None:
    text = """module {
      func.func @main() -> tensor<3xi32> {
        %0 = stablehlo.constant dense_resource<r> : tensor<3xi32>
        return %0 : tensor<3xi32>
      }
    }
    {-# dialect_resources: {builtin: {r: "0x04000000010000000200000003000000"}} #-}"""
    stream = io.BytesIO()
    ir.Module.parse(text).operation.write_bytecode(stream)
    got = parse_bytecode(stream.getvalue())
    assert tree(got) == tree(parse_text(text))
    (result,) = xla.evaluate(xla.parse(stream.getvalue()))
    np.testing.assert_array_equal(result, [1, 2, 3])


def test_speed(context: Any) -> None:
    """A transformer's training step: prints MB/s; the bound leaves room for a loaded machine."""
    text = training_step_text()
    data = bytes(stablehlo.serialize_portable_artifact(ir.Module.parse(text), TARGETS[-1], True))
    best = 1e9
    for _ in range(5):
        start = time.thread_time()
        module = parse_bytecode(data)
        best = min(best, time.thread_time() - start)
    ops = sum(1 for _ in module.walk())
    print(f"{len(data):,} bytes, {ops:,} ops: {best * 1e3:.1f} ms, {len(data) / best / 1e6:.2f} MB/s")
    assert ops > 9000
    assert len(Sections(data, "").op_names) < 100
    assert len(data) / best > 1e6

"""`xla replay` and `xla bench`."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from xla_core.cli.commands.bench import bench
from xla_core.passes import ModuleDump


@pytest.fixture
def dump(toy: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Writes a dump, because the toy backend runs no passes and writes none."""

    def run_hlo_passes(self: Any, module: Any, options: Any, executor: Any = None) -> Any:
        dump = ModuleDump.from_flags(module.name, options.dump_to)
        if dump is not None:
            dump.hlo("before_optimizations", module)
        return module

    monkeypatch.setattr(toy.ToyCompiler, "run_hlo_passes", run_hlo_passes)


@pytest.mark.usefixtures("dump", "toy_backend")
def test_a_dump_runs_again_with_its_arguments(
    xla: Callable[..., Any], toy: Any, program: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    x = np.linspace(0, 1, 6, dtype=np.float32).reshape(2, 3)
    np.savez(tmp_path / "in.npz", x=x, y=x)
    where = tmp_path / "dump"
    assert xla("run", program, "-b", "toy", "-i", tmp_path / "in.npz", "--dump", where).code == 0
    seen = []
    right = toy.evaluate
    monkeypatch.setattr(toy, "evaluate", lambda module, *a: seen.append(a) or right(module, *a))
    result = xla("replay", where, "-b", "toy")
    assert result.code == 0, result.err
    assert "softplus" in result.out
    assert "agrees" in result.out
    np.testing.assert_array_equal(seen[0], [x, x])
    monkeypatch.setattr(toy, "evaluate", lambda module, *a: [r * 2 for r in right(module, *a)])
    assert xla("replay", where, "-b", "toy").code == 1


@pytest.mark.usefixtures("dump", "toy_backend")
@pytest.mark.parametrize("bytecode", [False, True])
def test_a_dump_has_large_constants_and_the_program_as_given(
    xla: Callable[..., Any], tmp_path: Path, bytecode: bool
) -> None:
    values = ", ".join(str(float(i)) for i in range(11))
    text = (
        "func.func @main(%x: tensor<11xf32>) -> tensor<11xf32> {\n"
        f"  %c = stablehlo.constant dense<[{values}]> : tensor<11xf32>\n"
        "  %y = stablehlo.add %x, %c : tensor<11xf32>\n  return %y : tensor<11xf32>\n}\n"
    )
    path = tmp_path / "const.mlir"
    path.write_text(text)
    given = text.encode()
    if bytecode:
        stablehlo = pytest.importorskip("jaxlib.mlir.dialects.stablehlo")
        given = stablehlo.serialize_portable_artifact_str(text, stablehlo.get_minimum_version())
        path.write_bytes(given)
    where = tmp_path / "dump"
    assert xla("run", path, "-b", "toy", "--dump", where).code == 0
    result = xla("replay", where, "-b", "toy")
    assert result.code == 0, result.err
    (source,) = (where / "xla_core").glob("*.stablehlo.mlir")
    assert source.read_bytes() == given


def test_a_dump_of_several_devices_runs_again_on_them(
    xla: Callable[..., Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("xla_backend_cpu")
    program, where = tmp_path / "sum.mlir", tmp_path / "dump"
    program.write_text(
        """module @sum attributes {mhlo.num_partitions = 2 : i32} {
        func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
          %id = stablehlo.partition_id : tensor<ui32>
          %n = stablehlo.convert %id : (tensor<ui32>) -> tensor<f32>
          %all = stablehlo.broadcast_in_dim %n, dims = [] : (tensor<f32>) -> tensor<2xf32>
          %0 = stablehlo.add %x, %all : tensor<2xf32>
          return %0 : tensor<2xf32>
        }}"""
    )
    monkeypatch.setenv("XLA_FLAGS", "--xla_force_host_platform_device_count=2")
    assert xla("run", program, "-b", "cpu", "--dump", where).code == 0
    result = xla("replay", where, "-b", "cpu")
    assert result.code == 0, result.err
    assert "device 1, 0" in result.out
    assert "agrees with the reference evaluator" in result.out
    monkeypatch.setenv("XLA_FLAGS", "")
    result = xla("replay", where, "-b", "cpu")
    assert result.code == 1
    assert "XLA_FLAGS=--xla_force_host_platform_device_count=2" in result.err


@pytest.mark.usefixtures("toy_backend")
def test_what_cannot_be_replayed(xla: Callable[..., Any], tmp_path: Path) -> None:
    missing = xla("replay", tmp_path / "missing", "-b", "toy")
    assert missing.code == 2
    assert "there is no directory" in missing.err
    empty = xla("replay", tmp_path, "-b", "toy")
    assert empty.code == 2
    assert "holds no *.before_optimizations.txt" in empty.err
    elided = tmp_path / "module_0001.m.before_optimizations.txt"
    elided.write_text("HloModule m\nENTRY e {\n  ROOT c = f32[11] constant({...})\n}\n")
    result = xla("replay", tmp_path, "-b", "toy")
    assert result.code == 2
    assert "--xla_dump_large_constants" in result.err


def test_bench_needs_a_clone(xla: Callable[..., Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert "--require" in xla("bench", "--help").out
    monkeypatch.setattr(sys.modules[bench.__module__], "__file__", str(tmp_path / "a" / "b" / "c" / "d" / "bench.py"))
    monkeypatch.chdir(tmp_path)
    result = xla("bench")
    assert result.code == 2
    assert "run `xla bench` within the clone" in result.err
    helped = xla("bench", "--help")
    assert helped.code == 0
    assert "Needs a clone" in helped.out

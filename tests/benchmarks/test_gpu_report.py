"""The report of a GPU, tried on the emulated device with small programs."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from benchmarks.gpu.profiler import read_counts
from benchmarks.gpu.timing import seconds_of_one
from benchmarks.gpu_bundle import compress_again
from tests.backends.gpu import cublas_stub
from tests.backends.gpu.cuda_stub import compiler

pytest.importorskip("xla_backend_gpu")

ROOT = Path(__file__).parents[2]
PROGRAM = """
func.func @main(%x: tensor<64x32xf32>) -> tensor<64x32xf32> {
  %0 = stablehlo.exponential %x : tensor<64x32xf32>
  return %0 : tensor<64x32xf32>
}
"""


def report(
    folder: Path, *sections: str, only: tuple[str, ...] = (), seconds: float = 0.02, flags: str = ""
) -> dict[tuple[str, str], dict[str, object]]:
    """The rows of the report, by section and what."""
    (folder / "small.mlir").write_text(PROGRAM)
    (folder / "broken.mlir").write_text(PROGRAM.replace("exponential", "no_such_op"))
    arguments = [[[64, 32], "float32", -1.0, 1.0]]
    manifest = {name: {"group": "elementwise", "arguments": arguments} for name in ("small", "broken")}
    (folder / "manifest.json").write_text(json.dumps(manifest))
    out = folder / "report.json"
    command = [
        sys.executable,
        str(ROOT / "benchmarks" / "gpu_report.py"),
        "--section",
        *sections,
        "--seconds",
        str(seconds),
    ]
    command += ["--programs", str(folder), "--json", str(out), *(("--only", *only) if only else ())]
    environment = {**os.environ, "XLA_CORE_FLAGS": f"--xla_gpu_emulate{flags}", "COLUMNS": "200"}
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    assert out.exists(), done.stdout + done.stderr
    return {(row["section"], row["what"]): row for row in json.loads(out.read_text())}


def test_sections_are_measured_and_failures_are_lines(tmp_path: Path) -> None:
    rows = report(tmp_path, "bandwidth", "launch", "products")
    assert "there is no GPU" in str(rows["device", "emulated GPU"]["note"])
    assert rows["bandwidth", "small"]["wanted"] == ">= 85%"
    assert "GB/s" in str(rows["bandwidth", "small"]["note"])
    assert rows["bandwidth", "broken"]["good"] is False
    assert "no_such_op" in str(rows["bandwidth", "broken"]["note"])
    assert str(rows["launch", "call to result"]["value"]).endswith(" us")
    assert ("launch", "32 kernels, as a graph") in rows
    assert "no cuBLAS" in str(rows["products", "f32 32x32x32"]["note"]) or rows["products", "f32 32x32x32"]["good"]
    assert "no cuBLASLt" in str(rows["products", "f32 32x32x32, by cuBLASLt"]["note"])
    assert "the product is small" in str(rows["products", "bf16 32x32x32, by warpgroups"]["note"])
    assert str(rows["products", "bf16 32x32x32, by warps"]["note"]).startswith("tiles of 32 x 32 x 32, 16 x 16 by")
    assert str(rows["products", "f32 32x32x32, without matrices"]["note"]).endswith("a thread, 2 stages")


@pytest.mark.skipif(compiler() is None, reason="there is no C compiler for the stub of cuBLASLt")
def test_products_by_the_library(tmp_path: Path) -> None:
    rows = report(tmp_path, "products", flags=f" --xla_gpu_cublas_library={cublas_stub.build(tmp_path)}")
    for case in ("f32", "bf16"):
        assert float(str(rows["products", f"{case} 32x32x32, by cuBLASLt"]["value"])) > 0


def test_the_sections_take_less_than_ten_minutes() -> None:
    from benchmarks.gpu.sections import SECTIONS
    from benchmarks.gpu_report import GRACE_SECONDS

    assert sum(seconds + GRACE_SECONDS for _, seconds in SECTIONS.values()) < 600


@pytest.mark.parametrize("kernel", [5e-6, 50e-6, 3e-3])
def test_the_timer_tells_short_kernels_apart(kernel: float) -> None:
    """A wait ends up to 250 us late. The busy work before the calls is no part of their time."""
    late = random.Random(0)

    def measure(calls: int, most: int) -> float:
        return 0.02 + 1e-4 * most + calls * kernel + late.uniform(0, 2.5e-4) * late.random()

    assert seconds_of_one(measure, 0.02) == pytest.approx(kernel, rel=0.05)


def test_what_is_too_short_to_be_timed_is_said() -> None:
    with pytest.raises(RuntimeError, match="can't be measured"):
        seconds_of_one(lambda calls, most: 0.02, 0.001)


def test_what_the_emulator_counts(tmp_path: Path) -> None:
    """64 x 32 floats are read and written once: 256 sectors of 32 bytes each way."""
    rows = report(tmp_path, "counters", only=("small",), seconds=1.0)
    assert any("global_sectors 512" in str(row["note"]) or "emulator 512" in str(row["note"]) for row in rows.values())


def test_a_section_that_dies_is_a_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from benchmarks.gpu.sections import Choice
    from benchmarks.gpu_report import measure_section

    monkeypatch.chdir(ROOT)
    monkeypatch.setenv("XLA_CORE_FLAGS", "--no_such_flag")
    (row,) = measure_section("launch", Choice(tmp_path), 0.01, 60.0)
    assert row.good is False
    assert "no_such_flag" in row.note


NCU = """==PROF== Connected to process 1
==PROF== Disconnected from process 1
"ID","Process ID","Kernel Name","l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum","l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum","smsp__inst_executed.sum"
"","","","sector","sector","inst"
"0","7","fusion","1,024","256","2,048"
"1","7","reduce","16","8","100"
"""


def test_the_profilers_table_is_read() -> None:
    assert read_counts(NCU) == {"launches": 2, "global_sectors": 1304, "warp_instructions": 2148}
    with pytest.raises(RuntimeError, match="ncu printed no table"):
        read_counts("==ERROR== ERR_NVGPUCTRPERM\n")


def test_a_wheel_is_compressed_again(tmp_path: Path) -> None:
    """Its files are the same, and pip reads it."""
    wheel = tmp_path / "big-1.0-py3-none-any.whl"
    info = "big-1.0.dist-info"
    with zipfile.ZipFile(wheel, "w") as file:
        file.writestr("big/__init__.py", "SIZE = 1\n")
        file.writestr("big/data.bin", b"abcdefgh" * (1 << 18))
        file.writestr(f"{info}/METADATA", "Metadata-Version: 2.1\nName: big\nVersion: 1.0\n")
        file.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nGenerator: t\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        file.writestr(f"{info}/RECORD", "big/__init__.py,,\nbig/data.bin,,\n")
    before = wheel.stat().st_size
    compress_again(wheel)
    assert wheel.stat().st_size < before / 100
    target = tmp_path / "site"
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--no-index", "--target", str(target), str(wheel)]
    subprocess.run(command, check=True, capture_output=True)
    assert (target / "big" / "data.bin").read_bytes() == b"abcdefgh" * (1 << 18)

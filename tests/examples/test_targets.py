"""Targets that a vendor copies: AMD's GPUs and a vector DSP. Their kernels are compiled to assembly, and not run."""

from __future__ import annotations

import random
import re
import subprocess
import sys
from pathlib import Path

import pytest

import xla_core
from examples.targets.amdgpu import PROCESSORS, AmdgpuAbi
from examples.targets.assembly import TARGETS, AssemblyCompiler
from examples.targets.hexagon import HexagonAbi
from tests.examples.assembly_checks import problems, program_names
from tests.xla_core.codegen.llvm.kernels import array, emit, f32, fuse, scalar, scalar_body
from xla_core.codegen.llvm import IrModule, KernelEmitter, TargetAbi, compile_ir
from xla_core.errors import InvalidArgumentError
from xla_core.hlo import ElementType, HloComputation, HloInstruction, Shape

ROOT = Path(__file__).parents[2]
EXAMPLES = ROOT / "examples" / "targets"
SAMPLE = 20
UNABLE = {("hexagon", "aborts"): r"-[su]4-", ("hexagon", "does not end"): r"^reduce-f8\w+-variadic-"}
"""Programs that LLVM 22 can't compile, by target: it aborts on some vectors of integers of 4 bits, and does not return
from a reduction of several floats of 8 bits.
"""


def assembly(abi: TargetAbi, build, *shapes) -> str:
    _, text = emit(fuse(build, *shapes), abi)
    return compile_ir(text, abi).assembly()


def product(c: HloComputation, x: HloInstruction, y: HloInstruction) -> HloInstruction:
    return c.add("multiply", x, y)


def row_sums(c: HloComputation, x: HloInstruction) -> HloInstruction:
    return c.add("reduce", c.add("multiply", x, x), scalar(c, 0), dimensions=(1,), to_apply=scalar_body("add"))


def sorted_rows(c: HloComputation, x: HloInstruction) -> HloInstruction:
    return c.add("sort", x, dimensions=(1,), to_apply=scalar_body("compare", direction="LT"))


def compile_all(target: str, names: list[str]) -> dict[str, str]:
    """Compiles programs. Returns those that LLVM can't compile for the target: it aborts, or does not end."""
    unable: dict[str, str] = {}
    while names:
        command = [sys.executable, "-m", "tests.examples.assembly_checks", target, *names]
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
        lines = done.stdout.splitlines()
        wrong = [line for line in lines if "WRONG" in line]
        assert not wrong, "\n".join(wrong)
        if done.returncode == 0:
            break
        last = lines[-1] if lines else ""
        assert last.startswith("compiling "), done.stderr[-3000:]
        assert done.returncode < 0 or "Timeout" in done.stderr, done.stderr[-3000:]
        name = last.removeprefix("compiling ")
        unable[name] = "aborts" if done.returncode < 0 else "does not end"
        names = names[names.index(name) + 1 :]
    return unable


@pytest.mark.parametrize("target", TARGETS)
def test_a_sample_of_kernels(target: str) -> None:
    names = [*random.Random(12).sample(program_names(), SAMPLE), "softmax", "layer_norm_grad", "top_k_rows"]
    assert not unexpected(target, compile_all(target, names))


@pytest.mark.slow
@pytest.mark.parametrize("target", TARGETS)
def test_every_kernel(target: str) -> None:
    names = program_names()
    unable: dict[str, str] = {}
    for first in range(0, len(names), 500):
        unable |= compile_all(target, names[first : first + 500])
    assert not unexpected(target, unable)


def unexpected(target: str, unable: dict[str, str]) -> dict[str, str]:
    """Returns the programs that LLVM can't compile, besides those in `UNABLE`."""
    return {name: how for name, how in unable.items() if not re.search(UNABLE.get((target, how), "^$"), name)}


@pytest.mark.slow
@pytest.mark.parametrize("target", TARGETS)
def test_every_kernel_of_the_emitters_tests(target: str) -> None:
    """Each kernel that those tests emit for this machine is compiled for the target too."""
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-p",
        "tests.examples.cross_compilation",
        f"--cross-target={target}",
    ]
    command += ["-m", "slow or not slow", "tests/xla_core/codegen/llvm"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-5000:] + done.stderr[-3000:]


def test_the_examples_are_short_and_use_public_names_only() -> None:
    assert len((EXAMPLES / "amdgpu.py").read_text().splitlines()) < 150
    for path in EXAMPLES.glob("*.py"):
        for module in re.findall(r"^from (xla_core[\w.]*) import", path.read_text(), re.MULTILINE):
            assert module.count(".") <= (2 if module.startswith("xla_core.codegen") else 1), f"{path.name}: {module}"


def test_amdgpu_finds_its_units_and_its_buffers() -> None:
    text = assembly(AmdgpuAbi("gfx942"), product, f32(64, 256), f32(64, 256))
    assert problems("gfx942", text) == []
    assert re.search(r"global_load_dword\w* ", text)
    assert re.search(r"global_store_dword\w* ", text)
    block_count = r"\.value_kind: +hidden_block_count_x"
    assert not re.search(block_count, text), "each thread has one unit"
    many = f32(1 << 14, 1 << 14)
    assert re.search(block_count, assembly(AmdgpuAbi("gfx942"), product, many, many))
    assert re.search(r"\.max_flat_workgroup_size: 256", text)


def test_amdgpu_combines_lanes_without_memory() -> None:
    """A row of 4096 elements is summed by 256 threads: within a wave by registers, then through shared memory."""
    text = assembly(AmdgpuAbi(), row_sums, f32(64, 4096))
    assert problems("gfx90a", text) == []
    for exchange in (r"quad_perm:\[1,0,3,2\]", r"quad_perm:\[2,3,0,1\]", "ds_swizzle_b32", "ds_bpermute_b32"):
        assert re.search(exchange, text), exchange
    assert re.search(r"ds_write_b32|ds_write2_b32", text)
    assert "s_barrier" in text


@pytest.mark.parametrize("processor", PROCESSORS)
def test_amdgpu_reads_preds_as_bytes(processor: str) -> None:
    """As conditions, the preds that a thread has read of the next tile would fill all scalar registers."""
    pred, size = ElementType.PRED, 1_310_740

    def count_both(c: HloComputation, x: HloInstruction, y: HloInstruction) -> HloInstruction:
        dimensions = {"lhs_contracting_dims": (1,), "rhs_contracting_dims": (0,)}
        return c.add("dot", x, y, shape=Shape.array(ElementType.S8, (1, 1)), **dimensions)

    text = assembly(AmdgpuAbi(processor), count_both, array(pred, 1, size), array(pred, size, 1))
    assert problems(processor, text) == []
    assert not any(map(int, re.findall(r"\.sgpr_spill_count: +(\d+)", text)))


@pytest.mark.parametrize("processor", PROCESSORS)
def test_amdgpu_reduces_many_arrays_together(processor: str) -> None:
    """A kernel without a loop over its units needs no address after its last use."""
    count = 17

    def sums(c: HloComputation, *arrays: HloInstruction) -> HloInstruction:
        body = HloComputation("sums")
        numbers = [body.parameter(n, f32(), f"p{n}") for n in range(2 * count)]
        body.set_root(body.add("tuple", *(body.add("add", numbers[n], numbers[n + count]) for n in range(count))))
        return c.add("reduce", *arrays, dimensions=(0,), to_apply=body)

    text = assembly(AmdgpuAbi(processor), sums, *[f32(65)] * count, *[f32()] * count)
    assert problems(processor, text) == []


def test_amdgpu_scatters_by_atomics_of_the_device() -> None:
    abi = AmdgpuAbi()
    program = (ROOT / "tests" / "examples" / "scatter.hlo").read_text()
    artifacts = AssemblyCompiler(abi).compile(xla_core.parse(program)).artifacts()
    assert "atomicrmw add" in str(artifacts["llvm"])
    assert 'syncscope("agent")' in str(artifacts["llvm"])
    assert re.search(r"global_atomic_add v", str(artifacts["asm"]))


def test_amdgpu_sorts_long_rows_in_several_phases() -> None:
    """Tiles of rows are sorted in shared memory, and then merged in scratch memory that all threads share."""
    abi = AmdgpuAbi()
    kernel, ir = emit(fuse(sorted_rows, f32(4, 50_000)), abi)
    text = compile_ir(ir, abi).assembly()
    assert problems("gfx90a", text) == []
    assert len(kernel.phases) == 6
    assert kernel.scratch_bytes == 2 * 4 * 50_000 * 4
    assert re.search(r"\.group_segment_fixed_size: 16384$", text, re.MULTILINE)
    assert not re.search(r"\.private_segment_fixed_size: [1-9]", text)


def test_amdgpu_tells_of_each_kernel_what_its_launch_needs() -> None:
    emitter = KernelEmitter(AmdgpuAbi())
    tiny = emitter.emit(fuse(product, f32(64), f32(64)), "tiny")
    wide = emitter.emit(fuse(product, f32(64, 64), f32(64, 64)), "wide")
    assert wide.resources.block_threads == 256
    assert (tiny.resources.block_threads, tiny.resources.thread_scratch_bytes) == (64, 0)


def test_amdgpu_takes_large_memory_of_threads_from_the_scratch_buffer() -> None:
    abi, module = AmdgpuAbi(), IrModule("m")
    frame = abi.begin_kernel(module, "kernel", [], 1000)
    for size in (512, 3000, 5000):  # the first is on the stack
        abi.allocate(frame.builder, size)
    assert frame.resources.thread_scratch_bytes == 3008 + 5056
    assert not frame.buffers


def test_amdgpu_of_an_unknown_processor() -> None:
    with pytest.raises(InvalidArgumentError, match="'gfx1' is not one of gfx90a, gfx942"):
        AmdgpuAbi("gfx1")


def test_hexagon_computes_with_vectors() -> None:
    text = assembly(HexagonAbi(), product, f32(64, 256), f32(64, 256))
    assert re.search(r"v\d+\.sf = vmpy\(v\d+\.sf,v\d+\.sf\)", text)
    assert re.search(r"v\d+(\.cur)? = vmemu?\(r", text)
    assert re.search(r"vmemu?\(r\d+.*\) = v\d+", text)
    integers = array(ElementType.S32, 64, 256)
    assert re.search(r"v\d+(:\d+)?\.w \+?= v\w+\(", assembly(HexagonAbi(), product, integers, integers))
    assert re.search(r"v\d+\.sf = vadd\(", assembly(HexagonAbi(), row_sums, f32(64, 256)))


def test_hexagon_has_addresses_of_32_bits() -> None:
    """They are 4 bytes apart in the table of buffers, and malloc takes 32 bits."""
    _, text = emit(fuse(product, f32(64), f32(64)), HexagonAbi())
    assert re.search(r"load ptr, ptr %buffers, align 4", text)
    _, text = emit(fuse(sorted_rows, f32(4, 50_000)), HexagonAbi())
    assert re.search(r"call ptr @malloc\(i32 40\d{4}\)", text)  # the two rows that are merged, and what ends them


def test_hexagon_reads_preds_without_vectors() -> None:
    """LLVM aborts on vectors of preds that a loop carries."""
    pred = array(ElementType.PRED, 3, 127)

    def any_of_rows(c: HloComputation, x: HloInstruction) -> HloInstruction:
        false = scalar(c, False, ElementType.PRED)
        return c.add("reduce", x, false, dimensions=(1,), to_apply=scalar_body("or", ElementType.PRED))

    assert "vmem" not in assembly(HexagonAbi(), any_of_rows, pred)


@pytest.mark.parametrize("target", TARGETS)
def test_what_the_compiler_shows(target: str) -> None:
    module = AssemblyCompiler(TARGETS[target]()).compile(_softmax())
    artifacts = module.artifacts()
    assert {"plan", "llvm", "asm"} <= set(artifacts)
    assert str(artifacts["plan"]).count("\n") == 1  # softmax is one kernel on each target


def _softmax():
    return xla_core.parse((ROOT / "benchmarks" / "programs" / "softmax.mlir").read_text())


def test_the_command() -> None:
    command = [sys.executable, "-m", "examples.targets.assembly"]
    program = str(ROOT / "benchmarks" / "programs" / "trivial.mlir")
    done = subprocess.run([*command, "gfx942", program], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "global_store_dword" in done.stdout
    wrong = subprocess.run([*command, "gfx1", program], cwd=ROOT, capture_output=True, text=True, check=False)
    assert wrong.returncode == 2
    assert "usage: " in wrong.stderr

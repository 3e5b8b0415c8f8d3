"""The same kernels for five targets, each by a TargetAbi of a few lines."""

from __future__ import annotations

import copy
import dataclasses
import re

import numpy as np
import pytest

from examples.targets.amdgpu import AmdgpuAbi
from examples.targets.hexagon import HexagonAbi
from tests.xla_core.codegen.llvm.kernels import (
    Loaded,
    array,
    emit,
    f32,
    fuse,
    host_abi,
    random_array,
    scalar,
    scalar_body,
    single_elements,
)
from xla_core.codegen.llvm import GpuAbi, GridAbi, IrBuilder, KernelEmitter, LoopAbi, TargetAbi, Value, compile_ir
from xla_core.errors import FailedPreconditionError
from xla_core.hlo import parse_hlo
from xla_core.hlo.values.element_type import ElementType as T
from xla_core.target import ParallelModel


class Ptx(GridAbi):
    triple, cpu, data_layout = "nvptx64-nvidia-cuda", "sm_80", ""
    kernel_prefix = "ptx_kernel"
    address_space = 1
    parallel = ParallelModel(threads=256, lanes=32)
    native_floats = frozenset({T.F16})

    def _read(self, b: IrBuilder, register: str) -> Value:
        return b.cast("zext", b.call(f"llvm.nvvm.read.ptx.sreg.{register}", "i32", []), "i64")

    def block_index(self, builder: IrBuilder) -> Value:
        return self._read(builder, "ctaid.x")

    def block_count(self, builder: IrBuilder) -> Value:
        return self._read(builder, "nctaid.x")

    def block_size(self, builder: IrBuilder) -> Value:
        return self._read(builder, "ntid.x")

    def thread_index(self, builder: IrBuilder) -> Value:
        return self._read(builder, "tid.x")

    def barrier(self, builder: IrBuilder) -> None:
        builder.call("llvm.nvvm.barrier.cta.sync.aligned.all", "void", [builder.int_(0, "i32")])

    def exchange(self, builder: IrBuilder, word: Value, distance: int) -> Value:
        mask, lane, clamp = (builder.int_(n, "i32") for n in (-1, distance, 31))
        return builder.call("llvm.nvvm.shfl.sync.bfly.i32", "i32", [mask, word, lane, clamp])

    def shared_array(self, builder: IrBuilder, type_: str, count: int, *, align: int = 16) -> Value:
        name = builder.module.symbol(f"{builder.function.name}_shared")
        builder.module.add_global(name, f"internal addrspace(3) global [{count} x {type_}] undef, align {align}")
        return Value("ptr addrspace(3)", f"@{name}")


TARGETS: dict[str, tuple[TargetAbi, str, str]] = {
    # target: (abi, what its assembly has for the elementwise kernel, and for the reduction)
    "x86-64": (LoopAbi("x86_64-unknown-linux-gnu", "x86-64-v3", vector_width=256), r"ymm", r"vaddps.*ymm"),
    "aarch64": (LoopAbi("aarch64-unknown-linux-gnu", "neoverse-v1"), r"fmul\s+[vz]\d+\.\d?s", r"fadd\s+[vz]\d+\.\d?s"),
    "nvptx64": (Ptx(), r"st\.global", r"shfl\.sync\.bfly"),
    "amdgcn": (AmdgpuAbi("gfx90a"), r"global_store", r"ds_bpermute"),
    "hexagon": (HexagonAbi(), r"memw", r"\.sf = vadd"),
}


def activation(c, x, y):
    """tanh(x * y + 1) of one operand converted from f16."""
    wide = c.add("convert", y, shape=x.shape)
    one = c.add("broadcast", scalar(c, 1), shape=x.shape, dimensions=())
    return c.add("tanh", c.add("add", c.add("multiply", x, wide), one))


def row_sums(c, x):
    return c.add("reduce", c.add("multiply", x, x), scalar(c, 0), dimensions=(1,), to_apply=scalar_body("add"))


def column_sums(c, x):
    return c.add("reduce", x, scalar(c, 0), dimensions=(0,), to_apply=scalar_body("add"))


@pytest.mark.parametrize("target", TARGETS)
def test_one_emitter_for_every_target(target: str) -> None:
    abi, elementwise, reduction = TARGETS[target]
    kernel, text = emit(fuse(activation, f32(64, 256), array(T.F16, 64, 256)), abi)
    assert kernel.partition_count > 0
    assert re.search(elementwise, compile_ir(text, abi).assembly())
    kernel, text = emit(fuse(row_sums, f32(64, 256)), abi)
    assert kernel.partition_count == 64
    assert (kernel.threads > 1) == abi.parallel.has_blocks
    assert re.search(reduction, compile_ir(text, abi).assembly())


@pytest.mark.parametrize("target", TARGETS)
def test_other_forms_for_every_target(target: str) -> None:
    abi = TARGETS[target][0]
    for build, shapes in (
        (column_sums, (f32(64, 256),)),
        (lambda c, x: c.add("transpose", x, dimensions=(1, 0)), (f32(64, 256),)),
        (
            lambda c, x, y: c.add("dot", x, y, lhs_contracting_dims=(1,), rhs_contracting_dims=(0,)),
            (f32(8, 9), f32(9, 16)),
        ),
    ):
        _, text = emit(fuse(build, *shapes), abi)
        assert compile_ir(text, abi).assembly()


@pytest.mark.parametrize("target", ["x86-64", "aarch64", "hexagon"])
def test_object_files(target: str) -> None:
    abi = TARGETS[target][0]
    _, text = emit(fuse(row_sums, f32(64, 256)), abi)
    assert compile_ir(text, abi).object()[:4] == b"\x7fELF"


@pytest.mark.skipif("x86_64" not in host_abi().triple, reason="this machine is not an x86-64")
def test_the_kernels_are_right_where_they_run() -> None:
    x, y = random_array(f32(64, 256)), random_array(array(T.F16, 64, 256), 1)
    (got,) = Loaded(fuse(activation, f32(64, 256), array(T.F16, 64, 256)))(x, y)
    np.testing.assert_allclose(got, np.tanh(x * y.astype(np.float32) + 1), rtol=1e-5, atol=1e-6)
    (got,) = Loaded(fuse(row_sums, f32(64, 256)))(x)
    np.testing.assert_allclose(got, (x.astype(np.float64) ** 2).sum(1), rtol=1e-5)


def test_a_target_without_fma_and_vectors_agrees() -> None:
    host = host_abi()
    plain = LoopAbi(host.triple, host.cpu, host.features, vector_width=0, has_fma=False, native_floats=frozenset())
    x = random_array(f32(64, 64)) * 3
    for opcode in ("tanh", "sine", "log-plus-one", "power"):
        build = (lambda c, v: c.add("power", v, v)) if opcode == "power" else (lambda c, v, o=opcode: c.add(o, v))
        values = np.abs(x)
        (a,) = Loaded(fuse(build, f32(64, 64)), plain)(values)
        (b,) = Loaded(fuse(build, f32(64, 64)))(values)
        np.testing.assert_allclose(a, b, rtol=1e-6)


def test_flattened_loops_agree() -> None:
    """Each element is a unit of work, as on a grid, and a loop runs the units."""
    x, y = random_array(f32(6, 7, 8)), random_array(f32(8, 6), 1)

    def build(c, x, y):
        turned = c.add("transpose", y, dimensions=(1, 0))
        joined = c.add("concatenate", x, x, dimensions=(1,))
        wide = c.add("broadcast", turned, shape=f32(6, 14, 8), dimensions=(0, 2))
        return c.add("add", joined, wide)

    (a,) = Loaded(fuse(build, f32(6, 7, 8), f32(8, 6)), planner=single_elements())(x, y)
    np.testing.assert_array_equal(a, np.concatenate([x, x], 1) + y.T[:, None, :])


def test_math_of_the_target_comes_first() -> None:
    class Own(LoopAbi):
        def math(self, builder, name, arguments):
            return builder.call("own_tanh", arguments[0].type, arguments) if name == "tanh" else None

    _, text = emit(fuse(lambda c, x: c.add("tanh", c.add("exponential", x)), f32(8)), Own())
    assert "call float @own_tanh(float" in text
    assert "declare float @own_tanh(float)" in text


def test_a_remainder_of_the_target() -> None:
    """LLVM expands `frem` inexactly on some targets."""

    class Own(LoopAbi):
        def math(self, builder, name, arguments):
            return builder.call("own_fmod", arguments[0].type, arguments) if name == "remainder" else None

    _, text = emit(fuse(lambda c, x: c.add("remainder", x, x), f32(8)), Own())
    assert "call float @own_fmod(float" in text
    assert "frem" not in text


class Unfinished(GpuAbi):
    triple, cpu = "amdgcn-amd-amdhsa", "gfx90a"
    block_index_intrinsic, thread_index_intrinsic = "llvm.amdgcn.workgroup.id.x", "llvm.amdgcn.workitem.id.x"
    threads_attribute = '"amdgpu-flat-work-group-size"="{0},{0}"'
    parallel = ParallelModel(threads=256, lanes=64, shared_bytes=64 << 10)


class Counted(Unfinished):
    def block_count(self, builder: IrBuilder) -> Value:
        return builder.int_(64)


class WithBarrier(Counted):
    def barrier(self, builder: IrBuilder) -> None:
        builder.call("llvm.amdgcn.s.barrier", "void", [])


@pytest.mark.parametrize(
    ("abi", "text", "lacks"),
    [
        (Unfinished(), "ROOT y = f32[100000] add(x, x)", "no `block_count_intrinsic`"),
        (Counted(), "ROOT y = f32[1000,100] transpose(t), dimensions={1,0}", "doesn't define `barrier`"),
        (WithBarrier(), "ROOT y = f32[100] reduce(t, z), dimensions={1}, to_apply=sum", "`exchange`"),
    ],
)
def test_what_an_unfinished_abi_lacks_is_an_error_and_no_wrong_code(abi: GpuAbi, text: str, lacks: str) -> None:
    module = parse_hlo(
        "HloModule m\n\nsum {\n  a = f32[] parameter(0)\n  b = f32[] parameter(1)\n  ROOT c = f32[] add(a, b)\n}\n\n"
        "ENTRY e {\n  x = f32[100000] parameter(0)\n  t = f32[100,1000] parameter(1)\n  z = f32[] constant(0)\n  "
        + text
        + "\n}\n"
    )
    with pytest.raises(FailedPreconditionError, match=lacks):
        KernelEmitter(abi).emit(module.entry.root)


@pytest.mark.parametrize(("threads", "lanes"), [(64, 64), (128, 64), (192, 64), (96, 32), (512, 32)])
def test_blocks_of_lone_threads_have_no_more_threads_than_the_target_allows(threads: int, lanes: int) -> None:
    abi = Counted()
    abi.parallel = ParallelModel(threads=threads, lanes=lanes)
    kernel = KernelEmitter(abi).emit(fuse(lambda c, x: c.add("add", x, x), f32(100000)))
    assert kernel.resources.block_threads == min(threads, 256)


@pytest.mark.parametrize("name", sorted(TARGETS))
def test_an_abi_keeps_nothing_of_the_kernels_that_it_emits(name: str) -> None:
    abi = TARGETS[name][0]
    before = copy.deepcopy(vars(abi))
    emitter = KernelEmitter(abi)
    small = emitter.emit(fuse(lambda c, x: c.add("add", x, x), f32(8)), "small")
    needs = dataclasses.replace(small.resources)
    emitter.emit(
        fuse(
            lambda c, x: c.add("sort", x, dimensions=(0,), to_apply=scalar_body("compare", direction="LT")), f32(100000)
        ),
        "large",
    )
    assert vars(abi) == before
    assert small.resources == needs

"""Names of intrinsics that LLVM doesn't know: it would take them for functions of another module."""

from __future__ import annotations

import gc
import subprocess
import sys

import pytest

from xla_core.codegen.llvm import LoopAbi, compile_ir
from xla_core.errors import InternalError

HOST = LoopAbi("x86_64-linux-gnu")


def calling(name: str, type_: str = "i32") -> str:
    if type_ == "void":
        return f"declare void @{name}()\ndefine void @f() {{\n call void @{name}()\n ret void\n}}"
    return f"declare {type_} @{name}()\ndefine {type_} @f() {{\n %a = call {type_} @{name}()\n ret {type_} %a\n}}"


def test_a_misspelt_intrinsic_is_refused() -> None:
    with pytest.raises(InternalError, match=r"no intrinsic llvm.amdgcn.workgruop.id.x, .* the IR of add") as caught:
        compile_ir(calling("llvm.amdgcn.workgruop.id.x"), LoopAbi("amdgcn-amd-amdhsa", "gfx90a"), what="add")
    assert str(caught.value.hint).startswith("did you mean llvm.amdgcn.workgroup.id.x")


def test_a_misspelt_intrinsic_with_capital_letters_is_refused() -> None:
    with pytest.raises(InternalError) as caught:
        compile_ir(calling("llvm.hexagon.V6.vaddww"), LoopAbi("hexagon-unknown-elf", "hexagonv68"))
    assert str(caught.value.hint).startswith("did you mean llvm.hexagon.V6.vaddw")


def test_a_misspelt_overloaded_intrinsic_is_refused() -> None:
    with pytest.raises(InternalError, match=r"no intrinsic llvm.flooor.v4f32"):
        compile_ir("declare <4 x float> @llvm.flooor.v4f32(<4 x float>)", HOST)


def test_compilations_after_a_refusal_have_a_machine() -> None:
    """The refusal's traceback and what it refers to are garbage together, target machines of later compilations too."""
    abi = LoopAbi("riscv64-unknown-elf", "sifive-x280")
    for _ in range(3):
        with pytest.raises(InternalError):
            compile_ir(calling("llvm.no.such"), abi)
        gc.collect()
        assert compile_ir(calling("llvm.donothing", "void"), abi).object()


def test_other_intrinsics_and_functions_are_not() -> None:
    """Old names are replaced, and intrinsics of other targets are known too."""
    compile_ir(calling("llvm.amdgcn.workgroup.id.x"), LoopAbi("amdgcn-amd-amdhsa", "gfx90a"))
    compile_ir("declare <4 x float> @llvm.floor.v4f32(<4 x float>)", HOST)
    compile_ir("declare float @llvm.fma.f32(float, float, float)\ndeclare i32 @llvmish(i32)", HOST)
    compile_ir("declare void @llvm.nvvm.barrier0()", LoopAbi("nvptx64-nvidia-cuda", "sm_90"))


def test_llvms_library_is_read_for_names_that_seem_wrong_alone() -> None:
    program = """
from xla_core.codegen.llvm import LoopAbi, compile_ir, intrinsics
compile_ir("declare float @llvm.fma.f32(float, float, float)", LoopAbi("x86_64-linux-gnu"))
print(intrinsics._names.cache_info().misses)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=120, check=True)
    assert done.stdout == "0\n"

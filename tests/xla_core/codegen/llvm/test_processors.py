"""Names of processors that LLVM doesn't know: it would end the process when it generates code for them."""

from __future__ import annotations

import sys

import pytest

from xla_core.codegen.llvm import LoopAbi, compile_ir
from xla_core.errors import InternalError, InvalidArgumentError

CODE = "define i32 @one() { ret i32 1 }"


@pytest.mark.parametrize(
    ("triple", "cpu", "features", "message", "hint"),
    [
        ("x86_64-linux-gnu", "x86-64-v33", "", "LLVM knows no processor 'x86-64-v33'", "x86-64-v3"),
        ("riscv64-unknown-elf", "sifive-x999", "", "LLVM knows no processor 'sifive-x999'", "sifive-x280"),
        ("riscv64-unknown-elf", "", "+vv", r"'\+vv' is no feature", "+v"),
        ("nvptx64-nvidia-cuda", "sm_9000", "", "LLVM knows no processor 'sm_9000'", "sm_90"),
    ],
)
def test_an_unknown_processor_is_an_error(triple: str, cpu: str, features: str, message: str, hint: str) -> None:
    with pytest.raises(InvalidArgumentError, match=message) as caught:
        compile_ir(CODE, LoopAbi(triple, cpu, features))
    assert hint in str(caught.value.hint)


def test_an_unknown_triple_is_an_error_with_a_hint() -> None:
    with pytest.raises(InternalError, match="no target machine for 'x86_65-linux-gnu'") as caught:
        compile_ir(CODE, LoopAbi("x86_65-linux-gnu"))
    assert "ARCHITECTURE-VENDOR-SYSTEM" in str(caught.value.hint)


@pytest.mark.parametrize(("triple", "cpu"), [("riscv64-unknown-elf", "sifive-x280"), ("amdgcn-amd-amdhsa", "gfx942")])
def test_a_known_processor_is_compiled_for(triple: str, cpu: str) -> None:
    assert compile_ir(CODE, LoopAbi(triple, cpu)).object()


@pytest.mark.parametrize("command", ["", "/no/such/python"])
def test_a_process_that_can_start_no_python_compiles(monkeypatch: pytest.MonkeyPatch, command: str) -> None:
    """So does a program in C that embeds Python."""
    monkeypatch.setattr(sys, "executable", command)
    assert compile_ir(CODE, LoopAbi("powerpc64le-linux-gnu", "pwr9")).object()

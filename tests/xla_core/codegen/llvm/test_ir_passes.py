"""The passes that `compile_ir` runs on LLVM IR."""

from __future__ import annotations

import llvmlite.binding as llvm
import pytest

from xla_core.codegen.llvm import LoopAbi, compile_ir
from xla_core.errors import InvalidArgumentError

HOST = LoopAbi(llvm.get_process_triple())
CODE = """define i32 @twice(i32 %x) {
  %place = alloca i32
  store i32 %x, ptr %place
  %a = load i32, ptr %place
  %b = sub i32 %a, 0
  %c = add i32 %b, %b
  ret i32 %c
}"""


@pytest.mark.parametrize(
    ("passes", "kept", "gone"),
    [
        (("sroa",), ["sub i32 %x, 0", "add i32"], ["alloca"]),
        (("sroa", "instruction_combine"), ["shl i32 %x, 1"], ["alloca", "sub", "add"]),
        ((), ["shl"], ["alloca", "sub"]),
    ],
)
def test_only_the_passes_that_are_named_run(passes: tuple[str, ...], kept: list[str], gone: list[str]) -> None:
    ir = compile_ir(CODE, HOST, 1, passes=passes).ir()
    assert all(text in ir for text in kept), ir
    assert not any(text in ir.partition("{")[2] for text in gone), ir


def test_a_pass_that_llvmlite_does_not_have_is_an_error() -> None:
    with pytest.raises(InvalidArgumentError, match="no pass 'sora'"):
        compile_ir(CODE, HOST, 1, passes=("sora",))

"""A compiler with the shared LLVM emitter, on several devices."""

from __future__ import annotations

import numpy as np
import pytest
from xla_backend_template.compiler import TemplateCompiler
from xla_backend_template.llvm_compiler import LlvmCompiler

import xla_core as xla
from xla_core.codegen.llvm import LoopAbi

PROGRAM = """HloModule m, replica_count=2
sum { a = u32[] parameter(0)
  b = u32[] parameter(1)
  ROOT c = u32[] add(a, b) }
ENTRY e { x = u32[3] parameter(0)
  n = u32[] replica-id()
  numbers = u32[3] broadcast(n), dimensions={}
  y = u32[3] add(x, numbers)
  ROOT all = u32[3] all-reduce(y), replica_groups={{0,1}}, to_apply=sum }
"""


class LoopCompiler(LlvmCompiler):
    abi = LoopAbi("riscv64-unknown-elf", "generic-rv64", "+m,+a,+f,+d,+v", vector_width=128)


def test_what_crosses_between_devices_needs_no_fallback(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(TemplateCompiler, "target_config", LoopCompiler().target_config)
    x = np.arange(3, dtype=np.uint32)
    with xla.Client("template") as client:
        results = client.compile(PROGRAM, xla.CompileOptions(fallback="none")).execute_sharded([[x], [10 * x]])
        for (result,) in results:
            np.testing.assert_array_equal(np.asarray(result), 11 * x + 1)

"""A CPU backend whose machine code comes from a C compiler runs the cases of the conformance suite."""

from __future__ import annotations

import functools
import shutil
import zlib

import numpy as np
import pytest
from xla_backend_cpu.compiler import CpuCompiler
from xla_backend_cpu.machine_code import CCodeGenerator, CodeGenerator
from xla_backend_cpu.platform import CpuPlatform
from xla_conformance.ops.cases import OpCase, generate
from xla_conformance.ops.comparison import check
from xla_conformance.ops.domains import DOMAINS

import xla_core as xla

pytestmark = pytest.mark.skipif(shutil.which("gcc") is None, reason="not installed: gcc")


class CompilerToC(CpuCompiler):
    """The CPU compiler of a processor without an LLVM target."""

    @functools.cached_property
    def features(self) -> frozenset[str]:
        return frozenset()

    @functools.cached_property
    def code_generator(self) -> CodeGenerator:
        return CCodeGenerator("gcc -O1")


def _cases() -> list[object]:
    """A case of each op. About one in fifteen is not slow."""
    found = []
    for opcode in DOMAINS:
        cases = [case for case in generate(opcodes=[opcode]) if not case.has_denormal_products]
        case = min(cases, key=lambda case: zlib.crc32(f"c/{case.name}".encode()), default=None)
        if case is not None:
            marks = [] if zlib.crc32(opcode.encode()) % 15 == 0 else [pytest.mark.slow]
            found.append(pytest.param(case, id=case.name, marks=marks))
    return found


@pytest.mark.parametrize("case", _cases())
def test_a_case_of_an_op_passes(case: OpCase, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(CpuPlatform, "create_compiler", lambda platform: CompilerToC())
    with xla.Client("cpu") as client:
        try:
            executable = client.compile(case.module())
        except xla.UnimplementedError as error:
            pytest.skip(error.message)
        results = [np.asarray(result) for result in executable(*case.arguments())]
    check(case.name, results, case.expected(), module=case.module(), arguments=case.arguments())

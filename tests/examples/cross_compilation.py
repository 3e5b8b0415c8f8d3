"""A plugin of pytest: what the tests emit for this machine is compiled for another target too, and checked.

pytest -p tests.examples.cross_compilation --cross-target=gfx942 tests/xla_core/codegen/llvm
"""

from __future__ import annotations

from collections.abc import Collection

import pytest

from examples.targets.assembly import TARGETS
from tests.examples.assembly_checks import problems
from xla_core.codegen.llvm import EmittedKernel, KernelEmitter, compile_ir
from xla_core.hlo import HloInstruction


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--cross-target", choices=list(TARGETS), required=True)


def pytest_configure(config: pytest.Config) -> None:
    target = config.getoption("--cross-target")
    emit = KernelEmitter.emit
    compiled: set[str] = set()

    def emit_twice(
        emitter: KernelEmitter,
        instruction: HloInstruction,
        name: str | None = None,
        *,
        aliasing: Collection[tuple[int, int]] = (),
    ) -> EmittedKernel:
        kernel = emit(emitter, instruction, name, aliasing=aliasing)
        abi = TARGETS[target]()
        other = KernelEmitter(abi)
        emit(other, instruction, name, aliasing=aliasing)
        text = other.module.to_text()
        if text not in compiled:
            compiled.add(text)
            assert problems(target, compile_ir(text, abi).assembly()) == []
        return kernel

    KernelEmitter.emit = emit_twice
    config.add_cleanup(lambda: setattr(KernelEmitter, "emit", emit))
    config.add_cleanup(lambda: print(f"\ncompiled {len(compiled)} kernels for {target}"))

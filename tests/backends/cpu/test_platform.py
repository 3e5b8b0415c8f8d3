"""The devices of the CPU platform, and of platforms that subclass it for another processor."""

from __future__ import annotations

from functools import cached_property

from xla_backend_cpu.compiler import CpuCompiler
from xla_backend_cpu.host import host_cpu
from xla_backend_cpu.platform import CpuPlatform

from xla_core.backend import Compiler


class BoardCompiler(CpuCompiler):
    @cached_property
    def triple(self) -> str:
        return "riscv64-unknown-linux-gnu"

    @cached_property
    def cpu(self) -> str:
        return "sifive-u74"

    @cached_property
    def features(self) -> frozenset[str]:
        return frozenset({"m", "a", "f", "d", "c"})


class BoardPlatform(CpuPlatform):
    def create_compiler(self) -> Compiler:
        return BoardCompiler()


def test_device_of_another_processor_has_its_name() -> None:
    platform = BoardPlatform()
    assert platform.create_executor(0).description.name == "riscv64 sifive-u74"
    assert platform.compiler.target_config.device.name == "riscv64 sifive-u74"


def test_device_of_the_host_has_the_hosts_name() -> None:
    assert CpuPlatform().create_executor(0).description.name.endswith(host_cpu())

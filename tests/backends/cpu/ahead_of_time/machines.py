"""Machines that run compiled models: this one, and others under qemu-user where qemu and a C compiler are installed."""

from __future__ import annotations

import dataclasses
import platform
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
from xla_backend_cpu.compiler import CpuCompiler

from xla_core.backend import AheadOfTimeOptions, CompileOptions
from xla_core.hlo import HloModule, Shape


@dataclasses.dataclass(frozen=True)
class Machine:
    """A processor, the C compiler for it, and the command that runs its programs."""

    name: str
    compiler: str
    runner: tuple[str, ...] = ()
    options: Mapping[str, object] = dataclasses.field(default_factory=dict)

    def __str__(self) -> str:
        return self.name

    @property
    def missing(self) -> str:
        """The tools that are not installed, or "". Without a runner, this machine must be of the architecture."""
        tools = [tool for tool in (self.compiler, *self.runner[:1]) if shutil.which(tool) is None]
        if not self.runner and platform.machine() not in str(self.options["triple"]):
            tools.append(f"a machine with {self.options['triple']}")
        return ", ".join(tools)

    def files(self, module: HloModule, folder: Path, name: str = "model", **more: object) -> None:
        """Writes the files of a program to a folder."""
        compile_options = more.pop("compile_options", CompileOptions())
        options = AheadOfTimeOptions(name=name, **{**self.options, **more})
        for file, content in CpuCompiler().ahead_of_time_files(module, options, compile_options).items():
            path = folder / file
            path.write_bytes(content) if isinstance(content, bytes) else path.write_text(content)

    def build(self, folder: Path, output: str, sources: Sequence[str], *flags: str) -> Path:
        """Compiles and links C files and object files of a folder."""
        command = [self.compiler, "-O1", "-Wall", "-Wextra", "-Werror", *flags, *sources, "-o", output, "-lm"]
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        return folder / output

    def run(self, program: Path, *arguments: str) -> str:
        """Runs a program in its folder; returns what it prints."""
        command = [*self.runner, f"./{program.name}", *arguments]
        done = subprocess.run(command, cwd=program.parent, capture_output=True, text=True, timeout=300)
        assert done.returncode == 0, f"status {done.returncode}: {done.stderr}"
        return done.stdout

    def results(
        self,
        module: HloModule,
        inputs: Sequence[np.ndarray],
        folder: Path,
        flags: Sequence[str] = (),
        **more: object,
    ) -> list[np.ndarray]:
        """Compiles a program, builds its example, runs it on `inputs`; returns the results.

        `flags` are more options of the C compiler, and `more` are those of `xla aot`.
        """
        shapes = list(module.result_shape.array_leaves())
        self.files(module, folder, **more)
        flags = [*flags, *(["-pthread", "-DXLA_AOT_THREADS=4"] if "threads" in more else [])]
        if more.get("emit") == "c":
            flags += ["-std=c11", "-ffp-contract=off"]
        code = "model.c" if more.get("emit") == "c" else "model.o"
        program = self.build(folder, "example", ["model_example.c", "xla_aot.c", code], *flags)
        for number, array in enumerate(inputs):
            (folder / f"{number}.bin").write_bytes(self._swapped(np.ascontiguousarray(array).tobytes(), array.dtype))
        self.run(program, *(f"{number}.bin" for number in range(len(inputs))))
        return [self.array(folder / f"model.result{number}", shape) for number, shape in enumerate(shapes)]

    def array(self, path: Path, shape: Shape) -> np.ndarray:
        """Reads an array that the machine wrote."""
        data = self._swapped(path.read_bytes(), shape.dtype)
        return np.frombuffer(data, shape.dtype).reshape(shape.dimensions)

    def _swapped(self, data: bytes, dtype: np.dtype) -> bytes:
        """The bytes of an array in the order of the machine."""
        width = dtype.itemsize // (2 if dtype.kind == "c" else 1)
        if width == 1 or not str(self.options["triple"]).startswith("s390x"):
            return data
        return np.frombuffer(data, f"u{width}").byteswap().tobytes()


def _qemu(architecture: str, sysroot: str, *options: str) -> tuple[str, ...]:
    return (f"qemu-{architecture}", "-L", f"/usr/{sysroot}", *options)


_ARM = "arm-linux-gnueabihf"

MACHINES = [
    Machine("x86_64", "gcc", (), {"triple": "x86_64-linux-gnu"}),
    Machine("aarch64", "aarch64-linux-gnu-gcc", _qemu("aarch64", "aarch64-linux-gnu"), {"triple": "aarch64-linux-gnu"}),
    Machine(
        "aarch64-sve",
        "aarch64-linux-gnu-gcc",
        _qemu("aarch64", "aarch64-linux-gnu", "-cpu", "max,sve256=on"),
        {"triple": "aarch64-linux-gnu", "features": "+sve"},
    ),
    Machine("riscv64", "riscv64-linux-gnu-gcc", _qemu("riscv64", "riscv64-linux-gnu"), {"triple": "riscv64-linux-gnu"}),
    Machine(
        "riscv64-v",
        "riscv64-linux-gnu-gcc",
        _qemu("riscv64", "riscv64-linux-gnu", "-cpu", "rv64,v=true,vlen=256,elen=64"),
        {"triple": "riscv64-linux-gnu", "features": "+v"},
    ),
    Machine("armv7", f"{_ARM}-gcc", _qemu("arm", _ARM), {"triple": "armv7-linux-gnueabihf"}),
    Machine("s390x", "s390x-linux-gnu-gcc", _qemu("s390x", "s390x-linux-gnu"), {"triple": "s390x-linux-gnu"}),
]

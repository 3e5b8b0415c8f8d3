"""The tables of models that are compiled ahead of time, from the programs in `docs/data/ahead_of_time`.

`python docs/ahead_of_time_tables.py` prints the sizes. With the argument `speeds` it prints how fast LLVM and a C
compiler (`cc`) make the models on this machine.
"""

from __future__ import annotations

import ctypes
import functools
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

__all__ = ["sizes", "speeds"]

DATA = Path(__file__).parent / "data" / "ahead_of_time"

_MODELS = {
    "mlp": "MLP, 784-256-128-10, batch 8",
    "resnet_block": "ResNet block, 16 x 16 x 64",
    "transformer_block": "transformer block, 32 x 64, 4 heads",
}
_TARGETS = {
    "x86-64-v3": {"triple": "x86_64-linux-gnu", "cpu": "x86-64-v3"},
    "aarch64": {"triple": "aarch64-linux-gnu"},
    "riscv64 with V": {"triple": "riscv64-linux-gnu", "features": "+v"},
    "armv7": {"triple": "armv7-linux-gnueabihf"},
}


def sizes() -> str:
    """Compiles each model for each target, fast and small; gives the bytes of the object files as Markdown."""
    import xla_core as xla
    from xla_core.backend import AheadOfTimeOptions, load_backend

    compiler = load_backend("cpu").platform().compiler
    lines = [f"| model | HLO text | arena | {' | '.join(_TARGETS)} |", "|---" * (3 + len(_TARGETS)) + "|"]
    for name, title in _MODELS.items():
        cells, arena = [], ""
        hlo = len(xla.parse((DATA / f"{name}.mlir").read_text()).to_text())
        for target in _TARGETS.values():
            figures = []
            for small in (False, True):
                options = AheadOfTimeOptions(name=name, optimize_for_size=small, **target)
                module = xla.parse((DATA / f"{name}.mlir").read_text())
                files = compiler.ahead_of_time_files(module, options)
                figures.append(f"{len(files[f'{name}.o']):,}")
                header = str(files[f"{name}.h"])
                arena = arena or header.partition("_ARENA_BYTES ((size_t)")[2].partition(")")[0]
            cells.append(" / ".join(figures))
        lines.append(f"| {title} | {hlo:,} | {int(arena):,} | {' | '.join(cells)} |")
    return "\n".join(lines)


_TURNS, _RUNS = 15, 40


def speeds() -> str:
    """Times the code of LLVM and that of a C compiler in turns, by processor time; gives Markdown.

    Both are for x86-64-v3: the C by `cc -O3 -march=x86-64-v3`, with the options that the CMake file has.
    """
    lines = ["| model | LLVM, us | C, us | C / LLVM |", "|---|---|---|---|"]
    for name, title in _MODELS.items():
        with tempfile.TemporaryDirectory() as folder:
            sides = [_runner(name, emit, Path(folder, emit)) for emit in ("object", "c")]
            turns = [[_microseconds(run) for run in sides] for _ in range(_TURNS)]
        llvm, c = (statistics.median(side) for side in zip(*turns, strict=True))
        lines.append(f"| {title} | {llvm:.0f} | {c:.0f} | {c / llvm:.1f} |")
    return "\n".join(lines)


def _microseconds(run: Callable[[], None]) -> float:
    start = time.process_time()
    for _ in range(_RUNS):
        run()
    return (time.process_time() - start) / _RUNS * 1e6


def _runner(name: str, emit: str, folder: Path) -> Callable[[], None]:
    """Builds a shared library of a model; returns a call of it with arguments of small numbers."""
    import numpy as np

    import xla_core as xla
    from xla_core.backend import AheadOfTimeOptions, load_backend

    folder.mkdir()
    target = AheadOfTimeOptions.model_validate({"name": name, "emit": emit, **_TARGETS["x86-64-v3"]})
    module = xla.parse((DATA / f"{name}.mlir").read_text())
    shapes = [*module.parameter_shapes], [s for s in module.result_shape.leaves() if s.is_array]
    rng = np.random.default_rng(0)
    inputs = [rng.uniform(-0.1, 0.1, s.dimensions).astype(s.dtype) for s in shapes[0]]
    outputs = [np.zeros(s.dimensions, s.dtype) for s in shapes[1]]
    for file, content in load_backend("cpu").platform().compiler.ahead_of_time_files(module, target).items():
        (folder / file).write_bytes(content if isinstance(content, bytes) else content.encode())
    header = (folder / f"{name}.h").read_text()
    arena_bytes = int(header.partition("_ARENA_BYTES ((size_t)")[2].partition(")")[0])
    arena = np.zeros(arena_bytes + 64, np.uint8)
    code = [f"{name}.o"] if emit == "object" else [f"{name}.c", "-O3", "-march=x86-64-v3", "-ffp-contract=off"]
    flags = ["-fPIC", "-fno-math-errno", "-fno-trapping-math", "-shared", "-o", "model.so"]
    subprocess.run(["cc", *code, *flags, "-lm"], cwd=folder, check=True)
    entry = ctypes.CDLL(str(folder / "model.so"))[f"{name}_run"]
    pointers = [
        (ctypes.c_void_p * (len(arrays) or 1))(*(a.ctypes.data for a in arrays)) for arrays in (inputs, outputs)
    ]
    place = ctypes.c_void_p(arena.ctypes.data + -arena.ctypes.data % 64)

    def run(*owners: object) -> None:
        status = entry(*pointers, place)
        if status:
            raise RuntimeError(f"{name} returned status {status}")

    return functools.partial(run, inputs, outputs, arena)  # the library has only their addresses


if __name__ == "__main__":
    sys.stdout.write((speeds() if sys.argv[1:] == ["speeds"] else sizes()) + "\n")

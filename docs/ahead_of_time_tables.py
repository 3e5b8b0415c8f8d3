"""The table of the sizes of models that are compiled ahead of time, from the programs in `docs/data/ahead_of_time`.

`python docs/ahead_of_time_tables.py` prints it.
"""

from __future__ import annotations

import sys
from pathlib import Path

__all__ = ["sizes"]

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
    lines = [f"| model | arena | {' | '.join(_TARGETS)} |", "|---" * (2 + len(_TARGETS)) + "|"]
    for name, title in _MODELS.items():
        cells, arena = [], ""
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
        lines.append(f"| {title} | {int(arena):,} | {' | '.join(cells)} |")
    return "\n".join(lines)


if __name__ == "__main__":
    sys.stdout.write(sizes() + "\n")

"""The programs that the fuzzer mutates, in each format that is read."""

from __future__ import annotations

import functools
import importlib.util
import os
from pathlib import Path

import xla_core as xla
from tests.programs import PROGRAMS

__all__ = ["FORMATS", "sources"]

ROOT = Path(__file__).parents[2]
SMALL = 200_000  # bytes: larger sources cost more time a mutant than they find

Source = tuple[str, "str | bytes"]


def _tests_of_stablehlo() -> Path | None:
    folder = Path(os.environ.get("STABLEHLO_TESTS") or ROOT.parent / "shared" / "stablehlo-tests")
    return folder if folder.is_dir() else None


def _stablehlo() -> list[Source]:
    found: list[Source] = [(p.name, p.text) for p in PROGRAMS]
    folder = _tests_of_stablehlo()
    for path in sorted(folder.rglob("*.mlir")) if folder else []:
        if path.stat().st_size > SMALL:
            continue
        parts = path.read_text().split("// -----")
        found += [(f"{path.stem}:{i}", part) for i, part in enumerate(parts) if part.strip()]
    return found


def _hlo() -> list[Source]:
    return [(p.name, xla.parse(p.text).to_text()) for p in PROGRAMS]


def _bytecode() -> list[Source]:
    folder = _tests_of_stablehlo()
    found: list[Source] = [(p.stem, p.read_bytes()) for p in sorted(folder.rglob("*.bc"))] if folder else []
    if importlib.util.find_spec("jaxlib") is None:
        return found
    return found + [(p.name, data) for p in PROGRAMS for data in _written_by_jax(p.text)]


def _written_by_jax(text: str) -> list[bytes]:
    """As plain MLIR bytecode and as a portable artifact, as far as jaxlib's version can read and write it."""
    import io

    from jax._src.interpreters import mlir
    from jax._src.lib import _jax
    from jaxlib.mlir import ir
    from jaxlib.mlir.dialects import stablehlo

    with mlir.make_ir_context():
        try:
            module = ir.Module.parse(text)
        except ir.MLIRError:
            return []
        plain = io.BytesIO()
        module.operation.write_bytecode(plain)
        artifact = _jax.mlir.serialize_portable_artifact(module, stablehlo.get_current_version(), False)
    return [plain.getvalue(), artifact]


FORMATS = {"stablehlo": _stablehlo, "hlo": _hlo, "bytecode": _bytecode}


@functools.cache
def sources(format: str) -> list[Source]:
    """(name, data) of each program, the smallest first; without those that are too large to be mutated often."""
    return sorted((s for s in FORMATS[format]() if len(s[1]) <= SMALL), key=lambda s: (len(s[1]), s[0]))

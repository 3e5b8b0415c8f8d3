"""The programs that the fuzzer mutates, in each format that is read."""

from __future__ import annotations

import contextlib
import functools
import importlib.util
import io

from xla_conformance.stablehlo.suite import find_tests

import xla_core as xla
from tests.programs import PROGRAMS
from xla_core.stablehlo import VersionError, parse_text, write_portable_artifact

VERSIONS = ("0.9.0", "0.20.0", "1.0.0", "1.8.0", "1.14.0", "1.20.0")
SMALL = 200_000  # bytes: larger sources cost more time a mutant than they find

Source = tuple[str, "str | bytes"]


def _stablehlo() -> list[Source]:
    found: list[Source] = [(p.name, p.text) for p in PROGRAMS]
    folder = find_tests()
    for path in sorted(folder.rglob("*.mlir")) if folder else []:
        if path.stat().st_size > SMALL:
            continue
        parts = path.read_text().split("// -----")
        found += [(f"{path.stem}:{i}", part) for i, part in enumerate(parts) if part.strip()]
    return found


def _hlo() -> list[Source]:
    return [(p.name, xla.parse(p.text).to_text()) for p in PROGRAMS]


def _bytecode() -> list[Source]:
    """Portable artifacts of the programs, each for one of the releases; StableHLO's own; what MLIR writes itself."""
    folder = find_tests()
    found: list[Source] = [(p.stem, p.read_bytes()) for p in sorted(folder.rglob("*.bc"))] if folder else []
    for index, program in enumerate(PROGRAMS):
        module = parse_text(program.text)
        with contextlib.suppress(xla.UnimplementedError, VersionError):
            found.append((program.name, write_portable_artifact(module, VERSIONS[index % len(VERSIONS)])))
    if importlib.util.find_spec("jaxlib") is not None:
        found += [(f"{p.name} (MLIR's)", _written_by_mlir(p.text)) for p in PROGRAMS[::2]]
    return found


def _written_by_mlir(text: str) -> bytes:
    """StableHLO's own dialect in bytecode; empty where jaxlib's version can't read the program."""
    from jax._src.interpreters import mlir
    from jaxlib.mlir import ir

    data = io.BytesIO()
    with mlir.make_ir_context(), contextlib.suppress(ir.MLIRError):
        ir.Module.parse(text).operation.write_bytecode(data)
    return data.getvalue()


FORMATS = {"stablehlo": _stablehlo, "hlo": _hlo, "bytecode": _bytecode}


@functools.cache
def sources(format: str) -> list[Source]:
    """(name, data) of each program, the smallest first; without those that are too large to be mutated often."""
    return sorted((s for s in FORMATS[format]() if 0 < len(s[1]) <= SMALL), key=lambda s: (len(s[1]), s[0]))

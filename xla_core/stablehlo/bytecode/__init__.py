"""MLIR bytecode: StableHLO's portable artifacts (VHLO), and its own bytecode, read into the op tree."""

from __future__ import annotations

from xla_core.stablehlo.bytecode.encoding import MAGIC
from xla_core.stablehlo.bytecode.reader import parse_bytecode

__all__ = ["MAGIC", "parse_bytecode"]

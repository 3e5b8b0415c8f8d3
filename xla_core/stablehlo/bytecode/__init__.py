"""Reads MLIR bytecode into the op tree: portable artifacts (VHLO), and bytecode of the StableHLO dialect itself."""

from __future__ import annotations

from xla_core.stablehlo.bytecode.encoding import MAGIC
from xla_core.stablehlo.bytecode.reader import parse_bytecode

__all__ = ["MAGIC", "parse_bytecode"]

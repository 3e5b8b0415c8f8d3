"""Writes a module as MLIR text."""

from __future__ import annotations

from xla_core.stablehlo.translate.text.writer import write_text

__all__ = ["write_text"]

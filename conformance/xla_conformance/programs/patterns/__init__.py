"""Expressions that compilers rewrite, and programs in which one condition of a rewrite fails."""

from xla_conformance.programs.patterns.broken_conditions import broken_conditions, parts

__all__ = ["broken_conditions", "parts"]

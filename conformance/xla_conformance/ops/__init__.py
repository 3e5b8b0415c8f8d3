"""Test cases of single ops, made from the op table and from `domains`, which say what the cases of each op vary."""

from xla_conformance.ops.cases import OpCase, all_cases, generate

__all__ = ["OpCase", "all_cases", "generate"]

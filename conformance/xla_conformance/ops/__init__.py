"""Test cases of single ops, made from the op table and from `domains`, which say what the cases of each op vary."""

from xla_conformance.ops.cases import OpCase, generate

__all__ = ["OpCase", "generate"]

"""Test cases of single ops, made from the op table and from `domains`, the variations of each op's cases."""

from xla_conformance.ops.cases import OpCase, generate

__all__ = ["OpCase", "generate"]

"""Test cases of single ops: generated from the op table, and written as HLO text in `hlo/` for ops that need more."""

from xla_conformance.ops.cases import OpCase, generate
from xla_conformance.ops.templates import Template, load_templates

__all__ = ["OpCase", "Template", "generate", "load_templates"]

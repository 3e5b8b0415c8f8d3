"""The HLO IR, its text and proto formats, and its reference evaluator."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from xla_core.hlo import ops as _ops  # importing this fills the op table
from xla_core.hlo.attributes import (
    ConvolutionDimensionNumbers,
    OpMetadata,
    OutputToOperandAlias,
    PaddingDimension,
    SliceDimension,
    Window,
    WindowDimension,
)
from xla_core.hlo.backend_config import parse_backend_config, read_backend_config
from xla_core.hlo.builder import comparator, scalar_computation
from xla_core.hlo.computation import HloComputation
from xla_core.hlo.dynamic_shape_program import DynamicShapeProgram
from xla_core.hlo.element_type import ElementType
from xla_core.hlo.entry import flatten_entry
from xla_core.hlo.environment import TOKEN, Environment, Token, Value
from xla_core.hlo.evaluation_context import EvaluationContext, flatten_value, unflatten_value
from xla_core.hlo.evaluator import (
    evaluate,
    evaluate_computation,
    evaluate_instruction,
    evaluate_parallel,
    evaluate_replicas,
)
from xla_core.hlo.extractor import extract_module, tuple_of
from xla_core.hlo.graph import to_dot
from xla_core.hlo.instruction import HloInstruction
from xla_core.hlo.literal import Literal
from xla_core.hlo.literal_comparison import Difference, Tolerance, compare_arrays, ulp_distance
from xla_core.hlo.module import HloModule, InputOutputAlias
from xla_core.hlo.op_table import OPS, Attribute, AttributeKind, OpDef, Trait, lookup
from xla_core.hlo.opcode import Opcode
from xla_core.hlo.ops.control_flow import branch_computations
from xla_core.hlo.ops.custom_calls import add_custom_call_finder, is_custom_call_registered, register_custom_call
from xla_core.hlo.printer import PrintOptions
from xla_core.hlo.shape import Layout, Shape
from xla_core.hlo.structural_key import StructuralKeys
from xla_core.hlo.verifier import verify

if TYPE_CHECKING:
    from xla_core.hlo.parser import parse_hlo as parse_hlo
    from xla_core.hlo.structural_equality import structurally_equal as structurally_equal

_LAZY = {"parse_hlo": "xla_core.hlo.parser", "structurally_equal": "xla_core.hlo.structural_equality"}
"""Names that load on first use, because, for example, a backend that is given modules needs no parser."""

__all__ = [
    "OPS",
    "TOKEN",
    "Attribute",
    "AttributeKind",
    "ConvolutionDimensionNumbers",
    "Difference",
    "DynamicShapeProgram",
    "ElementType",
    "Environment",
    "EvaluationContext",
    "HloComputation",
    "HloInstruction",
    "HloModule",
    "InputOutputAlias",
    "Layout",
    "Literal",
    "OpDef",
    "OpMetadata",
    "Opcode",
    "OutputToOperandAlias",
    "PaddingDimension",
    "PrintOptions",
    "Shape",
    "SliceDimension",
    "StructuralKeys",
    "Token",
    "Tolerance",
    "Trait",
    "Value",
    "Window",
    "WindowDimension",
    "add_custom_call_finder",
    "branch_computations",
    "comparator",
    "compare_arrays",
    "evaluate",
    "evaluate_computation",
    "evaluate_instruction",
    "evaluate_parallel",
    "evaluate_replicas",
    "extract_module",
    "flatten_entry",
    "flatten_value",
    "is_custom_call_registered",
    "lookup",
    "parse_backend_config",
    "parse_hlo",
    "read_backend_config",
    "register_custom_call",
    "scalar_computation",
    "structurally_equal",
    "to_dot",
    "tuple_of",
    "ulp_distance",
    "unflatten_value",
    "verify",
]

assert _ops is not None


def __getattr__(name: str) -> Any:
    module = _LAZY.get(name)
    if module is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(importlib.import_module(module), name)
    globals()[name] = value
    return value

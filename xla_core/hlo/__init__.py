"""The HLO IR and what it means."""

from __future__ import annotations

from xla_core.hlo import ops as _ops  # fills the op table
from xla_core.hlo.attributes import (
    ConvolutionDimensionNumbers,
    OpMetadata,
    PaddingDimension,
    SliceDimension,
    Window,
    WindowDimension,
)
from xla_core.hlo.builder import comparator, scalar_computation
from xla_core.hlo.computation import HloComputation
from xla_core.hlo.element_type import ElementType
from xla_core.hlo.environment import TOKEN, Environment, Token, Value
from xla_core.hlo.evaluator import (
    EvaluationContext,
    evaluate,
    evaluate_computation,
    evaluate_instruction,
    evaluate_parallel,
    evaluate_replicas,
)
from xla_core.hlo.graph import to_dot
from xla_core.hlo.instruction import HloInstruction
from xla_core.hlo.literal import Literal
from xla_core.hlo.literal_comparison import Difference, Tolerance, compare_arrays, ulp_distance
from xla_core.hlo.module import HloModule, InputOutputAlias
from xla_core.hlo.op_table import OPS, Attribute, AttributeKind, OpDef, Trait, lookup
from xla_core.hlo.ops.control_flow import branch_computations
from xla_core.hlo.ops.custom_calls import register_custom_call
from xla_core.hlo.printer import PrintOptions
from xla_core.hlo.shape import Layout, Shape
from xla_core.hlo.structural_key import StructuralKeys
from xla_core.hlo.verifier import verify

__all__ = [
    "OPS",
    "TOKEN",
    "Attribute",
    "AttributeKind",
    "ConvolutionDimensionNumbers",
    "Difference",
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
    "branch_computations",
    "comparator",
    "compare_arrays",
    "evaluate",
    "evaluate_computation",
    "evaluate_instruction",
    "evaluate_parallel",
    "evaluate_replicas",
    "lookup",
    "register_custom_call",
    "scalar_computation",
    "to_dot",
    "ulp_distance",
    "verify",
]

assert _ops is not None

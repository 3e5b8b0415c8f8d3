"""The HLO IR, its text and proto formats, and its reference evaluator. A module or package imports only from the rows
below its own.

| module or package | what is in it |
|---|---|
| `evaluator` | runs a module with numpy: the definition of every op |
| `verifier` | checks a module |
| `parsing`, `proto`, `decompositions` | readers of HLO text and of HloModuleProto; ops written as other ops |
| `ops` | the entries of the op table: shape rules and evaluation |
| `evaluation` | the state of an evaluation |
| `ir` | instructions, computations and modules, their printer, and analyses of them |
| `text` | reads and prints the parts of HLO text |
| `table` | opcodes, attributes and traits |
| `values` | element types, shapes and literals |
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import xla_core.hlo.ops  # noqa: F401  (importing this fills the op table)
from xla_core.hlo.evaluation.dynamic_shape_program import DynamicShapeProgram
from xla_core.hlo.evaluation.environment import TOKEN, Environment, Token, Value
from xla_core.hlo.evaluation.evaluation_context import EvaluationContext, flatten_value, unflatten_value
from xla_core.hlo.evaluator import (
    evaluate,
    evaluate_computation,
    evaluate_parallel,
    evaluate_replicas,
)
from xla_core.hlo.ir.builder import comparator, scalar_computation
from xla_core.hlo.ir.computation import HloComputation
from xla_core.hlo.ir.entry import flatten_entry
from xla_core.hlo.ir.extractor import extract_computation, extract_module, tuple_of
from xla_core.hlo.ir.fused import fused_instructions, fused_parameters, fused_roots
from xla_core.hlo.ir.graph import to_dot
from xla_core.hlo.ir.instruction import HloInstruction
from xla_core.hlo.ir.module import HloModule, InputOutputAlias
from xla_core.hlo.ir.printer import PrintOptions
from xla_core.hlo.ir.structural_key import StructuralKeys
from xla_core.hlo.ops.collective_evaluation import evaluate_groups
from xla_core.hlo.ops.control_flow import branch_computations
from xla_core.hlo.ops.custom_calls import (
    add_custom_call_finder,
    find_custom_call,
    is_custom_call_registered,
    register_custom_call,
)
from xla_core.hlo.ops.in_place_calls import CustomCall, InPlaceFunction, call_attributes, register_in_place_call
from xla_core.hlo.table.attributes import (
    ConvolutionDimensionNumbers,
    OpMetadata,
    OutputToOperandAlias,
    PaddingDimension,
    SliceDimension,
    Window,
    WindowDimension,
)
from xla_core.hlo.table.backend_config import parse_backend_config, read_backend_config
from xla_core.hlo.table.op_table import OPS, Attribute, AttributeKind, OpDef, Trait, lookup
from xla_core.hlo.table.opcode import Opcode
from xla_core.hlo.values.element_type import ElementType
from xla_core.hlo.values.literal import Literal
from xla_core.hlo.values.literal_comparison import Difference, Tolerance, compare_arrays, ulp_distance
from xla_core.hlo.values.shape import Layout, Shape
from xla_core.hlo.verifier import verify
from xla_core.lazy_names import loads_on_use

if TYPE_CHECKING:
    from xla_core.hlo.parsing.parser import parse_hlo as parse_hlo

_LAZY = {"parse_hlo": "parsing.parser"}
"""Names that load on first use: a backend that is given modules needs no parser."""

__all__ = [
    "OPS",
    "TOKEN",
    "Attribute",
    "AttributeKind",
    "ConvolutionDimensionNumbers",
    "CustomCall",
    "Difference",
    "DynamicShapeProgram",
    "ElementType",
    "Environment",
    "EvaluationContext",
    "HloComputation",
    "HloInstruction",
    "HloModule",
    "InPlaceFunction",
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
    "call_attributes",
    "comparator",
    "compare_arrays",
    "evaluate",
    "evaluate_computation",
    "evaluate_groups",
    "evaluate_parallel",
    "evaluate_replicas",
    "extract_computation",
    "extract_module",
    "find_custom_call",
    "flatten_entry",
    "flatten_value",
    "fused_instructions",
    "fused_parameters",
    "fused_roots",
    "is_custom_call_registered",
    "lookup",
    "parse_backend_config",
    "parse_hlo",
    "read_backend_config",
    "register_custom_call",
    "register_in_place_call",
    "scalar_computation",
    "to_dot",
    "tuple_of",
    "ulp_distance",
    "unflatten_value",
    "verify",
]


__getattr__ = loads_on_use(__name__, _LAZY)

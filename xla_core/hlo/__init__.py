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
from xla_core.hlo.computation import HloComputation
from xla_core.hlo.element_type import ElementType
from xla_core.hlo.instruction import HloInstruction
from xla_core.hlo.literal import Literal
from xla_core.hlo.module import HloModule, InputOutputAlias
from xla_core.hlo.op_table import OPS, Attribute, AttributeKind, OpDef, Trait, lookup
from xla_core.hlo.shape import Layout, Shape

__all__ = [
    "OPS",
    "Attribute",
    "AttributeKind",
    "ConvolutionDimensionNumbers",
    "ElementType",
    "HloComputation",
    "HloInstruction",
    "HloModule",
    "InputOutputAlias",
    "Layout",
    "Literal",
    "OpDef",
    "OpMetadata",
    "PaddingDimension",
    "Shape",
    "SliceDimension",
    "Trait",
    "Window",
    "WindowDimension",
    "lookup",
]

assert _ops is not None

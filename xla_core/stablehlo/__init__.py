"""StableHLO, which frameworks write: reads it into an op tree, verifies it and lowers it to HLO.

| package | what is in it |
|---|---|
| `ir` | the op tree: types, attributes, values, ops, regions, modules |
| `table` | the parts of an entry of the op table; assembly formats |
| `verify` | the verifier, constraints of types and attributes |
| `vhlo` | VHLO's ops by version, derived from the op table; releases |
| `sharding` | meshes and shardings |
| `text`, `bytecode` | readers of MLIR text and MLIR bytecode |
| `lower` | the lowering to HLO of programs without unbounded sizes |
| `ops` | the entries of the op table: rules and lowerings |
| `shapes` | refinement, and the lowering of programs with dynamic shapes |
| `reference` | the documentation of ops, and examples |
| `translate` | writers, raising from HLO, releases; compiling a program doesn't load them |

A package imports only from those above it in this list (`translate` from all); import-linter checks this.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from xla_core.checks import require
from xla_core.lazy_names import loads_on_use
from xla_core.stablehlo import ops as _ops
from xla_core.stablehlo.bytecode import parse_bytecode
from xla_core.stablehlo.ir import (
    Block,
    FunctionType,
    Module,
    Op,
    QuantizedType,
    Region,
    TensorType,
    TokenType,
    TupleType,
    Value,
)
from xla_core.stablehlo.ir.attributes import DenseElements
from xla_core.stablehlo.shapes.lowering import lower
from xla_core.stablehlo.shapes.polymorphism import PolymorphicProgram, source_lines
from xla_core.stablehlo.shapes.refine import refine
from xla_core.stablehlo.table.op_table import OPS, OpDef
from xla_core.stablehlo.text.parser import parse_text, split_modules
from xla_core.stablehlo.verify.verifier import verify

if TYPE_CHECKING:
    from xla_core.hlo.ir.module import HloModule
    from xla_core.stablehlo.reference.examples import OpExample as OpExample
    from xla_core.stablehlo.reference.examples import op_example as op_example
    from xla_core.stablehlo.reference.op_reference import OpReference as OpReference
    from xla_core.stablehlo.reference.op_reference import op_reference as op_reference
    from xla_core.stablehlo.translate.bytecode.writer import write_portable_artifact as write_portable_artifact
    from xla_core.stablehlo.translate.raising import from_hlo as from_hlo
    from xla_core.stablehlo.translate.text import write_text as write_text
    from xla_core.stablehlo.vhlo.versions import VersionError as VersionError

_LAZY = {
    "OpExample": "reference.examples",
    "OpReference": "reference.op_reference",
    "from_hlo": "translate.raising",
    "op_example": "reference.examples",
    "op_reference": "reference.op_reference",
    "VersionError": "vhlo.versions",
    "write_portable_artifact": "translate.bytecode.writer",
    "write_text": "translate.text",
}
"""Names by the module that is imported when they are first used. Compiling a program uses none of them."""

__all__ = [
    "OPS",
    "Block",
    "DenseElements",
    "FunctionType",
    "Module",
    "Op",
    "OpDef",
    "OpExample",
    "OpReference",
    "PolymorphicProgram",
    "QuantizedType",
    "Region",
    "TensorType",
    "TokenType",
    "TupleType",
    "Value",
    "VersionError",
    "from_hlo",
    "lower",
    "op_example",
    "op_reference",
    "parse_bytecode",
    "parse_text",
    "read",
    "refine",
    "split_modules",
    "to_hlo",
    "verify",
    "write_portable_artifact",
    "write_text",
]


def read(source: str | bytes, file: str = "") -> Module:
    """Reads StableHLO text or bytecode, and verifies it. Raises XlaError with the place that is wrong."""
    require("source", source, (str, bytes, bytearray, memoryview), "StableHLO text or bytecode")
    module = parse_text(source, file) if isinstance(source, str) else parse_bytecode(source, file)
    with source_lines(module):
        verify(module)
    return module


def to_hlo(source: str | bytes, file: str = "") -> HloModule:
    """Reads StableHLO text or bytecode, verifies it, and lowers it to HLO.

    Raises XlaError with the place that is wrong.
    """
    module = read(source, file)
    with source_lines(module):
        return lower(module)


__getattr__ = loads_on_use(__name__, _LAZY)
del _ops  # imported for the op table that it fills

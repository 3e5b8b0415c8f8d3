"""partition_id and replica_id."""

from __future__ import annotations

from collections.abc import Sequence

from xla_core.hlo.element_type import ElementType
from xla_core.hlo.instruction import HloInstruction
from xla_core.hlo.opcode import Opcode
from xla_core.hlo.shape import Shape
from xla_core.stablehlo import ir
from xla_core.stablehlo.ir import TensorType
from xla_core.stablehlo.lower.context import LoweringContext
from xla_core.stablehlo.table.assembly_format import RESULTS_ASSEMBLY
from xla_core.stablehlo.table.op_table import Lower, Trait, define
from xla_core.stablehlo.table.type_constraints import UI32

__all__: list[str] = []


def _lower_id(opcode: Opcode) -> Lower:
    def lower(ctx: LoweringContext, op: ir.Op) -> HloInstruction:
        return ctx.add(opcode, shape=Shape(ElementType.U32))

    lower.__doc__ = f"HLO `{opcode}`."
    return lower


def _id_rule(op: ir.Op, module: ir.Module) -> Sequence[ir.Type]:
    return [TensorType((), "ui32")]


for _kind in ("partition", "replica"):
    define(
        f"stablehlo.{_kind}_id",
        "",
        rule=_id_rule,
        lower=_lower_id(Opcode(f"{_kind}-id")),
        traits=(Trait.PER_DEVICE,),
        assembly=RESULTS_ASSEMBLY,
        doc=f"The number of the {_kind} that runs this, as ui32.",
        result_types=UI32,
    )

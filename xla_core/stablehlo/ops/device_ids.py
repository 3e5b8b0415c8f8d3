"""partition_id and replica_id."""

from __future__ import annotations

from collections.abc import Sequence

from xla_core.hlo.table.opcode import Opcode
from xla_core.stablehlo import ir
from xla_core.stablehlo.ops.common import OneOp
from xla_core.stablehlo.table.assembly_format import RESULTS_ASSEMBLY
from xla_core.stablehlo.table.op_table import OpGroup, Trait
from xla_core.stablehlo.table.type_constraints import UI32

define = OpGroup("device_ids").define


def _id_rule(op: ir.Op, module: ir.Module) -> Sequence[ir.Type]:
    return [ir.TensorType((), "ui32")]


for _kind in ("partition", "replica"):
    define(
        f"stablehlo.{_kind}_id",
        "",
        rule=_id_rule,
        lower=OneOp(Opcode(f"{_kind}-id"), declared=True),
        traits=(Trait.PER_DEVICE,),
        assembly=RESULTS_ASSEMBLY,
        doc=f"The number of the {_kind} that executes the op, as ui32.",
        result_types=UI32,
    )

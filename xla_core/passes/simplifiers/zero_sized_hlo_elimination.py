"""zero_sized_hlo_elimination: replaces empty arrays with constants (XLA: zero_sized_hlo_elimination.h)."""

from __future__ import annotations

import math

import numpy as np

from xla_core.hlo.ir.effects import is_effect
from xla_core.hlo.ir.module import HloModule
from xla_core.hlo.table.op_table import Trait
from xla_core.hlo.table.opcode import Opcode
from xla_core.hlo.values.literal import Literal
from xla_core.passes.pass_manager import HloPass
from xla_core.passes.rewriter import remove_dead


class ZeroSizedHloElimination(HloPass):
    """Replaces instructions without effects whose result has no elements with empty constants."""

    def run(self, module: HloModule) -> bool:
        changed = False
        for computation in module.post_order():
            for instruction in computation.post_order():
                shape = instruction.shape
                if (
                    instruction.parent is None
                    or Trait.GIVEN in instruction.op.traits
                    or 0 not in shape.dimensions
                    or shape.dynamic_dimensions
                    or is_effect(instruction)
                ):
                    continue
                operands = list(instruction.operands)
                if math.prod(max(n, 1) for n in shape.dimensions) * shape.dtype.itemsize >= 1 << 63:
                    continue  # numpy rejects such dimensions even for an empty array
                literal = Literal(np.empty(shape.dimensions, shape.dtype), shape)
                computation.replace_with(instruction, computation.add(Opcode.CONSTANT, shape=shape, literal=literal))
                for operand in operands:
                    remove_dead(operand)
                changed = True
        return changed

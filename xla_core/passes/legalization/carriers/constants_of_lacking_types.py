"""constants-of-lacking-types: evaluates constants of types that the target lacks at compile time.

JAX numbers the elements of random arrays by an iota of u64, for example, and converts parts of the numbers to u32. The
reference evaluator computes such values, and only results of other types remain, as constants.
"""

from __future__ import annotations

from collections.abc import Mapping

from xla_core.errors import XlaError
from xla_core.hlo.evaluation.environment import Value
from xla_core.hlo.evaluation.evaluation_context import EvaluationContext
from xla_core.hlo.ir.builder import Builder
from xla_core.hlo.ir.instruction import HloInstruction
from xla_core.hlo.ir.module import HloModule
from xla_core.hlo.table.op_table import Trait
from xla_core.hlo.table.opcode import Opcode
from xla_core.hlo.values.element_type import ElementType
from xla_core.hlo.values.literal import Literal
from xla_core.passes.legalization.carriers.conversions import CARRIERS
from xla_core.passes.pass_manager import HloPass
from xla_core.passes.rewriter import remove_dead
from xla_core.target import Capabilities
from xla_core.traversal import post_order

_MOST_ELEMENTS = 1 << 16


class ConstantsOfLackingTypes(HloPass):
    """Folds instructions on constants whose types the target has no op for."""

    name = "constants-of-lacking-types"

    def __init__(self, capabilities: Capabilities) -> None:
        own = frozenset({ElementType.PRED}).union(CARRIERS, *capabilities.ops.values())
        self._lacking = frozenset(t for t in ElementType if t.is_array) - own

    def run(self, module: HloModule) -> bool:
        changed = False
        if not self._lacking:
            return False
        for computation in module.post_order():
            known: dict[HloInstruction, Value | None] = {}
            for i in computation.post_order():
                if not self._lacks(i) and any(map(self._lacks, i.operands)) and i.shape.is_array:
                    value = self._value(i, known)
                    if value is not None:
                        operands = list(i.operands)
                        literal = Literal.of_value(value, i.shape)
                        computation.replace_with(i, Builder(computation, i.metadata).constant(literal))
                        for operand in operands:
                            remove_dead(operand)
                        changed = True
        return changed

    def _lacks(self, i: HloInstruction) -> bool:
        return i.shape.element_type in self._lacking

    def _value(self, i: HloInstruction, known: dict[HloInstruction, Value | None]) -> Value | None:
        """The value of an instruction that depends on constants only, or None."""
        # A chain of instructions may be thousands long, too long for recursion.
        for j in post_order([i], lambda j: j.operands if _is_folded(j) else (), known=known):
            known[j] = _computed(j, known)
        return known[i]


def _is_folded(i: HloInstruction) -> bool:
    if i.called_computations or not i.shape.is_array or i.shape.num_elements > _MOST_ELEMENTS:
        return False
    return i.is_elementwise or Trait.DATA_MOVEMENT in i.op.traits


def _computed(i: HloInstruction, known: Mapping[HloInstruction, Value | None]) -> Value | None:
    if i.opcode == Opcode.CONSTANT:
        return i.literal.value
    if not _is_folded(i):
        return None
    found = [value for o in i.operands if (value := known[o]) is not None]
    if len(found) < len(i.operands):
        return None
    try:
        return EvaluationContext().evaluate(i, found)
    except XlaError:
        return None

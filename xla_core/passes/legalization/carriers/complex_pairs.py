"""complex-pairs: computes with complex numbers as pairs of real ones, for targets without complex types.

A complex value becomes a tuple of its real and its imaginary part, in loops, branches and calls too. That is for values
inside of a program: the memory of such a target holds no complex arguments and results.
"""

from __future__ import annotations

from xla_core.hlo.ir.builder import Builder
from xla_core.hlo.ir.instruction import HloInstruction
from xla_core.hlo.ir.module import HloModule
from xla_core.hlo.table.op_table import Trait
from xla_core.hlo.table.opcode import Opcode
from xla_core.hlo.values.element_type import ElementType
from xla_core.hlo.values.shape import Shape
from xla_core.passes.legalization.legalize import rewrite_unsupported
from xla_core.passes.pass_manager import HloPass
from xla_core.passes.simplifiers.tuple_simplifier import TupleSimplifier
from xla_core.target import Capabilities, Ok, Support, Unsupported

_OUTSIDE = frozenset((Trait.ASYNC, Trait.HOST_TRANSFER, Trait.COLLECTIVE, Trait.SIDE_EFFECT, Trait.PER_DEVICE))
_GROUPS = frozenset((Trait.NOP, Trait.CONTROL_FLOW))
_PARTS = frozenset({Opcode.REAL, Opcode.IMAG, Opcode.COMPLEX})


class ComplexPairs(HloPass):
    """Takes complex values apart that the target can't hold, if it computes with their parts."""

    name = "complex-pairs"

    def __init__(self, capabilities: Capabilities) -> None:
        computed = frozenset[ElementType]().union(*capabilities.ops.values())
        lacking = (t for t in ElementType if t.is_complex and t not in computed | capabilities.held_types)
        self._paired = frozenset(t for t in lacking if t.component in computed)

    def run(self, module: HloModule) -> bool:
        if not self._paired or not any(self._has_pairs(i.shape) for c in module.computations for i in c.instructions):
            return False
        entry = module.entry
        if any(self._has_pairs(i.shape) for i in (*entry.parameters, entry.root)):
            return False
        if any(self._is_outside(i) for c in module.computations for i in c.instructions):
            return False
        changed, unmet = rewrite_unsupported(module, self._check)
        module.remove_unreachable_computations()
        if unmet:
            return changed
        for computation in module.post_order():
            b = Builder(computation)
            for i in computation.post_order():
                b.metadata = i.metadata
                self._pair(i, b)
        TupleSimplifier().run(module)
        return True

    def _has_pairs(self, shape: Shape) -> bool:
        return any(leaf.element_type in self._paired for leaf in shape.array_leaves())

    def _uses_pairs(self, i: HloInstruction) -> bool:
        return any(map(self._has_pairs, (i.shape, *(o.shape for o in i.operands))))

    def _is_outside(self, i: HloInstruction) -> bool:
        """Whether complex values leave the program, or are of an op that can't be taken apart."""
        if not self._uses_pairs(i):
            return False
        if i.opcode in (Opcode.CUSTOM_CALL, Opcode.FUSION) or (i.opcode == Opcode.CONSTANT and i.shape.is_tuple):
            return True
        return not _OUTSIDE.isdisjoint(i.op.traits)

    def _check(self, i: HloInstruction) -> Support:
        """Whether an instruction takes complex values apart, joins them or only passes them on."""
        if i.opcode in _PARTS or not _GROUPS.isdisjoint(i.op.traits):
            return Ok()
        return Unsupported("its complex numbers are pairs") if self._uses_pairs(i) else Ok()

    def _pair(self, i: HloInstruction, b: Builder) -> None:
        """Rewrites an instruction whose operands, and whose called computations, are rewritten already."""
        if i.opcode in (Opcode.REAL, Opcode.IMAG) and i.operand(0).shape.is_tuple:
            b.computation.replace_with(i, b.element(i.operand(0), int(i.opcode == Opcode.IMAG)))
        elif self._has_pairs(i.shape):
            i.shape = self._shape(i.shape)
            if i.opcode == Opcode.COMPLEX:
                b.computation.replace_with(i, b.tuple(i.operands))
            elif i.opcode == Opcode.CONSTANT:
                parts = (i.literal.array.real, i.literal.array.imag)
                pair = [b.constant(part, shape) for part, shape in zip(parts, i.shape.tuple_shapes, strict=True)]
                b.computation.replace_with(i, b.tuple(pair))

    def _shape(self, shape: Shape) -> Shape:
        if shape.is_tuple:
            return Shape.tuple([self._shape(s) for s in shape.tuple_shapes])
        if not self._has_pairs(shape):
            return shape
        return Shape.tuple([shape.without_layout().with_element_type(shape.element_type.component)] * 2)

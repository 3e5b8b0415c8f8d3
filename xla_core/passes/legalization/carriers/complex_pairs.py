"""complex-pairs: computes with complex numbers as pairs of real ones, for targets without complex types.

A complex value becomes a tuple of its real and its imaginary part, in loops, branches and calls too. Arguments and
results stay complex in memory, where a complex number is two floats side by side: a bitcast shows them as real numbers
with one dimension more.
"""

from __future__ import annotations

from xla_core.hlo.ir.builder import Builder
from xla_core.hlo.ir.computation import HloComputation
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
from xla_core.target.layout_rules import is_plain

_OUTSIDE = frozenset((Trait.ASYNC, Trait.HOST_TRANSFER, Trait.COLLECTIVE, Trait.SIDE_EFFECT, Trait.PER_DEVICE))
_GROUPS = frozenset((Trait.NOP, Trait.CONTROL_FLOW))
_PARTS = frozenset({Opcode.REAL, Opcode.IMAG, Opcode.COMPLEX})


class ComplexPairs(HloPass):
    """Splits complex values that the target can't compute with into parts, if it can compute with the parts."""

    name = "complex-pairs"

    def __init__(self, capabilities: Capabilities) -> None:
        computed = frozenset[ElementType]().union(*capabilities.ops.values())
        lacking = (t for t in ElementType if t.is_complex and t not in computed)
        self._paired = frozenset(t for t in lacking if t.component in computed)
        self._held = capabilities.held_types
        self._admits = capabilities.check
        self._outside: set[HloInstruction] = set()  # what is complex in memory: arguments, results, and their tuple

    def run(self, module: HloModule) -> bool:
        if not self._paired:
            return False
        complex_ones = [i for c in module.computations for i in c.instructions if self._uses_pairs(i)]
        if any(map(self._is_outside, complex_ones)):
            return False
        if all(isinstance(self._admits(i), Ok) for i in complex_ones):
            return False  # the instruction only moves complex values, which needs no arithmetic on their parts
        root = module.entry.root.shape
        results = root.tuple_shapes if root.is_tuple else (root,)
        if not all(map(self._is_in_memory, (*(p.shape for p in module.entry.parameters), *results))):
            return False
        self._show_as_real(module.entry)
        changed, unmet = rewrite_unsupported(module, self._check)
        module.remove_unreachable_computations()
        if unmet:
            return changed or bool(self._outside)
        for computation in module.post_order():
            b = Builder(computation)
            for i in computation.post_order():
                b.metadata = i.metadata
                self._pair(i, b)
        TupleSimplifier().run(module)
        return True

    def _is_in_memory(self, shape: Shape) -> bool:
        """Whether the target can hold an argument or result: a complex one is an array of pairs in row-major order."""
        if not self._has_pairs(shape):
            return True
        return shape.is_array and shape.element_type in self._held and is_plain(shape.with_default_layout())

    def _show_as_real(self, entry: HloComputation) -> None:
        """Reads complex arguments as real arrays, makes complex values of them, and writes results as real arrays."""
        b = Builder(entry)
        self._outside = {p for p in entry.parameters if self._has_pairs(p.shape)}
        for p in [p for p in entry.parameters if p in self._outside]:
            users, shape, b.metadata = list(p.users), p.shape.without_layout(), p.metadata
            numbers = shape.with_element_type(shape.element_type.component).with_dimensions((*shape.dimensions, 2))
            bits = b.add(Opcode.BITCAST, p, shape=numbers)
            halves = [b.slice_in_dim(bits, shape.rank, n, n + 1) for n in range(2)]
            value = b.add(Opcode.COMPLEX, *(b.reshape(half, shape.dimensions) for half in halves))
            for user in users:
                for n, operand in enumerate(user.operands):
                    if operand is p:
                        user.replace_operand(n, value)
            if entry.root is p:
                entry.set_root(value)
        root = entry.root
        if root.shape.is_array and self._has_pairs(root.shape):
            entry.set_root(self._in_memory(b, root))
        elif self._has_pairs(root.shape):
            results = b.elements(root)
            results = [self._in_memory(b, r) if self._has_pairs(r.shape) else r for r in results]
            whole = b.tuple(results)
            whole.shape = root.shape  # with the layouts that a caller may have fixed
            self._outside.add(whole)
            entry.set_root(whole)

    def _in_memory(self, b: Builder, value: HloInstruction) -> HloInstruction:
        b.metadata = value.metadata
        parts = [b.add(part, value) for part in (Opcode.REAL, Opcode.IMAG)]
        columns = [b.reshape(part, (*value.shape.dimensions, 1)) for part in parts]
        numbers = b.add(Opcode.CONCATENATE, *columns, dimensions=(value.shape.rank,))
        result = b.add(Opcode.BITCAST, numbers, shape=value.shape)
        self._outside.add(result)
        return result

    def _has_pairs(self, shape: Shape) -> bool:
        return any(leaf.element_type in self._paired for leaf in shape.array_leaves())

    def _uses_pairs(self, i: HloInstruction) -> bool:
        return any(map(self._has_pairs, (i.shape, *(o.shape for o in i.operands))))

    def _is_outside(self, i: HloInstruction) -> bool:
        """Whether an op passes complex values to other code, or can't be split into ops on their parts."""
        if i.opcode in (Opcode.CUSTOM_CALL, Opcode.FUSION) or (i.opcode == Opcode.CONSTANT and i.shape.is_tuple):
            return True
        return not _OUTSIDE.isdisjoint(i.op.traits)

    def _check(self, i: HloInstruction) -> Support:
        """Whether an instruction splits complex values, joins them or only passes them on."""
        if i in self._outside or i.opcode in _PARTS or not _GROUPS.isdisjoint(i.op.traits):
            return Ok()
        return Unsupported("its complex numbers are pairs") if self._uses_pairs(i) else Ok()

    def _pair(self, i: HloInstruction, b: Builder) -> None:
        """Rewrites an instruction whose operands, and whose called computations, are rewritten already."""
        if i.opcode in (Opcode.REAL, Opcode.IMAG) and i.operand(0).shape.is_tuple:
            b.computation.replace_with(i, b.element(i.operand(0), int(i.opcode == Opcode.IMAG)))
        elif self._has_pairs(i.shape) and i not in self._outside:
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

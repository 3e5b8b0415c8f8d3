"""Describes what a device can compute: a table of opcodes and element types, and predicates for the rest."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Literal

from pydantic import Field

from xla_core.checked_model import CheckedModel
from xla_core.checks import require, wrong_argument
from xla_core.errors import InvalidArgumentError
from xla_core.hlo.ir.computation import HloComputation
from xla_core.hlo.ir.host_compute import is_host_compute
from xla_core.hlo.ir.instruction import HloInstruction
from xla_core.hlo.table.op_table import OPS, Trait, lookup
from xla_core.hlo.table.opcode import Opcode
from xla_core.hlo.values.element_type import ElementType
from xla_core.hlo.values.shape import Shape
from xla_core.target.layout_rules import copies_beginning, copies_bits, keeps_layout
from xla_core.target.support import Lack, LackKind, Ok, Support, Unsupported

Constraint = Callable[[HloInstruction], str | None]
"""A further condition on an instruction: returns the reason why the device can't run it, or None."""

_THE_CORES = frozenset({Trait.NOP, Trait.CONTROL_FLOW})
"""The core itself runs control flow and the ops that only forward or group values, on every device."""


class Capabilities(CheckedModel):
    """The instructions that a device runs; by default none.

    An instruction is supported when its opcode is in `ops`, every array that it reads or writes has an element type
    that `ops` lists for the opcode, and no constraint rejects it. Some types are not looked up in `ops`: operands that
    are indices must be of `index_types`, and the predicate of a select and the result of a comparison are always pred.
    The instructions in the computations of reduce, scatter and the like are checked one by one.

    Attributes:
        ops: opcode -> element types of data operands and results.
        index_types: element types of indices into arrays.
        storage_types: element types of arrays in the device's memory; None means all types of `ops` and `index_types`,
            pred, and complex numbers of their floats, which are two floats side by side. A device with s32 holds
            integers of 16 bits and less too, and one with s32 and f32 floats of 16 bits and less: several in a word.
        custom_calls: custom-call targets that the device runs, with any operands that their definition takes.
        dot_algorithms: values of a dot's `algorithm` that the device implements; else operands are rounded first.
        composites: names of StableHLO composites that the device runs; they become custom calls of that target.
        constraints: opcode -> further conditions; those under "*" apply to every opcode.
        scalar_computations: opcode -> opcodes; the computation that the op applies must be one op of these, for example
            `{"reduce": {"add", "maximum"}}`.
    """

    ops: Mapping[Opcode, frozenset[ElementType]] = Field(default_factory=dict)
    index_types: frozenset[ElementType] = frozenset({ElementType.S32})
    storage_types: frozenset[ElementType] | None = None
    custom_calls: frozenset[str] = frozenset()
    dot_algorithms: frozenset[str] = frozenset()
    composites: frozenset[str] = frozenset()
    constraints: Mapping[Opcode | Literal["*"], tuple[Constraint, ...]] = Field(default_factory=dict)
    scalar_computations: Mapping[Opcode, frozenset[Opcode]] = Field(default_factory=dict)

    # -- making ------------------------------------------------------------------------------------------------------

    @classmethod
    def all_of(
        cls,
        element_types: Iterable[ElementType] | None = None,
        *,
        opcodes: Iterable[Opcode] | None = None,
        without: Iterable[Opcode] = (),
    ) -> Capabilities:
        """Supports `opcodes` (by default all) except `without`, for `element_types` (by default all)."""
        types = frozenset(t for t in (element_types or ElementType) if t.is_array)
        left_out = frozenset(without)
        names = [name for name in (OPS if opcodes is None else opcodes) if name not in left_out]
        indices = frozenset(t for t in ElementType if t.is_integral and t.bit_width >= 8)
        return cls(ops=dict.fromkeys(names, types), index_types=indices)

    def with_ops(self, opcodes: Iterable[Opcode], element_types: Iterable[ElementType]) -> Capabilities:
        """A copy that supports `opcodes` for `element_types` too.

        Raises:
            InvalidArgumentError: HLO has no such opcode, or an element type is wrong.
        """
        require("element_types", element_types, Iterable, "element types, as in [ElementType.F32]")
        if isinstance(opcodes, str):
            raise wrong_argument("opcodes", str(opcodes), "a list of opcodes, as in ['add']")
        ops, types = dict(self.ops), frozenset(element_types)
        for element_type in types:
            require("an element type", element_type, ElementType, "an ElementType")
        for opcode in opcodes:
            lookup(opcode)
            ops[opcode] = ops.get(opcode, frozenset()) | types
        return self.model_copy(update={"ops": ops})

    def without_ops(self, *opcodes: Opcode) -> Capabilities:
        """A copy that does not support `opcodes`."""
        return self.model_copy(update={"ops": {k: v for k, v in self.ops.items() if k not in opcodes}})

    def with_constraint(self, opcode: Opcode | Literal["*"], constraint: Constraint) -> Capabilities:
        """A copy with one more condition on an opcode, or on all opcodes ("*").

        Raises:
            InvalidArgumentError: HLO has no such opcode.
        """
        if opcode != "*":
            lookup(opcode)
        both = {**self.constraints, opcode: (*self.constraints.get(opcode, ()), constraint)}
        return self.model_copy(update={"constraints": both})

    def with_lacks(self, lacks: Iterable[Lack]) -> Capabilities:
        """A copy to which everything in `lacks` is added: ops, element types, custom calls, and ops without a limit."""
        made = self
        for lack in lacks:
            made = made._with_lack(lack)
        return made

    def _with_lack(self, lack: Lack) -> Capabilities:
        opcode, element_type = lack.opcode, lack.element_type
        match lack.kind:
            case LackKind.INDICES:
                return self.model_copy(update={"index_types": self.index_types | {element_type}})
            case LackKind.MEMORY:
                return self.model_copy(update={"storage_types": self.held_types | {element_type}})
            case LackKind.CUSTOM_CALL:
                return self.model_copy(update={"custom_calls": self.custom_calls | {lack.detail}})
        assert opcode is not None
        if lack.kind is LackKind.LIMIT:
            return self._without_limit(opcode, lack.detail)
        made = self.with_ops([opcode], () if element_type is None else (element_type,))
        if element_type is None or element_type in made.held_types:
            return made
        return made.model_copy(update={"storage_types": made.held_types | {element_type}})

    def _without_limit(self, opcode: Opcode, reason: str) -> Capabilities:
        """A copy whose constraints don't refuse an op for this reason."""

        def lifted(constraint: Constraint) -> Constraint:
            return lambda i: None if (why := constraint(i)) == reason and i.opcode == opcode else why

        constraints = {key: tuple(map(lifted, found)) for key, found in self.constraints.items()}
        applied = {key: found for key, found in self.scalar_computations.items() if key != opcode}
        return self.model_copy(update={"constraints": constraints, "scalar_computations": applied})

    def model_copy(self, *, update: Mapping[str, Any] | None = None, deep: bool = False) -> Capabilities:
        """Pydantic's `model_copy`, which also drops properties that were computed from the old fields."""
        made = super().model_copy(update=update, deep=deep)
        for name in ("computed_types", "word_types", "held_types"):
            made.__dict__.pop(name, None)
        return made

    # -- asking ------------------------------------------------------------------------------------------------------

    @functools.cached_property
    def computed_types(self) -> frozenset[ElementType]:
        """Element types of ops other than conversions. The device may hold and convert further types."""
        moving = (Trait.CONVERSION, Trait.GIVEN)
        computing = (types for opcode, types in self.ops.items() if OPS[opcode].traits.isdisjoint(moving))
        return frozenset[ElementType]().union(*computing)

    @functools.cached_property
    def word_types(self) -> frozenset[ElementType]:
        """Element types of 16 bits and less whose arrays the core can read and write as words of s32 on the device."""
        if ElementType.S32 not in self.computed_types:
            return frozenset()
        narrow = (t for t in ElementType if t.is_array and 1 < t.bit_width <= 16)
        return frozenset(t for t in narrow if t.is_integral or ElementType.F32 in self.computed_types)

    @functools.cached_property
    def held_types(self) -> frozenset[ElementType]:
        """Element types of arrays that may be in the device's memory."""
        if self.storage_types is not None:
            return self.storage_types
        named = frozenset({ElementType.PRED}).union(self.index_types, *self.ops.values())
        widths = {t.bit_width for t in named if t.is_integral}
        composed = {t for t in ElementType if t.is_complex and t.component in named}
        return (
            named
            | composed
            | self.word_types
            | {t for t in (ElementType.S32, ElementType.U32) if t.bit_width in widths}
        )

    def check(self, instruction: HloInstruction) -> Support:
        """Whether the table and the constraints admit `instruction`, or why not. `TargetConfig.supports` decides."""
        return self._check(instruction, set())

    # -- parts -------------------------------------------------------------------------------------------------------

    def _check(self, instruction: HloInstruction, seen: set[HloComputation]) -> Support:
        """Like `check`. `seen` holds the computations that need no check: they were checked in this call."""
        if is_host_compute(instruction):
            return Unsupported("this fusion runs on the host")
        held = self._check_held(instruction.shape)
        if held is not None:
            return held
        opcode = instruction.opcode
        copied = opcode == Opcode.COPY and (opcode not in self.ops or keeps_layout(instruction))
        copied |= copies_bits(instruction) or copies_beginning(instruction)
        if copied or not _THE_CORES.isdisjoint(instruction.op.traits):
            return self._check_constraints(instruction)
        if opcode == Opcode.CUSTOM_CALL:
            target = instruction.attribute("custom_call_target")
            if target in self.custom_calls or target in self.composites:
                return self._check_constraints(instruction)
            if Opcode.CUSTOM_CALL not in self.ops:
                return Unsupported(
                    f"the device has no custom call {target!r}", (Lack(opcode, None, LackKind.CUSTOM_CALL, target),)
                )
        if opcode not in self.ops:
            lacks = tuple(dict.fromkeys(self._lacking_types(instruction)))
            return Unsupported(f"there is no {opcode}", lacks or (Lack(opcode),))
        wrong = next(self._lacking_types(instruction), None)
        if wrong is not None:
            return Unsupported(f"there is no {opcode} of {wrong.element_type}", (wrong,))
        algorithm = instruction.attribute("algorithm") if opcode == Opcode.DOT else None
        if algorithm is not None and algorithm not in self.dot_algorithms:
            return Unsupported(f"there is no dot by algorithm {algorithm}")
        inside = self._check_computations(instruction, seen)
        return self._check_constraints(instruction) if inside is None else inside

    def _check_held(self, shape: Shape) -> Unsupported | None:
        for leaf in shape.leaves():
            if leaf.is_array and leaf.element_type not in self.held_types:
                lack = Lack(None, leaf.element_type, LackKind.MEMORY)
                return Unsupported(f"the device holds no {leaf.element_type}", (lack,))
        return None

    def _lacking_types(self, instruction: HloInstruction) -> Iterator[Lack]:
        """The element types of operands and results that the table doesn't list for the op."""
        op, operands = instruction.op, instruction.operands
        types = self.ops.get(op.opcode, frozenset())
        indices = op.index_operands(len(operands))
        for number, operand in enumerate(operands):
            if number == op.predicate_operand:
                continue
            for leaf in operand.shape.leaves():
                if not leaf.is_array:
                    continue
                if number in indices:
                    if leaf.element_type not in self.index_types:
                        yield Lack(None, leaf.element_type, LackKind.INDICES)
                elif leaf.element_type not in types:
                    yield Lack(op.opcode, leaf.element_type)
        if op.predicate_result:
            return
        for leaf in instruction.shape.leaves():
            if leaf.is_array and leaf.element_type not in types:
                yield Lack(op.opcode, leaf.element_type)

    def _check_computations(self, instruction: HloInstruction, seen: set[HloComputation]) -> Unsupported | None:
        allowed = self.scalar_computations.get(instruction.opcode)
        for computation in instruction.called_computations:
            if allowed is not None:
                inside = [i.opcode for i in computation.instructions if i.opcode != Opcode.PARAMETER]
                if len(inside) != 1 or inside[0] not in allowed:
                    names = ", ".join(sorted(allowed))
                    return _limited(instruction, f"{instruction.opcode} takes a computation of a single op of {names}")
            if computation in seen:
                continue
            seen.add(computation)
            for inner in computation.instructions:
                answer = self._check(inner, seen)
                if isinstance(answer, Unsupported):
                    return Unsupported(f"in its computation, {inner.name}: {answer.reason}", answer.lacks)
        return None

    def _check_constraints(self, instruction: HloInstruction) -> Support:
        keys: tuple[Opcode | Literal["*"], ...] = (instruction.opcode, "*")
        for key in keys:
            for constraint in self.constraints.get(key, ()):
                reason = constraint(instruction)
                if reason is not None and not isinstance(reason, str):
                    raise InvalidArgumentError(
                        f"the constraint {getattr(constraint, '__qualname__', constraint)!s} gave {reason!r} for "
                        f"{instruction.name}",
                        hint="a constraint returns the reason why the device can't run the instruction, or None",
                    )
                if reason is not None:
                    return _limited(instruction, reason)
        return Ok()


def _limited(instruction: HloInstruction, reason: str) -> Unsupported:
    return Unsupported(reason, (Lack(instruction.opcode, None, LackKind.LIMIT, reason),))

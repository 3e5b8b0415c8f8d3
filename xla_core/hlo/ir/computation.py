"""HloComputation: a graph of instructions with parameters and a root. (XLA: xla/hlo/ir/hlo_computation.h.)"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np
import numpy.typing as npt

from xla_core.checks import refuse_pickle, require, wrong_argument
from xla_core.errors import InternalError, InvalidArgumentError
from xla_core.hlo.ir.instruction import HloInstruction
from xla_core.hlo.ir.names import NameUniquer, sanitized_name
from xla_core.hlo.ir.printer import computation_to_text
from xla_core.hlo.table import op_table
from xla_core.hlo.table.attributes import OpMetadata
from xla_core.hlo.table.opcode import Opcode
from xla_core.hlo.values.literal import Literal
from xla_core.hlo.values.shape import Shape
from xla_core.traversal import post_order

if TYPE_CHECKING:  # a computation knows its module, which consists of computations
    from xla_core.hlo.ir.module import HloModule


class HloComputation:
    """A computation, which owns its instructions.

    Their names are unique within the computation and, if it is in a module, within the module.
    """

    def __init__(self, name: str) -> None:
        self.name = sanitized_name(name)
        self.module: HloModule | None = None
        self._instructions: dict[HloInstruction, None] = {}
        self._callers: dict[HloInstruction, None] = {}  # the instructions whose op calls computations
        self._order: list[HloInstruction] | None = None  # the post order, until an instruction changes
        self._parameters: list[HloInstruction] = []
        self._root: HloInstruction | None = None
        self._names = NameUniquer()

    # -- making ------------------------------------------------------------------------------------------------------

    def add(
        self,
        opcode: Opcode,
        *operands: HloInstruction,
        shape: Shape | None = None,
        name: str | None = None,
        metadata: OpMetadata | None = None,
        **attributes: Any,
    ) -> HloInstruction:
        """Appends an instruction and infers its shape by the op table's rule.

        `shape` is needed where the operands don't determine the result.

        Raises:
            InvalidArgumentError: when operands, attributes and shape don't fit together.
        """
        op = op_table.lookup(opcode)
        if wrong := op.wrong_arity(len(operands)):
            raise InvalidArgumentError(wrong, op=opcode)
        for key in attributes:
            if op.attribute(key) is None:
                raise InvalidArgumentError(f"{opcode} has no attribute {key}", op=opcode)
        if shape is not None:
            require("shape", shape, Shape, "a Shape or None")
        try:
            result = op.shape([o.shape for o in operands], attributes, shape)
        except (AttributeError, TypeError):
            for operand in operands:
                require(f"an operand of {opcode}", operand, HloInstruction, "an HloInstruction")
            raise
        instruction = HloInstruction(op.opcode, result if shape is None else shape, operands, attributes)
        if metadata is not None:
            instruction.metadata = metadata
        return self.add_instruction(instruction, name)

    def add_instruction(self, instruction: HloInstruction, name: str | None = None) -> HloInstruction:
        """Appends an instruction that belongs to no computation, such as a clone.

        Until `set_root` is called, the newest instruction is the root.
        """
        if instruction.parent is not None:
            raise InternalError(f"{instruction.name} is in computation {instruction.parent.name} already")
        instruction.name = self.unique_name(name or instruction.name or instruction.opcode.value)
        instruction.parent = self
        self._instructions[instruction] = None
        self._order = None
        if instruction.op.calls:
            self._callers[instruction] = None
        if instruction.opcode == Opcode.PARAMETER:
            number = instruction.parameter_number
            while len(self._parameters) <= number:
                self._parameters.append(instruction)
            self._parameters[number] = instruction
        return instruction

    def parameter(self, number: int, shape: Shape, name: str | None = None) -> HloInstruction:
        require("shape", shape, Shape, "a Shape")
        if not isinstance(number, int) or number < 0:
            raise wrong_argument("number", number, "a number of at least 0")
        return self.add(Opcode.PARAMETER, shape=shape, name=name or f"p{number}", parameter_number=number)

    def constant(
        self, value: Literal | npt.ArrayLike, shape: Shape | None = None, name: str | None = None
    ) -> HloInstruction:
        """Appends a constant. Where `value` is a scalar and `shape` is not, it appends a broadcast of a scalar
        constant.
        """
        if isinstance(value, Literal):
            return self.add(Opcode.CONSTANT, shape=value.shape, name=name, literal=value)
        literal = Literal(value, shape if shape is None or np.shape(value) else shape.with_dimensions(()))
        constant = self.add(Opcode.CONSTANT, shape=literal.shape, name=name, literal=literal)
        if shape is not None and constant.shape.dimensions != shape.dimensions:
            return self.add(Opcode.BROADCAST, constant, shape=shape.without_layout(), dimensions=())
        return constant

    def unique_name(self, wanted: str) -> str:
        """Returns `wanted`, or `wanted.N` with the first free N."""
        names = self.module.names if self.module is not None else self._names
        return names.unique(wanted)

    # -- reading -----------------------------------------------------------------------------------------------------

    @property
    def instructions(self) -> Sequence[HloInstruction]:
        """The instructions in the order in which they were added; the list is a snapshot."""
        return list(self._instructions)

    @property
    def instruction_count(self) -> int:
        return len(self._instructions)

    def __contains__(self, instruction: HloInstruction) -> bool:
        return instruction in self._instructions

    @property
    def parameters(self) -> Sequence[HloInstruction]:
        return self._parameters

    @property
    def root(self) -> HloInstruction:
        if self._root is not None:
            return self._root
        if not self._instructions:
            raise InvalidArgumentError(f"computation {self.name} is empty")
        return next(reversed(self._instructions))

    def set_root(self, root: HloInstruction) -> None:
        require("root", root, HloInstruction, "an HloInstruction")
        if root not in self._instructions:
            raise InternalError(f"{root.name} cannot be the root of {self.name}: it is not in it")
        self._root = root

    @property
    def is_entry(self) -> bool:
        return self.module is not None and self.module.entry is self

    def post_order(self) -> list[HloInstruction]:
        """Returns every instruction, dead ones included, after its operands and control predecessors.

        The order is deterministic.
        """

        def refuse(cyclic: HloInstruction) -> None:
            raise InvalidArgumentError(
                f"computation {self.name} has a cycle through {cyclic.name}", location=cyclic.location
            )

        if self._order is None:
            self._order = post_order(
                self._instructions, lambda i: (*reversed(i._control_predecessors), *i._operands), on_cycle=refuse
            )
        return list(self._order)

    def called_computations(self) -> Iterator[HloComputation]:
        """Returns the computations that the instructions of this one refer to, each once."""
        seen: set[int] = set()
        for instruction in self._callers:
            for computation in instruction.called_computations:
                if id(computation) not in seen:
                    seen.add(id(computation))
                    yield computation

    # -- changing ----------------------------------------------------------------------------------------------------

    def remove(self, instruction: HloInstruction) -> None:
        """Removes an instruction that has no users.

        Its control predecessors become control predecessors of its control successors. The root cannot be removed.
        """
        if instruction._users:
            raise InternalError(f"{instruction.name} has users and cannot be removed")
        if instruction is self._root or instruction is self.root:
            raise InternalError(f"{instruction.name} is the root of {self.name} and cannot be removed")
        for operand in instruction._operands:
            operand._users.pop(instruction, None)
        instruction._operands = []
        for successor in instruction.control_successors:
            kept = [p for p in successor.control_predecessors if p is not instruction]
            successor.control_predecessors = [*kept, *instruction.control_predecessors]
        instruction.control_predecessors = ()
        del self._instructions[instruction]
        self._callers.pop(instruction, None)
        self._order = None
        instruction.parent = None

    def remove_parameter(self, number: int) -> None:
        """Removes an unused parameter and renumbers the later ones. The caller must update the operands of calls."""
        parameter = self._parameters.pop(number)
        self.remove(parameter)
        for index, other in enumerate(self._parameters):
            other.attributes["parameter_number"] = index

    def replace_with(self, old: HloInstruction, new: HloInstruction) -> HloInstruction:
        """Replaces all uses of `old` by `new`, which is in this computation, and removes `old` unless it is a
        parameter.
        """
        was_root = self.root is old
        old.replace_all_uses_with(new)
        if was_root:
            self.set_root(new)
        if old.opcode != Opcode.PARAMETER:
            for successor in old.control_successors:
                successor.control_predecessors = [
                    new if p is old else p
                    for p in successor.control_predecessors
                    if p is not new and not (p is old and successor is new)
                ]
            self.remove(old)
        return new

    def clone(
        self, name: str | None = None, replacements: Mapping[HloInstruction, HloInstruction] | None = None
    ) -> HloComputation:
        """Returns a copy that belongs to no module. Called computations are shared.

        `replacements` maps instructions of this computation to the ones that take their places in the copy.
        """
        copy = HloComputation(name or self.name)
        copies: dict[HloInstruction, HloInstruction] = dict(replacements or {})
        for old in self.post_order():
            if old in copies:
                continue
            new = copy.add_instruction(old.clone([copies[o] for o in old._operands]))
            new.control_predecessors = [copies[p] for p in old.control_predecessors]
            copies[old] = new
        copy.set_root(copies[self.root])
        return copy

    def to_text(self) -> str:
        return computation_to_text(self)

    __str__ = to_text

    def __reduce_ex__(self, protocol: object) -> NoReturn:
        refuse_pickle(self)

    def __repr__(self) -> str:
        return f"<computation {self.name}: {len(self._instructions)} instructions>"

"""HloInstruction: one op of a computation. (XLA: xla/hlo/ir/hlo_instruction.h.)"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NoReturn

from xla_core.checks import refuse_pickle
from xla_core.errors import InvalidArgumentError, SourceLocation
from xla_core.hlo.ir.printer import instruction_to_text
from xla_core.hlo.table import op_table
from xla_core.hlo.table.attributes import OpMetadata
from xla_core.hlo.table.op_table import OpDef, Trait
from xla_core.hlo.table.opcode import Opcode
from xla_core.hlo.values.literal import Literal
from xla_core.hlo.values.shape import Shape

if TYPE_CHECKING:  # an instruction knows its computation, which consists of instructions
    from xla_core.hlo.ir.computation import HloComputation

_NO_METADATA = OpMetadata()


class HloInstruction:
    """A node of the graph, with opcode, shape, operands, attributes (their kinds are in the op table) and users.

    Make instructions by `HloComputation.add`, which infers the shape. `operands` is read-only; `replace_operand`
    changes an operand and keeps the users of both up to date.
    """

    __slots__ = (
        "_control_predecessors",
        "_control_successors",
        "_operands",
        "_users",
        "attributes",
        "metadata",
        "name",
        "op",
        "opcode",
        "parent",
        "shape",
    )

    def __init__(
        self,
        opcode: Opcode,
        shape: Shape,
        operands: Sequence[HloInstruction] = (),
        attributes: Mapping[str, Any] | None = None,
        *,
        name: str = "",
        metadata: OpMetadata = _NO_METADATA,
    ) -> None:
        self.op: OpDef = op_table.OPS.get(opcode) or op_table.lookup(opcode)
        self.opcode: Opcode = self.op.opcode  # passes outside the package may give its text
        self.shape = shape
        self.attributes: dict[str, Any] = dict(attributes) if attributes else {}
        self.name = name
        self.metadata = metadata
        self.parent: HloComputation | None = None
        self._control_predecessors: list[HloInstruction] = []
        self._control_successors: dict[HloInstruction, None] = {}
        self._operands = list(operands)
        self._users: dict[HloInstruction, None] = {}
        for operand in self._operands:
            operand._users[self] = None

    # -- the graph ---------------------------------------------------------------------------------------------------

    @property
    def operands(self) -> Sequence[HloInstruction]:
        return self._operands

    @property
    def users(self) -> Sequence[HloInstruction]:
        """Returns the instructions that have this one as an operand, each once, in the order in
        which they were added.
        """
        return list(self._users)

    @property
    def user_count(self) -> int:
        return len(self._users)

    def operand(self, index: int) -> HloInstruction:
        return self._operands[index]

    @property
    def control_predecessors(self) -> Sequence[HloInstruction]:
        """Instructions that must run before this one without being operands. Assign a new list to change it."""
        return self._control_predecessors

    @control_predecessors.setter
    def control_predecessors(self, predecessors: Sequence[HloInstruction]) -> None:
        for old in self._control_predecessors:
            old._control_successors.pop(self, None)
        self._control_predecessors = list(dict.fromkeys(predecessors))
        for new in self._control_predecessors:
            new._control_successors[self] = None
        self._changed()

    @property
    def control_successors(self) -> Sequence[HloInstruction]:
        """Instructions that have this one as a control predecessor."""
        return list(self._control_successors)

    def replace_operand(self, index: int, new: HloInstruction) -> None:
        old = self._operands[index]
        self._operands[index] = new
        if old not in self._operands:
            old._users.pop(self, None)
        new._users[self] = None
        self._changed()

    def replace_all_uses_with(self, new: HloInstruction) -> None:
        """Replaces this instruction by `new` in all users and as the computation's root.

        This instruction stays, dead.
        """
        if not new.shape.compatible(self.shape):
            raise InvalidArgumentError(
                f"cannot replace {self.name} of shape {self.shape} by {new.name} of shape {new.shape}"
            )
        for user in list(self._users):
            if user is not new:
                user._operands = [new if operand is self else operand for operand in user._operands]
                new._users[user] = None
                del self._users[user]
                user._changed()
        if self.parent is not None and self.parent.root is self:
            self.parent.set_root(new)

    def _changed(self) -> None:
        """Tells the computation that the order of its instructions may have changed."""
        if self.parent is not None:
            self.parent._order = None

    # -- what it is --------------------------------------------------------------------------------------------------

    def attribute(self, name: str) -> Any:
        """Returns an attribute's value, or its default in the op table.

        Raises:
            KeyError: for an attribute that the op doesn't have.
        """
        try:
            return self.attributes[name]
        except KeyError:
            attribute = self.op.attributes.get(name) or op_table.COMMON_ATTRIBUTES[name]
            if attribute.default is op_table.REQUIRED:
                raise InvalidArgumentError(
                    f"{self.name} lacks attribute {name}", op=self.opcode, location=self.location
                ) from None
            return attribute.default

    @property
    def called_computations(self) -> list[HloComputation]:
        """The computations that attributes refer to, in the order of the op table."""
        found: list[HloComputation] = []
        for name in self.op.calls:
            value = self.attributes.get(name)
            if isinstance(value, tuple):
                found.extend(value)
            elif value is not None:
                found.append(value)
        return found

    def replace_called_computation(self, old: HloComputation, new: HloComputation) -> None:
        for name in self.op.calls:
            value = self.attributes.get(name)
            if value is old:
                self.attributes[name] = new
            elif isinstance(value, tuple):
                self.attributes[name] = tuple(new if c is old else c for c in value)

    @property
    def literal(self) -> Literal:
        """The value of a constant."""
        literal: Literal = self.attribute("literal")
        return literal

    @property
    def parameter_number(self) -> int:
        number: int = self.attribute("parameter_number")
        return number

    @property
    def tuple_index(self) -> int:
        """The index of a get-tuple-element."""
        index: int = self.attribute("index")
        return index

    @property
    def is_elementwise(self) -> bool:
        """Whether result element i depends only on element i of each operand.

        A bitcast-convert that changes the width is not elementwise.
        """
        if self.opcode == Opcode.BITCAST_CONVERT:
            return self.shape.dimensions == self._operands[0].shape.dimensions
        return Trait.ELEMENTWISE in self.op.traits

    @property
    def is_root(self) -> bool:
        return self.parent is not None and self.parent.root is self

    @property
    def location(self) -> SourceLocation | None:
        """The place in the user's source, if the metadata says; otherwise the place in the parsed text."""
        place, in_text = self.metadata.location, self.metadata.text_location
        if in_text is None or (place is not None and place.file):
            return place
        return dataclasses.replace(in_text(), name="" if place is None else place.name)

    def clone(
        self, operands: Sequence[HloInstruction] | None = None, *, shape: Shape | None = None, **attributes: Any
    ) -> HloInstruction:
        """Returns a copy that is in no computation, with the same metadata and called computations.

        `attributes` replaces the attributes that it names.
        """
        return HloInstruction(
            self.opcode,
            self.shape if shape is None else shape,
            self._operands if operands is None else operands,
            {**self.attributes, **attributes},
            name=self.name,
            metadata=self.metadata,
        )

    def __str__(self) -> str:
        return instruction_to_text(self)

    def __reduce_ex__(self, protocol: object) -> NoReturn:
        refuse_pickle(self)

    def __repr__(self) -> str:
        return f"<{self.name} = {self.shape} {self.opcode}({', '.join(o.name for o in self._operands)})>"

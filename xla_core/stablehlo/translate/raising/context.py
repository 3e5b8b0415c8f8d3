"""The context and the table of raising rules.

HLO's called computations become regions or private functions. Tuples disappear: an op with several results gives a
Python tuple of values. A rule raises one opcode.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from xla_core.errors import InvalidArgumentError, SourceLocation, UnimplementedError, XlaError
from xla_core.hlo.ir.computation import HloComputation
from xla_core.hlo.ir.instruction import HloInstruction
from xla_core.hlo.ir.module import HloModule
from xla_core.hlo.ops.channels import SOURCE_TARGET_PAIRS
from xla_core.hlo.table.opcode import Opcode
from xla_core.hlo.values.shape import Shape
from xla_core.registration import registers_in
from xla_core.stablehlo import ir
from xla_core.stablehlo.translate.raising.values import Raised, leaves, packed, single, type_of

Rule = Callable[["RaisingContext", HloInstruction, Sequence[Raised]], Raised]
"""Raises an instruction: (context, instruction, raised operands) -> raised result."""

RULES: dict[Opcode, Rule] = {}
"""Rules by opcode."""

raises = registers_in(RULES)
_MAX_DEPTH = 150


class Program:
    """The state of raising a module: the result so far, and the functions of called computations.

    Args:
        source: the HLO module.
        has_chlo: whether instructions without a StableHLO op may become ops of CHLO.
        inlines_calls: whether called computations are inlined; otherwise they become private functions.
    """

    def __init__(self, source: HloModule, *, has_chlo: bool, inlines_calls: bool = False) -> None:
        self.source = source
        self.has_chlo = has_chlo
        self.inlines_calls = inlines_calls
        self.result = ir.Module(name=source.name)
        self._names: dict[HloComputation, str] = {}

    def called(self, computation: HloComputation) -> ir.Op:
        """Returns the private function of a called computation, and adds it if needed."""
        name = self._names.get(computation)
        if name is None:
            name = computation.name
            while name in self.result.functions or name == "main":
                name += "_"
            return self.function(name, computation, is_public=False)
        return self.result.functions[name]

    def function(self, name: str, computation: HloComputation, *, is_public: bool) -> ir.Op:
        """Adds a computation as a function, with flat arguments and results."""
        self._names[computation] = name
        attributes: dict[str, Any] = {
            "sym_name": name,
            "function_type": ir.FunctionType((), ()),
            "sym_visibility": "public" if is_public else "private",
        }
        function = ir.Op("func.func", [], (), attributes, [ir.Region()])
        self.result.functions[name] = function
        context = RaisingContext(self, ir.Block())
        block, results = context.block([p.shape for p in computation.parameters], computation, "func.return")
        for parameter, argument in zip(computation.parameters, block.arguments, strict=False):
            if not parameter.shape.is_tuple:
                argument.name = parameter.name
        function.regions[0].blocks.append(block)
        attributes["function_type"] = ir.FunctionType(
            tuple([a.type for a in block.arguments]), tuple([v.type for v in results])
        )
        return function


class RaisingContext:
    """The block that rules add ops to. Every op gets the location of the instruction that is being raised."""

    def __init__(self, program: Program, block: ir.Block, parent: RaisingContext | None = None) -> None:
        self.program = program
        self.target = block
        self.instruction: HloInstruction | None = None if parent is None else parent.instruction
        self.depth: int = 0 if parent is None else parent.depth + 1

    def op(
        self,
        name: str,
        operands: Sequence[ir.Value],
        types: Sequence[ir.Type],
        regions: Sequence[ir.Region] = (),
        /,
        **attributes: Any,
    ) -> list[ir.Value]:
        """Appends an op and returns its results. Attributes that are None are left out."""
        given = {key: value for key, value in attributes.items() if value is not None}
        op = ir.Op(name, list(operands), list(types), given, list(regions), _location(self.instruction))
        if self.instruction is not None:
            _add_common(op, self.instruction)
        self.target.ops.append(op)
        return op.results

    def add(self, name: str, operands: Sequence[ir.Value], type: ir.Type, /, **attributes: Any) -> ir.Value:
        return self.op(name, operands, [type], **attributes)[0]

    def results(
        self, name: str, operands: Sequence[Raised], regions: Sequence[ir.Region] = (), /, **attributes: Any
    ) -> Raised:
        """Appends an op that has a result for each leaf of the instruction's shape. No operand may be a tuple."""
        assert self.instruction is not None
        shape, values = self.instruction.shape, [single(operand) for operand in operands]
        types = [type_of(leaf) for leaf in shape.leaves()]
        return packed(shape, iter(self.op(name, values, types, regions, **attributes)))

    def inline(self, computation: HloComputation, arguments: Sequence[Raised]) -> Raised:
        """Raises a computation's instructions into this context and returns the raised root."""
        if self.depth > _MAX_DEPTH:
            raise InvalidArgumentError(f"computations are nested more than {_MAX_DEPTH} deep")
        outer, self.depth = self.instruction, self.depth + 1
        values: dict[HloInstruction, Raised] = {}
        for instruction in computation.post_order():
            if instruction.opcode == Opcode.PARAMETER:
                values[instruction] = arguments[instruction.parameter_number]
                continue
            self.instruction = instruction
            values[instruction] = self._raise(instruction, [values[o] for o in instruction.operands])
        self.instruction, self.depth = outer, self.depth - 1
        return values[computation.root]

    def _raise(self, instruction: HloInstruction, operands: Sequence[Raised]) -> Raised:
        rule = RULES.get(instruction.opcode)
        try:
            if rule is None:
                raise UnimplementedError(f"{instruction.opcode} has no counterpart in StableHLO")
            return rule(self, instruction, operands)
        except XlaError as error:
            error.location = error.location or instruction.location
            error.op = error.op or instruction.opcode
            raise

    # Regions

    def block(
        self, shapes: Sequence[Shape], computation: HloComputation, terminator: str = "stablehlo.return"
    ) -> tuple[ir.Block, list[ir.Value]]:
        """Raises a computation to a block with an argument for each leaf of `shapes`. Returns it and its results."""
        block = ir.Block([type_of(leaf) for shape in shapes for leaf in shape.leaves()])
        inner = RaisingContext(self.program, block, self)
        arguments = iter(block.arguments)
        root = inner.inline(computation, [packed(shape, arguments) for shape in shapes])
        results = list(leaves(root))
        block.ops.append(ir.Op(terminator, results, (), location=_location(self.instruction)))
        return block, results

    def region(self, computation: HloComputation) -> ir.Region:
        """Raises a computation, such as a reducer or a loop body, to a region with its parameters as arguments."""
        return ir.Region([self.block([p.shape for p in computation.parameters], computation)[0]])

    def capturing_region(self, computation: HloComputation, arguments: Sequence[Raised]) -> ir.Region:
        """Raises a computation, such as a branch, to a region without arguments that captures `arguments`."""
        block = ir.Block()
        inner = RaisingContext(self.program, block, self)
        results = list(leaves(inner.inline(computation, arguments)))
        block.ops.append(ir.Op("stablehlo.return", results, (), location=_location(self.instruction)))
        return ir.Region([block])


def _location(instruction: HloInstruction | None) -> SourceLocation | None:
    return None if instruction is None else instruction.metadata.location


def _add_common(op: ir.Op, instruction: HloInstruction) -> None:
    frontend = dict(instruction.attributes.get("frontend_attributes") or ())
    if "source_target_pairs" in op.attributes:
        frontend.pop(SOURCE_TARGET_PAIRS, None)
    if frontend and op.name != "stablehlo.composite":
        op.attributes = {**op.attributes, "mhlo.frontend_attributes": frontend}
    sharding = instruction.attributes.get("sharding")
    if isinstance(sharding, str) and sharding and len(op.results) == 1:
        op.attributes = {**op.attributes, "mhlo.sharding": sharding}

"""What raising HLO to StableHLO works with: the module's state, a computation's context, the table of rules.

HLO's closed computations become regions or private functions, its tuples vanish: a value of tuple shape is a Python
tuple of values here, and an op with several results gives one. What an opcode becomes is a rule; the rules of
elementwise ops follow from the op table, which says what each op is lowered to.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from xla_core.errors import (
    InternalError,
    InvalidArgumentError,
    ResourceExhaustedError,
    SourceLocation,
    UnimplementedError,
    XlaError,
)
from xla_core.hlo.computation import HloComputation
from xla_core.hlo.element_type import ElementType
from xla_core.hlo.instruction import HloInstruction
from xla_core.hlo.module import HloModule
from xla_core.hlo.ops.channels import SOURCE_TARGET_PAIRS
from xla_core.hlo.shape import Shape
from xla_core.stablehlo import ir
from xla_core.stablehlo.attributes import TypedInt
from xla_core.stablehlo.op_table import OPS
from xla_core.stablehlo.ops.common import Elementwise
from xla_core.stablehlo.type_conversion import element_type
from xla_core.stablehlo.types import DTYPES
from xla_core.stablehlo.verifier import verify

__all__ = ["RULES", "Raised", "RaisingContext", "Rule", "from_hlo", "leaves", "raises", "single", "type_of"]

Raised = ir.Value | tuple["Raised", ...]
"""What an instruction became: a value, or a tuple of them for a tuple shape."""

Rule = Callable[["RaisingContext", HloInstruction, Sequence[Raised]], Raised]
"""(context, instruction, what its operands became) -> what it becomes."""

RULES: dict[str, Rule] = {}
"""Rules by opcode."""

_MAX_DEPTH = 150


def raises(*opcodes: str) -> Callable[[Rule], Rule]:
    """Puts a rule into the table."""

    def add(rule: Rule) -> Rule:
        for opcode in opcodes:
            RULES[opcode] = rule
        return rule

    return add


def from_hlo(module: HloModule, *, has_chlo: bool = True) -> ir.Module:
    """The StableHLO op tree of an HLO module: its function `main` is the entry, with flat parameters and results.

    Fusions and asynchronous pairs are inlined, calls become private functions, composites stay composites, and
    metadata become locations. Layouts are left to the compiler that reads the result. Without `has_chlo`, ops that
    StableHLO can say itself are not written as CHLO's.
    Raises UnimplementedError, with the instruction's location, for what StableHLO has no form for.
    """
    raising = ModuleRaising(module, has_chlo)
    try:
        raising.entry()
        verify(raising.result)
    except RecursionError as error:
        raise ResourceExhaustedError(f"{module.name}: computations are nested too deeply") from error
    return raising.result


# Types


@functools.cache
def _elements() -> dict[ElementType, str]:
    return {element_type(name): name for name in DTYPES if name != "index"}


def type_of(shape: Shape) -> ir.Type:
    """The type of a shape; dimensions up to a bound have bounds."""
    if shape.is_tuple:
        return ir.TupleType(tuple(type_of(s) for s in shape.tuple_shapes))
    if shape.is_token:
        return ir.TokenType()
    name = _elements().get(shape.element_type)
    if name is None:
        raise UnimplementedError(f"the element type {shape.element_type.value} has no counterpart in StableHLO")
    if not any(shape.dynamic_dimensions):
        return ir.TensorType(shape.dimensions, name)
    pairs = list(zip(shape.dimensions, shape.dynamic_dimensions, strict=True))
    sizes = tuple(ir.DYNAMIC if dynamic else size for size, dynamic in pairs)
    return ir.TensorType(sizes, name, tuple(size if dynamic else None for size, dynamic in pairs))


def leaves(value: Raised) -> Iterator[ir.Value]:
    """The values of a tuple, left to right."""
    if isinstance(value, tuple):
        for element in value:
            yield from leaves(element)
    else:
        yield value


def single(value: Raised) -> ir.Value:
    """A value that is no tuple."""
    if isinstance(value, tuple):
        raise UnimplementedError("an operand of tuple shape has no counterpart in StableHLO here")
    return value


def _packed(shape: Shape, values: Iterator[ir.Value]) -> Raised:
    """Values in the structure of a shape."""
    if shape.is_tuple:
        return tuple([_packed(s, values) for s in shape.tuple_shapes])
    return next(values)


# The module


class ModuleRaising:
    """The state of one module: the tree so far, and a function per computation that is called."""

    def __init__(self, source: HloModule, has_chlo: bool) -> None:
        self.source = source
        self.has_chlo = has_chlo
        self.result = ir.Module(name=source.name)
        self.result.attributes = {
            "mhlo.num_partitions": TypedInt(source.num_partitions, "i32"),
            "mhlo.num_replicas": TypedInt(source.num_replicas, "i32"),
        }
        if source.frontend_attributes:
            self.result.attributes["mhlo.frontend_attributes"] = dict(source.frontend_attributes)
        self._functions: dict[HloComputation, str] = {}

    def entry(self) -> None:
        """Raises the entry computation to `main`."""
        source = self.source
        shapes = [leaf for parameter in source.parameter_shapes for leaf in parameter.leaves()]
        attributes: list[dict[str, Any]] = [{} for _ in shapes]
        for parameter in source.entry.parameters:
            sharding = parameter.attributes.get("sharding")
            if isinstance(sharding, str) and sharding and not parameter.shape.is_tuple:
                attributes[self._flat(parameter.parameter_number, ())]["mhlo.sharding"] = sharding
        for alias in source.input_output_aliases:
            place = self._flat(alias.parameter_number, alias.parameter_index)
            output = _flat_index(source.result_shape, alias.output_index)
            attributes[place]["tf.aliasing_output"] = TypedInt(output, "i32")
        for number, index in source.buffer_donors:
            attributes[self._flat(number, index)]["jax.buffer_donor"] = True
        function = self._function("main", source.entry, is_public=True)
        if any(attributes):
            function.attributes["arg_attrs"] = tuple(attributes)

    def _flat(self, number: int, index: tuple[int, ...]) -> int:
        return _flat_index(Shape.tuple(self.source.parameter_shapes), (number, *index))

    def function(self, computation: HloComputation) -> ir.Op:
        """The private function of a computation that is called."""
        name = self._functions.get(computation)
        if name is None:
            name = computation.name
            while name in self.result.functions or name == "main":
                name += "_"
            return self._function(name, computation, is_public=False)
        return self.result.functions[name]

    def _function(self, name: str, computation: HloComputation, *, is_public: bool) -> ir.Op:
        self._functions[computation] = name
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


def _flat_index(shape: Shape, index: Sequence[int]) -> int:
    """The place of a leaf among all leaves."""
    place = 0
    for i in index:
        place += sum(1 for s in shape.tuple_shapes[:i] for _ in s.leaves())
        shape = shape.tuple_shapes[i]
    return place


# Computations


class RaisingContext:
    """What a rule works with: the block that it adds ops to. Every op gets the location of what is being raised."""

    def __init__(self, module: ModuleRaising, block: ir.Block, parent: RaisingContext | None = None) -> None:
        self.module = module
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
        """Appends an op, and returns its results; attributes that are None are left out."""
        given = {key: value for key, value in attributes.items() if value is not None}
        op = ir.Op(name, list(operands), list(types), given, list(regions), _location(self.instruction))
        if self.instruction is not None:
            _add_common(op, self.instruction)
        self.target.ops.append(op)
        return op.results

    def add(self, name: str, operands: Sequence[ir.Value], type: ir.Type, /, **attributes: Any) -> ir.Value:
        """Appends an op of one result."""
        return self.op(name, operands, [type], **attributes)[0]

    def results(
        self, name: str, operands: Sequence[ir.Value], regions: Sequence[ir.Region] = (), /, **attributes: Any
    ) -> Raised:
        """Appends an op that has a result for each leaf of the instruction's shape."""
        assert self.instruction is not None
        shape = self.instruction.shape
        types = [type_of(leaf) for leaf in shape.leaves()]
        return _packed(shape, iter(self.op(name, operands, types, regions, **attributes)))

    def inline(self, computation: HloComputation, arguments: Sequence[Raised]) -> Raised:
        """Raises a computation's instructions into this context; returns what its root becomes."""
        if self.depth > _MAX_DEPTH:
            raise InvalidArgumentError(f"computations are nested more than {_MAX_DEPTH} deep")
        outer, self.depth = self.instruction, self.depth + 1
        values: dict[HloInstruction, Raised] = {}
        for instruction in computation.post_order():
            if instruction.opcode == "parameter":
                values[instruction] = arguments[instruction.parameter_number]
                continue
            self.instruction = instruction
            values[instruction] = self._raise(instruction, [values[o] for o in instruction.operands])
        self.instruction, self.depth = outer, self.depth - 1
        return values[computation.root]

    def _raise(self, instruction: HloInstruction, operands: Sequence[Raised]) -> Raised:
        rule = RULES.get(instruction.opcode) or _elementwise_rule(instruction.opcode)
        try:
            if rule is None:
                raise UnimplementedError(f"{instruction.opcode} has no counterpart in StableHLO")
            return rule(self, instruction, operands)
        except XlaError as error:
            error.location = error.location or instruction.location
            error.op = error.op or instruction.opcode
            raise
        except (LookupError, TypeError, ValueError, AttributeError, AssertionError, StopIteration) as error:
            raise InternalError(
                f"raising {instruction.name}: {type(error).__name__}: {error}",
                op=instruction.opcode,
                location=instruction.location,
            ) from error

    # Regions

    def block(
        self, shapes: Sequence[Shape], computation: HloComputation, terminator: str = "stablehlo.return"
    ) -> tuple[ir.Block, list[ir.Value]]:
        """A computation as a block with an argument for each leaf of `shapes`; and the values that it returns."""
        block = ir.Block([type_of(leaf) for shape in shapes for leaf in shape.leaves()])
        inner = RaisingContext(self.module, block, self)
        arguments = iter(block.arguments)
        root = inner.inline(computation, [_packed(shape, arguments) for shape in shapes])
        results = list(leaves(root))
        block.ops.append(ir.Op(terminator, results, (), location=_location(self.instruction)))
        return block, results

    def region(self, computation: HloComputation) -> ir.Region:
        """A computation as a region with its parameters as arguments: a reducer, a comparator, a loop's body."""
        return ir.Region([self.block([p.shape for p in computation.parameters], computation)[0]])

    def capturing_region(self, computation: HloComputation, arguments: Sequence[Raised]) -> ir.Region:
        """A computation as a region without arguments, which takes values of this context: a branch."""
        block = ir.Block()
        inner = RaisingContext(self.module, block, self)
        results = list(leaves(inner.inline(computation, arguments)))
        block.ops.append(ir.Op("stablehlo.return", results, (), location=_location(self.instruction)))
        return ir.Region([block])


def _location(instruction: HloInstruction | None) -> SourceLocation | None:
    return None if instruction is None else instruction.location


def _add_common(op: ir.Op, instruction: HloInstruction) -> None:
    frontend = dict(instruction.attributes.get("frontend_attributes") or ())
    if "source_target_pairs" in op.attributes:
        frontend.pop(SOURCE_TARGET_PAIRS, None)
    if frontend and op.name != "stablehlo.composite":
        op.attributes["mhlo.frontend_attributes"] = frontend
    sharding = instruction.attributes.get("sharding")
    if isinstance(sharding, str) and sharding and len(op.results) == 1:
        op.attributes["mhlo.sharding"] = sharding


# Elementwise ops, by the op table


@functools.cache
def _elementwise_names() -> dict[str, str]:
    """Opcodes of elementwise ops to the ops that are lowered to them, StableHLO's before CHLO's."""
    found: dict[str, str] = {}
    for name, definition in sorted(OPS.items(), reverse=True):
        if isinstance(definition.lower, Elementwise):
            found.setdefault(definition.lower.opcode, name)
    return found


def _elementwise_rule(opcode: str) -> Rule | None:
    name = _elementwise_names().get(opcode)
    return None if name is None else functools.partial(_raise_elementwise, name)


def _raise_elementwise(
    name: str, ctx: RaisingContext, instruction: HloInstruction, operands: Sequence[Raised]
) -> Raised:
    return ctx.add(name, [single(o) for o in operands], type_of(instruction.shape))

"""StableHLO to HLO: functions become computations, regions become called computations, ops what the table says.

HLO's computations are closed. What a region of while, if or case takes from outside becomes a part of its parameter;
what a reducer or comparator takes from outside is computed anew inside (`rematerialization`), which works for constants
and what follows from them. Constants are always made anew inside: they cost nothing, and the regions stay readable for
passes.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from xla_core.errors import (
    InternalError,
    InvalidArgumentError,
    ResourceExhaustedError,
    UnimplementedError,
    XlaError,
)
from xla_core.hlo.attributes import OpMetadata
from xla_core.hlo.computation import HloComputation
from xla_core.hlo.instruction import HloInstruction
from xla_core.hlo.literal import Literal
from xla_core.hlo.module import HloModule
from xla_core.hlo.shape import Shape
from xla_core.hlo.verifier import verify_structure
from xla_core.stablehlo import ir
from xla_core.stablehlo.lower.captured_values import Rematerialization, rematerialize
from xla_core.stablehlo.lower.declared_sizes import as_declared
from xla_core.stablehlo.lower.entry import lower_signature, sharding_of, wrap_entry
from xla_core.stablehlo.lower.quantized_ops import has_quantized_types, is_quantized, lower_quantized
from xla_core.stablehlo.lower.static_values import StaticValues
from xla_core.stablehlo.lower.type_conversion import shape_of
from xla_core.stablehlo.shapes.refine import has_dynamic_types, recursion, refine
from xla_core.stablehlo.table import op_table
from xla_core.stablehlo.verify.verifier import verify

__all__ = ["LoweringContext", "lower"]

_MAX_DEPTH = 120  # regions and calls together


def lower(module: ir.Module, entry: str | None = None) -> HloModule:
    """The HLO of a verified module.

    Args:
        module: what the reader made and `verify` accepted. Sizes that are unknown must follow from constants and
            from the arguments' types, which are static or bounded: `refine` makes them so.
        entry: the function to start with; `main`, or the only public function, where none is named.

    Private functions become computations that `call` names. Entry parameters and results are flat: tuples are taken
    apart, tokens vanish; more than one result makes a tuple root.
    Raises InvalidArgumentError or UnimplementedError, with the op's location, for what HLO has no form for.
    """
    ir.require_module(module)
    function = entry_function(module, entry)
    body_of(function)
    if has_dynamic_types(module):
        module = refine(module, entry=str(function.attributes["sym_name"]))
        verify(module)
        function = next(iter(module.functions.values()))
    name = module.name or entry or str(function.attributes.get("sym_name", "main"))
    lowering = ModuleLowering(module, HloModule(name))
    try:
        lowering.lower_entry(function)
    except RecursionError as error:  # the caller itself is deep
        raise ResourceExhaustedError("regions and calls are nested too deeply to be lowered") from error
    verify_structure(lowering.hlo)  # its instructions got their shapes from the op table a moment ago
    return lowering.hlo


def entry_function(module: ir.Module, entry: str | None = None) -> ir.Op:
    """The function named, or `main`, or the only public one. Raises InvalidArgumentError where there is no such one."""
    if entry is not None or "main" in module.functions:
        try:
            return module.functions[entry or "main"]
        except (KeyError, TypeError):
            raise InvalidArgumentError(
                f"the module has no function @{entry}", hint=f"it has {', '.join('@' + n for n in module.functions)}"
            ) from None
    public = [f for f in module.functions.values() if f.attributes.get("sym_visibility", "public") != "private"]
    if not module.functions:
        raise InvalidArgumentError("the program is empty: it has no function", hint="it needs a function @main")
    if len(public) != 1:
        raise InvalidArgumentError(
            f"the module has no function @main and {len(public)} public functions",
            location=next((f.location for f in public or module.functions.values()), None),
            hint="name the entry function main, or make all others private",
        )
    return public[0]


def body_of(function: ir.Op) -> ir.Block:
    """The block of a function. Raises InvalidArgumentError where it is only declared."""
    if not function.regions or not function.regions[0].blocks:
        raise InvalidArgumentError(
            f"function @{function.attributes.get('sym_name')} is declared, but has no body", location=function.location
        )
    return function.regions[0].block


class ModuleLowering:
    """The state of one module's lowering: the HLO module, and a computation per function that was called so far."""

    def __init__(self, source: ir.Module, hlo: HloModule) -> None:
        self.source = source
        self.hlo = hlo
        self.quantized = has_quantized_types(source)
        self.reducers: dict[Any, HloComputation] = {}  # one-op regions, which most reductions have
        self.static_values = StaticValues()
        self.rematerialization = Rematerialization()
        self.depth = 0
        self._functions: dict[str, HloComputation | None] = {}  # None: being lowered

    def lower_entry(self, function: ir.Op) -> None:
        self._functions[str(function.attributes.get("sym_name"))] = None
        context = LoweringContext(self, self.new_computation("main", entry=True))
        wrap_entry(context, function)
        lower_signature(self.hlo, self.source, function)

    def function(self, name: str, op: ir.Op) -> HloComputation:
        """The computation of the function that `op` refers to by name: parameters and results as they are declared."""
        if name in self._functions:
            computation = self._functions[name]
            if computation is None:
                raise recursion(name, op)
            return computation
        if name not in self.source.functions:
            raise InvalidArgumentError(
                f"'{name}' does not reference a valid function", op=op.name, location=op.location
            )
        self._functions[name] = None
        computation = self.new_computation(name)
        context = LoweringContext(self, computation)
        block = body_of(self.source.functions[name])
        for number, argument in enumerate(block.arguments):
            context.values[argument] = computation.parameter(number, shape_of(argument.type), argument.name or None)
        context.set_root(context.lower_block(block))
        self._functions[name] = computation
        return computation

    def new_computation(self, name: str, *, entry: bool = False) -> HloComputation:
        return self.hlo.add_computation(HloComputation(name), entry=entry)


class LoweringContext:
    """What an op's lowering works with: the computation it adds to, and the HLO value of each value of the op tree.

    `add` gives every instruction the metadata of the op that is being lowered.
    """

    def __init__(
        self, module: ModuleLowering, computation: HloComputation, parent: LoweringContext | None = None
    ) -> None:
        self.module = module
        self.computation = computation
        self.parent = parent
        self.values: dict[ir.Value, HloInstruction] = {}
        self.metadata: OpMetadata = _NO_METADATA if parent is None else parent.metadata
        self.frontend_attributes: tuple[tuple[str, str], ...] = ()
        self.is_anew = False  # what is added stands in another computation already

    # -- making instructions -------------------------------------------------------------------------------------

    def add(
        self,
        opcode: str,
        *operands: HloInstruction,
        shape: Shape | None = None,
        name: str | None = None,
        **attributes: Any,
    ) -> HloInstruction:
        """Appends an instruction, as `HloComputation.add` does."""
        if self.frontend_attributes:
            attributes["frontend_attributes"] = self.frontend_attributes
        made = self.computation.add(opcode, *operands, shape=shape, name=name, metadata=self.metadata, **attributes)
        if self.is_anew:
            self.module.rematerialization.check(made)
        return made

    def constant(self, value: Literal | npt.ArrayLike, shape: Shape | None = None) -> HloInstruction:
        """A constant; a scalar with a `shape` is broadcast to it."""
        if not isinstance(value, Literal):
            array = np.asarray(value)
            value = Literal(array, None if shape is None else shape.with_dimensions(array.shape))
        constant = self.add("constant", shape=value.shape, literal=value)
        return constant if shape is None else self.broadcast(constant, shape)

    def tuple(self, values: Sequence[HloInstruction]) -> HloInstruction:
        return self.add("tuple", *values)

    def element(self, value: HloInstruction, index: int) -> HloInstruction:
        """One element of a tuple; of a `tuple` instruction, its operand."""
        if value.opcode == "tuple":
            return value.operand(index)
        return self.add("get-tuple-element", value, index=index)

    def elements(self, value: HloInstruction) -> list[HloInstruction]:
        return [self.element(value, i) for i in range(len(value.shape.tuple_shapes))]

    def results(self, value: HloInstruction, op: ir.Op) -> list[HloInstruction]:
        """One instruction a result of `op`, whose HLO counterpart gives a tuple where there are several (or none)."""
        return [value] if len(op.results) == 1 else self.elements(value)

    def result_shape(self, op: ir.Op) -> Shape:
        """The shape of the op's first result."""
        return shape_of(op.results[0].type)

    def broadcast(self, value: HloInstruction, shape: Shape, dimensions: Sequence[int] = ()) -> HloInstruction:
        """HLO's broadcast: dimension i of `value` becomes dimension `dimensions[i]` of the result."""
        target = shape.with_dimensions(shape.dimensions).with_element_type(value.shape.element_type)
        if value.shape.dimensions == target.dimensions:
            return value
        return self.add("broadcast", value, shape=target, dimensions=tuple(dimensions))

    def reshape(self, value: HloInstruction, dimensions: Sequence[int]) -> HloInstruction:
        dimensions = tuple(dimensions)
        return (
            value
            if value.shape.dimensions == dimensions
            else self.add("reshape", value, shape=value.shape.with_dimensions(dimensions))
        )

    def convert(self, value: HloInstruction, shape: Shape) -> HloInstruction:
        """The value with the element type of `shape`; a complex one gives its real part to a real type."""
        if value.shape.element_type.is_complex and not shape.element_type.is_complex:
            value = self.add("real", value)
        if value.shape.element_type is shape.element_type:
            return value
        return self.add("convert", value, shape=value.shape.with_element_type(shape.element_type))

    def static_value(self, value: HloInstruction, op: ir.Op, what: str) -> np.ndarray:
        """The value of an instruction that depends on constants alone.

        Raises UnimplementedError at `op`, naming `what`, where it depends on something that is known at run time only.
        """
        array = self.module.static_values.of(value)
        if array is None:
            raise UnimplementedError(
                f"{what} of {op.name} must be a constant of the program",
                op=op.name,
                location=op.location,
                hint="sizes are fixed when a program is compiled; one that is the value of an argument is, with "
                "CompileOptions(static_arguments=(NUMBER,))",
            )
        return array

    # -- values and ops ------------------------------------------------------------------------------------------

    def value(self, value: ir.Value) -> HloInstruction:
        """The instruction of a value: in this computation, or what it follows from outside made anew in here."""
        found = self.values.get(value)
        return rematerialize(self, value) if found is None else found

    def lower_block(self, block: ir.Block) -> list[HloInstruction]:
        """Lowers the ops of a block; returns what its terminator gives back."""
        module = self.module
        module.depth += 1
        if module.depth > _MAX_DEPTH:
            raise InvalidArgumentError(
                f"regions and calls are nested more than {_MAX_DEPTH} deep", location=block.ops[0].location
            )
        for op in block.ops[:-1]:
            self.lower_op(op)
        module.depth -= 1
        return [self.value(v) for v in block.ops[-1].operands]

    def lower_op(self, op: ir.Op) -> None:
        """Adds what the table says an op is, and remembers its results. Errors get the op's location."""
        definition = op_table.OPS.get(op.name) or op_table.lookup(op)
        if definition.lower is None:
            raise UnimplementedError(f"{op.name} has no form in HLO", op=op.name, location=op.location)
        self.metadata = metadata_of(op)
        frontend = op.attributes.get("mhlo.frontend_attributes")
        self.frontend_attributes = (
            tuple(sorted((str(k), str(v)) for k, v in frontend.items())) if isinstance(frontend, dict) else ()
        )
        try:
            operands = [self.value(v) for v in op.operands]
            if self.module.quantized and any(is_quantized(v.type) for v in (*op.operands, *op.results)):
                made = lower_quantized(self, op, definition, operands)
            else:
                made = definition.lower(self, op, *operands)
        except XlaError as error:
            error.location = error.location or op.location
            error.op = error.op or op.name
            raise
        except (LookupError, TypeError, ValueError, ArithmeticError, AttributeError, AssertionError) as error:
            raise InternalError(f"lowering {op.name}: {type(error).__name__}: {error}", location=op.location) from error
        if isinstance(made, HloInstruction):
            made.attributes.update(sharding_of(op.attributes, op.location))
            made = (made,)
        if made is not None:
            for result, value in zip(op.results, made, strict=True):
                self.values[result] = as_declared(self, value, result.type, op)

    # -- regions -------------------------------------------------------------------------------------------------

    def set_root(self, results: Sequence[HloInstruction], *, always_tuple: bool = False) -> None:
        """Makes the results the root: a single one as it is, unless `always_tuple`."""
        self.computation.set_root(results[0] if len(results) == 1 and not always_tuple else self.tuple(results))

    def child(self, name: str) -> LoweringContext:
        """A context for a computation that an instruction of this one calls."""
        return LoweringContext(self.module, self.module.new_computation(name), self)

    def region(self, region: ir.Region, name: str, *, captured: Sequence[ir.Value] = ()) -> HloComputation:
        """A region as a closed computation whose parameters are the block's arguments, then the captured values."""
        block = region.block
        key = _reducer_key(block)
        if key is not None and key in self.module.reducers:
            return self.module.reducers[key]
        context = self.child(name if key is None else block.ops[0].name.split(".")[1] + f".{key[2]}")
        for number, argument in enumerate((*block.arguments, *captured)):
            context.values[argument] = context.computation.parameter(
                number, shape_of(argument.type), argument.name or None
            )
        context.set_root(context.lower_block(block))
        if key is not None:
            self.module.reducers[key] = context.computation
        return context.computation

    def captures(self, regions: Iterable[ir.Region]) -> list[ir.Value]:
        """What regions take from outside, each once, without constants (those are made anew inside)."""
        found: dict[ir.Value, None] = {}
        for region in regions:
            inside: set[ir.Value] = set()
            used: list[ir.Value] = []
            for block in region.blocks:
                inside.update(block.arguments)
                for outer in block.ops:
                    for op in outer.walk():
                        used += op.operands
                        inside.update(op.results)
                        for nested in op.regions:
                            for b in nested.blocks:
                                inside.update(b.arguments)
            found.update((v, None) for v in used if v not in inside and not _is_constant(v))
        return list(found)

    def capturing_region(
        self,
        region: ir.Region,
        name: str,
        captured: Sequence[ir.Value],
        *,
        return_captured: bool = False,
        always_tuple: bool = True,
    ) -> HloComputation:
        """A region as a computation with one tuple parameter: the block's arguments, then the captured values.

        With `return_captured`, the captured values are results too: the body of a while carries them along.
        """
        context = self.child(name)
        values = [*region.block.arguments, *captured]
        shapes = [shape_of(v.type) if v not in self.values else self.values[v].shape for v in values]
        parameter = context.computation.parameter(0, Shape.tuple(shapes), "state")
        context.values.update((v, context.element(parameter, i)) for i, v in enumerate(values))
        results = context.lower_block(region.block)
        if return_captured:
            results += [context.values[v] for v in captured]
        context.set_root(results, always_tuple=always_tuple)
        return context.computation


_NO_METADATA = OpMetadata()


def metadata_of(op: ir.Op) -> OpMetadata:
    """The op's location as HLO keeps it."""
    location = op.location
    if location is None:
        return _NO_METADATA
    return OpMetadata("", location.name, location.file, location.line, location.column)


def _is_constant(value: ir.Value) -> bool:
    return isinstance(value.owner, ir.Op) and value.owner.name == "stablehlo.constant"


def _reducer_key(block: ir.Block) -> tuple[Any, ...] | None:
    """What identifies a region of one binary op over its two arguments, as nearly every reduction has it."""
    if len(block.ops) != 2 or len(block.arguments) != 2 or block.ops[0].attributes:
        return None
    op, end = block.ops
    if op.operands != block.arguments or end.operands != op.results or op.regions:
        return None
    return (op.name, block.arguments[0].type, shape_of(op.results[0].type).element_type.value, block.arguments[1].type)

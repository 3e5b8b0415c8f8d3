"""The context that the ops' `lower` functions work with, and the state of one module's lowering.

A computation of HLO is closed. The values that a region of while, if or case captures become a part of its parameter.
The values that a reducer or comparator captures are computed again inside, which works only for values that depend on
constants alone. Constants are always created again inside: they cost nothing, and passes see them in the region.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from xla_core.errors import InternalError, InvalidArgumentError, UnimplementedError, XlaError
from xla_core.hlo.ir.builder import Builder
from xla_core.hlo.ir.computation import HloComputation
from xla_core.hlo.ir.instruction import HloInstruction
from xla_core.hlo.ir.module import HloModule
from xla_core.hlo.ops.rules import shape_of_parts
from xla_core.hlo.table.attributes import OpMetadata
from xla_core.hlo.table.opcode import Opcode
from xla_core.hlo.values.shape import Shape
from xla_core.spmd import Sharding, Shards
from xla_core.stablehlo import ir
from xla_core.stablehlo.lower.captured_values import HINT, CaptureLimits
from xla_core.stablehlo.lower.declared_sizes import as_declared
from xla_core.stablehlo.lower.quantized_ops import has_quantized_types, is_quantized, lower_quantized
from xla_core.stablehlo.lower.static_values import StaticValues
from xla_core.stablehlo.lower.type_conversion import shape_of
from xla_core.stablehlo.sharding.mhlo_sharding import sharding_of
from xla_core.stablehlo.table import op_table

_MAX_DEPTH = 120  # regions and calls together


def recursion(name: str, call: ir.Op) -> InvalidArgumentError:
    return InvalidArgumentError(
        f"function @{name} calls itself", op=call.name, location=call.location, hint="HLO has no recursion; use while"
    )


def body_of(function: ir.Op) -> ir.Block:
    """Returns the body of a function. Raises InvalidArgumentError for a declaration without a body."""
    if not function.regions or not function.regions[0].blocks:
        raise InvalidArgumentError(
            f"function @{function.attributes.get('sym_name')} is declared, but has no body", location=function.location
        )
    return function.regions[0].block


def not_constant(op: ir.Op, what: str) -> UnimplementedError:
    """Makes the error of an op whose operand `what`, a size, depends on a run-time value."""
    return UnimplementedError(
        f"{what} must be a constant of the program",
        op=op.name,
        location=op.location,
        hint="sizes are fixed when a program is compiled; CompileOptions(static_arguments=(NUMBER,)) makes the value "
        "of an argument a constant",
    )


class ModuleLowering:
    """The state of a module's lowering: the HLO module, and the computations of the functions called so far."""

    def __init__(self, source: ir.Module, hlo: HloModule) -> None:
        self.source = source
        self.hlo = hlo
        self.quantized = has_quantized_types(source)
        self.reducers: dict[Any, HloComputation] = {}  # computations of one-op regions, which equal reducers share
        self.static_values = StaticValues()
        self.capture_limits = CaptureLimits()
        self.depth = 0
        self.shards = Shards()
        self.value_shardings: Mapping[ir.Value, Sharding | None] = {}  # of the entry function's block
        self._functions: dict[str, HloComputation | None] = {}  # None: being lowered

    def begin(self, entry: ir.Op) -> HloComputation:
        """Makes the computation of the entry function, which no function may call."""
        self._functions[str(entry.attributes.get("sym_name"))] = None
        return self.new_computation("main", entry=True)

    def function(self, name: str, op: ir.Op) -> HloComputation:
        """Returns the computation of the function that `op` names, lowered with the declared parameters and results."""
        if name in self._functions:
            computation = self._functions[name]
            if computation is None:
                raise recursion(name, op)
            return computation
        function = self.source.function(name, op)
        self._functions[name] = None
        computation = self.new_computation(name)
        context = LoweringContext(self, computation)
        block = body_of(function)
        for number, argument in enumerate(block.arguments):
            context.values[argument] = computation.parameter(number, shape_of(argument.type), argument.name or None)
        context.set_root(context.lower_block(block))
        self._functions[name] = computation
        return computation

    def new_computation(self, name: str, *, entry: bool = False) -> HloComputation:
        return self.hlo.add_computation(HloComputation(name), entry=entry)


class LoweringContext(Builder):
    """Lowers ops into one computation, and maps values of the op tree to instructions."""

    def __init__(
        self, module: ModuleLowering, computation: HloComputation, parent: LoweringContext | None = None
    ) -> None:
        super().__init__(computation)
        self.module = module
        self.parent = parent
        self.values: dict[ir.Value, HloInstruction] = {}
        if parent is not None:
            self.metadata = parent.metadata

    def convert(self, operand: HloInstruction, like: Shape) -> HloInstruction:
        """Adds a convert; a complex operand gives its real part to a real type."""
        if operand.shape.element_type.is_complex and not like.element_type.is_complex:
            operand = self.add(Opcode.REAL, operand)
        return super().convert(operand, like)

    def results(self, value: HloInstruction, op: ir.Op) -> list[HloInstruction]:
        """Returns an instruction for each result of `op`. The HLO op returns a tuple unless `op` has one result."""
        return [value] if len(op.results) == 1 else self.elements(value)

    def own_shard(self, value: ir.Value, op: ir.Op, whole: HloInstruction) -> HloInstruction:
        """Returns this device's shard of an operand of `op`, or the whole where the program implies no sharding."""
        sharding = self.module.value_shardings.get(value)
        if sharding is None:
            return whole
        with op.located():
            return self.module.shards.to_shard(self, whole, sharding)

    def result_shape(self, op: ir.Op) -> Shape:
        """Returns the shape of the op's declared results, which is a tuple unless there is one."""
        return shape_of_parts([shape_of(r.type) for r in op.results])

    def static_value(self, value: HloInstruction, op: ir.Op, what: str) -> np.ndarray:
        """Evaluates an instruction, which must depend on constants alone.

        Raises UnimplementedError at `op` if it depends on a run-time value. `what` names the value in the error.
        """
        array = self.module.static_values.of(value)
        if array is None:
            raise not_constant(op, f"{what} of {op.name}")
        return array

    # -- values and ops ------------------------------------------------------------------------------------------

    def value(self, value: ir.Value) -> HloInstruction:
        """Returns the instruction of a value. A value that a closed region captures is computed again in it."""
        found = self.values.get(value)
        return self._recompute(value) if found is None else found

    def _recompute(self, value: ir.Value) -> HloInstruction:
        """Lowers the ops that a captured value depends on into this computation.

        A worklist replaces recursion, because chains of ops may be long. Raises UnimplementedError, with the location,
        if the value depends on an argument, an op with regions, or an op with effects; ResourceExhaustedError if the
        program recomputes too many ops.
        """
        saved = self.metadata, self.frontend_attributes, self.check
        self.check = self.module.capture_limits.check
        stack = [value]
        while stack:
            needed = stack[-1]
            if needed in self.values:
                stack.pop()
                continue
            op = self._defining_op(needed)
            missing = [operand for operand in op.operands if operand not in self.values]
            if missing:
                stack += missing
            else:
                self.module.capture_limits.count(op)
                self.lower_op(op)
        self.metadata, self.frontend_attributes, self.check = saved
        return self.values[value]

    def _defining_op(self, value: ir.Value) -> ir.Op:
        op = value.owner
        if self.parent is None or not isinstance(op, ir.Op) or op.regions:
            raise UnimplementedError(
                f"%{value.name or value.index} is computed outside of a region whose HLO computation must be closed",
                location=op.location if isinstance(op, ir.Op) else None,
                hint=HINT,
            )
        return op

    def lower_block(self, block: ir.Block) -> list[HloInstruction]:
        """Lowers the ops of a block; returns the operands of its terminator."""
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
        """Lowers an op by its entry in the op table and records its results. Errors get the op's location."""
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
        """Makes the results the root: a tuple, or the result itself if there is one and `always_tuple` is not set."""
        self.computation.set_root(results[0] if len(results) == 1 and not always_tuple else self.tuple(results))

    def child(self, name: str) -> LoweringContext:
        """Makes the context of a computation that an instruction of this computation calls."""
        return LoweringContext(self.module, self.module.new_computation(name), self)

    def region(self, region: ir.Region, name: str, *, captured: Sequence[ir.Value] = ()) -> HloComputation:
        """Lowers a region to a computation whose parameters are the block's arguments, then the captured values."""
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
        """Returns the values that regions capture, each once, without constants, which are created again inside."""
        used = [value for region in regions for value in ir.captured_values(region)]
        return [value for value in dict.fromkeys(used) if not _is_constant(value)]

    def capturing_region(
        self,
        region: ir.Region,
        name: str,
        captured: Sequence[ir.Value],
        *,
        return_captured: bool = False,
        always_tuple: bool = True,
    ) -> HloComputation:
        """Lowers a region to a computation with one tuple parameter: the block's arguments, then the captured values.

        With `return_captured` it also returns the captured values, as the body of a while must.
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


def metadata_of(op: ir.Op) -> OpMetadata:
    location = op.location
    if location is None:
        return OpMetadata()
    return OpMetadata("", location.name, location.file, location.line, location.column)


def _is_constant(value: ir.Value) -> bool:
    return isinstance(value.owner, ir.Op) and value.owner.name == "stablehlo.constant"


def _reducer_key(block: ir.Block) -> tuple[Any, ...] | None:
    """Returns a key for a region of one binary op on its two arguments, else None.

    Regions with equal keys share a computation.
    """
    if len(block.ops) != 2 or len(block.arguments) != 2 or block.ops[0].attributes:
        return None
    op, end = block.ops
    if op.operands != block.arguments or end.operands != op.results or op.regions:
        return None
    return (op.name, block.arguments[0].type, shape_of(op.results[0].type).element_type.value, block.arguments[1].type)

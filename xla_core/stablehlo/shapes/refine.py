"""Shape refinement: specializes a program with `?` dimensions for the types of its arguments.

Ops are visited in order. The op's rule infers its result types from the refined operands. Integers that follow from
shapes and constants are evaluated and become constants. Each function is specialized for the types and known values of
each call.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from xla_core.checks import require
from xla_core.errors import InternalError, InvalidArgumentError, ResourceExhaustedError, XlaError
from xla_core.stablehlo import ir
from xla_core.stablehlo.lower.context import recursion
from xla_core.stablehlo.shapes.experimental_ops import static_op
from xla_core.stablehlo.shapes.known_values import ValueFolder, constant_like, known_value
from xla_core.stablehlo.table import op_table
from xla_core.stablehlo.table.op_table import Trait
from xla_core.stablehlo.verify.compatibility import compatible, merge

_MAX_DEPTH = 120  # regions and calls together
_MAX_OPS = 20_000
_MAX_GROWTH = 16

Key = tuple[str, tuple[ir.Type, ...], tuple[bytes | None, ...]]


def is_dynamic(type: ir.Type) -> bool:
    if isinstance(type, ir.TensorType) and not type.is_static:
        bounds = type.bounds or (None,) * type.rank
        return any(d == ir.DYNAMIC and b is None for d, b in zip(type.shape, bounds, strict=True))
    return isinstance(type, ir.TupleType) and any(map(is_dynamic, type.elements))


def is_static(type: ir.Type) -> bool:
    if isinstance(type, ir.TupleType):
        return all(map(is_static, type.elements))
    return not isinstance(type, ir.TensorType) or type.is_static


def has_dynamic_types(module: ir.Module) -> bool:
    """Tells whether any value of a module has an unbounded dimension."""
    return any(map(is_dynamic, module.types()))


def refine(
    module: ir.Module,
    argument_types: Sequence[ir.Type] | None = None,
    *,
    entry: str = "main",
    values: Mapping[int, np.ndarray] | None = None,
) -> ir.Module:
    """Specializes a module for argument types; returns a new module.

    Args:
        module: a verified module; it is not changed.
        argument_types: the type of each argument of `entry`, compatible with the declared type; by default that type.
        entry: the function to start with. Functions that it doesn't reach are left out.
        values: known values of arguments, by position. These arguments stay parameters, but nothing reads them.

    Raises InvalidArgumentError when a type doesn't fit, or a shape assertion of the program fails;
    ResourceExhaustedError when functions are called with so many types and values that the module grows out of bounds.
    """
    ir.require_module(module)
    function = module.functions.get(entry) if isinstance(entry, str) else None
    if function is None:
        names = ", ".join(f"@{name}" for name in module.functions)
        raise InvalidArgumentError(f"there is no function @{entry}", hint=f"the module has {names or 'none'}")
    declared = [a.type for a in function.regions[0].block.arguments]
    if argument_types is not None:
        require("argument_types", argument_types, Sequence, "a list of types or None")
    types = list(declared if argument_types is None else argument_types)
    if len(types) != len(declared):
        raise InvalidArgumentError(
            f"@{entry} takes {len(declared)} argument{'' if len(declared) == 1 else 's'}, not {len(types)}"
        )
    for i, (type, wanted) in enumerate(zip(types, declared, strict=True)):
        if not compatible(type, wanted):
            raise InvalidArgumentError(f"argument {i} of type {type} doesn't fit @{entry}, which takes {wanted}")
    refiner = _Refiner(module)
    known = [None if values is None else values.get(i) for i in range(len(types))]
    try:
        made = refiner.function(entry, types, known)
    except RecursionError as error:  # the calling code may be deep in the stack already
        raise ResourceExhaustedError("regions and calls are nested too deeply to be refined") from error
    name = str(made.attributes["sym_name"])
    functions = {name: made, **{n: f for n, f in refiner.functions.items() if n != name}}
    return dataclasses.replace(module, functions=functions)


class _Scope:
    """Maps values to their refined values, by nested scopes."""

    def __init__(self, parent: _Scope | None = None) -> None:
        self.parent = parent
        self.values: dict[ir.Value, ir.Value] = {}
        self.ops: list[ir.Op] = []

    def __getitem__(self, value: ir.Value) -> ir.Value:
        scope: _Scope | None = self
        while scope is not None:
            if value in scope.values:
                return scope.values[value]
            scope = scope.parent
        return value


class _Refiner:
    def __init__(self, module: ir.Module) -> None:
        self.module = module
        self.functions: dict[str, ir.Op] = {}
        self._made: dict[Key, str] = {}
        self._entered: set[str] = set()
        self.folder = ValueFolder()
        self._depth = 0
        self._ops = 0
        self._most_ops = _MAX_OPS + _MAX_GROWTH * sum(1 for _ in module.walk())

    # -- functions ---------------------------------------------------------------------------------------------------

    def function(
        self, name: str, types: Sequence[ir.Type], known: Sequence[np.ndarray | None], caller: ir.Op | None = None
    ) -> ir.Op:
        """Returns the specialization of a function for these types and known values; each is made once."""
        key = (name, tuple(types), tuple(None if k is None else k.tobytes() for k in known))
        if key in self._made:
            return self.functions[self._made[key]]
        old = self.module.functions[name]
        if name in self._entered:
            raise recursion(name, caller or old)
        self._entered.add(name)
        block = old.regions[0].block
        new, scope = ir.Block(list(types)), _Scope()
        for mine, theirs, value in zip(new.arguments, block.arguments, known, strict=True):
            mine.name = theirs.name
            scope.values[theirs] = mine
            if value is not None:
                constant = constant_like(mine.type, value, old)
                scope.ops.append(constant)
                scope.values[theirs] = constant.results[0]
        new.argument_locations = list(block.argument_locations)
        self.block(block, scope)
        new.ops = scope.ops
        unique = name
        while unique in self.functions:
            unique = f"{name}_{len(self.functions)}"
        results = tuple(v.type for v in new.ops[-1].operands)
        attributes = {**old.attributes, "sym_name": unique, "function_type": ir.FunctionType(tuple(types), results)}
        made = ir.Op(old.name, [], [], attributes, [ir.Region([new])], old.location)
        self.functions[unique] = made
        self._made[key] = unique
        self._entered.remove(name)
        return made

    def call(self, op: ir.Op, attribute: str, operands: list[ir.Value], scope: _Scope) -> None:
        """Refines a call or composite: specializes the function that `attribute` names.

        Results with known values become constants.
        """
        name = str(op.attributes[attribute])
        self.module.function(name, op)
        callee = self.function(name, [v.type for v in operands], [known_value(v) for v in operands], op)
        returned = callee.regions[0].block.ops[-1].operands
        attributes = {**op.attributes, attribute: ir.SymbolRef(str(callee.attributes["sym_name"]))}
        new = ir.Op(op.name, operands, [v.type for v in returned], attributes, [], op.location)
        scope.ops.append(new)
        for mine, theirs, inside in zip(new.results, op.results, returned, strict=True):
            value = known_value(inside)
            if value is not None:
                constant = constant_like(mine.type, value, op)
                scope.ops.append(constant)
                mine = constant.results[0]
            mine.name = theirs.name
            scope.values[theirs] = mine

    # -- ops ---------------------------------------------------------------------------------------------------------

    def block(self, block: ir.Block, scope: _Scope) -> None:
        self._depth += 1
        if self._depth > _MAX_DEPTH:
            raise InvalidArgumentError(
                f"regions and calls are nested more than {_MAX_DEPTH} deep", location=block.ops[0].location
            )
        for op in block.ops:
            self._count(op)
            try:
                self.op(op, scope)
            except XlaError as error:
                error.location, error.op = error.location or op.location, error.op or op.name
                raise
            except (LookupError, TypeError, ValueError, ArithmeticError, AttributeError, AssertionError) as error:
                message = f"refining {op.name}: {type(error).__name__}: {error}"
                raise InternalError(message, op=op.name, location=op.location) from error
        self._depth -= 1

    def _count(self, op: ir.Op) -> None:
        self._ops += 1
        if self._ops > self._most_ops:
            raise ResourceExhaustedError(
                f"the program becomes more than {self._most_ops:,} ops: each function is specialized for all types and "
                "constants that it is called with",
                op=op.name,
                location=op.location,
                hint="give functions that are called many times the same constants, or none",
            )

    def op(self, op: ir.Op, scope: _Scope) -> None:
        operands = [scope[v] for v in op.operands]
        if op.name in ("func.call", "call"):
            self.call(op, "callee", operands, scope)
            return
        if op.name == "stablehlo.composite":
            self.call(op, "decomposition", operands, scope)
            return
        if str(op.attributes.get("call_target_name", "")) == "shape_assertion":
            if not _holds(op, operands):
                scope.ops.append(ir.Op(op.name, operands, [], op.attributes, [], op.location))
            return
        meant = static_op(op, operands, self.module) if op.name == "stablehlo.custom_call" else None
        new = self.typed(op, operands, scope) if meant is None else self.typed(meant, meant.operands, scope)
        values = self.folder.computed(new)
        if values is None:
            scope.ops.append(new)
        for index, (mine, theirs) in enumerate(zip(new.results, op.results, strict=True)):
            if values is not None:
                constant = constant_like(mine.type, values[index], op)
                scope.ops.append(constant)
                mine = constant.results[0]
            mine.name = theirs.name
            scope.values[theirs] = mine

    def typed(self, op: ir.Op, operands: list[ir.Value], scope: _Scope) -> ir.Op:
        """Makes the op on refined operands, with the result types that its rule infers."""
        regions = [self.region(op, region, operands, scope) for region in op.regions]
        declared = [r.type for r in op.results]
        attributes = self.attributes(op)
        new = ir.Op(op.name, operands, declared, attributes, regions, op.location)
        definition = op_table.OPS.get(op.name)
        if definition is None or Trait.TERMINATOR in definition.traits or all(map(is_static, declared)):
            return new
        inferred = definition.rule(new, self.module)
        if inferred is None:
            return new
        if len(inferred) != len(declared):
            op.fail(f"has {len(inferred)} results, but {len(declared)} are declared")
        types = [_merged(op, a, b) for a, b in zip(inferred, declared, strict=True)]
        return ir.Op(op.name, operands, types, attributes, regions, op.location)

    def attributes(self, op: ir.Op) -> Mapping[str, Any]:
        """Returns the op's attributes. Functions that a custom call names are specialized for their declared types."""
        called = [str(name) for name in op.attributes.get("called_computations") or ()]
        if not called or not all(name in self.module.functions for name in called):
            return op.attributes
        blocks = [self.module.functions[name].regions[0].block for name in called]
        made = [
            self.function(name, [a.type for a in block.arguments], [None] * len(block.arguments), op)
            for name, block in zip(called, blocks, strict=True)
        ]
        names = tuple([ir.SymbolRef(str(function.attributes["sym_name"])) for function in made])
        return {**op.attributes, "called_computations": names}

    def region(self, op: ir.Op, region: ir.Region, operands: Sequence[ir.Value], scope: _Scope) -> ir.Region:
        """Refines a region. Arguments with dynamic shapes take the types of the operands at their positions."""
        inner, blocks = _Scope(scope), []
        for block in region.blocks:
            types = [a.type for a in block.arguments]
            if len(types) == len(operands):
                types = [t if is_static(t) else o.type for t, o in zip(types, operands, strict=True)]
            new = ir.Block(types)
            for mine, theirs in zip(new.arguments, block.arguments, strict=True):
                mine.name = theirs.name
                inner.values[theirs] = mine
            self.block(block, inner)
            new.ops, inner.ops = inner.ops, []
            blocks.append(new)
        return ir.Region(blocks)


def _merged(op: ir.Op, inferred: ir.Type, declared: ir.Type) -> ir.Type:
    if not compatible(inferred, declared):
        raise InvalidArgumentError(
            f"'{op.name}' op has type {inferred} for these arguments, but is declared {declared}",
            op=op.name,
            location=op.location,
        )
    if isinstance(inferred, ir.TensorType) and isinstance(declared, ir.TensorType):
        return dataclasses.replace(merge(op, [inferred, declared]), element=declared.element)
    return inferred


def _holds(op: ir.Op, operands: Sequence[ir.Value]) -> bool:
    """Tells whether a shape assertion is known to hold. Raises InvalidArgumentError with its message if it fails."""
    if not operands or op.results:
        op.fail(
            f"shape_assertion takes a flag and gives nothing, but has {len(operands)} operands and "
            f"{len(op.results)} results"
        )
    value = known_value(operands[0])
    if value is None:
        return False
    if not value.all():
        message = str(op.attributes.get("error_message", "a shape assertion of the program fails"))
        for i, operand in enumerate(operands[1:]):
            known = known_value(operand)
            message = message.replace(f"{{{i}}}", "?" if known is None else str(known.tolist()))
        raise InvalidArgumentError(message, op=op.name, location=op.location)
    return True

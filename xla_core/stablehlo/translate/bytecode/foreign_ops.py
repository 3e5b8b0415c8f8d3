"""Ops of other dialects in a portable artifact. They keep builtin types; casts connect them to VHLO's ops.

Source: openxla/stablehlo, stablehlo/transforms/StablehloLegalizeToVhlo.cpp (with other dialects allowed).
"""

from __future__ import annotations

import dataclasses

from xla_core.stablehlo import ir
from xla_core.stablehlo.bytecode.op_kinds import CAST


class BuiltinType(ir.OpaqueType):
    """A type that is written as a type of the dialect builtin, not of VHLO."""


def is_foreign(name: str) -> bool:
    """Tells whether an op is written unchanged, as an op of its own dialect."""
    return name.startswith("sdy.") or name == CAST


def with_casts(module: ir.Module) -> ir.Module:
    """Adds casts around foreign ops. Returns the module itself if there is no such op."""
    if not any(map(is_foreign, ir.op_names(module))):
        return module
    caster = _Caster()
    functions = {}
    for name, function in module.functions.items():
        target: list[ir.Op] = []
        caster.op(function, target)
        functions[name] = target[-1]
    return dataclasses.replace(module, functions=functions)


class _Caster:
    """Copies ops. A value has a form for VHLO's ops, one for foreign ops, or both; a cast makes the other form."""

    def __init__(self) -> None:
        self.own: dict[ir.Value, ir.Value] = {}
        self.foreign: dict[ir.Value, ir.Value] = {}

    def op(self, op: ir.Op, target: list[ir.Op]) -> None:
        """Appends the copy of an op after the casts that it needs."""
        is_builtin = is_foreign(op.name)
        known, other = (self.foreign, self.own) if is_builtin else (self.own, self.foreign)
        operands = []
        for value in op.operands:
            if value not in known:
                cast = ir.Op(CAST, [other[value]], [_typed(value.type, is_builtin)], {}, location=op.given_location)
                target.append(cast)
                known[value] = cast.results[0]
            operands.append(known[value])
        regions = [ir.Region([self._block(block, is_builtin) for block in region.blocks]) for region in op.regions]
        types = [_typed(result.type, is_builtin) for result in op.results]
        copy = ir.Op(op.name, operands, types, op.attributes, regions, op.given_location)
        known.update(zip(op.results, copy.results, strict=True))
        target.append(copy)

    def _block(self, block: ir.Block, is_builtin: bool) -> ir.Block:
        """Copies a block. Casts that are made in it are not visible outside."""
        outer = self.own, self.foreign
        self.own, self.foreign = self.own.copy(), self.foreign.copy()
        copy = ir.Block([_typed(argument.type, is_builtin) for argument in block.arguments])
        copy.given_argument_locations = block.given_argument_locations
        (self.foreign if is_builtin else self.own).update(zip(block.arguments, copy.arguments, strict=True))
        for op in block.ops:
            self.op(op, copy.ops)
        self.own, self.foreign = outer
        return copy


def _typed(type: ir.Type, is_builtin: bool) -> ir.Type:
    return BuiltinType(str(type)) if is_builtin else type

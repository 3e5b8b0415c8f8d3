"""Expands ops that a release of StableHLO lacks: CHLO's, `tan`, batching dimensions of gather and scatter, copies.

An op of CHLO is lowered to HLO and raised to StableHLO again, so that its meaning is defined in the op table alone. The
other expansions are those of StableHLO's compatibility expander. Attributes that a release can't hold are rewritten as
in XLA: those of other dialects direct the compilation and don't change what a program computes, so Shardy's become
frontend attributes with their text, and the others are dropped.

Source: openxla/stablehlo, stablehlo/transforms/StablehloCompatibilityExpander.cpp; XLA, xla/service/spmd/shardy.
"""

from __future__ import annotations

import dataclasses
import functools
import re
from collections.abc import Callable, Mapping
from typing import Any

from xla_core.errors import UnimplementedError, XlaError
from xla_core.hlo.decompositions.elementary import decompose_elementary
from xla_core.stablehlo import ir
from xla_core.stablehlo.shapes.lowering import lower
from xla_core.stablehlo.translate.raising import raised_entry
from xla_core.stablehlo.translate.raising.decomposed import meaning_of
from xla_core.stablehlo.verify.compatibility import element_bits
from xla_core.stablehlo.vhlo.versions import MIXED_DIALECTS, Version

_CHLO = "chlo."
_COPY = "mhlo.copy"
_TAN = Version(1, 4)
_BATCHING = Version(1, 1)


def expand(module: ir.Module, version: Version) -> ir.Module:
    """Replaces ops that the release lacks by ops of the release with the same meaning.

    Returns the module itself if there is nothing to expand, and else a copy. Raises UnimplementedError, with the op's
    location, for an op of CHLO that can't be written with StableHLO's ops.
    """
    if version >= MIXED_DIALECTS and not any(_may_expand(name, version) for name in ir.op_names(module)):
        return module
    copier = _Copier(version)
    functions = {name: copier.op(function) for name, function in module.functions.items()}
    if all(new is old for new, old in zip(functions.values(), module.functions.values(), strict=True)):
        return module
    return dataclasses.replace(module, functions=functions)


_Expansion = Callable[["_Copier", ir.Op], list[ir.Value]]


@functools.cache
def _may_expand(name: str, version: Version) -> bool:
    """Tells whether an op of this name may need an expansion for the release."""
    if name == "stablehlo.tan":
        return version < _TAN
    return name == _COPY or name.startswith(_CHLO) or (name in _NUMBERS and version < _BATCHING)


def _expansion(op: ir.Op, version: Version) -> _Expansion | None:
    """Returns the expansion of an op for which `_may_expand` holds, or None if it needs none."""
    if op.name == _COPY:
        return _Copier.without_copy
    if op.name.startswith(_CHLO):
        return _Copier.chlo
    if op.name == "stablehlo.tan":
        return _Copier.tan
    attribute, batching = _NUMBERS[op.name]
    return _Copier.batching if getattr(op.attributes.get(attribute), batching, ()) else None


_NUMBERS = {
    "stablehlo.gather": ("dimension_numbers", "operand_batching_dims"),
    "stablehlo.dynamic_gather": ("dimension_numbers", "operand_batching_dims"),
    "stablehlo.scatter": ("scatter_dimension_numbers", "input_batching_dims"),
}
"""The ops with batching dimensions: the attribute, and its field that has the batching dimensions."""


class _Copier:
    """Copies functions and replaces the ops that have to be expanded. Unchanged parts are shared, not copied."""

    def __init__(self, version: Version) -> None:
        self.version = version
        self.values: dict[ir.Value, ir.Value] = {}
        self.target: list[ir.Op] = []
        self.source: ir.Op | None = None

    def op(self, op: ir.Op, *, is_new: bool = False) -> ir.Op:
        """Copies an op and its regions with replaced operands; returns the op itself if nothing in it changes.

        `is_new` asks for a copy in any case.
        """
        values = self.values
        attributes = attributes_for(op, self.version)
        is_new = is_new or attributes is not op.attributes or not values.keys().isdisjoint(op.operands)
        regions = op.regions
        if regions:
            regions = [ir.Region([self.block(block) for block in region.blocks]) for region in regions]
            blocks = [[block for region in each for block in region.blocks] for each in (regions, op.regions)]
            is_new = is_new or any(a is not b for a, b in zip(*blocks, strict=True))
        if not is_new:
            return op
        operands = [values.get(operand, operand) for operand in op.operands]
        copy = ir.Op(op.name, operands, [r.type for r in op.results], attributes, regions, op.given_location)
        for old, new in zip(op.results, copy.results, strict=True):
            new.name = old.name
            values[old] = new
        return copy

    def block(self, block: ir.Block) -> ir.Block:
        copy = ir.Block()
        copy.arguments = block.arguments  # The same values: unchanged ops are not copied.
        copy.given_argument_locations = block.given_argument_locations
        outer, self.target = self.target, copy.ops
        is_changed, version = False, self.version
        for op in block.ops:
            expansion = _expansion(op, version) if _may_expand(op.name, version) else None
            if expansion is None:
                new = self.op(op)
                is_changed = is_changed or new is not op
                copy.ops.append(new)
                continue
            is_changed = True
            self.source = op
            try:
                self.values.update(zip(op.results, expansion(self, op), strict=True))
            except XlaError as error:
                error.op, error.location = error.op or op.name, op.location or error.location
                raise
        self.target = outer
        return copy if is_changed else block

    def add(self, name: str, operands: list[ir.Value], type: ir.Type, **attributes: Any) -> ir.Value:
        location = None if self.source is None else self.source.given_location
        op = ir.Op(name, operands, [type], attributes, location=location)
        self.target.append(op)
        return op.results[0]

    # Expansions

    def without_copy(self, op: ir.Op) -> list[ir.Value]:
        """Replaces mhlo.copy by its operand, because StableHLO has no copy."""
        return [self.values.get(operand, operand) for operand in op.operands]

    def tan(self, op: ir.Op) -> list[ir.Value]:
        meaning = meaning_of(lower(_alone(op)).entry.root, decompose_elementary)
        assert meaning.module is not None
        return self._inlined(op, raised_entry(meaning.module))

    def chlo(self, op: ir.Op) -> list[ir.Value]:
        """Lowers the op alone to HLO and raises that to StableHLO."""
        body = raised_entry(lower(_alone(op)))
        if any(part.name == op.name for part in body.ops):
            raise UnimplementedError(f"{op.name} has no form in StableHLO")
        return self._inlined(op, body)

    def _inlined(self, op: ir.Op, body: ir.Block) -> list[ir.Value]:
        """Adds the ops of `body` in place of `op`, and returns the results. These ops are expanded too, if needed."""
        inner = _Copier(self.version)
        operands = [self.values.get(operand, operand) for operand in op.operands]
        inner.values.update(zip(body.arguments, operands, strict=True))
        *made, end = inner.block(_without_arguments(body)).ops
        for part in made:
            part.location = op.given_location
        self.target += made
        return end.operands

    def batching(self, op: ir.Op) -> list[ir.Value]:
        """Replaces batching dimensions: an iota in front of the other indices indexes each of them."""
        attribute, _ = _NUMBERS[op.name]
        numbers, is_gather = op.attributes[attribute], attribute == "dimension_numbers"
        place = 1 if is_gather else (len(op.operands) - 1) // 2
        copy = self.op(op, is_new=True)
        if is_gather:
            batching, of_indices = numbers.operand_batching_dims, numbers.start_indices_batching_dims
            changed = {
                "collapsed_slice_dims": tuple(sorted((*numbers.collapsed_slice_dims, *batching))),
                "operand_batching_dims": (),
                "start_indices_batching_dims": (),
                "start_index_map": (*batching, *numbers.start_index_map),
            }
        else:
            batching, of_indices = numbers.input_batching_dims, numbers.scatter_indices_batching_dims
            changed = {
                "inserted_window_dims": tuple(sorted((*numbers.inserted_window_dims, *batching))),
                "input_batching_dims": (),
                "scatter_indices_batching_dims": (),
                "scatter_dims_to_operand_dims": (*batching, *numbers.scatter_dims_to_operand_dims),
            }
        copy.operands[place] = self._with_iotas(copy.operands[place], numbers.index_vector_dim, of_indices)
        # `indices_are_sorted` was a promise about the shorter index vectors only.
        kept = {name: value for name, value in copy.attributes.items() if name != "indices_are_sorted"}
        copy.attributes = {**kept, attribute: dataclasses.replace(numbers, **changed)}
        self.target.append(copy)
        return copy.results

    def _with_iotas(self, indices: ir.Value, vector: int, dims: tuple[int, ...]) -> ir.Value:
        type = indices.type
        if not isinstance(type, ir.TensorType) or ir.DYNAMIC in type.shape or not isinstance(type.element, str):
            raise UnimplementedError(f"batching dimensions over indices of type {type} have no form in StableHLO 1.0")
        element = type.element
        if element_bits(element) < 32:  # the size of a dimension may not fit
            element = "i32"
            indices = self.add("stablehlo.convert", [indices], ir.TensorType(type.shape, element))
        shape = type.shape
        if vector == len(shape):
            shape = (*shape, 1)
            indices = self.add("stablehlo.reshape", [indices], ir.TensorType(shape, element))
        one = ir.TensorType((*shape[:vector], 1, *shape[vector + 1 :]), element)
        parts = [self.add("stablehlo.iota", [], one, iota_dimension=dim) for dim in dims]
        size = shape[vector] + len(parts)
        whole = ir.TensorType((*shape[:vector], size, *shape[vector + 1 :]), element)
        return self.add("stablehlo.concatenate", [*parts, indices], whole, dimension=vector)


def _without_arguments(block: ir.Block) -> ir.Block:
    """Returns a block with the same ops and no arguments, because the arguments are mapped to other values."""
    inside = ir.Block()
    inside.ops = block.ops
    return inside


def _alone(op: ir.Op) -> ir.Module:
    """Makes a module whose function contains only this op. An operand used twice becomes two arguments."""
    body = ir.Block([operand.type for operand in op.operands])
    types = [r.type for r in op.results]
    # The regions capture no values.
    copy = ir.Op(op.name, list(body.arguments), types, op.attributes, op.regions, op.given_location)
    body.ops = [copy, ir.Op("func.return", list(copy.results), ())]
    return ir.Module.of_function(body)


_TYPED_CALLS = Version(1, 3)
_TYPED = 4
_OTHER_DIALECT = re.compile(r"#(?!stablehlo\b|chlo\b)[a-z_]+[.<]").match
_FRONTEND = "mhlo.frontend_attributes"


def attributes_for(op: ir.Op, version: Version) -> Mapping[str, Any]:
    """Returns an op's attributes as the release can hold them: the same mapping if nothing changes."""
    attributes = op.attributes
    if version >= MIXED_DIALECTS or not attributes:
        return attributes
    if version < _TYPED_CALLS and op.name == "stablehlo.custom_call" and attributes.get("api_version") == _TYPED:
        attributes = _untyped(attributes)
    for name in ("arg_attrs", "res_attrs") if op.name == "func.func" else ():
        given = attributes.get(name) or ()
        changed = tuple([_of_one_dialect(of_one) for of_one in given])
        if any(new is not old for new, old in zip(changed, given, strict=True)):
            attributes = {**attributes, name: changed}
    return _of_one_dialect(attributes)


def _untyped(attributes: Mapping[str, Any]) -> Mapping[str, Any]:
    """Writes a typed custom call in JAX's older form, which XLA reads: version 1 with `mhlo.backend_config`."""
    config = attributes.get("backend_config") or {}
    return {**attributes, "api_version": ir.TypedInt(1, "i32"), "backend_config": "", "mhlo.backend_config": config}


def _of_one_dialect(attributes: Mapping[str, Any]) -> Mapping[str, Any]:
    foreign = [name for name, value in attributes.items() if "." in name and _is_foreign(value)]
    if not foreign:
        return attributes
    kept = {name: value for name, value in attributes.items() if name not in foreign}
    shardys = {f"xla.{name}": attributes[name].text for name in foreign if name.startswith("sdy.")}
    return {**kept, _FRONTEND: {**kept.get(_FRONTEND, {}), **shardys}} if shardys else kept


def _is_foreign(value: Any) -> bool:
    return isinstance(value, ir.OpaqueAttribute) and _OTHER_DIALECT(value.text) is not None

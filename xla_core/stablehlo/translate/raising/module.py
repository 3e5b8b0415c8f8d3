"""Raises a module: its functions, parameters and results."""

from __future__ import annotations

from typing import Any

from xla_core.errors import ResourceExhaustedError
from xla_core.hlo.ir.module import HloModule
from xla_core.hlo.table.opcode import Opcode
from xla_core.hlo.values.shape import Shape
from xla_core.hlo.verifier import verify as verify_hlo
from xla_core.stablehlo import ir
from xla_core.stablehlo.translate.raising.context import Program
from xla_core.stablehlo.verify.verifier import verify


def from_hlo(module: HloModule, *, has_chlo: bool = True) -> ir.Module:
    """Raises an HLO module to StableHLO. Its function `main` is the entry, with flat parameters and results.

    Fusions and asynchronous pairs are inlined, calls become private functions, composites stay composites, and metadata
    become locations. Layouts are dropped. Without `has_chlo`, no op is written as one of CHLO if StableHLO has a form
    for it. Raises UnimplementedError, with the instruction's location, for instructions that StableHLO cannot express;
    the errors of HLO's verifier for a malformed module; ResourceExhaustedError if nested regions would grow
    exponentially.
    """
    verify_hlo(module)  # the rules don't check the instructions
    module.check_growth(lambda i: () if i.opcode == Opcode.CALL else i.called_computations)  # regions share nothing
    program = Program(module, has_chlo=has_chlo)
    result = program.result
    result.attributes = {
        "mhlo.num_partitions": ir.TypedInt(module.num_partitions, "i32"),
        "mhlo.num_replicas": ir.TypedInt(module.num_replicas, "i32"),
    }
    if module.frontend_attributes:
        result.attributes["mhlo.frontend_attributes"] = dict(module.frontend_attributes)
    try:
        main = program.function("main", module.entry, is_public=True)
        attributes = _argument_attributes(module)
        if any(attributes):
            main.attributes = {**main.attributes, "arg_attrs": tuple(attributes)}
        verify(result)
    except RecursionError as error:
        raise ResourceExhaustedError(f"{module.name}: computations are nested too deeply") from error
    return result


def raised_entry(module: HloModule) -> ir.Block:
    """Raises the entry of a module to the block of one function that calls no other, without CHLO's ops."""
    main = Program(module, has_chlo=False, inlines_calls=True).function("main", module.entry, is_public=True)
    return main.regions[0].block


def _argument_attributes(source: HloModule) -> list[dict[str, Any]]:
    """Returns each flat parameter's attributes: its sharding, and the result that may take its memory."""
    whole = Shape.tuple(source.parameter_shapes)
    attributes: list[dict[str, Any]] = [{} for _ in whole.leaves()]
    for parameter in source.entry.parameters:
        sharding = parameter.attributes.get("sharding")
        if isinstance(sharding, str) and sharding and not parameter.shape.is_tuple:
            attributes[whole.leaf_number((parameter.parameter_number,))]["mhlo.sharding"] = sharding
    for alias in source.input_output_aliases:
        place = whole.leaf_number((alias.parameter_number, *alias.parameter_index))
        output = source.result_shape.leaf_number(alias.output_index)
        attributes[place]["tf.aliasing_output"] = ir.TypedInt(output, "i32")
    for number, index in source.buffer_donors:
        attributes[whole.leaf_number((number, *index))]["jax.buffer_donor"] = True
    return attributes

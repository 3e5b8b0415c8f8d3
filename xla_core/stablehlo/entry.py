"""The entry's boundary: flat parameters and results, donation, and what module attributes say of the whole program."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from xla_core.errors import InvalidArgumentError, SourceLocation
from xla_core.hlo.instruction import HloInstruction
from xla_core.hlo.module import HloModule, InputOutputAlias
from xla_core.hlo.shape import Shape
from xla_core.stablehlo import ir
from xla_core.stablehlo.type_conversion import shape_of

if TYPE_CHECKING:
    from xla_core.stablehlo.lowering import LoweringContext

__all__ = ["argument_attributes", "device_counts", "lower_signature", "sharding_of", "wrap_entry"]


def wrap_entry(context: LoweringContext, function: ir.Op) -> None:
    """Lowers the entry function with flat parameters and results: tuples taken apart, tokens left out."""
    block = function.regions[0].block
    attributes = argument_attributes(function)
    for argument, attribute in zip(block.arguments, attributes, strict=True):
        value = _parameter(context, shape_of(argument.type), argument.name or f"arg{argument.index}")
        if value.opcode == "parameter":
            value.attributes.update(sharding_of(attribute, function.location))
        context.values[argument] = value
    results = [leaf for value in context.lower_block(block) for leaf in _leaves(context, value)]
    context.set_root(results)


def sharding_of(attributes: Mapping[str, Any], location: SourceLocation | None) -> dict[str, str]:
    """HLO's attribute `sharding`, if `mhlo.sharding` says one.

    JAX writes the shardings of more than 100 devices as protos; no program of so many runs here, and they are dropped.
    Raises InvalidArgumentError for a malformed one.
    """
    text = attributes.get("mhlo.sharding")
    if not isinstance(text, str) or not text or text[0] < " ":  # a proto begins with the tag of a field
        return {}
    from xla_core.hlo.text.sharding import check_sharding  # HLO text's reader, which most programs need nothing of

    try:
        check_sharding(text)
    except InvalidArgumentError as error:
        raise InvalidArgumentError(
            f"mhlo.sharding is {text[:200]!r}: {error.message}",
            location=location,
            hint='XLA\'s text of a sharding, such as "{replicated}" or "{devices=[2,1]<=[2]}"',
        ) from None
    return {"sharding": text}


def device_counts(source: ir.Module) -> tuple[int, int]:
    """Numbers of replicas and of partitions (`mhlo.num_replicas`, `mhlo.num_partitions`), one where none is given."""
    location = next((f.location for f in source.functions.values()), None)
    return (
        _integer(source.attributes, "mhlo.num_replicas", 1, location),
        _integer(source.attributes, "mhlo.num_partitions", 1, location),
    )


def _integer(attributes: Mapping[str, Any], name: str, default: int, location: SourceLocation | None) -> int:
    value = attributes.get(name, default)
    if not isinstance(value, int):
        raise InvalidArgumentError(f"attribute {name} must be an integer, not {value}", location=location)
    return int(value)


def argument_attributes(function: ir.Op) -> list[dict[str, Any]]:
    """A dict an argument, empty where it has no attributes."""
    given = function.attributes.get("arg_attrs") or ()
    count = len(function.regions[0].block.arguments)
    return [dict(given[i]) if i < len(given) and given[i] else {} for i in range(count)]


def _parameter(context: LoweringContext, shape: Shape, name: str) -> HloInstruction:
    if shape.is_token:
        return context.add("after-all")
    if shape.is_tuple:
        return context.tuple([_parameter(context, s, f"{name}.{i}") for i, s in enumerate(shape.tuple_shapes)])
    return context.computation.parameter(len(context.computation.parameters), shape, name)


def _leaves(context: LoweringContext, value: HloInstruction) -> Iterator[HloInstruction]:
    if value.shape.is_tuple:
        for element in context.elements(value):
            yield from _leaves(context, element)
    elif not value.shape.is_token:
        yield value


def lower_signature(hlo: HloModule, source: ir.Module, function: ir.Op) -> None:
    """Donation (`tf.aliasing_output`, `jax.buffer_donor`) and the number of replicas and partitions."""
    hlo.num_replicas, hlo.num_partitions = device_counts(source)
    frontend = source.attributes.get("mhlo.frontend_attributes")
    if isinstance(frontend, dict):
        hlo.frontend_attributes = {str(k): str(v) for k, v in frontend.items()}
    block = function.regions[0].block
    parameters = _flat_positions([a.type for a in block.arguments])
    results = _flat_positions([v.type for v in block.ops[-1].operands])
    is_tuple = hlo.result_shape.is_tuple
    for index, attribute in enumerate(argument_attributes(function)):
        aliased = _integer(attribute, "tf.aliasing_output", -1, function.location)
        for number in parameters[index]:
            if 0 <= aliased < len(results) and len(results[aliased]) == len(parameters[index]):
                output = results[aliased][number - parameters[index][0]]
                hlo.input_output_aliases.append(InputOutputAlias((output,) if is_tuple else (), number))
            elif attribute.get("jax.buffer_donor"):
                hlo.buffer_donors.append((number, ()))


def _flat_positions(types: list[ir.Type]) -> list[range]:
    """For each type, the places of its leaves among all leaves that are not tokens."""
    positions: list[range] = []
    start = 0
    for type in types:
        count = _leaf_count(type)
        positions.append(range(start, start + count))
        start += count
    return positions


def _leaf_count(type: ir.Type) -> int:
    if isinstance(type, ir.TupleType):
        return sum(map(_leaf_count, type.elements))
    return 0 if isinstance(type, ir.TokenType) else 1

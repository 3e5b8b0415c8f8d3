"""Lowers a module whose shapes are static or bounded: its entry function, and the functions that it calls."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from xla_core.errors import InvalidArgumentError, ResourceExhaustedError, SourceLocation
from xla_core.hlo.ir.instruction import HloInstruction
from xla_core.hlo.ir.module import HloModule, InputOutputAlias
from xla_core.hlo.table.attributes import OpMetadata
from xla_core.hlo.table.opcode import Opcode
from xla_core.hlo.values.shape import Shape
from xla_core.hlo.verifier import verify_structure
from xla_core.spmd.shards import shard_shape
from xla_core.stablehlo import ir
from xla_core.stablehlo.lower.context import LoweringContext, ModuleLowering
from xla_core.stablehlo.lower.entry_layouts import set_entry_layouts
from xla_core.stablehlo.lower.type_conversion import shape_of
from xla_core.stablehlo.sharding.entry_shardings import EntryShardings, entry_shardings
from xla_core.stablehlo.sharding.mhlo_sharding import sharding_of


def lower_entry(lowering: ModuleLowering, function: ir.Op, entry_shards: bool = False) -> None:
    """Lowers the entry function with flat parameters and results: tuples taken apart, tokens left out.

    With `entry_shards`, parameters and results are this device's shards, as their shardings say.
    """
    context = LoweringContext(lowering, lowering.begin(function))
    shards = lowering.shards
    shards.partitions = device_counts(lowering.source)[1]
    block = function.regions[0].block
    attributes = argument_attributes(function)
    shardings = entry_shardings(lowering.source, function) if entry_shards else EntryShardings.none(function)
    lowering.value_shardings = shardings.values
    for argument, attribute, sharding in zip(block.arguments, attributes, shardings.arguments, strict=True):
        shape, name = _shape_at(function, argument.type), argument.name or f"arg{argument.index}"
        if sharding is not None:
            with function.located():
                shape = shard_shape(shape, sharding)
            shard = _parameter(context, shape, name, function.location)
            context.values[argument] = shards.to_whole(context, shard, sharding)
            continue
        value = _parameter(context, shape, name, function.location)
        if value.opcode == Opcode.PARAMETER:
            value.attributes.update(sharding_of(attribute, function.location))
        context.values[argument] = value
    results: list[HloInstruction] = []
    for value, sharding in zip(context.lower_block(block), shardings.results, strict=True):
        if sharding is not None:
            with function.located():
                shard_shape(value.shape, sharding)  # raises where it can't be split
                value = shards.to_shard(context, value, sharding)
        results += _leaves(context, value)
    context.set_root(results)
    shards.remove_unused(lowering.hlo)
    _lower_signature(lowering.hlo, lowering.source, function)
    if entry_shards:
        _keep_aliases_of_equal_size(lowering.hlo)


def _shape_at(op: ir.Op, type: ir.Type) -> Shape:
    with op.located():
        return shape_of(type)


def device_counts(source: ir.Module) -> tuple[int, int]:
    """Returns the numbers of replicas and partitions (`mhlo.num_replicas`, `mhlo.num_partitions`), by default 1."""
    return _count(source, "mhlo.num_replicas"), _count(source, "mhlo.num_partitions")


def _count(source: ir.Module, name: str) -> int:
    location = next((f.location for f in source.functions.values()), None)
    count = _integer(source.attributes.get(name, 1), name, location)
    if count < 1:
        raise InvalidArgumentError(
            f"attribute {name} must be at least 1, not {count}: it counts devices", location=location
        )
    return count


def _integer(value: Any, name: str, location: SourceLocation | None) -> int:
    if not isinstance(value, int) or isinstance(value, bool):
        raise InvalidArgumentError(f"attribute {name} must be an integer, not {value}", location=location)
    return int(value)


def argument_attributes(function: ir.Op) -> list[dict[str, Any]]:
    """Returns a dictionary for each argument, empty for one without attributes."""
    given = function.attributes.get("arg_attrs") or ()
    count = len(function.regions[0].block.arguments)
    return [dict(given[i]) if i < len(given) and given[i] else {} for i in range(count)]


def _parameter(context: LoweringContext, shape: Shape, name: str, place: SourceLocation | None) -> HloInstruction:
    if shape.is_token:
        return context.add(Opcode.AFTER_ALL)
    if shape.is_tuple:
        leaves = enumerate(shape.tuple_shapes)
        return context.tuple([_parameter(context, s, f"{name}.{i}", place) for i, s in leaves])
    parameter = context.computation.parameter(len(context.computation.parameters), shape, name)
    if place is not None:
        parameter.metadata = OpMetadata(text_location=lambda: place)
    return parameter


def _leaves(context: LoweringContext, value: HloInstruction) -> Iterator[HloInstruction]:
    if value.shape.is_tuple:
        for element in context.elements(value):
            yield from _leaves(context, element)
    elif not value.shape.is_token:
        yield value


def _lower_signature(hlo: HloModule, source: ir.Module, function: ir.Op) -> None:
    """Sets donation (`tf.aliasing_output`, `jax.buffer_donor`), layouts, and the numbers of replicas and partitions."""
    hlo.num_replicas, hlo.num_partitions = device_counts(source)
    frontend = source.attributes.get("mhlo.frontend_attributes")
    if isinstance(frontend, dict):
        hlo.frontend_attributes = {str(k): str(v) for k, v in frontend.items()}
    parameters = _flat_positions([a.type for a in function.regions[0].block.arguments])
    aliases = _aliased_outputs(function)
    outputs = _flat_positions([v.type for v in function.regions[0].block.ops[-1].operands])
    is_tuple = hlo.result_shape.is_tuple
    for index, attribute in enumerate(argument_attributes(function)):
        if index in aliases:
            pairs = zip(outputs[aliases[index]], parameters[index], strict=True)
            hlo.input_output_aliases += [InputOutputAlias((o,) if is_tuple else (), number) for o, number in pairs]
        elif attribute.get("jax.buffer_donor"):
            hlo.buffer_donors += [(number, ()) for number in parameters[index]]
    set_entry_layouts(hlo, function, parameters, outputs)


def _aliased_outputs(function: ir.Op) -> dict[int, int]:
    """Returns by argument the result that takes its buffer, for arguments with `tf.aliasing_output`."""
    block = function.regions[0].block
    arguments = [_shape_at(function, a.type) for a in block.arguments]
    results = [_shape_at(block.ops[-1], v.type) for v in block.ops[-1].operands]
    donors: dict[int, int] = {}
    for index, attribute in enumerate(argument_attributes(function)):
        if "tf.aliasing_output" not in attribute:
            continue
        number = _integer(attribute["tf.aliasing_output"], "tf.aliasing_output", function.location)
        if not 0 <= number < len(results):
            why = f"@{function.attributes.get('sym_name')} has {len(results)} result{'' if len(results) == 1 else 's'}"
        elif number in donors:
            why = f"it takes that of argument {donors[number]}"
        elif _sizes(arguments[index]) != _sizes(results[number]):
            why = f"the argument is {arguments[index]}, the result {results[number]}"
        else:
            donors[number] = index
            continue
        places = block.argument_locations
        raise InvalidArgumentError(
            f"result {number} cannot take the buffer of argument {index} (tf.aliasing_output): {why}",
            location=(places[index] if places else None) or function.location,
            hint="with jax.buffer_donor an argument gives its buffer to any result that it fits",
        )
    return {index: number for number, index in donors.items()}


def _sizes(shape: Shape) -> list[int]:
    return [leaf.byte_size for leaf in shape.array_leaves()]


def _flat_positions(types: list[ir.Type]) -> list[range]:
    """Returns for each type the positions of its leaves among all leaves that are not tokens."""
    positions: list[range] = []
    start = 0
    for type in types:
        count = sum(1 for leaf in shape_of(type).leaves() if not leaf.is_token)
        positions.append(range(start, start + count))
        start += count
    return positions


def _keep_aliases_of_equal_size(hlo: HloModule) -> None:
    """Makes a parameter whose shard has another size than its result's a donor of its buffer."""
    results, parameters = list(hlo.result_shape.leaves()), hlo.parameter_shapes
    for alias in list(hlo.input_output_aliases):
        result = results[alias.output_index[0] if alias.output_index else 0]
        if result.byte_size != parameters[alias.parameter_number].byte_size:
            hlo.input_output_aliases.remove(alias)
            hlo.buffer_donors.append((alias.parameter_number, ()))


def lower_static(module: ir.Module, function: ir.Op, name: str = "", *, entry_shards: bool = False) -> HloModule:
    """Lowers a verified module without unbounded sizes to HLO. `function` is the entry."""
    lowering = ModuleLowering(module, HloModule(name or module.name or str(function.attributes["sym_name"])))
    try:
        lower_entry(lowering, function, entry_shards)
    except RecursionError as error:  # the calling code may be deep in the stack already
        raise ResourceExhaustedError("regions and calls are nested too deeply to be lowered") from error
    verify_structure(lowering.hlo)  # shapes need no check: the op table has just inferred them
    return lowering.hlo


def entry_function(module: ir.Module, entry: str | None = None) -> ir.Op:
    """Returns the entry function: the one named `entry`, else `main`, else the only public function.

    Raises InvalidArgumentError if there is no such function.
    """
    if entry is not None or "main" in module.functions:
        try:
            return module.functions[entry or "main"]
        except (KeyError, TypeError):
            raise InvalidArgumentError(
                f"the module has no function @{entry}", hint=f"it has {', '.join('@' + n for n in module.functions)}"
            ) from None
    public = [f for f in module.functions.values() if f.attributes.get("sym_visibility", "public") != "private"]
    if not module.functions:
        raise InvalidArgumentError(
            "the program is empty: it has no function",
            hint="it needs a function, which is the entry if its name is @main or if no other is public",
        )
    if len(public) != 1:
        raise InvalidArgumentError(
            f"the module has no function @main and {len(public)} public functions",
            location=next((f.location for f in public or module.functions.values()), None),
            hint="name the entry function main, or make all others private",
        )
    return public[0]

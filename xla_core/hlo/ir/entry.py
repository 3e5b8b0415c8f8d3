"""Flattens the entry's parameters and results, and sets which parameters are donated."""

from __future__ import annotations

from xla_core.errors import InvalidArgumentError
from xla_core.hlo.ir.computation import HloComputation
from xla_core.hlo.ir.instruction import HloInstruction
from xla_core.hlo.ir.module import HloModule, InputOutputAlias
from xla_core.hlo.table.opcode import Opcode
from xla_core.hlo.values.shape import Shape

ShapeIndex = tuple[int, ...]


def flatten_entry(module: HloModule) -> None:
    """Makes every parameter of the entry an array, and the root an array or a tuple of arrays, in leaf order.

    Token parameters become after-alls, and tokens are dropped from the result. Aliases and donors are renumbered.
    """
    entry = module.entry
    old_result = entry.root.shape
    parameters: dict[tuple[int, ShapeIndex], int] = {}
    if any(not p.shape.is_array for p in entry.parameters):
        parameters = _flatten_parameters(entry)
    kept = [index for index, leaf in old_result.indexed_leaves() if not leaf.is_token]
    results = {index: n for n, index in enumerate(kept)}
    flat_result = old_result.is_array or (old_result.is_tuple and all(s.is_array for s in old_result.tuple_shapes))
    if not flat_result:
        leaves = [_element(entry, entry.root, index) for index in results]
        entry.set_root(entry.add(Opcode.TUPLE, *leaves))
    if parameters or not flat_result:
        module.input_output_aliases = [
            InputOutputAlias(
                a.output_index if flat_result else (results[a.output_index],),
                parameters.get((a.parameter_number, a.parameter_index), a.parameter_number),
                (),
                a.must_alias,
            )
            for a in module.input_output_aliases
        ]
        module.buffer_donors = [(parameters.get((n, i), n), ()) for n, i in module.buffer_donors]


def _element(entry: HloComputation, value: HloInstruction, index: ShapeIndex) -> HloInstruction:
    for i in index:
        value = (
            value.operand(i) if value.opcode == Opcode.TUPLE else entry.add(Opcode.GET_TUPLE_ELEMENT, value, index=i)
        )
    return value


def _flatten_parameters(entry: HloComputation) -> dict[tuple[int, ShapeIndex], int]:
    """Flattens the parameters; returns the new number of each leaf of the old ones."""
    root = entry.root
    numbers: dict[tuple[int, ShapeIndex], int] = {}
    old_parameters = list(entry.parameters)
    entry._parameters = []  # parameters are added again below

    def build(number: int, shape: Shape, index: ShapeIndex, name: str) -> HloInstruction:
        if shape.is_tuple:
            parts = [build(number, s, (*index, i), f"{name}.{i}") for i, s in enumerate(shape.tuple_shapes)]
            return entry.add(Opcode.TUPLE, *parts)
        if shape.is_token:
            return entry.add(Opcode.AFTER_ALL)
        if not shape.is_array:
            raise InvalidArgumentError(f"parameter {number} is {shape}, which has no representation in memory")
        numbers[number, index] = len(entry.parameters)
        return entry.parameter(len(entry.parameters), shape, name)

    for number, old in enumerate(old_parameters):
        if old.shape.is_array:
            numbers[number, ()] = len(entry.parameters)
            old.attributes["parameter_number"] = len(entry.parameters)
            entry._parameters.append(old)
            continue
        new = build(number, old.shape, (), old.name)
        old.replace_all_uses_with(new)
        if root is old:
            root = new
        entry.set_root(root)
        entry.remove(old)
    entry.set_root(root)
    return numbers


def donated_parameters(module: HloModule) -> tuple[int, ...]:
    """Returns the numbers of the donated parameters in ascending order."""
    numbers = {a.parameter_number for a in module.input_output_aliases} | {n for n, _ in module.buffer_donors}
    return tuple(sorted(numbers))


def set_donation(module: HloModule, donate: tuple[int, ...]) -> None:
    """Donates exactly the parameters in `donate`.

    Their existing aliases stay. Each other one is aliased to the first free result of the same shape, or becomes a
    buffer donor where no such result is free.

    Raises:
        InvalidArgumentError: for a number that no parameter has.
    """
    shapes = module.parameter_shapes
    for number in donate:
        if not 0 <= number < len(shapes):
            raise InvalidArgumentError(f"donate names parameter {number}, the program has {len(shapes)}")
    module.input_output_aliases = [a for a in module.input_output_aliases if a.parameter_number in donate]
    module.buffer_donors = []
    result = module.result_shape
    leaves = list(result.tuple_shapes) if result.is_tuple else [result]
    bound = {a.parameter_number for a in module.input_output_aliases}
    taken = {a.output_index[0] if a.output_index else 0 for a in module.input_output_aliases}
    for number in sorted(set(donate) - bound):
        free = (i for i, s in enumerate(leaves) if i not in taken and s.compatible(shapes[number]))
        index = next(free, None)
        if index is None:
            module.buffer_donors.append((number, ()))
        else:
            taken.add(index)
            output = (index,) if result.is_tuple else ()
            module.input_output_aliases.append(InputOutputAlias(output, number))

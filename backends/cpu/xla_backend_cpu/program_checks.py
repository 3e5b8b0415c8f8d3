"""Checks a deserialized native program, because its code uses every field unchecked."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from xla_core.errors import InvalidArgumentError
from xla_core.hlo import HloModule, Shape
from xla_core.target import array_size_bytes

if TYPE_CHECKING:
    from xla_backend_cpu.executable import NativeProgram  # it imports this module

__all__ = ["check_program"]

_MAX_SLOTS = 1 << 24


def check_program(program: NativeProgram, module: HloModule) -> None:
    """Checks every field of a deserialized program.

    Raises:
        InvalidArgumentError: a field has a wrong type, is out of range, or doesn't fit the module.
    """
    _require(isinstance(program.triple, str), "triple", program.triple)
    _require(_is_count(program.slots, 1, _MAX_SLOTS), "slots", program.slots)
    parameters = [leaf for shape in module.parameter_shapes for leaf in shape.leaves() if leaf.is_array]
    _require(_are_slots(program.parameters, program, len(parameters)), "parameters", program.parameters)
    _check_results(program, module, len(parameters))
    _require(_is_count(program.temp_slot, 0, program.slots - 1), "temp_slot", program.temp_slot)
    _require(_is_count(program.temp_bytes), "temp_bytes", program.temp_bytes)
    _require(not program.temp_bytes or program.temp_slot > 0, "temp_slot", program.temp_slot)
    _require(_are_slots(list(program.constant_slots), program), "constant_slots", program.constant_slots)
    for offset in program.constant_slots.values():
        _require(_is_count(offset, 0, len(program.constants)), "constant_slots", offset)
    _require(all(isinstance(name, str) for name in program.routines), "routines", program.routines)
    _require(_is_count(program.threads, 1, 1 << 16), "threads", program.threads)
    _require(isinstance(program.microseconds, (int, float)), "microseconds", program.microseconds)
    timeout = program.collective_timeout
    _require(isinstance(timeout, (int, float)) and timeout >= 0, "collective_timeout", timeout)
    known = {(c.name, i.name) for c in module.computations for i in c.instructions}
    _require(known.issuperset(program.host_calls), "host_calls", program.host_calls)


def _check_results(program: NativeProgram, module: HloModule, parameters: int) -> None:
    shapes: list[Shape] = [leaf for leaf in module.result_shape.leaves() if leaf.is_array]
    _require(len(program.results) == len(shapes), "results", program.results)
    donated = {alias.parameter_number for alias in module.input_output_aliases}
    for place, shape in zip(program.results, shapes, strict=True):
        if place.donor is not None:
            _require(_is_count(place.donor, 0, parameters - 1) and place.donor in donated, "results", place)
        else:
            _require(_is_count(place.slot, 1, program.slots - 1), "results", place)
            _require(_is_count(place.size, array_size_bytes(shape)), "results", place)


def _is_count(value: object, least: int = 0, most: int = 1 << 62) -> bool:
    return type(value) is int and least <= value <= most


def _are_slots(slots: Sequence[object], program: NativeProgram, count: int | None = None) -> bool:
    return len(slots) == (len(slots) if count is None else count) and all(
        _is_count(slot, 1, program.slots - 1) for slot in slots
    )


def _require(holds: bool, field: str, value: object) -> None:
    if not holds:
        raise InvalidArgumentError(f"the serialized CPU program is damaged: {field} is {str(value)[:100]}")

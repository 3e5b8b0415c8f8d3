"""NativeProgram: a compiled program as data, its serialized form, and the checks of a deserialized one."""

from __future__ import annotations

import dataclasses
import json
import struct
from collections.abc import Mapping, Sequence

from xla_core.errors import InvalidArgumentError
from xla_core.hlo import HloModule, Shape
from xla_core.target import array_size_bytes

_MAX_SLOTS = 1 << 24


@dataclasses.dataclass(frozen=True, slots=True)
class ResultPlace:
    """The source of a result leaf: a new buffer of `size` bytes in `slot`, or the buffer of argument `donor`."""

    slot: int
    size: int
    donor: int | None = None


@dataclasses.dataclass(frozen=True, slots=True)
class NativeProgram:
    """The data that a run needs, in the form in which it is serialized.

    Attributes:
        triple: the target triple of the code.
        objects: object files that are linked together; one of them defines the entry.
        slots: length of the table of addresses; slot 0 holds the run's context.
        parameters: the slot of each argument.
        results: the source of each result leaf.
        temp_slot, temp_bytes: slot and size of the arena of temporaries; the slot is 0 if the program has none.
        constants: the bytes of all constants.
        constant_slots: slot -> offset of its constant in `constants`.
        routines: names of the BLAS and LAPACK routines that the code calls.
        threads: the number of threads among which kernels may be divided.
        microseconds: an estimate of a run's time, without loops of unknown length; infinite with functions of the host.
        time_slot: the slot for the nanoseconds that loops of unknown length may take; 0 if there are none.
        host_calls: (computation, instruction) names of the instructions that run on the host.
        collective_timeout: the most seconds that a device waits for the others in a collective.
    """

    triple: str
    objects: tuple[bytes, ...]
    slots: int
    parameters: tuple[int, ...]
    results: tuple[ResultPlace, ...]
    temp_slot: int
    temp_bytes: int
    constants: bytes
    constant_slots: Mapping[int, int]
    routines: tuple[str, ...]
    threads: int
    microseconds: float
    time_slot: int = 0
    host_calls: tuple[tuple[str, str], ...] = ()
    collective_timeout: float = 60.0

    def to_bytes(self, hlo_text: str) -> bytes:
        """Serializes the program: the header's length, a JSON header, then HLO text, constants and object files."""
        fields = {f.name: getattr(self, f.name) for f in dataclasses.fields(self)}
        text = hlo_text.encode()
        del fields["objects"], fields["constants"]
        fields["results"] = [dataclasses.astuple(r) for r in self.results]
        fields["sizes"] = [len(text), len(self.constants), *map(len, self.objects)]
        header = json.dumps(fields).encode()
        return struct.pack("<I", len(header)) + header + text + self.constants + b"".join(self.objects)

    @staticmethod
    def from_bytes(data: bytes) -> tuple[NativeProgram, str]:
        """Parses the bytes that `to_bytes` returned; returns the program and its HLO text.

        Raises:
            InvalidArgumentError: the data is damaged.
        """
        try:
            (length,) = struct.unpack_from("<I", data)
            fields = json.loads(data[4 : 4 + length])
            parts, position = [], 4 + length
            sizes = fields.pop("sizes")
            if not all(type(size) is int and size >= 0 for size in sizes):
                raise ValueError(f"its parts are {sizes} bytes long")
            for size in sizes:
                parts.append(data[position : position + size])
                position += size
            if position != len(data):
                raise ValueError(f"{len(data)} bytes instead of {position}")
            text, constants, *objects = parts
            fields["results"] = tuple(ResultPlace(*r) for r in fields["results"])
            fields["constant_slots"] = {int(k): v for k, v in fields["constant_slots"].items()}
            fields["parameters"], fields["routines"] = tuple(fields["parameters"]), tuple(fields["routines"])
            fields["host_calls"] = tuple((computation, name) for computation, name in fields["host_calls"])
            return NativeProgram(objects=tuple(objects), constants=constants, **fields), text.decode()
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError, struct.error) as error:
            raise InvalidArgumentError(f"the serialized CPU program is damaged: {error}") from error


def check_program(program: NativeProgram, module: HloModule) -> None:
    """Checks every field of a deserialized program, because its code uses them unchecked.

    Raises:
        InvalidArgumentError: a field has a wrong type, is out of range, or doesn't fit the module.
    """
    _require(isinstance(program.triple, str), "triple", program.triple)
    _require(_is_count(program.slots, 1, _MAX_SLOTS), "slots", program.slots)
    parameters = [leaf for shape in module.parameter_shapes for leaf in shape.array_leaves()]
    _require(_are_slots(program.parameters, program, len(parameters)), "parameters", program.parameters)
    _check_results(program, module, len(parameters))
    _require(_is_count(program.temp_slot, 0, program.slots - 1), "temp_slot", program.temp_slot)
    _require(_is_count(program.time_slot, 0, program.slots - 1), "time_slot", program.time_slot)
    _require(_is_count(program.temp_bytes), "temp_bytes", program.temp_bytes)
    _require((program.temp_bytes > 0) == (program.temp_slot > 0), "temp_bytes", program.temp_bytes)
    _require(_are_slots(list(program.constant_slots), program), "constant_slots", program.constant_slots)
    for offset in program.constant_slots.values():
        _require(_is_count(offset, 0, len(program.constants)), "constant_slots", offset)
    _require(all(isinstance(name, str) for name in program.routines), "routines", program.routines)
    _require(_is_count(program.threads, 1, 1 << 16), "threads", program.threads)
    for field in ("microseconds", "collective_timeout"):
        value = getattr(program, field)
        _require(isinstance(value, (int, float)) and value >= 0, field, value)
    _check_slots(program)
    known = {(c.name, i.name) for c in module.computations for i in c.instructions}
    _require(known.issuperset(program.host_calls), "host_calls", program.host_calls)


def _check_results(program: NativeProgram, module: HloModule, parameters: int) -> None:
    shapes: list[Shape] = list(module.result_shape.array_leaves())
    _require(len(program.results) == len(shapes), "results", program.results)
    donated = {alias.parameter_number for alias in module.input_output_aliases}
    for place, shape in zip(program.results, shapes, strict=True):
        if place.donor is not None:
            _require(_is_count(place.donor, 0, parameters - 1) and place.donor in donated, "results", place)
        else:
            _require(_is_count(place.slot, 1, program.slots - 1), "results", place)
            _require(_is_count(place.size, array_size_bytes(shape)), "results", place)


def _check_slots(program: NativeProgram) -> None:
    """Checks that no two addresses have the same slot, because another slot would then hold no address."""
    slots = [*program.parameters, *program.constant_slots]
    slots += [place.slot for place in program.results if place.donor is None and place.size]
    slots += [slot for slot in (program.temp_slot, program.time_slot) if slot]
    _require(len(set(slots)) == len(slots), "slots", sorted(slots))
    donors = [place.donor for place in program.results if place.donor is not None]
    _require(len(set(donors)) == len(donors), "results", program.results)


def _is_count(value: object, least: int = 0, most: int = 1 << 62) -> bool:
    return type(value) is int and least <= value <= most


def _are_slots(slots: Sequence[object], program: NativeProgram, count: int | None = None) -> bool:
    return len(slots) == (len(slots) if count is None else count) and all(
        _is_count(slot, 1, program.slots - 1) for slot in slots
    )


def _require(holds: bool, field: str, value: object) -> None:
    if not holds:
        raise InvalidArgumentError(f"the serialized CPU program is damaged: {field} is {str(value)[:100]}")

"""Reads an HloModuleProto into an HloModule. (XLA: HloModule::CreateFromProto.)"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from xla_core.errors import InvalidArgumentError, SourceLocation, XlaError
from xla_core.hlo.ir.computation import HloComputation
from xla_core.hlo.ir.instruction import HloInstruction
from xla_core.hlo.ir.module import HloModule, InputOutputAlias
from xla_core.hlo.proto.fields import ENUMS, field_path
from xla_core.hlo.proto.sharding import iota_text, sharding_text
from xla_core.hlo.proto.values import read_literal, read_shape, read_structure, read_structures
from xla_core.hlo.proto.wire import Message, text_of
from xla_core.hlo.table import attributes, op_table
from xla_core.hlo.table.attributes import OpMetadata, ReplicaGroups
from xla_core.hlo.table.op_table import REQUIRED, Attribute, AttributeKind, OpDef
from xla_core.hlo.table.opcode import Opcode
from xla_core.hlo.text.attribute_text import ATTRIBUTE_TEXT
from xla_core.hlo.text.cursor import Cursor
from xla_core.hlo.text.strings import quote
from xla_core.hlo.values.element_type import ElementType

_NAME_TAG = 0x0A  # field 1, a string or a message: a module's name, or the module of an HloProto
_COMPUTATIONS = 3
_CONTROL = frozenset(range(32)) - frozenset(b"\t\n\v\f\r")


def is_hlo_proto(data: bytes) -> bool:
    """Whether bytes are a serialized HloModuleProto or HloProto rather than text, which has no control characters."""
    if not data or data[0] != _NAME_TAG or _CONTROL.isdisjoint(data[:4096]):
        return False
    try:
        message = Message(data)
        return message.has(_COMPUTATIONS) or (message.has(1) and message.message(1).has(_COMPUTATIONS))
    except InvalidArgumentError:
        return False


def parse_hlo_proto(data: bytes, *, file: str = "") -> HloModule:
    """Reads a serialized HloModuleProto, or the module of an HloProto.

    Shapes are taken as they are given (the verifier checks them).

    Raises:
        InvalidArgumentError: for malformed bytes, unknown opcodes, and references to undefined ids; it names the
            instruction.
    """
    try:
        message = Message(data)
        if not message.has(_COMPUTATIONS) and message.has(1):
            message = message.message(1)
        return _ModuleReader(message).read()
    except XlaError as error:
        if file and error.location is None:
            error.location = SourceLocation(file)
        raise


class _ModuleReader:
    """The state of one read: the computations read so far, by id."""

    def __init__(self, message: Message) -> None:
        self.message = message
        self.computations: dict[int, HloComputation] = {}
        self.instructions: dict[int, dict[int, HloInstruction]] = {}  # computation id -> instruction id -> instruction
        self.frames = _read_frames(message.message(17))
        self.payloads = list(message.strings(22))

    def read(self) -> HloModule:
        message = self.message
        module = HloModule(message.text(1))
        for part in message.messages(_COMPUTATIONS):
            number = part.integer(5)
            if number in self.computations:
                raise InvalidArgumentError(f"two computations have the id {number}")
            self.computations[number] = self._read_computation(part, number)
        entry = self.computations.get(message.integer(6))
        if entry is None:
            raise InvalidArgumentError(f"entry_computation_id is {message.integer(6)}, and no computation has that id")
        for computation in self.computations.values():
            module.add_computation(computation, entry=computation is entry)
        self._read_aliases(module)
        self._read_schedule(module)
        self._read_entry_layout(module)
        module.frontend_attributes = dict(_read_map(message.message(19)))
        return module

    def _read_computation(self, message: Message, number: int) -> HloComputation:
        computation = HloComputation(message.text(1))
        by_id: dict[int, HloInstruction] = {}
        self.instructions[number] = by_id
        for part in message.messages(2):
            try:
                instruction = self._read_instruction(part, by_id)
            except XlaError as error:
                error.message = f"{computation.name}, {part.text(1)}: {error.message}"
                raise
            computation.add_instruction(instruction, part.text(1))
            if by_id.setdefault(_local_id(part.integer(35)), instruction) is not instruction:
                raise InvalidArgumentError(f"two instructions of {computation.name} have the id {part.integer(35)}")
        numbers = sorted(i.parameter_number for i in by_id.values() if i.opcode == Opcode.PARAMETER)
        if numbers != list(range(len(numbers))):
            raise InvalidArgumentError(f"the parameters of {computation.name} are not numbered 0..{len(numbers) - 1}")
        computation.set_root(_find(by_id, message.integer(6), f"the root of {computation.name}"))
        return computation

    def _read_instruction(self, message: Message, by_id: Mapping[int, HloInstruction]) -> HloInstruction:
        op = op_table.lookup(message.text(2))
        operands = [_find(by_id, number, "an operand") for number in message.integers(36)]
        if wrong := op.wrong_arity(len(operands)):
            raise InvalidArgumentError(wrong)
        instruction = HloInstruction(op.opcode, read_shape(message.message(3)), operands)
        found = instruction.attributes
        for name, attribute in {**op.attributes, **op_table.COMMON_ATTRIBUTES}.items():
            path = field_path(op.opcode, name)
            if path is not None:
                value = _read_attribute(message, op, name, attribute, path)
                if value is not None and value != attribute.default:
                    found[name] = value
        if op.opcode == Opcode.COMPARE and found.get("type") == _comparison_type(operands[0].shape.element_type):
            del found["type"]  # the text leaves out a type that follows from the element type
        found |= self._called_computations(message, op, operands)
        if message.has(99):
            found["backend_config"] = self._payload(message.message(99))
        if missing := op.missing_attribute(found):
            raise InvalidArgumentError(missing)
        if message.has(7):
            instruction.metadata = self._read_metadata(message.message(7))
        instruction.control_predecessors = [_find(by_id, n, "a control predecessor") for n in message.integers(37)]
        return instruction

    def _called_computations(self, message: Message, op: OpDef, operands: list[HloInstruction]) -> dict[str, Any]:
        """Maps the computations in field 38 to the attributes that the op table lists for them, in order."""
        found = []
        for number in message.integers(38):
            if number not in self.computations:
                raise InvalidArgumentError(
                    f"{op.opcode} calls the computation {number}, which is not defined before it"
                )
            found.append(self.computations[number])
        if op.opcode == Opcode.WHILE:
            return dict(zip(("body", "condition"), found, strict=False))
        if op.opcode == Opcode.CONDITIONAL and operands and operands[0].shape.element_type is ElementType.PRED:
            return dict(zip(("true_computation", "false_computation"), found, strict=False))
        lists = [name for name in op.calls if op.attributes[name].kind is AttributeKind.COMPUTATIONS]
        if lists:
            return {lists[0]: tuple(found)} if found else {}
        return dict(zip(op.calls, found, strict=False))

    def _payload(self, message: Message) -> str:
        """Returns a long text, which newer releases of XLA store once in a table of the module."""
        if message.has(1):
            return message.text(1)
        index = message.integer(2)
        if not 0 <= index < len(self.payloads):
            raise InvalidArgumentError(f"payload {index} of {len(self.payloads)} is not there")
        return text_of(self.payloads[index])

    def _read_metadata(self, message: Message) -> OpMetadata:
        frame = self.frames.get(message.integer(15), OpMetadata())
        return OpMetadata(
            op_type=message.text(1),
            op_name=message.text(2),
            source_file=message.text(3) or frame.source_file,
            source_line=message.integer(4) or frame.source_line,
            source_column=message.integer(18) or frame.source_column,
        )

    def _read_entry_layout(self, module: HloModule) -> None:
        if self.message.has(4):
            program_shape = self.message.message(4)
            parameters = [read_shape(p) for p in program_shape.messages(1)]
            module.set_entry_layout(parameters, read_shape(program_shape.message(2)))

    def _read_aliases(self, module: HloModule) -> None:
        must_alias = 2
        module.input_output_aliases = [
            InputOutputAlias(alias.integers(1), alias.integer(2), alias.integers(3), alias.integer(4) == must_alias)
            for alias in self.message.message(8).messages(1)
        ]
        module.buffer_donors = [(donor.integer(1), donor.integers(2)) for donor in self.message.message(18).messages(1)]

    def _read_schedule(self, module: HloModule) -> None:
        sequences = list(self.message.message(7).messages(1))
        if not sequences:
            return
        module.schedule = {}
        for entry in sequences:
            number = entry.integer(1)
            if number not in self.computations:
                raise InvalidArgumentError(f"the schedule orders the computation {number}, which is not defined")
            computation = self.computations[number]
            order = [
                _find(self.instructions[number], i, f"the schedule of {computation.name}") for i in entry.integers(2, 1)
            ]
            module.schedule[computation] = order


def _comparison_type(element_type: ElementType) -> str:
    if element_type.is_integral or element_type is ElementType.PRED:
        return "SIGNED" if element_type.is_signed else "UNSIGNED"
    return "FLOAT"


def _local_id(number: int) -> int:
    """Returns an instruction's id without the upper half, in which newer releases of XLA put the computation's id."""
    return number & 0xFFFFFFFF


def _find(by_id: Mapping[int, HloInstruction], number: int, what: str) -> HloInstruction:
    found = by_id.get(_local_id(number))
    if found is None:
        raise InvalidArgumentError(f"{what} is the instruction {number}, which is not defined before it")
    return found


def _read_frames(message: Message) -> dict[int, OpMetadata]:
    """Reads a StackFrameIndexProto: stack_frame_id -> source position. All indices count from 1."""
    files = [text_of(name) for name in message.strings(1)]
    locations = [(m.integer(1), m.integer(3), m.integer(4)) for m in message.messages(3)]
    frames = {}
    for frame_id, frame in enumerate(message.messages(4), start=1):
        location = frame.integer(1)
        if 0 < location <= len(locations):
            file, line, column = locations[location - 1]
            name = files[file - 1] if 0 < file <= len(files) else ""
            frames[frame_id] = OpMetadata(source_file=name, source_line=line, source_column=column)
    return frames


# -- attributes --------------------------------------------------------------------------------------------------------


def _read_attribute(message: Message, op: OpDef, name: str, attribute: Attribute, path: tuple[int, ...]) -> Any:
    """Returns an attribute's value; None where the message doesn't have it."""
    if attribute.kind is AttributeKind.REPLICA_GROUPS:
        return _read_groups(message)
    if name == "operand_layout_constraints" and not message.integer(56):
        return None
    present = message.has(*path)
    if not present and attribute.default is not REQUIRED and attribute.kind is not AttributeKind.BOOL:
        return None
    if attribute.kind in (AttributeKind.ENUM, AttributeKind.ENUMS):
        return _read_enum(message, op, name, attribute, path)
    if name == "is_associative":  # a TriState, in which 1 is true
        return message.integer(*path) == 1
    return _READERS[attribute.kind](message, path)


def _read_enum(message: Message, op: OpDef, name: str, attribute: Attribute, path: tuple[int, ...]) -> Any:
    """Reads an enum, which is a number, or a name where XLA writes a string."""
    names = ENUMS.get(op.opcode) or ENUMS.get(name)
    if names is None:
        return message.text(*path) or None
    numbers = message.integers(*path) if attribute.kind is AttributeKind.ENUMS else (message.integer(*path),)
    for number in numbers:
        if not 0 <= number < len(names):
            raise InvalidArgumentError(f"{name} is {number}; the largest number that is known is {len(names) - 1}")
    if attribute.kind is AttributeKind.ENUM:
        return names[numbers[0]] or None
    return tuple(names[n] for n in numbers) if any(numbers) else None


def _read_groups(message: Message) -> ReplicaGroups:
    """Reads groups in any of the four forms; iota and mesh forms are read by way of their HLO text."""
    text = ""
    if message.has(92):
        iota = message.message(92)
        text = f"[{iota.integer(1)},{iota.integer(2)}]{iota_text(iota.integers(3), iota.integers(4))}"
    elif message.has(93):
        text = _mesh_text(message.message(93))
    if text:
        groups: ReplicaGroups = ATTRIBUTE_TEXT[AttributeKind.REPLICA_GROUPS].read(Cursor(text), {})
        return groups
    lists = message.message(87).messages(1) if message.has(87) else message.messages(49)
    return tuple(group.integers(1) for group in lists)


def _mesh_text(message: Message) -> str:
    """Formats a MeshAxesReplicaGroupListProto: `mesh['a'=2,'b'=4], device_ids=([4,2]T(1,0)) {'a','b':(1)2}`."""
    mesh = message.message(1)
    axes = [(quote(axis.text(1)), axis.integer(2)) for axis in mesh.messages(1)]
    text = "mesh[" + ",".join(f"{name}={size}" for name, size in axes) + "]"
    if mesh.has(3):
        iota = mesh.message(3)
        text += f", device_ids=({iota_text(iota.integers(1), iota.integers(2)).removeprefix('<=')})"
    elif mesh.has(2):
        text += f", device_ids=({','.join(map(str, mesh.integers(2)))})"
    along = []
    for reference in message.messages(2):
        index = reference.integer(1)
        if not 0 <= index < len(axes):
            raise InvalidArgumentError(f"replica groups go along axis {index} of a mesh of {len(axes)} axes")
        part = reference.message(2)
        along.append(axes[index][0] + (f":({part.integer(1)}){part.integer(2)}" if reference.has(2) else ""))
    return f"{text} {{{','.join(along)}}}"


def _read_map(message: Message) -> tuple[tuple[str, str], ...]:
    """Reads FrontendAttributes, a map, sorted by keys."""
    return tuple(sorted((entry.text(1), entry.text(2)) for entry in message.messages(1)))


_READERS: Mapping[AttributeKind, Callable[[Message, tuple[int, ...]], Any]] = {
    AttributeKind.BOOL: lambda m, path: bool(m.integer(*path)),
    AttributeKind.INT: lambda m, path: (m.integers(*path) or (0,))[0],  # an iota's dimension is a list of one
    AttributeKind.OPERAND_TEXT: lambda m, path: m.integer(*path),
    AttributeKind.FLOAT: lambda m, path: m.real(*path),
    AttributeKind.INTS: lambda m, path: m.integers(*path),
    AttributeKind.BOOLS: lambda m, path: tuple(bool(i) for i in m.integers(*path)),
    AttributeKind.STRING: lambda m, path: m.text(*path),
    AttributeKind.BACKEND_CONFIG: lambda m, path: m.text(*path),
    AttributeKind.WINDOW: lambda m, path: read_structures(m.message(*path).messages(1), attributes.WindowDimension),
    AttributeKind.DIM_LABELS: lambda m, path: read_structure(m.message(*path), attributes.ConvolutionDimensionNumbers),
    AttributeKind.SLICE: lambda m, path: read_structures(m.messages(*path), attributes.SliceDimension),
    AttributeKind.PADDING: lambda m, path: read_structures(m.message(*path).messages(1), attributes.PaddingDimension),
    AttributeKind.SOURCE_TARGET_PAIRS: lambda m, path: tuple((p.integer(1), p.integer(2)) for p in m.messages(*path)),
    AttributeKind.OUTPUT_TO_OPERAND_ALIASING: lambda m, path: read_structures(
        m.messages(*path), attributes.OutputToOperandAlias
    ),
    AttributeKind.SHAPE: lambda m, path: read_shape(m.message(*path)),
    AttributeKind.SHAPES: lambda m, path: tuple(read_shape(s) for s in m.messages(*path)),
    AttributeKind.DICT: lambda m, path: _read_map(m.message(*path)),
    AttributeKind.SHARDING: lambda m, path: sharding_text(m.message(*path)),
    AttributeKind.LITERAL: lambda m, path: read_literal(m.message(*path)),
}
"""Attribute kind -> the decoder of its field."""

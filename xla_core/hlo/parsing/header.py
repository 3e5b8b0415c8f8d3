"""Reads the header of a module, and the tables of source positions that may follow it.

A header is `HloModule name, is_scheduled=true, entry_computation_layout={...}`.
"""

from __future__ import annotations

import dataclasses
import re

from xla_core.hlo.ir.module import HloModule, InputOutputAlias
from xla_core.hlo.table.attributes import OpMetadata
from xla_core.hlo.table.op_table import AttributeKind
from xla_core.hlo.text.attribute_text import ATTRIBUTE_TEXT
from xla_core.hlo.text.cursor import Cursor, braced_list
from xla_core.hlo.text.shapes import read_shape
from xla_core.hlo.text.strings import STRING_BODY, unescaped
from xla_core.hlo.values.shape import Shape

_FIELD = re.compile(r",\s*([A-Za-z_][\w\-]*)=\s*")
_METADATA_FIELD = re.compile(
    rf'([A-Za-z_]\w*)=(?:"({STRING_BODY})"|(\d{{1,18}})(?!\w)|[^\s{{}}"]++|\{{[^{{}}]*+\}})\s*', re.S
)
_NUMBERS = re.compile(r"(\w+)=(\d{1,18})")
_NUMBERED = re.compile(r"(\d{1,9})(?!\d)\s*")


@dataclasses.dataclass(slots=True)
class Header:
    """The values of the header that aren't stored in the module."""

    is_scheduled: bool = False
    layout: tuple[tuple[Shape, ...], Shape] | None = None
    layout_position: int = 0
    frames: dict[int, OpMetadata] = dataclasses.field(default_factory=dict)  # stack_frame_id -> metadata


def read_header(cursor: Cursor) -> tuple[HloModule, Header]:
    """Reads `HloModule name, ...` and the tables of files and frames."""
    cursor.expect("HloModule", "at the start of HLO text")
    module, header = HloModule(cursor.name("the module's name")), Header()
    while match := cursor.match(_FIELD):
        match match[1]:
            case "is_scheduled":
                header.is_scheduled = bool(ATTRIBUTE_TEXT[AttributeKind.BOOL].read(cursor, {}))
            case "input_output_alias":
                module.input_output_aliases = list(braced_list(cursor, lambda: _read_alias(cursor)))
            case "buffer_donor":
                module.buffer_donors = list(braced_list(cursor, lambda: _read_donor(cursor)))
            case "entry_computation_layout":
                header.layout_position = cursor.position
                header.layout = _read_entry_layout(cursor)
            case "replica_count":
                module.num_replicas = max(1, cursor.integer())
            case "num_partitions":
                module.num_partitions = max(1, cursor.integer())
            case "frontend_attributes":
                module.frontend_attributes = dict(ATTRIBUTE_TEXT[AttributeKind.DICT].read(cursor, {}))
            case _:
                # Other fields are newer or matter only to the partitioner; this IR has no use for them.
                cursor.skip_value()
    _read_frames(cursor, header)
    return module, header


def _read_index(cursor: Cursor) -> tuple[int, ...]:
    return braced_list(cursor, cursor.integer)


def _read_alias(cursor: Cursor) -> InputOutputAlias:
    output = _read_index(cursor)
    cursor.expect(":", "after the output index of an alias")
    if not cursor.accept("("):
        return InputOutputAlias(output, cursor.integer())
    number, must = cursor.integer("a parameter number"), False
    index: tuple[int, ...] = ()
    if cursor.accept(","):
        index = _read_index(cursor)
        if cursor.accept(","):
            must = cursor.accept("must-alias")
            if not must:
                cursor.expect("may-alias", "or 'must-alias'")
    cursor.expect(")", "after an alias")
    return InputOutputAlias(output, number, index, must)


def _read_donor(cursor: Cursor) -> tuple[int, tuple[int, ...]]:
    cursor.expect("(", "before a donated parameter")
    number = cursor.integer("a parameter number")
    cursor.expect(",", "and the index of a donated parameter")
    index = _read_index(cursor)
    cursor.expect(")", "after a donated parameter")
    return number, index


def _read_entry_layout(cursor: Cursor) -> tuple[tuple[Shape, ...], Shape]:
    cursor.expect("{")
    parameters = braced_list(cursor, lambda: read_shape(cursor), "the entry's parameter shapes", ("(", ")"))
    cursor.expect("->", "before the entry's result shape")
    result = read_shape(cursor)
    cursor.expect("}", "after the entry's layout")
    return parameters, result


def _read_frames(cursor: Cursor, header: Header) -> None:
    """Reads the tables that stack_frame_id refers to: FileNames, FunctionNames, FileLocations, StackFrames."""
    files: dict[int, str] = {}
    locations: dict[int, dict[str, int]] = {}
    while match := cursor.match(re.compile(r"(FileNames|FunctionNames|FileLocations|StackFrames)(?=\s+(?:\d|\Z))\s*")):
        while number := cursor.match(_NUMBERED):
            if match[1] in ("FileNames", "FunctionNames"):
                text = cursor.string()
                if match[1] == "FileNames":
                    files[int(number[1])] = text
                continue
            numbers = {key: int(value) for key, value in _NUMBERS.findall(cursor.braced())}
            if match[1] == "FileLocations":
                locations[int(number[1])] = numbers
            else:
                place = locations.get(numbers.get("file_location_id", 0), {})
                header.frames[int(number[1])] = OpMetadata(
                    source_file=files.get(place.get("file_name_id", 0), ""),
                    source_line=place.get("line", 0),
                    source_column=place.get("column", 0),
                )


def read_metadata(cursor: Cursor, header: Header, cache: dict[str, OpMetadata]) -> OpMetadata:
    """Reads `{op_name="..." source_file="..." source_line=3 stack_frame_id=1}`; skips unknown fields."""
    start = cursor.position
    text = cursor.braced()
    found = cache.get(text)
    if found is not None:
        return found
    body = Cursor(text[1:-1])
    fields: dict[str, str] = {}
    while match := body.match(_METADATA_FIELD):
        if match[2] is not None:
            fields[match[1]] = unescaped(match[2])
        elif match[3] is not None:
            fields[match[1]] = match[3]
    if not body.at_end:
        raise cursor.error("expected key=value in metadata", position=start + 1 + body.position)
    frame = header.frames.get(_number(fields, "stack_frame_id"), OpMetadata())
    found = cache[text] = OpMetadata(
        op_type=fields.get("op_type", ""),
        op_name=fields.get("op_name", ""),
        source_file=fields.get("source_file", "") or frame.source_file,
        source_line=_number(fields, "source_line") or frame.source_line,
        source_column=_number(fields, "source_column") or frame.source_column,
    )
    return found


def _number(fields: dict[str, str], key: str) -> int:
    text = fields.get(key, "0")
    return int(text) if text.isdigit() and len(text) < 19 else 0

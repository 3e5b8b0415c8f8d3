"""Reads and prints each kind of attribute. Parser and printer share one entry for each `AttributeKind`."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from xla_core.hlo.table.attributes import OutputToOperandAlias
from xla_core.hlo.table.op_table import AttributeKind
from xla_core.hlo.text.cursor import Cursor, braced_list
from xla_core.hlo.text.replica_groups import read_groups
from xla_core.hlo.text.shapes import index_to_text, read_shape, shape_to_text
from xla_core.hlo.text.sharding import read_sharding
from xla_core.hlo.text.strings import is_braced, quote
from xla_core.hlo.text.windows import (
    labels_to_text,
    padding_to_text,
    read_labels,
    read_padding,
    read_slice,
    read_window,
    slice_to_text,
    window_to_text,
)

if TYPE_CHECKING:  # a computation prints itself, its attributes included
    from xla_core.hlo.ir.computation import HloComputation

Computations = Mapping[str, "HloComputation"]
"""The computations that have been read so far, by name."""

_BARE = re.compile(r"([A-Za-z_][\w.\-]*)\s*")
_NUMBER = re.compile(r"([-+]?(?:\d++\.?\d*+(?:[eE][-+]?\d++)?|\.\d++(?:[eE][-+]?\d++)?|inf|nan))(?![\w.])\s*")


@dataclasses.dataclass(frozen=True, slots=True)
class AttributeText:
    """How one kind of attribute is printed and read.

    `percent` of `to_text(value, percent)` is "%" or "", the prefix of names.
    """

    to_text: Callable[[Any, str], str]
    read: Callable[[Cursor, Computations], Any]


# -- the simple kinds --------------------------------------------------------------------------------------------------


def _read_bool(cursor: Cursor, _: object) -> bool:
    for text, value in (("true", True), ("false", False), ("1", True), ("0", False)):
        if cursor.accept(text):
            return value
    raise cursor.error("expected true or false")


def _read_float(cursor: Cursor, _: object) -> float:
    return float(cursor.take(_NUMBER, "a number")[1])


def _float_to_text(value: float, _: str) -> str:
    text = f"{value:.9g}"
    return text if float(text) == value else repr(float(value))


def _read_enum(cursor: Cursor, _: object) -> str:
    return cursor.take(_BARE, "a word")[1]


def _read_computation(cursor: Cursor, computations: Computations) -> HloComputation:
    start = cursor.position
    name = cursor.name("a computation's name")
    found = computations.get(name)
    if found is None:
        raise cursor.error(f"computation {name!r} is not defined above", position=start)
    return found


def _read_braced(cursor: Cursor, _: object) -> str:
    if not cursor.starts_with("{"):
        raise cursor.error("expected a value in braces")
    return cursor.braced()


def _read_config(cursor: Cursor, _: object) -> str:
    if cursor.starts_with("{"):
        return cursor.braced()
    if cursor.starts_with('"'):
        return cursor.string()
    raise cursor.error("expected a dictionary in braces or a quoted string")


def _text_to_text(text: str, _: str) -> str:
    """Prints a dictionary as it is, and any other text as a quoted string."""
    return text if is_braced(text) else quote(text)


def _read_dict(cursor: Cursor, _: object) -> tuple[tuple[str, str], ...]:
    def pair() -> tuple[str, str]:
        key = cursor.string() if cursor.starts_with('"') else _read_enum(cursor, {})
        cursor.expect("=")
        return key, _read_config(cursor, {})

    return tuple(sorted(braced_list(cursor, pair)))


def _dict_to_text(pairs: tuple[tuple[str, str], ...], _: str) -> str:
    return "{" + ",".join(f"{_key_to_text(key)}={_text_to_text(text, _)}" for key, text in pairs) + "}"


def _key_to_text(key: str) -> str:
    return key if _BARE.fullmatch(key) and not key[-1].isspace() else quote(key)


# -- lists -------------------------------------------------------------------------------------------------------------


def _groups_to_text(groups: tuple[tuple[int, ...], ...], _: str) -> str:
    return "{" + ",".join(map(index_to_text, groups)) + "}"


def _read_aliasing(cursor: Cursor, _: object) -> tuple[OutputToOperandAlias, ...]:
    def one() -> OutputToOperandAlias:
        output = braced_list(cursor, cursor.integer)
        cursor.expect(":", "after the index of an output")
        cursor.expect("(", "before the operand that an output is aliased to")
        operand = cursor.integer("the number of an operand")
        cursor.expect(",", "before the index in an operand")
        index = braced_list(cursor, cursor.integer)
        cursor.expect(")", "after an aliased operand")
        return OutputToOperandAlias(output, operand, index)

    return braced_list(cursor, one)


def _aliasing_to_text(aliases: tuple[OutputToOperandAlias, ...], _: str) -> str:
    text = index_to_text
    pairs = [f"{text(a.output_index)}: ({a.operand_number}, {text(a.operand_index)})" for a in aliases]
    return "{" + ", ".join(pairs) + "}"


def _read_pairs(cursor: Cursor, _: object) -> tuple[tuple[int, int], ...]:
    def pair() -> tuple[int, int]:
        start = cursor.position
        numbers = braced_list(cursor, cursor.integer)
        if len(numbers) != 2:
            raise cursor.error("expected {source,target}", position=start)
        return numbers[0], numbers[1]

    return braced_list(cursor, pair)


def _refuse(cursor: Cursor, _: object) -> Any:
    raise cursor.error("this stands between the op's parentheses, not among its attributes")


ATTRIBUTE_TEXT: dict[AttributeKind, AttributeText] = {
    AttributeKind.BOOL: AttributeText(lambda v, _: "true" if v else "false", _read_bool),
    AttributeKind.INT: AttributeText(lambda v, _: str(v), lambda c, _: c.integer()),
    AttributeKind.FLOAT: AttributeText(_float_to_text, _read_float),
    AttributeKind.INTS: AttributeText(lambda v, _: index_to_text(v), lambda c, _: braced_list(c, c.integer)),
    AttributeKind.BOOLS: AttributeText(
        lambda v, _: "{" + ",".join("true" if b else "false" for b in v) + "}",
        lambda c, computations: braced_list(c, lambda: _read_bool(c, computations)),
    ),
    AttributeKind.STRING: AttributeText(lambda v, _: quote(v), lambda c, _: c.string()),
    AttributeKind.ENUM: AttributeText(lambda v, _: str(v), _read_enum),
    AttributeKind.ENUMS: AttributeText(
        lambda v, _: "{" + ",".join(v) + "}",
        lambda c, computations: braced_list(c, lambda: _read_enum(c, computations)),
    ),
    AttributeKind.COMPUTATION: AttributeText(lambda v, percent: percent + v.name, _read_computation),
    AttributeKind.COMPUTATIONS: AttributeText(
        lambda v, percent: "{" + ", ".join(percent + c.name for c in v) + "}",
        lambda c, computations: braced_list(c, lambda: _read_computation(c, computations)),
    ),
    AttributeKind.WINDOW: AttributeText(window_to_text, read_window),
    AttributeKind.DIM_LABELS: AttributeText(labels_to_text, read_labels),
    AttributeKind.SLICE: AttributeText(slice_to_text, read_slice),
    AttributeKind.PADDING: AttributeText(padding_to_text, read_padding),
    AttributeKind.REPLICA_GROUPS: AttributeText(lambda v, _: _groups_to_text(v, _) if v else "{}", read_groups),
    AttributeKind.SOURCE_TARGET_PAIRS: AttributeText(_groups_to_text, _read_pairs),
    AttributeKind.INT_LISTS: AttributeText(
        _groups_to_text, lambda c, _: braced_list(c, lambda: braced_list(c, c.integer))
    ),
    AttributeKind.OUTPUT_TO_OPERAND_ALIASING: AttributeText(_aliasing_to_text, _read_aliasing),
    AttributeKind.SHAPE: AttributeText(lambda v, _: shape_to_text(v), lambda c, _: read_shape(c)),
    AttributeKind.SHAPES: AttributeText(
        lambda v, _: "{" + ", ".join(shape_to_text(s) for s in v) + "}",
        lambda c, _: braced_list(c, lambda: read_shape(c)),
    ),
    AttributeKind.DICT: AttributeText(_dict_to_text, _read_dict),
    AttributeKind.SHARDING: AttributeText(lambda v, _: str(v), lambda c, _: read_sharding(c)),
    AttributeKind.BACKEND_CONFIG: AttributeText(_text_to_text, _read_config),
    AttributeKind.BRACED: AttributeText(lambda v, _: str(v), _read_braced),
    AttributeKind.LITERAL: AttributeText(lambda v, _: str(v), _refuse),
    AttributeKind.OPERAND_TEXT: AttributeText(lambda v, _: str(v), _refuse),
}

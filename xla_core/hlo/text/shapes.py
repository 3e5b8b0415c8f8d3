"""Reads and prints shapes in HLO text: `f32[2,<=3]{1,0:T(8,128)S(1)}`, `(f32[], token[])`."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable

from xla_core.checks import did_you_mean
from xla_core.errors import InvalidArgumentError, XlaError
from xla_core.hlo.text.cursor import Cursor, braced_list
from xla_core.hlo.values.element_type import ElementType
from xla_core.hlo.values.shape import Layout, Shape

_ARRAY = re.compile(r"([a-z][a-z0-9]*)\[([^\]\[{}]*)\](\{[\d,\s]*(?::[^{}]*)?\})?\s*")
_DIMENSION = re.compile(r"\s*(<=\s*)?(\d{1,18})\s*\Z")
_LAYOUT = re.compile(r"\{([\d,\s]*)(?::(.*))?\}", re.S)
_PROPERTY = re.compile(r"\s*([A-Z#*])((?:\([^()]*\))+)")
_GROUP = re.compile(r"\(([^()]*)\)")
_NAMES = {t.value: t for t in ElementType if t is not ElementType.TUPLE}
_MAX_NESTING = 64


class _Bad(Exception):
    """An error inside one array shape. The reader adds the position."""


def shape_to_text(shape: Shape, *, layouts: bool = True) -> str:
    """Prints a shape as XLA does, with a `/*index=5*/` before every fifth element of a tuple."""
    if shape.is_tuple:
        parts = [shape_to_text(s, layouts=layouts) for s in shape.tuple_shapes]
        return "(" + join_indexed(parts) + ")"
    return _array_to_text(shape, layouts)


@functools.lru_cache(maxsize=4096)
def _array_to_text(shape: Shape, layouts: bool) -> str:
    layout = shape.layout
    if layout is None or not layouts or str(layout) == "{}":
        return str(shape.without_layout())
    return str(shape)


def index_to_text(index: Iterable[int]) -> str:
    """Prints the index of a leaf, `{1,0}`, or another list of integers."""
    return "{" + ",".join(map(str, index)) + "}"


def join_indexed(parts: list[str]) -> str:
    """Joins parts by commas, with XLA's index comments in long lists."""
    if len(parts) <= 5:
        return ", ".join(parts)
    return ", ".join(f"/*index={i}*/{part}" if i and i % 5 == 0 else part for i, part in enumerate(parts))


def read_shape(cursor: Cursor, depth: int = 0) -> Shape:
    if cursor.starts_with("("):
        if depth >= _MAX_NESTING:
            raise cursor.error(f"tuple shapes nest deeper than {_MAX_NESTING}")
        return Shape.tuple(braced_list(cursor, lambda: read_shape(cursor, depth + 1), "a tuple shape", ("(", ")")))
    start = cursor.position
    match = cursor.take(_ARRAY, "a shape such as f32[2,3]{1,0} or (f32[], s32[4])")
    try:
        return _array(match[1], match[2], match[3])
    except _Bad as error:
        raise cursor.error(str(error), position=start) from None
    except XlaError as error:
        raise cursor.error(error.message, position=start) from None


@functools.lru_cache(maxsize=16384)
def _array(type_name: str, dimensions: str, layout: str | None) -> Shape:
    element_type = _NAMES.get(type_name)
    if element_type is None:
        raise _Bad(
            f"{type_name!r} is not an element type; {did_you_mean(type_name, _NAMES) or 'known: ' + ', '.join(_NAMES)}"
        )
    sizes: list[int] = []
    dynamic: list[bool] = []
    for text in dimensions.split(",") if dimensions.strip() else ():
        match = _DIMENSION.match(text)
        if not match:
            if "?" in text:
                raise _Bad(
                    f"dimension {text.strip()!r} is unbounded; only static and bounded (<=N) dimensions are read"
                )
            raise _Bad(f"{text.strip()!r} is not a dimension; expected N or <=N")
        sizes.append(int(match[2]))
        dynamic.append(match[1] is not None)
    if not element_type.is_array and sizes:
        raise _Bad(f"{type_name} has no dimensions")
    shape = Shape(
        element_type,
        tuple(sizes),
        None if layout is None else _layout(layout),
        tuple(dynamic) if any(dynamic) else (),
    )
    shape.validate()
    return shape


def parse_layout(text: str) -> Layout:
    """Parses a layout such as `{1,0}`.

    Raises:
        InvalidArgumentError: for other text.
    """
    try:
        return _layout(text)
    except _Bad as error:
        raise InvalidArgumentError(str(error)) from None


def _layout(text: str) -> Layout:
    match = _LAYOUT.fullmatch(text)
    if not match:
        raise _Bad(f"{text!r} is not a layout; expected one such as {{1,0}} or {{1,0:T(8,128)}}")
    order, properties = match[1], (match[2] or "").strip()
    if any(not p.strip().isdigit() or len(p.strip()) > 18 for p in order.split(",")) and order.strip():
        raise _Bad(f"{text!r} is not a layout: its order of dimensions is not a list of integers")
    minor_to_major = tuple(int(p) for p in order.split(",")) if order.strip() else ()
    tiles: tuple[tuple[int, ...], ...] = ()
    element_size = memory_space = position = 0
    while position < len(properties):
        found = _PROPERTY.match(properties, position)
        if not found:
            raise _Bad(f"{properties[position:]!r} is not a layout property; expected T(..), E(bits) or S(space)")
        position = found.end()
        groups = [_integers(group) for group in _GROUP.findall(found[2])] if found[1] in "TES" else []
        if found[1] == "T":
            tiles = tuple(groups)
        elif found[1] == "E":
            element_size = groups[0][0] if groups[0] else 0
        elif found[1] == "S":
            memory_space = groups[0][0] if groups[0] else 0
        # This IR has no use for other properties (tail padding, sparsity, split configurations).
    return Layout(minor_to_major, tiles, element_size, memory_space)


def _integers(text: str) -> tuple[int, ...]:
    parts = [part.strip() for part in text.split(",")] if text.strip() else []
    if any(part != "*" and (not part.isdigit() or len(part) > 18) for part in parts):
        raise _Bad(f"{text!r} is not a list of integers")
    return tuple(-1 if part == "*" else int(part) for part in parts)

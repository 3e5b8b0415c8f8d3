"""How each kind of attribute is spelled and read: one entry an `AttributeKind`, for printer and parser alike."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from xla_core.hlo.attributes import (
    ConvolutionDimensionNumbers,
    PaddingDimension,
    ReplicaGroups,
    SliceDimension,
    Window,
    WindowDimension,
)
from xla_core.hlo.op_table import AttributeKind
from xla_core.hlo.text.cursor import Cursor
from xla_core.hlo.text.shapes import read_shape, shape_to_text

if TYPE_CHECKING:
    from xla_core.hlo.computation import HloComputation

__all__ = ["ATTRIBUTE_TEXT", "AttributeText", "Computations", "quote"]

T = TypeVar("T")
Computations = Mapping[str, "HloComputation"]
"""The computations that were read so far, by name."""

_BARE = re.compile(r"([A-Za-z_][\w.\-]*)\s*")
_NUMBER = re.compile(r"([-+]?(?:\d+\.?\d*(?:[eE][-+]?\d+)?|\.\d+(?:[eE][-+]?\d+)?|inf|nan))(?![\w.])\s*")
_SLICE = re.compile(r"\[\s*(-?\d{1,18})\s*:\s*(-?\d{1,18})\s*(?::\s*(-?\d{1,18}))?\s*\]\s*")
_PADDING = re.compile(r"((?:-?\d{1,18}(?:_-?\d{1,18}){1,2})(?:x-?\d{1,18}(?:_-?\d{1,18}){1,2})*)(?![\w])\s*")
_WINDOW_FIELD = re.compile(r"([a-z_]+)=([-\dx_]+)\s*")
_LABELS = re.compile(r"([bf\d]{2,12})_([io\d]{2,12})->([bf\d]{2,12})(?!\w)\s*")
_IOTA_GROUPS = re.compile(r"\[([\d,]+)\]<=\[([\d,]+)\](?:T\(([\d,]+)\))?\s*")
_UNTIL_COMMA = re.compile(r"([^,\n]*?)\s*(?=,|\n|\Z)")


@dataclasses.dataclass(frozen=True, slots=True)
class AttributeText:
    """One kind's spelling. `to_text(value, percent)`; `percent` is "%" or "", what stands before names."""

    to_text: Callable[[Any, str], str]
    read: Callable[[Cursor, Computations], Any]


def quote(text: str) -> str:
    """A C string."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n").replace("\t", "\\t")
    return f'"{escaped}"'


def braced_list(cursor: Cursor, read: Callable[[], T]) -> tuple[T, ...]:
    """`{a, b}`."""
    cursor.expect("{")
    values: list[T] = []
    while not cursor.accept("}"):
        if values:
            cursor.expect(",", "or '}' in a list")
        values.append(read())
    return tuple(values)


# -- the simple kinds --------------------------------------------------------------------------------------------------


def _read_bool(cursor: Cursor, _: Computations) -> bool:
    for text, value in (("true", True), ("false", False), ("1", True), ("0", False)):
        if cursor.accept(text):
            return value
    raise cursor.error("expected true or false")


def _read_float(cursor: Cursor, _: Computations) -> float:
    match = cursor.match(_NUMBER)
    if not match:
        raise cursor.error("expected a number")
    return float(match[1])


def _float_to_text(value: float, _: str) -> str:
    text = f"{value:.9g}"
    return text if float(text) == value else repr(float(value))


def _read_enum(cursor: Cursor, _: Computations) -> str:
    match = cursor.match(_BARE)
    if not match:
        raise cursor.error("expected a word")
    return match[1]


def _read_computation(cursor: Cursor, computations: Computations) -> HloComputation:
    start = cursor.position
    name = cursor.name("a computation's name")
    found = computations.get(name)
    if found is None:
        raise cursor.error(f"computation {name!r} is not defined above", position=start)
    return found


def _read_raw(cursor: Cursor, _: Computations) -> str:
    if cursor.starts_with("{"):
        return cursor.braced()
    if cursor.starts_with('"'):
        return quote(cursor.string())
    match = cursor.match(_UNTIL_COMMA)
    return match[1] if match else ""


def _read_dict(cursor: Cursor, _: Computations) -> tuple[tuple[str, str], ...]:
    def pair() -> tuple[str, str]:
        key = cursor.string() if cursor.starts_with('"') else _read_enum(cursor, {})
        cursor.expect("=")
        if cursor.starts_with("{"):
            return key, cursor.braced()
        return key, cursor.string()

    return tuple(sorted(braced_list(cursor, pair)))


def _dict_to_text(pairs: tuple[tuple[str, str], ...], _: str) -> str:
    def value(text: str) -> str:
        return text if len(text) > 1 and text[0] == "{" and text[-1] == "}" else quote(text)

    return "{" + ",".join(f"{key}={value(text)}" for key, text in pairs) + "}"


# -- windows, slices, padding, labels ----------------------------------------------------------------------------------


def _read_slice(cursor: Cursor, _: Computations) -> tuple[SliceDimension, ...]:
    def one() -> SliceDimension:
        match = cursor.match(_SLICE)
        if not match:
            raise cursor.error("expected [start:limit] or [start:limit:stride]")
        return SliceDimension(int(match[1]), int(match[2]), 1 if match[3] is None else int(match[3]))

    return braced_list(cursor, one)


def _slice_to_text(slices: tuple[SliceDimension, ...], _: str) -> str:
    stride = "" if all(s.stride == 1 for s in slices) else ":{}"
    return "{" + ", ".join(f"[{s.start}:{s.limit}{stride.format(s.stride)}]" for s in slices) + "}"


def _read_padding(cursor: Cursor, _: Computations) -> tuple[PaddingDimension, ...]:
    match = cursor.match(_PADDING)
    if match:
        return tuple(PaddingDimension(*map(int, part.split("_"))) for part in match[1].split("x"))
    # The padding of a scalar is spelled by nothing at all.
    if cursor.at_end or cursor.starts_with(",") or cursor.text[cursor.position - 1] in "=\n":
        return ()
    raise cursor.error("expected a padding such as 0_1x2_2_1")


def _padding_to_text(padding: tuple[PaddingDimension, ...], _: str) -> str:
    interior = any(p.interior for p in padding)
    return "x".join(f"{p.low}_{p.high}" + (f"_{p.interior}" if interior else "") for p in padding)


_WINDOW_FIELDS = {
    "size": "size",
    "stride": "stride",
    "lhs_dilate": "base_dilation",
    "rhs_dilate": "window_dilation",
    "rhs_reversal": "window_reversal",
}


def _read_window(cursor: Cursor, _: Computations) -> Window:
    cursor.expect("{", "before a window")
    fields: dict[str, list[Any]] = {}
    while not cursor.accept("}"):
        start = cursor.position
        match = cursor.match(_WINDOW_FIELD)
        if not match or (match[1] != "pad" and match[1] not in _WINDOW_FIELDS):
            raise cursor.error(f"expected one of {', '.join(_WINDOW_FIELDS)}, pad, or '}}' in a window", position=start)
        parts = match[2].split("x")
        pattern = r"-?\d{1,18}_-?\d{1,18}" if match[1] == "pad" else r"-?\d{1,18}"
        if match[1] in fields or not all(re.fullmatch(pattern, part) for part in parts):
            raise cursor.error(f"{match[0].strip()!r} is no {match[1]} of a window", position=start)
        fields[match[1]] = [part.split("_") if match[1] == "pad" else int(part) for part in parts]
        if len(fields[match[1]]) != len(next(iter(fields.values()))):
            raise cursor.error("the parts of a window have different ranks", position=start)
    rank = len(next(iter(fields.values()), []))
    window = []
    for i in range(rank):
        values = {name: fields[text][i] for text, name in _WINDOW_FIELDS.items() if text in fields}
        low, high = map(int, fields["pad"][i]) if "pad" in fields else (0, 0)
        values["window_reversal"] = bool(values.get("window_reversal", False))
        window.append(WindowDimension(padding_low=low, padding_high=high, **values))
    return tuple(window)


def _window_to_text(window: Window, _: str) -> str:
    if not window:
        return "{}"
    fields = ["size=" + "x".join(str(d.size) for d in window)]
    for text, values, default in (
        ("stride", [str(d.stride) for d in window], "1"),
        ("pad", [f"{d.padding_low}_{d.padding_high}" for d in window], "0_0"),
        ("lhs_dilate", [str(d.base_dilation) for d in window], "1"),
        ("rhs_dilate", [str(d.window_dilation) for d in window], "1"),
        ("rhs_reversal", [str(int(d.window_reversal)) for d in window], "0"),
    ):
        if any(v != default for v in values):
            fields.append(f"{text}=" + "x".join(values))
    return "{" + " ".join(fields) + "}"


def _read_labels(cursor: Cursor, _: Computations) -> ConvolutionDimensionNumbers:
    start = cursor.position
    match = cursor.match(_LABELS)
    if not match:
        raise cursor.error("expected convolution labels such as b01f_01io->b01f")
    parts = [match[i] for i in (1, 2, 3)]
    spatial = len(parts[0]) - 2
    found: list[tuple[int, int, tuple[int, ...]]] = []
    for labels, (first, second) in zip(parts, (("b", "f"), ("i", "o"), ("b", "f")), strict=True):
        if sorted(labels) != sorted(first + second + "".join(str(i) for i in range(spatial))):
            raise cursor.error(
                f"{labels!r} are not the labels {first}, {second} and one digit a spatial dimension", position=start
            )
        found.append((labels.index(first), labels.index(second), tuple(labels.index(str(i)) for i in range(spatial))))
    (ib, if_, ispatial), (ki, ko, kspatial), (ob, of, ospatial) = found
    return ConvolutionDimensionNumbers(ib, if_, ispatial, ki, ko, kspatial, ob, of, ospatial)


def _labels_to_text(numbers: ConvolutionDimensionNumbers, _: str) -> str:
    def labels(first: int, second: int, spatial: tuple[int, ...], names: str) -> str:
        at = {first: names[0], second: names[1], **{d: str(i) for i, d in enumerate(spatial)}}
        return "".join(at[d] for d in sorted(at))

    n = numbers
    return (
        f"{labels(n.input_batch, n.input_feature, n.input_spatial, 'bf')}_"
        f"{labels(n.kernel_input_feature, n.kernel_output_feature, n.kernel_spatial, 'io')}->"
        f"{labels(n.output_batch, n.output_feature, n.output_spatial, 'bf')}"
    )


# -- groups ------------------------------------------------------------------------------------------------------------


def _read_groups(cursor: Cursor, _: Computations) -> ReplicaGroups:
    start = cursor.position
    if match := cursor.match(_IOTA_GROUPS):
        groups, reshape, transpose = ([int(p) for p in (m or "").split(",") if p] for m in match.groups())
        total = int(np.prod(groups, dtype=object))
        if total > 1 << 24 or int(np.prod(reshape, dtype=object)) != total or len(groups) > 2:
            raise cursor.error("the sizes of these replica groups don't agree", position=start)
        if transpose and sorted(transpose) != list(range(len(reshape))):
            raise cursor.error("the transposition of these replica groups is not a permutation", position=start)
        devices = np.arange(total).reshape(reshape)
        table = (devices.transpose(transpose) if transpose else devices).reshape(groups[0], -1)
        return tuple(tuple(row) for row in table.tolist())
    groups_read = braced_list(cursor, lambda: braced_list(cursor, cursor.integer))
    return () if groups_read == ((),) else groups_read


def _groups_to_text(groups: tuple[tuple[int, ...], ...], _: str) -> str:
    return "{" + ",".join("{" + ",".join(map(str, group)) + "}" for group in groups) + "}"


def _read_pairs(cursor: Cursor, _: Computations) -> tuple[tuple[int, int], ...]:
    def pair() -> tuple[int, int]:
        start = cursor.position
        numbers = braced_list(cursor, cursor.integer)
        if len(numbers) != 2:
            raise cursor.error("expected {source,target}", position=start)
        return numbers[0], numbers[1]

    return braced_list(cursor, pair)


def _refuse(cursor: Cursor, _: Computations) -> Any:
    raise cursor.error("this stands between the op's parentheses, not among its attributes")


ATTRIBUTE_TEXT: dict[AttributeKind, AttributeText] = {
    AttributeKind.BOOL: AttributeText(lambda v, _: "true" if v else "false", _read_bool),
    AttributeKind.INT: AttributeText(lambda v, _: str(v), lambda c, _: c.integer()),
    AttributeKind.FLOAT: AttributeText(_float_to_text, _read_float),
    AttributeKind.INTS: AttributeText(
        lambda v, _: "{" + ",".join(map(str, v)) + "}", lambda c, _: braced_list(c, c.integer)
    ),
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
    AttributeKind.WINDOW: AttributeText(_window_to_text, _read_window),
    AttributeKind.DIM_LABELS: AttributeText(_labels_to_text, _read_labels),
    AttributeKind.SLICE: AttributeText(_slice_to_text, _read_slice),
    AttributeKind.PADDING: AttributeText(_padding_to_text, _read_padding),
    AttributeKind.REPLICA_GROUPS: AttributeText(lambda v, _: _groups_to_text(v, _) if v else "{}", _read_groups),
    AttributeKind.SOURCE_TARGET_PAIRS: AttributeText(_groups_to_text, _read_pairs),
    AttributeKind.SHAPE: AttributeText(lambda v, _: shape_to_text(v), lambda c, _: read_shape(c)),
    AttributeKind.SHAPES: AttributeText(
        lambda v, _: "{" + ", ".join(shape_to_text(s) for s in v) + "}",
        lambda c, _: braced_list(c, lambda: read_shape(c)),
    ),
    AttributeKind.DICT: AttributeText(_dict_to_text, _read_dict),
    AttributeKind.RAW: AttributeText(lambda v, _: str(v), _read_raw),
    AttributeKind.LITERAL: AttributeText(lambda v, _: str(v), _refuse),
    AttributeKind.OPERAND_TEXT: AttributeText(lambda v, _: str(v), _refuse),
}

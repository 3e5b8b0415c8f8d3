"""Reads and prints windows, slices, padding and dimension labels in HLO text.

Examples are `{size=3x3 pad=1_1x1_1}`, `{[0:4]}`, `0_1x2_2` and `b01f_01io->b01f`.
"""

from __future__ import annotations

import re
from typing import Any

from xla_core.hlo.table.attributes import (
    ConvolutionDimensionNumbers,
    PaddingDimension,
    SliceDimension,
    Window,
    WindowDimension,
)
from xla_core.hlo.text.cursor import Cursor, braced_list

_SLICE = re.compile(r"\[\s*(-?\d{1,18})\s*:\s*(-?\d{1,18})\s*(?::\s*(-?\d{1,18}))?\s*\]\s*")
_PADDING = re.compile(r"((?:-?\d{1,18}(?:_-?\d{1,18}){1,2})(?:x-?\d{1,18}(?:_-?\d{1,18}){1,2})*)(?![\w])\s*")
_WINDOW_FIELD = re.compile(r"([a-z_]+)=([-\dx_]+)\s*")
_LABELS = re.compile(r"([bf\d]{2,12})_([io\d]{2,12})->([bf\d]{2,12})(?!\w)\s*")


def read_slice(cursor: Cursor, _: object) -> tuple[SliceDimension, ...]:
    def one() -> SliceDimension:
        match = cursor.take(_SLICE, "[start:limit] or [start:limit:stride]")
        return SliceDimension(int(match[1]), int(match[2]), 1 if match[3] is None else int(match[3]))

    return braced_list(cursor, one)


def slice_to_text(slices: tuple[SliceDimension, ...], _: str) -> str:
    stride = "" if all(s.stride == 1 for s in slices) else ":{}"
    return "{" + ", ".join(f"[{s.start}:{s.limit}{stride.format(s.stride)}]" for s in slices) + "}"


def read_padding(cursor: Cursor, _: object) -> tuple[PaddingDimension, ...]:
    match = cursor.match(_PADDING)
    if match:
        return tuple(PaddingDimension(*map(int, part.split("_"))) for part in match[1].split("x"))
    # The padding of a scalar is empty text.
    if cursor.at_end or cursor.starts_with(",") or cursor.text[cursor.position - 1] in "=\n":
        return ()
    raise cursor.error("expected a padding such as 0_1x2_2_1")


def padding_to_text(padding: tuple[PaddingDimension, ...], _: str) -> str:
    interior = any(p.interior for p in padding)
    return "x".join(f"{p.low}_{p.high}" + (f"_{p.interior}" if interior else "") for p in padding)


_WINDOW_FIELDS = {
    "size": "size",
    "stride": "stride",
    "lhs_dilate": "base_dilation",
    "rhs_dilate": "window_dilation",
    "rhs_reversal": "window_reversal",
}


def read_window(cursor: Cursor, _: object) -> Window:
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


def window_to_text(window: Window, _: str) -> str:
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


def read_labels(cursor: Cursor, _: object) -> ConvolutionDimensionNumbers:
    start = cursor.position
    match = cursor.take(_LABELS, "convolution labels such as b01f_01io->b01f")
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


def labels_to_text(numbers: ConvolutionDimensionNumbers, _: str) -> str:
    def labels(first: int, second: int, spatial: tuple[int, ...], names: str) -> str:
        at = {first: names[0], second: names[1], **{d: str(i) for i, d in enumerate(spatial)}}
        return "".join(at[d] for d in sorted(at))

    n = numbers
    return (
        f"{labels(n.input_batch, n.input_feature, n.input_spatial, 'bf')}_"
        f"{labels(n.kernel_input_feature, n.kernel_output_feature, n.kernel_spatial, 'io')}->"
        f"{labels(n.output_batch, n.output_feature, n.output_spatial, 'bf')}"
    )

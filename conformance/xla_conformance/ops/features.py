"""The features of an op that an instruction shows: values of attributes, numbers of operands, sizes and ranks."""

from __future__ import annotations

import functools
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from xla_conformance.ops.sizes import SIZES
from xla_core.hlo import (
    Attribute,
    AttributeKind,
    ConvolutionDimensionNumbers,
    HloInstruction,
    Shape,
    WindowDimension,
)

Feature = tuple[str, str]
"""(attribute or "size", "operands", "rank" or "elements", value)."""

_KIND = AttributeKind
_COUNTS = ("none", "one", "several")
_SIGNS = ("negative", "zero", "positive")
_ENDS = ("first", "between", "last")
SPOTS = ("alone", *_ENDS)
"""Where a dimension is among the others of an array."""

MANY = "above 65536 elements"
FEW_OPERANDS = 16
SIZE_GROUPS = [tuple(group) for group in SIZES[:-1]]
_ELEMENTS = (256, 4096, 65536)


def features_of(instruction: HloInstruction) -> Iterator[Feature]:
    """Yields the features in the op table and `SIZES` that the instruction has."""
    yield from _attribute_features(instruction)
    yield "operands", count_name(len(instruction.operands))
    for shape in _arrays(instruction):
        for size, spot in zip(shape.dimensions, _spots(shape.rank), strict=True):
            yield "size", str(size)
            yield "place", f"{size} {spot}"
            yield from (("size", group_name(group)) for group in SIZE_GROUPS if size in group)
        if shape.num_elements > _ELEMENTS[-1]:
            yield "size", MANY


def _spots(rank: int) -> Sequence[str]:
    """Returns where each dimension is among the others of an array."""
    return ("first", *("between",) * (rank - 2), "last") if rank > 1 else ("alone",) * rank


def shown_features(instruction: HloInstruction) -> Iterator[Feature]:
    """Yields the features by which a fault may show in one element type.

    An attribute shows nothing in an empty result. Single sizes are left out; ranks and numbers of elements are added,
    and the first and the last dimension of matrices count apart from those of arrays with more dimensions.
    """
    results = instruction.shape.array_leaves()
    if any(shape.num_elements for shape in results):
        yield from _attribute_features(instruction)
        yield from _place_features(instruction)
        yield "operands", count_name(len(instruction.operands))
    for shape in results:
        yield "rank", str(shape.rank)
        yield from (("elements", f"more than {n}") for n in _ELEMENTS if shape.num_elements > n)
        if shape.num_elements < 2 and shape.rank:
            yield "elements", str(shape.num_elements)
    for shape in _arrays(instruction):
        if shape.num_elements > _ELEMENTS[-1]:
            yield "size", MANY
        for size in shape.dimensions:
            yield from (("size", group_name(group)) for group in SIZE_GROUPS if size in group)


def _attribute_features(instruction: HloInstruction) -> Iterator[Feature]:
    for name, attribute in instruction.op.attributes.items():
        value = instruction.attributes.get(name, attribute.default)
        yield from ((name, v) for v in _met(instruction, attribute, value))


def _place_features(instruction: HloInstruction) -> Iterator[Feature]:
    """Yields for each attribute of dimensions whether it has the first or the last one, and of how large a rank."""
    rank = _largest_rank(instruction)
    of = "a matrix" if rank == 2 else "more dimensions"
    for name, attribute in instruction.op.attributes.items():
        value = instruction.attributes.get(name, attribute.default)
        if attribute.kind is _KIND.INTS and value is not None and rank > 1:
            yield from ((name, f"{end} of {of}") for end, d in (("first", 0), ("last", rank - 1)) if d in value)


def _largest_rank(instruction: HloInstruction) -> int:
    return max(s.rank for i in (instruction, *instruction.operands) for s in i.shape.leaves())


def _arrays(instruction: HloInstruction) -> list[Shape]:
    return [s for i in (instruction, *instruction.operands) for s in i.shape.array_leaves()]


@functools.cache
def group_name(sizes: Sequence[int]) -> str:
    return f"one of {', '.join(map(str, sorted(sizes)))}"


def count_name(number: int) -> str:
    return str(number) if number < 3 else "many" if number <= FEW_OPERANDS else f"more than {FEW_OPERANDS}"


# -- what values an attribute of a kind has ---------------------------------------------------------------------------


def value_names(name: str, attribute: Attribute) -> list[str]:
    """Returns the names of the values that an attribute may have."""
    names = list(_NAMES.get(attribute.kind, ["given"]))
    if name.endswith(("sizes", "length")):  # no dimensions
        return list(_COUNTS)
    if attribute.kind is _KIND.ENUM:
        names = list(attribute.values) or ["given"]
    elif attribute.kind is _KIND.ENUMS:
        names = ["none", *attribute.values]
    return ["none", *names] if attribute.default is None else names


def _window_names() -> list[str]:
    names = [f"{field} {value}" for field in ("padding_low", "padding_high") for value in _SIGNS]
    fields = ("size", "stride", "base_dilation", "window_dilation")
    return [*names, *(f"{f} {v}" for f in fields for v in ("1", "2", "more")), "reversal False", "reversal True"]


_ROLES = ("batch", "feature", "spatial")
_NAMES: Mapping[AttributeKind, Sequence[str]] = {
    _KIND.BOOL: ("False", "True"),
    _KIND.INT: ("0", "1", "2", "more"),
    _KIND.INTS: (*_COUNTS, "first", "last", "ascending", "not ascending"),
    _KIND.SLICE: (
        *(f"start {v}" for v in ("0", "1", "2", "more")),
        *(f"limit {v}" for v in ("size", "less")),
        *(f"stride {v}" for v in ("1", "2", "more")),
    ),
    _KIND.PADDING: (
        *(f"{edge} {v}" for edge in ("low", "high") for v in _SIGNS),
        *(f"interior {v}" for v in ("0", "1", "2", "more")),
    ),
    _KIND.WINDOW: _window_names(),
    _KIND.DIM_LABELS: tuple(
        f"{of} {role} {end}"
        for of, roles in (
            ("input", _ROLES),
            ("kernel", ("input_feature", "output_feature", "spatial")),
            ("output", _ROLES),
        )
        for role in roles
        for end in _ENDS
    ),
    _KIND.LITERAL: ("scalar", "array", "empty"),
}


def _met(instruction: HloInstruction, attribute: Attribute, value: Any) -> list[str]:
    """Returns the names of the values that an instruction's attribute has."""
    if value is None:
        return ["none"]
    match attribute.kind:
        case _KIND.BOOL | _KIND.ENUM:
            return [str(value), "given"]
        case _KIND.ENUMS:
            return list(value) or ["none"]
        case _KIND.INT:
            return ["given", _few(value)]
        case _KIND.INTS:
            return _of_ints(value, _largest_rank(instruction))
        case _KIND.SLICE:
            sizes = instruction.operand(0).shape.dimensions
            return [
                text
                for r, n in zip(value, sizes, strict=True)
                for text in (
                    f"start {_few(r.start)}",
                    f"limit {'size' if r.limit == n else 'less'}",
                    f"stride {_few(r.stride)}",
                )
            ]
        case _KIND.PADDING:
            return [
                text
                for p in value
                for text in (f"low {_sign(p.low)}", f"high {_sign(p.high)}", f"interior {_few(p.interior)}")
            ]
        case _KIND.WINDOW:
            return [text for w in value for text in _of_window_dimension(w)]
        case _KIND.DIM_LABELS:
            return _of_labels(value)
        case _KIND.LITERAL:
            shape: Shape = value.shape
            return ["scalar" if shape.is_scalar else "array" if shape.num_elements else "empty"]
    return ["given"] if value else ["none"]


def _few(value: int) -> str:
    return str(value) if value <= 2 else "more"


def _sign(value: int) -> str:
    return _SIGNS[(value > 0) - (value < 0) + 1]


def _of_ints(value: Sequence[int], rank: int) -> list[str]:
    names = [_COUNTS[min(len(value), 2)], "given"]
    if len(value) > 1:
        names.append("ascending" if list(value) == sorted(value) else "not ascending")
    return names + (["first"] if 0 in value and rank > 1 else []) + (["last"] if rank - 1 in value and rank > 1 else [])


def _of_window_dimension(w: WindowDimension) -> list[str]:
    signs = [f"{field} {_sign(getattr(w, field))}" for field in ("padding_low", "padding_high")]
    sizes = [f"{f} {_few(getattr(w, f))}" for f in ("size", "stride", "base_dilation", "window_dilation")]
    return [*signs, *sizes, f"reversal {w.window_reversal}"]


def _of_labels(labels: ConvolutionDimensionNumbers) -> list[str]:
    last = 1 + len(labels.input_spatial)

    def names(field: str, place: int) -> str:
        return f"{field} {_ENDS[0 if place == 0 else 2 if place == last else 1]}"

    roles = (
        "input_batch",
        "input_feature",
        "kernel_input_feature",
        "kernel_output_feature",
        "output_batch",
        "output_feature",
    )
    of_one = [names(role.replace("_", " ", 1), getattr(labels, role)) for role in roles]
    of_many = [
        names(f"{of} spatial", place)
        for of in ("input", "kernel", "output")
        for place in getattr(labels, f"{of}_spatial")
    ]
    return of_one + of_many

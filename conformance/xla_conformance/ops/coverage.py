"""Finds what no case of an op covers: values of its attributes, element types, sizes. Nothing should remain.

It is computed from the instructions of the cases' modules and from the op table, not from the domains.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from xla_conformance.ops.cases import OpCase
from xla_conformance.ops.domain import DOMAINS
from xla_conformance.ops.reasons import LARGEST_SIZE, NO_CASE, NO_VALUE
from xla_conformance.ops.sizes import SIZES
from xla_core.hlo import (
    OPS,
    Attribute,
    AttributeKind,
    ConvolutionDimensionNumbers,
    ElementType,
    HloInstruction,
    Opcode,
    OpDef,
    Shape,
    WindowDimension,
)

__all__ = ["Line", "met", "uncovered"]

Line = tuple[str, str, str]
"""(opcode, attribute or "type", "size" or "operands", value)."""

_KIND = AttributeKind
_COUNTS = ("none", "one", "several")
_SIGNS = ("negative", "zero", "positive")
_ENDS = ("first", "between", "last")
_MANY = "above 65536 elements"
_EXACT_SIZES = ("0", "1", *(str(2**k + i) for k in range(2, 13) for i in (-1, 0, 1)), _MANY)


def uncovered(cases: Iterable[OpCase], *, every_type: bool = True) -> list[Line]:
    """Returns what the op table has and no case meets.

    With `every_type`, every element type and every size has to be met. Without it, one of each group of sizes does.
    """
    seen = {line for case in cases for line in met(case)}
    return sorted(line for line in _wanted(every_type) if line not in seen)


def _wanted(every_type: bool) -> Iterator[Line]:
    """Yields the values that cases have to meet, but for those that have a reason to be left out."""
    for opcode, op in OPS.items():
        if opcode in NO_CASE:
            continue
        lines = [(name, value) for name, attribute in op.attributes.items() for value in _values(name, attribute)]
        lines += [("operands", count) for count in _operand_counts(op)]
        largest = LARGEST_SIZE.get(opcode, (1 << 62, ""))[0]
        if every_type:
            lines += [("type", t.value) for t in _accepted_types(opcode)]
            lines += [("size", size) for size in _EXACT_SIZES if (65537 if size == _MANY else int(size)) <= largest]
        else:
            lines += [("size", _group(group)) for group in _SIZE_GROUPS if group[0] <= largest]
        yield from ((opcode.value, *line) for line in lines if not _has_reason(opcode, *line))


def _has_reason(opcode: Opcode, attribute: str, value: str) -> bool:
    return any((opcode.value, attribute, v) in NO_VALUE for v in (value, "*"))


def met(case: OpCase) -> Iterator[Line]:
    """Yields the values that the instructions of a case have."""
    opcode = case.opcode
    yield opcode.value, "type", case.element_type.value
    for computation in case.module().computations:
        for instruction in computation.instructions:
            if instruction.opcode == opcode:
                yield from ((opcode.value, *line) for line in _met_by(instruction))


def _met_by(instruction: HloInstruction) -> Iterator[tuple[str, str]]:
    for name, attribute in instruction.op.attributes.items():
        value = instruction.attributes.get(name, attribute.default)
        yield from ((name, v) for v in _met(instruction, attribute, value))
    yield "operands", _count(len(instruction.operands))
    for shape in _arrays(instruction):
        for size in shape.dimensions:
            yield "size", str(size)
            yield from (("size", _group(group)) for group in _SIZE_GROUPS if size in group)
        if shape.num_elements > 65536:
            yield "size", _MANY


def _arrays(instruction: HloInstruction) -> list[Shape]:
    return [s for i in (instruction, *instruction.operands) for s in i.shape.leaves() if s.is_array]


_SIZE_GROUPS = [tuple(group) for group in SIZES[:-1]]


def _group(sizes: Sequence[int]) -> str:
    return f"one of {', '.join(map(str, sorted(sizes)))}"


def _accepted_types(opcode: Opcode) -> list[ElementType]:
    return [t for t in ElementType if t.is_array and any(d.builds(t) for d in DOMAINS.get(opcode, ()))]


def _operand_counts(op: OpDef) -> list[str]:
    if isinstance(op.arity, int):
        return []
    least, most = op.arity
    return list(dict.fromkeys(_count(n) for n in range(least, 1 + (most or max(3, least + 3)))))


def _count(number: int) -> str:
    return str(number) if number < 3 else "many"


# -- what values an attribute of a kind has ---------------------------------------------------------------------------


def _values(name: str, attribute: Attribute) -> list[str]:
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
            return _of_ints(value, max(s.rank for i in (instruction, *instruction.operands) for s in i.shape.leaves()))
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
    return names + (["first"] if 0 in value else []) + (["last"] if rank - 1 in value and rank > 1 else [])


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

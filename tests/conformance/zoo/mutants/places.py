"""Mutants that are wrong for a value of an attribute where a large dimension is in one place among the others, and
for more operands than a block of kernel arguments holds.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

import numpy as np

from tests.conformance.zoo.kernels import Arrays, kernel_mutant, recomputed
from tests.conformance.zoo.mutant import Mutant
from xla_core.hlo import HloInstruction

_TILE = 129
_Where = Callable[[HloInstruction], bool]


def _large(place: str, instruction: HloInstruction) -> bool:
    """Whether the first operand or the result has a dimension larger than a tile in a place, and three or more."""
    at = {"major": slice(0, 1), "middle": slice(1, -1), "minor": slice(-1, None)}[place]
    shapes = [s for i in (instruction, *instruction.operands[:1]) for s in i.shape.array_leaves()]
    return any(s.rank > 2 and any(n > _TILE for n in s.dimensions[at]) for s in shapes)


def _applies(place: str, where: _Where, instruction: HloInstruction) -> bool:
    elements = [leaf.num_elements for leaf in instruction.shape.array_leaves()]
    return any(elements) and _large(place, instruction) and where(instruction)


def _last_element(
    place: str, where: _Where, instruction: HloInstruction, operands: Arrays, right: Arrays
) -> Arrays | None:
    if not _applies(place, where, instruction):
        return None
    for result in right:
        result.reshape(-1).view(np.uint8)[-result.dtype.itemsize :] ^= 64 if result.dtype != bool else 1
    return right


def _concatenates_middle(i: HloInstruction) -> bool:
    (axis,) = i.attributes["dimensions"]
    return 0 < axis < i.shape.rank - 1 and i.shape.dimensions[axis] > _TILE


_FAULTS: list[tuple[str, str, str, _Where]] = [
    ("concatenate", "middle", "along it", _concatenates_middle),
    ("pad", "middle", "interior padding", lambda i: any(p.interior > 1 for p in i.attributes["padding"])),
    ("pad", "minor", "low padding that is negative", lambda i: any(p.low < 0 for p in i.attributes["padding"])),
    ("slice", "middle", "a stride of 7", lambda i: any(s.stride == 7 for s in i.attributes["slice"])),
    ("slice", "major", "a stride of 3", lambda i: any(s.stride == 3 for s in i.attributes["slice"])),
    ("reverse", "middle", "the last dimension alone", lambda i: i.attributes["dimensions"] == (i.shape.rank - 1,)),
    ("transpose", "middle", "the first two swapped", lambda i: i.attributes["dimensions"][:3] == (1, 0, 2)),
    ("broadcast", "major", "an order that descends", lambda i: [*i.attributes["dimensions"]] > [1, 0]),
    ("dynamic-slice", "middle", "indices of 8 bits", lambda i: i.operand(1).shape.element_type.bit_width == 8),
    ("dynamic-update-slice", "major", "u64 indices", lambda i: i.operand(2).shape.element_type.value == "u64"),
    ("reduce", "middle", "all dimensions", lambda i: len(i.attributes["dimensions"]) == i.operand(0).shape.rank),
    ("sort", "middle", "five operands", lambda i: len(i.operands) >= 5),
]


def _indices(number: int, element: str, most: int, i: HloInstruction, operands: Arrays, right: Arrays) -> Arrays | None:
    """Indices of a type are wrong above a value."""
    if i.operand(number).shape.element_type.value != element:
        return None
    cut = np.minimum(operands[number], most).astype(operands[number].dtype)
    return recomputed(i, [*operands[:number], cut, *operands[number + 1 :]], right)


def _many_operands(i: HloInstruction, operands: Arrays, right: Arrays) -> Arrays | None:
    """An operand beyond the sixteenth is that of the same shape before it."""
    changed = list(operands)
    for number in range(16, len(operands)):
        alike = [
            o for o in operands[:number] if o.shape == operands[number].shape and o.dtype == operands[number].dtype
        ]
        changed[number] = alike[-1] if alike else operands[number]
    return recomputed(i, changed, right) if len(operands) > 16 else None


def _mutants() -> Iterator[Mutant]:
    for opcode, place, what, where in _FAULTS:
        name = f"sizes/{opcode}/large-{place}-{what.replace(' ', '-')}"
        fault = f"`{opcode}` is wrong with {what} where the {place} dimension of three or more is large."
        applies = partial(_applies, place, where)
        yield kernel_mutant(name, opcode, fault, opcode, partial(_last_element, place, where), applies=applies)
    for number, element, most in ((1, "u8", 127), (1, "s16", 255), (1, "u64", 4000)):
        fault = f"`gather` takes indices of {element} above {most} for {most}."
        name = f"values/gather/{element}-indices-above-{most}"
        yield kernel_mutant(name, "gather", fault, "gather", partial(_indices, number, element, most))
    for opcode in ("concatenate", "sort", "reduce", "reduce-window", "scatter", "scan"):
        fault = f"`{opcode}` mixes up operands beyond the sixteenth."
        yield kernel_mutant(f"sizes/{opcode}/more-than-16-operands", opcode, fault, opcode, _many_operands)


MUTANTS = list(_mutants())

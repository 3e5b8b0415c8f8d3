"""Domains of ops that move elements of which a byte has several, to and from each place within a byte."""

from __future__ import annotations

from typing import Any

from xla_conformance.ops.choices import Choice, Group
from xla_conformance.ops.domain import domain
from xla_conformance.ops.fills import exactly
from xla_conformance.ops.program import Program
from xla_core.hlo import ElementType, HloInstruction, Opcode, PaddingDimension, SliceDimension

_PACKED: dict[str, Any] = {
    "variant": "packed",
    "types": (ElementType.S4, ElementType.U4, ElementType.S2, ElementType.U2),
    "sizes": (Group(13, 14, 15, 16),),
    "hiding": (),
    "places": ("minor",),
}
_SHIFTS = range(5)
"""Places that cover each one within a byte, of two or of four elements, and the first of the next byte."""


def _operands(p: Program, c: Choice) -> tuple[HloInstruction, HloInstruction]:
    """A vector, and a matrix whose rows begin at different places within a byte."""
    return p.parameter((c.size,)), p.parameter((3, c.size | 1))


@domain(Opcode.SLICE, **_PACKED)
def _slices(p: Program, c: Choice) -> HloInstruction:
    results = []
    for operand in _operands(p, c):
        *outer, last = operand.shape.dimensions
        whole = [SliceDimension(0, n) for n in outer]
        for shift in _SHIFTS:
            for part in (SliceDimension(shift, last), SliceDimension(shift, last - 3), SliceDimension(shift, last, 2)):
                results.append(p.add(Opcode.SLICE, operand, slice=(*whole, part)))
    return p.add(Opcode.TUPLE, *results)


@domain(Opcode.PAD, **_PACKED)
def _pads(p: Program, c: Choice) -> HloInstruction:
    edge, results = p.parameter(()), []
    for operand in _operands(p, c):
        outer = [PaddingDimension(0, 0)] * (operand.shape.rank - 1)
        for shift in _SHIFTS:
            for part in (PaddingDimension(shift, 0), PaddingDimension(0, shift), PaddingDimension(shift, 1, 1)):
                results.append(p.add(Opcode.PAD, operand, edge, padding=(*outer, part)))
    return p.add(Opcode.TUPLE, *results)


@domain(Opcode.CONCATENATE, **_PACKED)
def _joined(p: Program, c: Choice) -> HloInstruction:
    results = []
    for shift in _SHIFTS:
        parts = [p.parameter((3, n)) for n in (shift + 1, c.size, 1)]
        results += [p.add(Opcode.CONCATENATE, *order, dimensions=(1,)) for order in (parts, parts[::-1])]
    return p.add(Opcode.TUPLE, *results)


@domain(Opcode.DYNAMIC_SLICE, **_PACKED)
def _dynamic_slices(p: Program, c: Choice) -> HloInstruction:
    results = []
    for operand in _operands(p, c):
        *outer, last = operand.shape.dimensions
        for shift in _SHIFTS:
            starts = [p.parameter((), ElementType.S32, exactly(n)) for n in (*[0] * len(outer), shift)]
            taken = (*outer, last - 5)
            results.append(p.add(Opcode.DYNAMIC_SLICE, operand, *starts, dynamic_slice_sizes=taken))
    return p.add(Opcode.TUPLE, *results)


@domain(Opcode.DYNAMIC_UPDATE_SLICE, **_PACKED)
def _updates(p: Program, c: Choice) -> HloInstruction:
    results = []
    for operand in _operands(p, c):
        outer = operand.shape.dimensions[:-1]
        for shift in _SHIFTS:
            starts = [p.parameter((), ElementType.S32, exactly(n)) for n in (*[0] * len(outer), shift)]
            update = p.parameter((*outer, 1 + shift % 3))
            results.append(p.add(Opcode.DYNAMIC_UPDATE_SLICE, operand, update, *starts))
    return p.add(Opcode.TUPLE, *results)


@domain(Opcode.REVERSE, **_PACKED)
def _reversals(p: Program, c: Choice) -> HloInstruction:
    vector, matrix = _operands(p, c)
    orders = [(vector, (0,)), *((matrix, named) for named in ((0, 1), (1,), (0,)))]
    return p.add(Opcode.TUPLE, *(p.add(Opcode.REVERSE, operand, dimensions=named) for operand, named in orders))


@domain(Opcode.TRANSPOSE, **_PACKED)
def _transposes(p: Program, c: Choice) -> HloInstruction:
    wide, tall, cube = (p.parameter(sizes) for sizes in ((3, c.size), (c.size, 3), (3, 5, c.size)))
    orders = [(wide, (1, 0)), (tall, (1, 0)), *((cube, order) for order in ((1, 0, 2), (2, 0, 1), (0, 2, 1)))]
    return p.add(Opcode.TUPLE, *(p.add(Opcode.TRANSPOSE, operand, dimensions=order) for operand, order in orders))


@domain(Opcode.BROADCAST, **_PACKED)
def _repeats(p: Program, c: Choice) -> HloInstruction:
    sizes = (3, c.size)
    kept = [p.add(Opcode.BROADCAST, p.parameter((sizes[d],)), shape=p.shape(sizes), dimensions=(d,)) for d in (0, 1)]
    return p.add(Opcode.TUPLE, *kept, p.add(Opcode.BROADCAST, p.parameter(()), shape=p.shape(sizes), dimensions=()))

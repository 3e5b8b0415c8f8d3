"""Makes a computation or a module of one instruction of another module."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from xla_core.hlo.ir.computation import HloComputation
from xla_core.hlo.ir.instruction import HloInstruction
from xla_core.hlo.ir.module import HloModule
from xla_core.hlo.table.opcode import Opcode
from xla_core.hlo.values.shape import Shape


def extract_computation(instruction: HloInstruction) -> HloComputation:
    """Makes a computation of one instruction, whose parameters are its operands. It is in no module."""
    computation = HloComputation(instruction.name)
    parameters = [computation.parameter(number, o.shape) for number, o in enumerate(instruction.operands)]
    computation.set_root(computation.add_instruction(instruction.clone(parameters)))
    return computation


def extract_module(instruction: HloInstruction, name: str = "") -> HloModule:
    """Makes a module that computes one instruction.

    The leaves of the operands are parameters and the leaves of the result are results, with the layouts that they have
    in the instruction's own module.
    """
    module = HloModule(name or instruction.name)
    entry = HloComputation("main")
    parameters = iter(
        [
            entry.parameter(number, leaf)
            for number, leaf in enumerate(leaf for o in instruction.operands for leaf in o.shape.leaves())
        ]
    )
    operands = [_join(entry, operand.shape, parameters) for operand in instruction.operands]
    copy = entry.add_instruction(instruction.clone(operands))
    results = list(_split(entry, copy))
    entry.set_root(results[0] if len(results) == 1 else tuple_of(entry, results))
    _adopt(module, entry, {})
    module.add_computation(entry, entry=True)
    module.entry_layouts_fixed = True
    return module


def _join(entry: HloComputation, shape: Shape, leaves: Iterator[HloInstruction]) -> HloInstruction:
    if not shape.is_tuple:
        return next(leaves)
    return tuple_of(entry, [_join(entry, part, leaves) for part in shape.tuple_shapes])


def tuple_of(computation: HloComputation, parts: Sequence[HloInstruction]) -> HloInstruction:
    """Adds a tuple of values in the layouts that they have."""
    return computation.add(Opcode.TUPLE, *parts, shape=Shape.tuple([part.shape for part in parts]))


def _split(entry: HloComputation, value: HloInstruction) -> Iterator[HloInstruction]:
    if not value.shape.is_tuple:
        yield value
        return
    for index, part in enumerate(value.shape.tuple_shapes):
        yield from _split(entry, entry.add(Opcode.GET_TUPLE_ELEMENT, value, shape=part, index=index))


def _adopt(module: HloModule, computation: HloComputation, copies: dict[HloComputation, HloComputation]) -> None:
    """Copies the computations that instructions call into the module, callees first."""
    for instruction in computation.instructions:
        for callee in instruction.called_computations:
            if callee not in copies:
                copies[callee] = callee.clone()
                _adopt(module, copies[callee], copies)
                module.add_computation(copies[callee])
            instruction.replace_called_computation(callee, copies[callee])

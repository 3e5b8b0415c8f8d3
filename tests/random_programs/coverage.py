"""Counts how many random programs have each HLO op in each element type.

python -m tests.random_programs.coverage --programs 2000
"""

from __future__ import annotations

import argparse
import collections
from collections.abc import Iterable

from tests.random_programs.comparison import Program, seeded
from xla_core.hlo import OPS, ElementType, HloComputation, HloInstruction, Shape
from xla_core.hlo.table.op_table import Trait

_TRAITS = {
    Trait.COLLECTIVE: "several devices",
    Trait.PER_DEVICE: "several devices",
    Trait.HOST_TRANSFER: "feeds and channels",
}
_EXCEPTIONS = {
    "async-update": "the same as async-done here",
    "bitcast": "only compilers make it",
    "copy-done": "only compilers make it",
    "copy-start": "only compilers make it",
    "custom-call": "tested with what is called",
    "domain": "only partitioners make it",
    "dynamic-reshape": "dynamic shapes",
    "rng-get-and-update-state": "only the expander of rng makes it",
    "set-dimension-size": "dynamic shapes",
}
EXCLUDED = {name: why for name, op in OPS.items() for trait, why in _TRAITS.items() if trait in op.traits} | _EXCEPTIONS
"""Ops that no random program has, and why."""


def counted(programs: Iterable[Program]) -> dict[str, collections.Counter[ElementType]]:
    """Counts the programs that have each op, by the element types of its operands or result."""
    table: dict[str, collections.Counter[ElementType]] = {opcode: collections.Counter() for opcode in OPS}
    for program in programs:
        seen = {
            (instruction.opcode, element_type)
            for computation in program.module.post_order()
            for instruction in _live(computation)
            for element_type in _types(instruction)
        }
        for opcode, element_type in seen:
            table[opcode][element_type] += 1
    return table


def _live(computation: HloComputation) -> set[HloInstruction]:
    """Returns the instructions that the root needs; the others are removed before the run."""
    live, stack = set[HloInstruction](), [computation.root]
    while stack:
        instruction = stack.pop()
        if instruction not in live:
            live.add(instruction)
            stack.extend(instruction.operands)
    return live


def _types(instruction: HloInstruction) -> set[ElementType]:
    first = instruction.operands[:1] if instruction.opcode != "select" else instruction.operands[1:2]
    shapes: list[Shape] = [instruction.shape, *(o.shape for o in first)]
    return {leaf.element_type for shape in shapes for leaf in shape.leaves()}


def missing(table: dict[str, collections.Counter[ElementType]]) -> list[str]:
    """Returns the ops that should occur and don't."""
    return [opcode for opcode, types in table.items() if not types and opcode not in EXCLUDED]


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--programs", type=int, default=2000)
    parser.add_argument("--start", type=int, default=0)
    given = parser.parse_args()
    table = counted(seeded(seed) for seed in range(given.start, given.start + given.programs))
    types = [t for t in ElementType if t.is_array]
    print(" " * 22 + " ".join(f"{t.value[:6]:>6}" for t in types))
    for opcode, counts in table.items():
        if opcode not in EXCLUDED:
            print(f"{opcode[:21]:22}" + " ".join(f"{counts[t] or '-':>6}" for t in types))
    for opcode, reason in EXCLUDED.items():
        print(f"{opcode[:21]:22}none: {reason}")
    print(f"{given.programs} programs; never drawn: {', '.join(missing(table)) or 'nothing'}")


if __name__ == "__main__":
    main()

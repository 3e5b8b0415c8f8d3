"""The cases notice a kernel that reads an attribute wrong: each attribute of the op table, swapped, dropped or changed.

The mutants are those of the zoo. Here they are applied to the reference evaluator's results, without a backend.
"""

from __future__ import annotations

import collections

import numpy as np
import pytest
from xla_conformance.ops import OpCase, generate

from tests.conformance.zoo.kernels import Fault
from tests.conformance.zoo.mutants.attributes import MUTANTS
from xla_core.hlo import HloInstruction, Opcode

LARGEST = 1 << 16
"""Larger cases are left out, so that the test takes seconds an op."""

QUICK = {"slice", "pad", "transpose", "broadcast", "concatenate", "compare", "reverse", "fft"}


def _faults() -> dict[str, dict[str, Fault]]:
    found: dict[str, dict[str, Fault]] = collections.defaultdict(dict)
    for mutant in MUTANTS:
        found[mutant.opcode][mutant.name] = mutant.make.keywords["kernel"].wrong
    return found


FAULTS = _faults()
CASES: dict[str, list[OpCase]] = collections.defaultdict(list)
for _case in generate():
    CASES[_case.opcode.value].append(_case)


def _ops() -> list[object]:
    made: list[object] = []
    for opcode in FAULTS:
        marks = () if opcode in QUICK else (pytest.mark.slow,)
        made.append(pytest.param(opcode, marks=marks, id=opcode))
    return made


def _subject(case: OpCase) -> HloInstruction | None:
    """The op under test, if it is all of the program."""
    entry = case.module().entry
    root = entry.root
    is_whole = root.opcode == case.opcode and all(o.opcode == Opcode.PARAMETER for o in root.operands)
    small = all(s.num_elements <= LARGEST for i in (root, *root.operands) for s in i.shape.leaves())
    return root if is_whole and small else None


@pytest.mark.parametrize("opcode", _ops())
def test_a_wrong_attribute_shows(opcode: str) -> None:
    """Every fault that changes the result of some case is noticed by a case."""
    changed: set[str] = set()
    noticed: set[str] = set()
    for case in CASES[opcode]:
        instruction = _subject(case)
        if instruction is None or noticed == set(FAULTS[opcode]):
            continue
        arguments, expected = case.arguments(), case.expected()
        operands = [arguments[o.parameter_number] for o in instruction.operands]
        for name, wrong in FAULTS[opcode].items():
            if name in noticed:
                continue
            results = wrong(instruction, operands, [e.value.copy() for e in expected])
            if results is None:
                continue
            pairs = [(np.asarray(r).astype(e.value.dtype), e) for r, e in zip(results, expected, strict=True)]
            if any(r.tobytes() != e.value.tobytes() for r, e in pairs):
                changed.add(name)
            if any(e.wrong(r).any() for r, e in pairs):
                noticed.add(name)
    assert changed - noticed == set()

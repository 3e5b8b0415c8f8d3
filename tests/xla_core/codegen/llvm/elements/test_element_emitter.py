"""Every op's element generator, on the conformance suite's cases, in kernels whose units are single elements."""

from __future__ import annotations

import functools
import zlib

import pytest
from xla_conformance.ops.cases import OpCase, generate
from xla_conformance.ops.comparison import check

from tests.xla_core.codegen.llvm.kernels import Loaded, single_elements
from xla_core.codegen.llvm.elements.element_emitter import GENERATORS
from xla_core.hlo import HloInstruction, Opcode

CASES = 8  # of each op
ELEMENTWISE = {Opcode.ADD, Opcode.CLAMP, Opcode.COMPARE, Opcode.CONVERT, Opcode.EXPONENTIAL, Opcode.SELECT}
ALIASES = {Opcode.CONSTANT, Opcode.GET_TUPLE_ELEMENT, Opcode.OPT_BARRIER, Opcode.TUPLE}  # they have no kernels


@functools.cache
def _cases() -> dict[Opcode, list[OpCase]]:
    found: dict[Opcode, list[OpCase]] = {}
    for case in generate():
        if case.opcode in {*GENERATORS, *ELEMENTWISE}:
            found.setdefault(case.opcode, []).append(case)
    return found


def _op(case: OpCase) -> tuple[HloInstruction, slice] | None:
    """The first instruction of the case's op whose operands are parameters, and its results among the program's."""
    root = case.module().entry.root
    if root.opcode == case.opcode:
        results = [(root, slice(None))]
    else:
        made = root.operands if root.opcode == Opcode.TUPLE else ()
        results = [(op, slice(number, number + 1)) for number, op in enumerate(made) if op.opcode == case.opcode]
    return next((r for r in results if all(o.opcode == Opcode.PARAMETER for o in r[0].operands)), None)


@pytest.mark.parametrize("opcode", sorted({*GENERATORS, *ELEMENTWISE} - ALIASES, key=str))
def test_kernels_of_single_elements(opcode: Opcode) -> None:
    cases = sorted(_cases()[opcode], key=lambda case: zlib.crc32(case.name.encode()))
    chosen = [(case, op) for case in cases if (op := _op(case)) is not None][:CASES]
    assert chosen
    for case, (op, part) in chosen:
        arguments = case.arguments()
        results = Loaded(op, planner=single_elements())(*(arguments[o.parameter_number] for o in op.operands))
        check(case.name, results, case.expected()[part], module=case.module(), arguments=arguments)

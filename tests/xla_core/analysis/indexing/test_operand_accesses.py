"""The accesses of every op with a rule, held against the reference evaluator on the conformance suite's cases.

Elements that an access doesn't name are changed: the result's element must stay. One that it names is changed: the
result's element must change, where the op lets every element show.
"""

from __future__ import annotations

import functools
import itertools
import math
import zlib
from collections.abc import Iterator

import numpy as np
import pytest
from xla_conformance.ops.cases import OpCase, generate

from xla_core import evaluate, parse
from xla_core.analysis.indexing import Access, IndexExpr, StartIndex, Variable, operand_accesses
from xla_core.analysis.indexing.contraction import CONTRACTIONS
from xla_core.analysis.indexing.movement import MOVEMENTS
from xla_core.hlo import ElementType, HloInstruction, HloModule, Opcode

CASES = 12  # of each op
ELEMENTS = 3  # of each result
LARGEST = 3000  # elements of all arguments
HIDING = {Opcode.IOTA, Opcode.BITCAST_CONVERT, Opcode.DYNAMIC_UPDATE_SLICE}
SHOWING = {*MOVEMENTS, Opcode.DOT, Opcode.CONVOLUTION} - HIDING  # each element that is read changes the result
TYPES = (ElementType.S32, ElementType.U32, ElementType.F32, ElementType.S8, ElementType.C64)


@functools.cache
def _cases() -> dict[Opcode, list[OpCase]]:
    found: dict[Opcode, list[OpCase]] = {}
    for case in generate():
        if case.opcode in {**MOVEMENTS, **CONTRACTIONS} and case.element_type in TYPES:
            found.setdefault(case.opcode, []).append(case)
    return found


def _chosen(opcode: Opcode) -> Iterator[OpCase]:
    cases = sorted(_cases().get(opcode, ()), key=lambda c: zlib.crc32(c.name.encode()))
    small = (c for c in cases if 0 < sum(math.prod(p.shape.dimensions) for p in c.module().entry.parameters) <= LARGEST)
    return itertools.islice((c for c in small if _is_alone(c.module())), CASES)


def _is_alone(module: HloModule) -> bool:
    """Whether the op's operands are parameters and constants."""
    root = module.entry.root
    while root.opcode == Opcode.GET_TUPLE_ELEMENT:
        root = root.operand(0)
    simple = (Opcode.PARAMETER, Opcode.CONSTANT)
    return all(s.num_elements for s in root.shape.leaves()) and all(o.opcode in simple for o in root.operands)


@pytest.mark.parametrize("opcode", sorted({**MOVEMENTS, **CONTRACTIONS}, key=str))
def test_an_element_depends_on_what_its_accesses_name(opcode: Opcode) -> None:
    for case in _chosen(opcode):
        module, arguments = case.module(), case.arguments()
        op = next(i for i in module.entry.instructions if i.opcode == opcode)
        random = np.random.default_rng(zlib.crc32(case.name.encode()))
        results = evaluate(module, *arguments)
        for position in random.integers(0, results[0].size, ELEMENTS):
            place = np.unravel_index(int(position), results[0].shape)
            read = _elements_read(op, [int(i) for i in place], arguments)
            changed = [_changed(a, read.get(p, set()), random) for p, a in enumerate(arguments)]
            again = evaluate(module, *changed)
            assert again[0][place].tobytes() == results[0][place].tobytes(), case.name
            if opcode in SHOWING and len(set(op.operands)) == len(op.operands):
                _assert_each_shows(module, op, arguments, read.get(0, set()), place)


def _assert_each_shows(
    module: HloModule, op: HloInstruction, arguments: list[np.ndarray], read: set[int], place: tuple[np.intp, ...]
) -> None:
    """Each element of the first operand that is read changes the result's element; products have factors of 1."""
    if op.opcode in (Opcode.DOT, Opcode.CONVOLUTION):
        arguments = [np.zeros_like(arguments[0]), np.ones_like(arguments[1])]
    before = evaluate(module, *arguments)[0][place]
    for element in sorted(read)[:: max(1, len(read) // 2)]:
        first = arguments[0].copy()
        first.reshape(-1)[element] = 3 if first.reshape(-1)[element] == 2 else 2
        after = evaluate(module, first, *arguments[1:])[0][place]
        assert before.tobytes() != after.tobytes(), element


def _changed(array: np.ndarray, kept: set[int], random: np.random.Generator) -> np.ndarray:
    """The array with other elements everywhere but at the positions `kept`."""
    other = np.roll(array.reshape(-1), 1) if array.size > 1 else array.reshape(-1)
    other = random.permutation(other)
    if kept:
        positions = sorted(kept)
        other[positions] = array.reshape(-1)[positions]
    return other.reshape(array.shape)


def _elements_read(op: HloInstruction, place: list[int], arguments: list[np.ndarray]) -> dict[int, set[int]]:
    """The positions of the parameters' elements that accesses name, by the number of the parameter."""
    index = tuple(IndexExpr.of(i) for i in place)
    read: dict[int, set[int]] = {}
    for operand, access in zip(op.operands, operand_accesses(op, index), strict=True):
        if operand.opcode == Opcode.PARAMETER:
            found = read.setdefault(operand.parameter_number, set())
            for element in _points(op, access, arguments):
                found.add(int(np.ravel_multi_index(element, operand.shape.dimensions)) if element else 0)
    return read


def _points(op: HloInstruction, access: Access, arguments: list[np.ndarray]) -> Iterator[tuple[int, ...]]:
    ranges = [_values(op, variable, arguments) for variable in access.variables]
    for values in itertools.product(*ranges):
        known = dict(zip(access.variables, values, strict=True))
        if all(c.low <= c.expr.evaluate(known) <= c.high for c in access.conditions):
            yield tuple(expr.evaluate(known) for expr in access.index)


def _values(op: HloInstruction, variable: Variable, arguments: list[np.ndarray]) -> range:
    """The values of a variable: one, if it is a start index."""
    if not isinstance(variable.key, StartIndex):
        return range(variable.extent)
    source = op.operand(variable.key.operand)
    array = source.literal.array if source.opcode == Opcode.CONSTANT else arguments[source.parameter_number]
    start = int(array[tuple(e.evaluate({}) for e in variable.key.index)])
    start = min(max(start, 0), variable.extent - 1)
    return range(start, start + 1)


def _printed(op: HloInstruction) -> str:
    """The index of the operand's element that an element of the result, of index (d0, d1, ...), is."""
    dimensions = enumerate(op.shape.dimensions)
    index = tuple(IndexExpr.of(Variable(("d", d), extent, f"d{d}")) for d, extent in dimensions)
    return f"({', '.join(map(str, operand_accesses(op, index)[0].index))})"


def test_indices_print_as_affine_maps() -> None:
    module = parse(
        """HloModule m
        ENTRY main {
          x = f32[4,6,8] parameter(0)
          t = f32[8,4,6] transpose(x), dimensions={2,0,1}
          ROOT r = f32[16,12] reshape(t)
        }"""
    )
    reshape = module.entry.root
    assert _printed(reshape) == "(d0 floordiv 2, (d0 mod 2) * 2 + (d1 floordiv 6), d1 mod 6)"
    assert _printed(reshape.operand(0)) == "(d1, d2, d0)"


def test_a_reshape_there_and_back_is_the_identity() -> None:
    module = parse(
        """HloModule m
        ENTRY main {
          x = f32[4,6,8] parameter(0)
          r = f32[16,12] reshape(x)
          ROOT s = f32[4,6,8] reshape(r)
        }"""
    )
    index = tuple(IndexExpr.of(Variable(d, n)) for d, n in enumerate((4, 6, 8)))
    there = operand_accesses(module.entry.root, index)[0].index
    assert operand_accesses(module.entry.root.operand(0), there)[0].index == index

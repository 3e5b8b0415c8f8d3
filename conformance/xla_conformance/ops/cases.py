"""Test cases: an op in one element type, with a module, arguments, and the expected result."""

from __future__ import annotations

import copy
import dataclasses
import functools
import zlib
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path

import numpy as np

from xla_conformance.bits import split_parts
from xla_conformance.ops.arranged import ARRANGEMENTS, ROWS
from xla_conformance.ops.choices import Choice
from xla_conformance.ops.comparison import Expected, Rule, expected_results
from xla_conformance.ops.completion import Chosen, completing_choices
from xla_conformance.ops.domains import DOMAINS
from xla_conformance.ops.program import Program
from xla_conformance.ops.shared import SharedResults
from xla_core import evaluate
from xla_core.hlo import (
    OPS,
    ElementType,
    HloInstruction,
    HloModule,
    Opcode,
    Trait,
)


@dataclasses.dataclass(frozen=True)
class OpCase:
    """A test case: an op in one element type. `build` makes its program, in that type or in a wider one.

    The wider one is for expected results of more precision. `arrangement` says how the arguments' values are arranged,
    and `domain` is the variant of the domain that the case is of.
    """

    opcode: Opcode
    variant: str
    element_type: ElementType
    build: Callable[[ElementType], Program]
    rule: Rule
    seed: int = 0
    arrangement: str = ""
    domain: str = ""

    @property
    def name(self) -> str:
        return "-".join(p for p in (self.opcode, self.element_type.value, self.variant) if p)

    def module(self) -> HloModule:
        return self.build(self.element_type).module

    @property
    def program(self) -> Program:
        """The program, which is kept for its next use: it must not be changed."""
        return _program(self.build, self.element_type)

    def arguments(self) -> list[np.ndarray]:
        return [a.copy() for a in _arguments(self)]  # a device's writes to them affect no other use

    def rearranged(self) -> OpCase | None:
        """Returns the case with its values in another arrangement; None if no argument may have them anywhere."""
        if not may_be_arranged(self.rule, self.element_type) or not any(self.program.free()):
            return None
        others = [name for name in (ROWS, *ARRANGEMENTS) if name != self.arrangement]
        number = zlib.crc32(f"{self.name} {self.seed}".encode()) % (2 * len(others))
        return dataclasses.replace(self, arrangement=others[max(number - len(others), 0)])  # rows, or each one

    @property
    def has_denormal_products(self) -> bool:
        """Whether the op multiplies matrices with denormal numbers, which a target may declare to take as zeros."""
        return Trait.PRODUCT in OPS[self.opcode].traits and any(_has_denormals(a) for a in self.arguments())

    def operands(self, number: int) -> list[np.ndarray]:
        """Returns the arrays from which the instruction under test computes a result."""
        module, arguments = self.module(), self.arguments()
        root = module.entry.root
        several = root.opcode is Opcode.TUPLE and number < len(root.operands)
        under_test = _nearest(root.operands[number] if several else root, self.opcode)
        found: list[np.ndarray] = []
        for operand in under_test.operands if under_test is not None else ():
            if operand.shape.is_array:
                module.entry.set_root(operand)
                found += evaluate(module, *arguments)
        return found

    def expected(self) -> list[Expected]:
        """The expected results."""

        def build(element_type: ElementType) -> HloModule:
            return _program(self.build, element_type).module

        return expected_results(build, self.element_type, self.arguments(), self.rule)


@functools.lru_cache(32)
def _arguments(case: OpCase) -> list[np.ndarray]:
    if not case.arrangement:
        return _made(case)[0]
    made, random = _made(dataclasses.replace(case, arrangement=""))
    return case.program.arranged(made, case.arrangement, copy.deepcopy(random))


@functools.lru_cache(32)
def _made(case: OpCase) -> tuple[list[np.ndarray], np.random.Generator]:
    """Returns the arguments as they are made, and the generator that arranges them."""
    random = np.random.default_rng([case.seed, zlib.crc32(case.name.encode())])
    return case.program.arguments(random), random


@functools.lru_cache(32)
def _program(build: Callable[[ElementType], Program], element_type: ElementType) -> Program:
    return build(element_type)


def may_be_arranged(rule: Rule, element: ElementType) -> bool:
    """Whether the results of a rule are defined for every arrangement of values.

    They aren't where errors are relative to the largest element, nor for functions of complex zeros.
    """
    return rule.is_exact or (rule.kind == "ulp" and not element.is_complex)


def _has_denormals(values: np.ndarray) -> bool:
    element = ElementType.from_numpy(values.dtype).component
    if not element.is_floating:
        return False
    numbers = np.abs(split_parts(values).astype(np.float64))
    return bool(np.any((numbers > 0) & (numbers < 2.0 ** (2 - (1 << (element.exponent_bits - 1))))))


def _nearest(instruction: HloInstruction, opcode: Opcode) -> HloInstruction | None:
    """Returns the nearest instruction of an opcode from which this one is computed, or the instruction itself."""
    nearest = deque([instruction])
    seen = set(nearest)
    while nearest:
        found = nearest.popleft()
        if found.opcode is opcode:
            return found
        nearest.extend(o for o in found.operands if o not in seen)
        seen.update(found.operands)
    return None


def generate(
    *, seed: int = 0, every_type: bool = False, opcodes: Iterable[Opcode] = OPS, shared: Path | None = None
) -> Iterator[OpCase]:
    """Yields the cases of some ops, by default of all in the op table's order.

    Every value of an op's domains is in at least one case, and so is every pair of values. With `every_type`, every
    element type meets every value. Without it, only the usual types do, and the other types share the values. The cases
    show all that is wanted of them (`wanted.wanted_features`).

    Args:
        shared: a folder in which processes that make the same cases share the work of choosing them.
    """
    opcodes = list(opcodes)
    if shared is not None:
        _share(shared, opcodes, seed, every_type)
    for opcode in opcodes:
        yield from _cases_of(opcode, seed, every_type)


def _cases_of(opcode: Opcode, seed: int, every_type: bool) -> Iterator[OpCase]:
    for domain, choice in _chosen(opcode, seed, every_type):
        rest = Choice({axis: value for axis, value in choice.values.items() if axis != "type"})
        variant = "-".join(part for part in (domain.variant, str(rest)) if part)
        build = functools.partial(domain.program, choice)
        yield OpCase(opcode, variant, choice.type, build, domain.rule(choice.type), seed, domain=domain.variant)


_CHOSEN: dict[tuple[Opcode, int, bool], Sequence[Chosen]] = {}


def _chosen(opcode: Opcode, seed: int, every_type: bool) -> Sequence[Chosen]:
    key = (opcode, seed, every_type)
    if key not in _CHOSEN:
        _CHOSEN[key] = _choose(*key)
    return _CHOSEN[key]


def _share(folder: Path, opcodes: Sequence[Opcode], seed: int, every_type: bool) -> None:
    """Gets the choices for some ops together with other processes."""

    def make(name: str) -> list[tuple[int, Choice]]:
        opcode = Opcode(name.partition(" ")[0])
        return [(DOMAINS[opcode].index(domain), choice) for domain, choice in _chosen(opcode, seed, every_type)]

    names = {f"{opcode} {seed} {every_type}": opcode for opcode in opcodes if opcode in DOMAINS}
    for name, choices in SharedResults(folder, make).of(names).items():
        domains = DOMAINS[names[name]]
        _CHOSEN[names[name], seed, every_type] = [(domains[number], choice) for number, choice in choices]


def _choose(opcode: Opcode, seed: int, every_type: bool) -> Sequence[Chosen]:
    domains = DOMAINS.get(opcode, ())
    chosen = [(domain, choice) for domain in domains for choice in domain.choices(seed, every_type)]
    quick = _chosen(opcode, seed, False) if every_type else ()
    return (*chosen, *completing_choices(opcode, [*quick, *chosen], seed, every_type))

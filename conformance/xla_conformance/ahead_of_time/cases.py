"""The programs of the suite that need no device: cases of ops, whole programs, and the family of small programs."""

from __future__ import annotations

import dataclasses
import zlib
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import partial
from typing import TypeAlias

import numpy as np

from xla_conformance.bits import require_bits
from xla_conformance.chosen import may_be_chosen
from xla_conformance.expressions import compile_expression
from xla_conformance.family_program import FamilyProgram
from xla_conformance.ops import OpCase, generate
from xla_conformance.ops.comparison import check, sentence_of
from xla_conformance.ops.names import words_of_cases
from xla_conformance.plugin import PROFILES
from xla_conformance.programs import PROGRAMS, Program
from xla_conformance.programs.family import FAMILY, WRITTEN
from xla_core import evaluate, parse
from xla_core.hlo import OPS, HloModule, Tolerance

_OP = "test_ops.py::test_op"
_ONE_OF = {"quick": 8, "full": 1, "stress": 1}
"""Profile -> n, for one case of every n cases of the quick suite's ops."""

Check: TypeAlias = Callable[[Sequence[np.ndarray], HloModule, Sequence[np.ndarray]], None]
"""Called with the results, the module that computed them, and its arguments. Raises Failure."""


@dataclasses.dataclass(frozen=True)
class Case:
    """A program, and the check of its results.

    Attributes:
        id: the suite's file and a name, as in reports.
        module: makes the program.
        arguments: makes its arguments.
        check: compares results.
        properties: its properties in the report.
        may_be_joined: whether it may share a program with other cases.
    """

    id: str
    module: Callable[[], HloModule]
    arguments: Callable[[], list[np.ndarray]]
    check: Check
    properties: Mapping[str, str] = dataclasses.field(default_factory=dict)
    may_be_joined: bool = False


@dataclasses.dataclass(frozen=True)
class Choice:
    """The cases to run, and the numbers of op cases that are left out: those with denormal products, and those outside
    of quick's sample.
    """

    cases: Sequence[Case]
    with_denormals: int
    not_sampled: int


def choose(profile: str, expression: str, only: Collection[str], seed: int, triple: str) -> Choice:
    """The cases of a profile. Of ops, quick has a sample, another one for each seed and triple.

    `expression` (as of `-k`) and the ids `only` choose among all cases of ops.

    Raises:
        InvalidArgumentError: the expression is not valid.
    """
    words = compile_expression(expression) if expression.strip() else None

    def is_chosen(id: str) -> bool:
        return (words is None or words.evaluate(_Matcher(id))) and (not only or id in only)

    sampled_of = _ONE_OF[profile] if words is None and not only else 1
    cases: list[Case] = []
    with_denormals = not_sampled = 0
    opcodes = [o for o in OPS if may_be_chosen(_OP, f"{o}-", expression, only, words=partial(words_of_cases, o))]
    for op in generate(seed=seed, opcodes=opcodes):
        case = _of_op(op)
        if not is_chosen(case.id):
            continue
        if op.has_denormal_products:
            with_denormals += 1
        elif zlib.crc32(f"{op.name} {seed} {triple}".encode()) % sampled_of:
            not_sampled += 1
        else:
            cases.append(case)
    cases += [case for case in _of_programs(profile, seed) if is_chosen(case.id)]
    return Choice(cases, with_denormals, not_sampled)


class _Matcher:
    """Whether a word of `-k` is in an id."""

    def __init__(self, id: str) -> None:
        self._id = id.lower()

    def __call__(self, word: str, /, **unused: str | int | bool | None) -> bool:
        return word.lower() in self._id


def _of_op(case: OpCase) -> Case:
    return Case(
        f"{_OP}[{case.name}]",
        case.module,
        case.arguments,
        partial(_check_op, case),
        {"opcode": str(case.opcode), "element_type": case.element_type.value},
        may_be_joined=True,
    )


def _check_op(case: OpCase, results: Sequence[np.ndarray], module: HloModule, arguments: Sequence[np.ndarray]) -> None:
    what = f"{sentence_of(case.opcode, case.element_type, case.rule)}:"
    check(what, results, case.expected(), module=module, arguments=arguments)


def _of_programs(profile: str, seed: int) -> Iterator[Case]:
    for small in WRITTEN if profile == "quick" else FAMILY:
        yield Case(
            f"test_executables.py::test_each_run_gives_the_same_bits[{small.name}]",
            partial(parse, small.text, file=f"{small.name}.hlo"),
            partial(_arguments, small, seed),
            partial(_check_bits, small),
        )
    for program in PROGRAMS:
        if PROFILES.index(program.profile) <= PROFILES.index(profile):
            yield Case(
                f"test_programs.py::test_program[{program.name}]",
                partial(parse, program.text, file=program.name),
                partial(program.arguments, seed),
                partial(_check_program, program),
            )


def _arguments(program: FamilyProgram, seed: int) -> list[np.ndarray]:
    return program.arguments(np.random.default_rng([seed, zlib.crc32(program.name.encode())]))


def _check_bits(
    program: FamilyProgram, results: Sequence[np.ndarray], module: HloModule, arguments: Sequence[np.ndarray]
) -> None:
    expected = program.results(arguments)
    require_bits(
        "A program gives its results.",
        results,
        expected,
        module=module,
        arguments=arguments,
        promise="compiler.run-backend",
    )


def _check_program(
    program: Program, results: Sequence[np.ndarray], module: HloModule, arguments: Sequence[np.ndarray]
) -> None:
    expected = [np.asarray(r) for r in evaluate(module, *arguments)]
    within = Tolerance(rtol=program.rtol, atol=program.atol)
    require_bits(
        "A whole program gives its results.",
        results,
        expected,
        module=module,
        arguments=arguments,
        tolerances=[None if e.dtype.kind in "biu" else within for e in expected],
        promise="compiler.run-backend",
    )

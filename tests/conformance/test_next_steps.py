"""The features that `xla conform` says a backend should add next."""

from __future__ import annotations

from collections.abc import Callable

from xla_conformance.next_steps import next_steps
from xla_conformance.results import Result, Run, State

LITTLE = """
from xla_core.hlo import ElementType
from xla_core.target import Capabilities, TargetConfig

F32, PRED = ElementType.F32, ElementType.PRED
OPS = ("add", "multiply", "broadcast", "constant", "compare", "select")

class Compiler(TemplateCompiler):
    @property
    def target_config(self):
        return TargetConfig(name="modest", capabilities=Capabilities.all_of([F32, PRED], opcodes=OPS))

put(compiler=Compiler)
"""


def run_of(backend: str, *programs: str) -> Run:
    results = [Result(f"test_programs.py::test_program[{name}]", State.NOT_SUPPORTED) for name in programs]
    return Run(backend, "quick", [*results, Result("test_ops.py::test_op[add-f32]", State.PASS)])


def test_nothing_is_planned_for_a_backend_that_runs_all_programs() -> None:
    assert next_steps(run_of("no_such_backend")) == ()


def test_the_first_additions_are_listed(put_backend: Callable[[str, str], str]) -> None:
    head, *lines = next_steps(run_of(put_backend("modest", LITTLE), "empty_and_scalar", "pooling_grad"))
    assert "the 2 programs that are not supported" in head
    assert lines[0].startswith("  add ")
    assert "unlocks 1 program" in lines[0]


def test_a_backend_that_dies_costs_no_report(put_backend: Callable[[str, str], str]) -> None:
    dying = "import os\n\nclass Compiler(TemplateCompiler):\n    def __init__(self):\n        os._exit(3)\n\nput(compiler=Compiler)\n"
    (line,) = next_steps(run_of(put_backend("dying", dying), "sorts"))
    assert "ended the process with code 3" in line

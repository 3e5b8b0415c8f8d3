"""Executables that are compiled, kept and deleted beside others that are equal or alike."""

from __future__ import annotations

import gc
from collections.abc import Callable, Sequence

import numpy as np
import pytest

from xla_conformance.bench import compiled
from xla_conformance.bits import require_bits
from xla_conformance.device.threads import run_at_once
from xla_conformance.family_program import FamilyProgram
from xla_conformance.patience import FACTOR
from xla_conformance.programs.family import FAMILY, FLOW, alike_constants
from xla_core import Buffer, Client, CompileOptions, LoadedExecutable

_SECONDS = 50.0 * FACTOR
_MAKE: dict[str, Callable[[Client, FamilyProgram], LoadedExecutable]] = {
    "compiled": lambda client, program: client.compile(program.module),
    "without optimizations": lambda client, program: client.compile(
        program.module, CompileOptions(optimization_level=0)
    ),
    "read": lambda client, program: client.deserialize(compiled(client, program).serialize()),
}
"""How executables of one program are made."""


def _program(name: str) -> FamilyProgram:
    return next(program for program in (*FAMILY, *FLOW) if program.name == name)


@pytest.mark.promise("executable.close-starts-nothing", "executable.immutable", "compiler.run-backend")
@pytest.mark.parametrize("name", ["elementwise", "loop", "large_constants", "temporaries", "passed_through_flow"])
def test_equal_programs_end_apart(client: Client, name: str, random: np.random.Generator) -> None:
    """Of executables of one program, each is deleted in turn while the others run."""
    program = _program(name)
    compiled(client, program)
    for number in range(len(_MAKE)):
        made = [make(client, program) for make in _MAKE.values()]
        made.pop(number).delete()
        gc.collect()
        for executable in made:
            values = program.arguments(random)
            program.require_results(
                "An executable gives its results after another one of the same program was deleted.",
                executable(*values),
                values,
                "executable.immutable",
            )
            executable.delete()


@pytest.mark.promise("compiler.run-backend", "executable.fingerprint")
def test_programs_come_and_go(client: Client) -> None:
    """Each is deleted before the next one is compiled, so that all may have the same places in memory."""
    text = (
        "HloModule m\n\nENTRY e {{\n  x = s32[64] parameter(0)\n  k = s32[] constant({k})\n"
        "  b = s32[64] broadcast(k), dimensions={{}}\n  ROOT r = s32[64] {op}(x, b)\n}}\n"
    )
    x = np.arange(64, dtype=np.int32)
    for number in range(24):
        op, k = ("multiply", "subtract")[number % 2], 3 + number // 2
        executable = client.compile(text.format(op=op, k=k))
        (result,) = executable(x)
        require_bits(
            "A program gives its own results, whichever was deleted before it was compiled.",
            [np.asarray(result)],
            [x * np.int32(k) if op == "multiply" else x - np.int32(k)],
            promise="compiler.run-backend",
        )
        executable.delete()
        del executable, result
        gc.collect()


@pytest.mark.promise("compiler.run-backend", "compiler.deserialize", "executable.immutable")
@pytest.mark.parametrize("level", [0, 2])
def test_large_constants_that_are_alike(client: Client, level: int, random: np.random.Generator) -> None:
    """They differ in one element, or in type, or in shape alone, within a program and between two."""
    programs = [alike_constants(number) for number in range(3)]
    made = [client.compile(program.module, CompileOptions(optimization_level=level)) for program in programs]
    made += [client.deserialize(executable.serialize()) for executable in made]
    for _ in range(2):  # a constant that a run writes to is another one in the next run
        for program, executable in zip(programs * 2, made, strict=True):
            values = program.arguments(random)
            program.require_results(
                "Constants that are alike stay apart, in each run.", executable(*values), values, "compiler.run-backend"
            )


@pytest.mark.promise("executable.donation", "compiler.run-backend")
def test_options_make_executables_of_their_own(client: Client, random: np.random.Generator) -> None:
    """One program with and without a donation by its options; all executables live at the same time."""
    program = _program("elementwise")
    compiled(client, program)
    shapes = program.module.parameter_shapes
    wanted: list[tuple[int, ...]] = [(), (0,), (), tuple(range(len(shapes))), (0,)]
    made = [client.compile(program.module, CompileOptions(donate=donate)) for donate in wanted]
    for donate, executable in zip(wanted, made, strict=True):
        values = program.arguments(random)
        buffers = [client.buffer_from_host(value) for value in values]
        results = executable.execute(buffers)
        for number, buffer in enumerate(buffers):
            assert buffer.is_deleted() == (number in donate), (
                f"The option donate={donate} decides which arguments are donated, but argument {number} was "
                f"{'deleted' if buffer.is_deleted() else 'kept'}."
            )
        program.require_results("A program gives its results, whatever it is given.", results, values)


@pytest.mark.promise("executable.many-threads", "executable.results-distinct")
@pytest.mark.parametrize(
    "name", ["temporaries", "passed_through_flow", "large_constants", "donated_with_several_users"]
)
def test_results_are_read_while_the_next_run_writes(client: Client, name: str, random: np.random.Generator) -> None:
    """Two threads run one executable with arguments of their own, and read the results of each run during the next."""
    program = _program(name)
    executable = compiled(client, program)
    cases = [[(v := program.arguments(random), program.results(v)) for _ in range(3)] for _ in range(2)]

    def run(number: int) -> None:
        last: tuple[Sequence[Buffer], list[np.ndarray]] | None = None
        for values, expected in cases[number] * 6:
            results = executable(*values)
            if last is not None:
                require_bits(
                    "Results stay what they are while the next run writes its own.",
                    [np.asarray(r) for r in last[0]],
                    last[1],
                    module=program.text,
                    promise="executable.results-distinct",
                )
            last = results, expected

    run_at_once([lambda: run(0), lambda: run(1)], _SECONDS, "executable.many-threads")

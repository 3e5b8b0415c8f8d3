"""Executables as a client calls them: right and wrong calls, arguments that are reused, and the end."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable

import numpy as np
import pytest

from xla_conformance.bench import compiled
from xla_conformance.bits import require_bits
from xla_conformance.claims import require_devices
from xla_conformance.family_program import FamilyProgram
from xla_conformance.programs.family import (
    FAMILY,
    FLOW,
    donations,
    every_kind_of_kernel,
    hundreds_of_arguments,
    siblings,
)
from xla_conformance.programs.texts import COUNT, SCALE_AND_SUM, TRIPS
from xla_core import (
    CancelledError,
    Client,
    CompileOptions,
    FailedPreconditionError,
    InvalidArgumentError,
    LoadedExecutable,
    XlaError,
    parse,
)
from xla_core.backend import CompileOptions as ContractCompileOptions
from xla_core.hlo import evaluate

X = np.arange(128, dtype=np.float32).reshape(8, 16)


@pytest.fixture(scope="module")
def executable(client: Client) -> LoadedExecutable:
    return client.compile(SCALE_AND_SUM)


def right(executable: LoadedExecutable, factor: float = 2.0) -> None:
    """128 small integers times a power of two: every order of the sum is exact."""
    values = [X, np.float32(factor)]
    require_bits(
        "The program gives its results.",
        [np.asarray(r) for r in executable(*values)],
        [X * np.float32(factor), (X * np.float32(factor)).sum(axis=1)],
        promise="executable.run",
    )


@pytest.mark.promise("executable.run")
def test_results_are_right(executable: LoadedExecutable) -> None:
    right(executable)
    right(executable, -0.5)


@pytest.mark.promise("executable.run")
@pytest.mark.parametrize("known", [False, True], ids=["of an argument", "known"])
def test_loops_of_any_length(client: Client, known: bool) -> None:
    _require_turns(client, known, 0, 1, 2, 255, 256, 257, 1025, 4097)


@pytest.mark.promise("executable.run")
@pytest.mark.profile("full")
@pytest.mark.parametrize("known", [False, True], ids=["of an argument", "known"])
def test_loops_of_more_turns_than_16_bits_count(client: Client, known: bool) -> None:
    _require_turns(client, known, 32_769, 65_535, 65_537)


def _require_turns(client: Client, known: bool, *counts: int) -> None:
    for trips in counts:
        text = TRIPS.format(bound=f"constant({trips})" if known else "get-tuple-element(s), index=1")
        (result,) = client.compile(text)(np.int32(7), np.int32(trips))
        got = int(np.asarray(result))
        assert got == 7 + 3 * trips, f"A loop of {trips} trips adds 3 to 7 in each, which isn't {got}."


@pytest.mark.promise("executable.run", "executable.result-order", "executable.immutable", "executable.arguments-kept")
@pytest.mark.parametrize("program", [*FAMILY, *FLOW, hundreds_of_arguments()], ids=str)
def test_each_run_gives_the_same_bits(client: Client, program: FamilyProgram, random: np.random.Generator) -> None:
    """Buffers are arguments of several runs, which are enqueued before the first result is read."""
    executable = compiled(client, program)
    cases = []
    for _ in range(3):
        values = program.arguments(random)
        buffers = [client.buffer_from_host(v) for v in values]
        kept = range(len(buffers))
        runs = [executable.execute(buffers, non_donatable=tuple(kept)) for _ in range(3)]
        cases.append((values, buffers, runs))
    for values, buffers, runs in cases:
        expected = program.results(values)
        for results in runs:
            require_bits(
                "A program gives the same bits for the same arguments each time.",
                [np.asarray(r) for r in results],
                expected,
                module=program.text,
                arguments=values,
                promise="executable.equal-runs",
            )
        require_bits(
            "Arguments that the caller keeps have their values after the runs.",
            [np.asarray(b) for b in buffers],
            values,
            module=program.text,
            promise="executable.arguments-kept",
        )


@pytest.mark.promise("executable.run", "executable.immutable")
@pytest.mark.parametrize("program", [siblings()[1], every_kind_of_kernel()], ids=str)
def test_hundreds_of_runs_are_alike(client: Client, program: FamilyProgram, random: np.random.Generator) -> None:
    """There are more runs than 8 bits can count. An exchange of two arguments would change the results."""
    executable = compiled(client, program)
    values = program.arguments(random)
    buffers = [client.buffer_from_host(v) for v in values]
    expected = program.results(values)
    for number, results in enumerate([executable.execute(buffers) for _ in range(300)], 1):
        require_bits(
            f"Run {number} of a program gives the same bits as the first one.",
            [np.asarray(r) for r in results],
            expected,
            module=program.text,
            arguments=values,
            promise="executable.equal-runs",
        )


def _shapes(program: FamilyProgram) -> list[str]:
    return [str(leaf) for shape in program.module.parameter_shapes for leaf in shape.array_leaves()]


@pytest.mark.promise("executable.run", "executable.arguments-kept")
@pytest.mark.parametrize("program", [p for p in FAMILY if len(set(_shapes(p))) < len(_shapes(p))], ids=str)
def test_one_buffer_as_several_arguments(client: Client, program: FamilyProgram, random: np.random.Generator) -> None:
    executable = compiled(client, program)
    arrays = dict(zip(_shapes(program), program.arguments(random), strict=True))
    placed = {shape: client.buffer_from_host(array) for shape, array in arrays.items()}
    values, buffers = [arrays[shape] for shape in _shapes(program)], [placed[shape] for shape in _shapes(program)]
    results = executable.execute(buffers, non_donatable=tuple(range(len(buffers))))
    program.require_results(
        "A program gives its results for one buffer that is several of its arguments.", results, values
    )
    require_bits(
        "Such a buffer keeps its value.",
        [np.asarray(b) for b in buffers],
        values,
        module=program.text,
        promise="executable.arguments-kept",
    )


@pytest.mark.promise("compiler.run-backend", "executable.donation", "executable.arguments-kept")
@pytest.mark.parametrize("backwards", [False, True], ids=["in order", "backwards"])
def test_programs_that_differ_in_donation_are_told_apart(
    client: Client, random: np.random.Generator, backwards: bool
) -> None:
    """Both are compiled before the first one runs."""
    programs = donations()[:: -1 if backwards else 1]
    for program, executable in [(program, client.compile(program.module)) for program in programs]:
        values = program.arguments(random)
        buffer = client.buffer_from_host(values[0])
        results = executable.execute([buffer])
        is_donated = program.name == "donated"
        assert buffer.is_deleted() == is_donated, (
            f"A program gets its own executable, but its argument was {'kept' if is_donated else 'deleted'}."
        )
        program.require_results("A program gives its results, whichever was compiled before.", results, values)
        if not is_donated:
            require_bits(
                "An argument that isn't donated keeps its value.",
                [np.asarray(buffer)],
                values,
                promise="executable.arguments-kept",
            )


_DONATING = ("donated", "donated_and_swapped", "donated_for_scratch", "updated_in_place")


@pytest.mark.promise("executable.donation", "executable.donated-reuse", "executable.kept-argument-copied")
@pytest.mark.parametrize("name", [*_DONATING, *(p.name for p in FLOW)])
def test_donated_arguments_are_gone(client: Client, name: str, random: np.random.Generator) -> None:
    program = next(p for p in (*FAMILY, *FLOW) if p.name == name)
    executable = compiled(client, program)
    for keep in ((), executable.donated_parameters[:1]):
        values = program.arguments(random)
        buffers = [client.buffer_from_host(v) for v in values]
        results = executable.execute(buffers, non_donatable=keep)
        for index, (buffer, value) in enumerate(zip(buffers, values, strict=True)):
            gone = index in executable.donated_parameters and index not in keep
            assert buffer.is_deleted() == gone, "A donated argument is deleted, and no other one."
            if not gone:
                require_bits(
                    "An argument that isn't donated keeps its value.",
                    [np.asarray(buffer)],
                    [value],
                    promise="executable.arguments-kept",
                )
        if any(b.is_deleted() for b in buffers):
            with pytest.raises(FailedPreconditionError):
                executable.execute(buffers)
        program.require_results("A program that is given donated arguments gives its results.", results, values)


@pytest.mark.promise("executable.donated-reuse", "executable.results-distinct")
def test_a_chain_of_donations(client: Client, random: np.random.Generator) -> None:
    """Each run's results are the next one's donated arguments, and nothing waits."""
    program = next(p for p in FAMILY if p.name == "donated")
    executable = compiled(client, program)
    x, y = program.arguments(random)
    state, step = client.buffer_from_host(x), client.buffer_from_host(y)
    for _ in range(50):
        (state,) = executable.execute([state, step])
    require_bits(
        "Donated results feed the next run.", [np.asarray(state)], [x - 50 * y], promise="executable.donated-reuse"
    )


def test_it_says_what_it_takes_and_gives(executable: LoadedExecutable) -> None:
    assert [str(s.without_layout()) for s in executable.parameter_shapes] == ["f32[8,16]", "f32[]"]
    assert [str(s.without_layout()) for s in executable.result_shapes] == ["f32[8,16]", "f32[8]"]
    assert executable.name == "scale_and_sum"


@pytest.mark.promise("executable.run")
def test_results_feed_other_calls(client: Client, executable: LoadedExecutable) -> None:
    x, k = client.buffer_from_host(X), client.buffer_from_host(np.float32(2))
    for _ in range(10):
        x, sums = executable.execute([x, k])
    require_bits("Results are arguments of the next run.", [np.asarray(x)], [X * 1024], promise="executable.run")
    assert sums.shape.dimensions == (8,)


# -- wrong calls ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ((X,), "takes 2 arguments"),
        ((X, np.float32(1), X), "takes 2 arguments"),
        ((X[:7], np.float32(1)), r"argument 0 .* must be f32\[8,16\]"),
        ((X.astype(np.float64), np.float32(1)), r"argument 0 .* must be f32\[8,16\]"),
        ((X, np.int32(1)), "argument 1"),
        ((X, "one"), "argument 1"),
        ((X, None), "argument 1"),
    ],
    ids=["too_few", "too_many", "shape", "type", "scalar_type", "text", "none"],
)
def test_wrong_arguments_leave_it_usable(
    executable: LoadedExecutable, arguments: tuple[object, ...], said: str
) -> None:
    with pytest.raises(InvalidArgumentError, match=said):
        executable(*arguments)
    right(executable)


@pytest.mark.parametrize("kind", ["count", "shape", "type", "deleted", "device"])
@pytest.mark.parametrize("name", ["donated_and_swapped", "loop", "elementwise"])
def test_wrong_buffers_leave_it_usable(client: Client, name: str, kind: str, random: np.random.Generator) -> None:
    """A refused run donates nothing, and the next one is right."""
    program = next(p for p in FAMILY if p.name == name)
    executable = compiled(client, program)
    values = program.arguments(random)
    buffers = [client.buffer_from_host(v) for v in values]
    wrong = list(buffers)
    match kind:
        case "count":
            wrong.append(buffers[0])
        case "shape":
            wrong[-1] = client.buffer_from_host(np.zeros((*values[-1].shape, 2), values[-1].dtype))
        case "type":
            wrong[-1] = client.buffer_from_host(values[-1].astype(np.int8))
        case "deleted":
            wrong[-1] = client.buffer_from_host(values[-1])
            wrong[-1].delete()
        case "device":
            require_devices(client, 2)
            wrong[-1] = client.buffer_from_host(values[-1], client.devices[1])
    with pytest.raises((InvalidArgumentError, FailedPreconditionError)):
        executable.execute(wrong)
    assert not any(b.is_deleted() for b in buffers), "A run that is refused donates nothing."
    program.require_results(
        "A run after a refused one gives the results of the program.", executable.execute(buffers), values
    )


def test_buffers_of_another_client_are_refused(open_client: Callable[[], Client], executable: LoadedExecutable) -> None:
    with open_client() as other:
        x = other.buffer_from_host(X)
        with pytest.raises(InvalidArgumentError, match="another client"):
            executable(x, np.float32(1))
    right(executable)


@pytest.mark.promise("executable.failure-poisons", "event.first-error")
@pytest.mark.parametrize("program", [p for p in FAMILY if p.module.parameter_shapes], ids=str)
def test_an_argument_that_failed(client: Client, program: FamilyProgram, random: np.random.Generator) -> None:
    """The results have the argument's error, and so have results of results; the next run is right."""
    executable = compiled(client, program)
    values = program.arguments(random)
    for number in (0, len(values) - 1):
        buffers = [client.buffer_from_host(v) for v in values]
        buffers[number] = client.error_buffer(XlaError("the test's failure"), executable.parameter_shapes[number])
        results = executable.execute(buffers, non_donatable=range(len(buffers)))
        for result in results:
            with pytest.raises(XlaError, match="the test's failure"):
                np.asarray(result)
        for index, (buffer, value) in enumerate(zip(buffers, values, strict=True)):
            if index != number:
                require_bits(
                    "A failed run leaves its other arguments.",
                    [np.asarray(buffer)],
                    [value],
                    promise="executable.arguments-kept",
                )
        program.require_results(
            "A run after a failed one gives the results of the program.", executable(*values), values
        )


@pytest.mark.parametrize(
    "text",
    [
        "HloModule m\nENTRY e {\n  ROOT x = f32[2] frobnicate()\n}\n",
        "HloModule m\nENTRY e {\n  x = f32[2] parameter(0)\n  ROOT y = f32[3] negate(x)\n}\n",
        'func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {\n  %y = "stablehlo.nothing"(%x) : () -> ()\n}\n',
        "",
        "no program at all",
    ],
    ids=["opcode", "shape", "stablehlo", "empty", "prose"],
)
def test_wrong_programs_leave_the_client_usable(client: Client, text: str, executable: LoadedExecutable) -> None:
    with pytest.raises(XlaError):
        client.compile(text)
    right(executable)


@pytest.mark.promise("spec.options")
def test_an_unknown_option_is_refused(client: Client) -> None:
    with pytest.raises(InvalidArgumentError, match="no_such_option"):
        client.compile(SCALE_AND_SUM, CompileOptions(backend={"no_such_option": 1}))


@pytest.mark.promise("compiler.run-backend", "compiler.passes-in-place")
@pytest.mark.parametrize("level", [0, 1, 2])
def test_every_optimization_level_is_right(client: Client, level: int) -> None:
    right(client.compile(SCALE_AND_SUM, ContractCompileOptions(optimization_level=level)))


@pytest.mark.promise("compiler.run-backend")
@pytest.mark.parametrize("program", [*FAMILY, *FLOW], ids=str)
def test_the_family_without_optimizations(client: Client, program: FamilyProgram, random: np.random.Generator) -> None:
    """The program that was given stays what it is: its text, and the values of its constants."""
    compiled(client, program)
    values = program.arguments(random)
    given, untouched = parse(program.text), parse(program.text)
    expected = [np.asarray(r) for r in evaluate(untouched, *values)]
    executable = client.compile(given, CompileOptions(optimization_level=0))
    assert given.to_text() == untouched.to_text(), "A compilation changes nothing in the program that it was given."
    require_bits(
        "A compilation changes no constant of the program that it was given.",
        [np.asarray(r) for r in evaluate(given, *values)],
        expected,
        module=program.text,
        promise="compiler.run-backend",
    )
    require_bits(
        "A program that is compiled without optimizations gives the same results.",
        [np.asarray(r) for r in executable(*values)],
        expected,
        module=program.text,
        arguments=values,
        promise="compiler.run-backend",
    )


# -- the end ----------------------------------------------------------------------------------------------------------


@pytest.mark.promise("executable.close-starts-nothing", "executable.close-cancels")
def test_a_deleted_executable_starts_nothing(client: Client, executable: LoadedExecutable) -> None:
    made = client.compile(SCALE_AND_SUM)
    first, expected = made(X, np.float32(2)), [X * np.float32(2), (X * np.float32(2)).sum(axis=1)]
    made.delete()
    for result, wanted in zip(first, expected, strict=True):
        with contextlib.suppress(CancelledError):
            require_bits(
                "A run that began before its executable was deleted is cancelled, or gives its results.",
                [np.asarray(result)],
                [wanted],
                promise="executable.close-cancels",
            )
    with pytest.raises(FailedPreconditionError):
        made(X, np.float32(2))
    made.delete()
    right(executable)


@pytest.mark.promise("executable.close-cancels")
def test_deleting_ends_a_run_or_lets_it_finish(client: Client, executable: LoadedExecutable) -> None:
    """A loop of some seconds. Where the device can't end it early, its result is right."""
    loop = client.compile(COUNT)
    trips, seconds = 100, 0.0
    while seconds < 0.05 and trips < 1 << 28:
        trips *= 4
        start = time.perf_counter()
        loop(np.int32(0), np.int32(trips))[0].block_until_ready()
        seconds = time.perf_counter() - start
    trips = min(int(trips * 2 / seconds), (1 << 31) - 1)
    (result,) = loop(np.int32(0), np.int32(trips))
    loop.delete()
    try:
        require_bits(
            "A run that isn't ended early gives its result.",
            [np.asarray(result)],
            [np.array(trips, np.int32)],
            promise="executable.close-cancels",
        )
    except CancelledError:  # it was ended early
        assert loop.is_deleted()
    right(executable)

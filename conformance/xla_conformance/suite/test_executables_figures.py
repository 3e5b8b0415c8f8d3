"""The figures of executables: statistics, costs, memory and artifacts, each between a lower and an upper bound."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
import pytest

from xla_conformance.bench import ExecutableBench, compiled
from xla_conformance.claims import NotSupported, not_supported
from xla_conformance.family_program import FamilyProgram
from xla_conformance.placements import require_placement
from xla_conformance.programs.family import FAMILY
from xla_core import Client, CompileOptions, LoadedExecutable, ResourceExhaustedError, parse
from xla_core.backend import BackendSpec, Executable
from xla_core.hlo import OPS, Opcode, Trait, evaluate

NAMES = {"hlo", "buffer-assignment", "plan", "llvm-unoptimized", "llvm", "c", "asm", "ptx", "ptxas", "object", "thunks"}
TEXT = {"hlo", "buffer-assignment", "plan", "llvm-unoptimized", "llvm", "c", "asm", "ptx", "ptxas", "thunks"}


def program_of(name: str, text: str) -> FamilyProgram:
    return FamilyProgram(name, f"HloModule m\n\n{text}")


ADD = "add {\n  a = f32[] parameter(0)\n  b = f32[] parameter(1)\n  ROOT r = f32[] add(a, b)\n}\n\n"


class Cost(NamedTuple):
    """What one execution of a program costs. It accesses its arguments and results `passes` times."""

    program: FamilyProgram
    flops: float = 0.0
    transcendentals: float = 0.0
    passes: int = 1


COSTS = {
    "dot": Cost(
        program_of(
            "dot",
            "ENTRY e {\n  x = f32[48,64] parameter(0)\n  y = f32[64,32] parameter(1)\n"
            "  ROOT r = f32[48,32] dot(x, y), lhs_contracting_dims={1}, rhs_contracting_dims={0}\n}\n",
        ),
        2.0 * 48 * 64 * 32,
        0.0,
    ),
    "elementwise": Cost(
        program_of(
            "elementwise",
            "ENTRY e {\n  x = f32[1000] parameter(0)\n  y = f32[1000] parameter(1)\n"
            "  a = f32[1000] add(x, y)\n  ROOT r = f32[1000] multiply(a, y)\n}\n",
        ),
        2000.0,
        0.0,
    ),
    "transcendental": Cost(
        program_of("transcendental", "ENTRY e {\n  x = f32[40,50] parameter(0)\n  ROOT r = f32[40,50] tanh(x)\n}\n"),
        0.0,
        2000.0,
    ),
    "reduction": Cost(
        program_of(
            "reduction",
            ADD + "ENTRY e {\n  x = f32[64,128] parameter(0)\n  zero = f32[] constant(0)\n"
            "  ROOT r = f32[64] reduce(x, zero), dimensions={1}, to_apply=add\n}\n",
        ),
        64.0 * 127,
        0.0,
    ),
    "loop": Cost(
        program_of(
            "loop_of_ten",
            "condition {\n  s = (s32[], f32[500]) parameter(0)\n  i = s32[] get-tuple-element(s), index=0\n"
            "  ten = s32[] constant(10)\n  ROOT r = pred[] compare(i, ten), direction=LT\n}\n\n"
            "body {\n  s = (s32[], f32[500]) parameter(0)\n  i = s32[] get-tuple-element(s), index=0\n"
            "  x = f32[500] get-tuple-element(s), index=1\n  one = s32[] constant(1)\n  j = s32[] add(i, one)\n"
            "  y = f32[500] multiply(x, x)\n  ROOT r = (s32[], f32[500]) tuple(j, y)\n}\n\n"
            "ENTRY e {\n  x = f32[500] parameter(0)\n  zero = s32[] constant(0)\n"
            "  s = (s32[], f32[500]) tuple(zero, x)\n"
            "  loop = (s32[], f32[500]) while(s), condition=condition, body=body\n"
            "  ROOT r = f32[500] get-tuple-element(loop), index=1\n}\n",
        ),
        5000.0,
        passes=10,
    ),
    "large": Cost(
        program_of(
            "large",
            "ENTRY e {\n  x = f32[65536,32768] parameter(0)\n  y = f32[32768,8] parameter(1)\n"
            "  ROOT r = f32[65536,8] dot(x, y), lhs_contracting_dims={1}, rhs_contracting_dims={0}\n}\n",
        ),
        2.0 * 65536 * 32768 * 8,
    ),
    "movement": Cost(
        program_of(
            "movement",
            "ENTRY e {\n  x = f32[300,100] parameter(0)\n  ROOT r = f32[100,300] transpose(x), dimensions={1,0}\n}\n",
        ),
        0.0,
        0.0,
    ),
}


def compiled_if_it_fits(client: Client, program: FamilyProgram) -> LoadedExecutable:
    try:
        return compiled(client, program)
    except ResourceExhaustedError as error:
        not_supported(f"it compiles no program that needs more memory than it has: {error}")


@pytest.mark.promise("executable.cost")
@pytest.mark.parametrize("name", COSTS)
def test_costs_are_those_of_one_execution(client: Client, name: str) -> None:
    program, flops, transcendentals, passes = COSTS[name]
    executable = compiled_if_it_fits(client, program)
    cost: Mapping[str, float] = executable.cost_analysis()
    for key in ("flops", "transcendentals", "bytes accessed"):
        assert key in cost, f"cost_analysis has an estimate of {key!r}."
    for key, value in cost.items():
        assert np.isfinite(value), f"The estimate of {key!r} is a number."
        assert value >= 0, f"The estimate of {key!r} is not negative."
    said, traffic = cost["flops"], 0.0
    computed = 40 if cost["transcendentals"] else 200  # a device without the function has its formula of flops instead
    assert flops * 2 / 3 <= said <= 4 * flops + computed * transcendentals, (
        f"One execution has about {flops} flops, not {said}."
    )
    if cost["transcendentals"] or not said or not transcendentals:
        said = cost["transcendentals"]
        assert transcendentals / 2 <= said <= 4 * transcendentals, (
            f"One execution has about {transcendentals} transcendentals, not {said}."
        )
    else:  # each step of the formula may read two operands and write one, and even a line between two points has two
        assert said >= 2 * transcendentals, f"A formula has more than {said / transcendentals} flops for each number."
        traffic = 3 * 4 * computed * transcendentals
    shapes = [*executable.parameter_shapes, *executable.result_shapes]
    moved = passes * sum(shape.byte_size for shape in shapes)
    said = cost["bytes accessed"]
    assert moved / 2 <= said <= 8 * moved + traffic, f"One execution accesses about {moved} bytes, not {said}."


@pytest.mark.promise("executable.memory-stats", "executable.memory-stats-sizes")
def test_figures_have_more_than_32_bits(client: Client) -> None:
    """The program is compiled only: a device needn't have the memory for it."""
    loaded = compiled_if_it_fits(client, COSTS["large"].program)
    size, stats = client.platform.compiler.shape_size_bytes, loaded.memory_stats()
    arguments = sum(size(shape) for shape in loaded.executable.parameter_shapes)
    assert stats.argument_bytes == arguments, f"The arguments have {arguments} bytes, not {stats.argument_bytes}."
    assert stats.peak_bytes >= arguments, f"The peak of {stats.peak_bytes} bytes has {arguments} bytes of arguments."


@pytest.mark.promise("executable.cost")
def test_costs_grow_with_the_work(client: Client) -> None:
    text = (
        "ENTRY e {{\n  x = f32[{n},64] parameter(0)\n  y = f32[64,32] parameter(1)\n"
        "  ROOT r = f32[{n},32] dot(x, y), lhs_contracting_dims={{1}}, rhs_contracting_dims={{0}}\n}}\n"
    )
    small, large = (compiled(client, program_of(f"dot{n}", text.format(n=n))).cost_analysis() for n in (16, 160))
    for key, least, most in (("flops", 9.0, 11.0), ("bytes accessed", 2.0, 11.0)):
        factor = large[key] / small[key]
        assert least <= factor <= most, f"Ten times the rows cost {factor:.1f} times the {key}."


@pytest.mark.promise(
    "executable.memory-stats", "executable.memory-stats-sizes", "executable.peak-bytes", "executable.memory-needed",
    "compiler.shape-size", "report.temp-bytes",
)  # fmt: skip
@pytest.mark.parametrize("program", FAMILY, ids=str)
def test_memory_of_one_execution(client: Client, program: FamilyProgram, random: np.random.Generator) -> None:
    """The figures against the shapes, and against what a run allocates."""
    loaded = compiled(client, program)
    executable, size = loaded.executable, client.platform.compiler.shape_size_bytes
    stats = loaded.memory_stats()
    arguments = sum(size(shape) for shape in executable.parameter_shapes)
    results = [size(shape) for shape in executable.result_shapes]
    aliased = {a.output_index[0] if a.output_index else 0 for a in executable.module.input_output_aliases}
    assert stats.argument_bytes == arguments, "Arguments have the sizes that the target gives them."
    assert stats.output_bytes == sum(results), "Results have the sizes that the target gives them."
    assert stats.alias_bytes == sum(results[i] for i in aliased), "Results in donated memory are aliased bytes."
    needed = stats.argument_bytes + stats.output_bytes - stats.alias_bytes + stats.temp_bytes
    needed += stats.constant_bytes + stats.generated_code_bytes
    assert stats.peak_bytes == needed, "The peak is arguments, unaliased results, temporaries, constants and code."
    constants = sum(
        i.shape.byte_size for c in executable.module.computations for i in c.instructions if i.opcode == Opcode.CONSTANT
    )
    assert 0 <= stats.constant_bytes <= 4 * constants + 4096, (
        f"The program's constants have {constants} bytes, not {stats.constant_bytes}."
    )
    assert 0 <= stats.generated_code_bytes <= 1 << 26, "The code of a small program is small."
    assert stats.temp_bytes == loaded.report.temp_bytes, "The report and memory_stats say the same of temporaries."
    with ExecutableBench(loaded) as bench:
        values = program.arguments(random)
        bench.results_of(values)
        first = len(bench.allocator.sizes)
        bench.results_of(values)
        sizes = bench.allocator.sizes[first + len(values) :]
    own = sum(sizes) - (sum(results) - _donated_bytes(results, aliased))
    assert own <= 2 * stats.temp_bytes + 64 * len(sizes), (
        f"A run allocates {own} bytes of temporary memory; its executable says {stats.temp_bytes}."
    )
    everything = sum(
        size(leaf)
        for c in executable.module.computations
        for i in c.instructions
        for leaf in i.shape.leaves()
        if leaf.is_array
    )
    assert stats.temp_bytes <= 2 * everything + 4096, (
        f"All values of the program together have {everything} bytes; its temporaries can't have {stats.temp_bytes}."
    )


@pytest.mark.promise("executable.immutable", "executable.memory-stats", "executable.cost", "executable.as-text")
def test_what_an_executable_says_stays(client: Client) -> None:
    """Other programs are compiled meanwhile."""
    said = []
    for program in (*(cost.program for cost in COSTS.values()), redundant()):
        with contextlib.suppress(NotSupported):  # the tests of the program say why
            executable = compiled_if_it_fits(client, program).executable
            said.append((program, executable, _said(executable)))
    if len(said) < 2:
        not_supported("it claims fewer than two of the programs")
    for program, executable, before in said:
        for what, value in _said(executable).items():
            assert value == before[what], (
                f"An executable is immutable, but the {what} of {program} became {value}, which was {before[what]}."
            )


def _said(executable: Executable) -> dict[str, object]:
    return {
        "memory_stats": executable.memory_stats(),
        "cost_analysis": dict(executable.cost_analysis()),
        "fingerprint": executable.fingerprint(),
        "text": executable.as_text(),
        "result_shapes": executable.result_shapes,
    }


def _donated_bytes(results: list[int], aliased: set[int]) -> int:
    return sum(results[i] for i in aliased)


def redundant() -> FamilyProgram:
    """Computes one sum a hundred times, of which passes leave few."""
    lines = ["ENTRY e {", "  x = f32[8] parameter(0)", *(f"  a{i} = f32[8] add(x, x)" for i in range(100))]
    return program_of("redundant", "\n".join([*lines, "  ROOT r = (f32[8], f32[8]) tuple(a0, a50)", "}\n"]))


@pytest.mark.promise(
    "report.counts",
    "report.instructions",
    "report.fusions",
    "report.kernels",
    "report.library-calls",
    "report.temp-bytes",
    "report.seconds",
)
@pytest.mark.parametrize("name", ["temporaries", "elementwise", "loop", "several_results", "nothing", "redundant"])
def test_the_report_of_a_compilation(client: Client, spec: BackendSpec, name: str) -> None:
    program = next(p for p in (*FAMILY, redundant()) if p.name == name)
    compiled(client, program)
    start = time.perf_counter()
    executable = client.compile(program.module)
    seconds = time.perf_counter() - start
    report, module = executable.report, executable.executable.module
    before = program.module.instruction_count
    assert before / 2 <= report.instructions_before <= 2 * before + 8, (
        f"The program had {before} instructions before the passes, not {report.instructions_before}."
    )
    after = module.instruction_count
    assert after / 2 <= report.instructions_after <= 2 * after + 8, (
        f"The optimized module has {after} instructions, not {report.instructions_after}."
    )
    fusions = sum(i.opcode == Opcode.FUSION for c in module.computations for i in c.instructions)
    assert report.fusions == fusions, f"The optimized module has {fusions} fusions, not {report.fusions}."
    assert 0 <= report.kernels <= 4 * after, f"{after} instructions need no {report.kernels} kernels."
    if name in ("elementwise", "redundant"):
        computing = sum(Trait.NOP not in OPS[i.opcode].traits for i in module.entry.instructions)
        assert report.kernels <= computing, f"{computing} elementwise ops need no {report.kernels} kernels."
    calls = sum(report.library_calls.values())
    if spec.kernel is not None and name != "nothing":
        assert report.kernels + calls > 0, "A program that computes something has kernels, or calls into libraries."
    assert all(n >= 0 for n in report.library_calls.values()), "Numbers of library calls are not negative."
    assert calls <= after, f"{after} instructions need no {calls} library calls."
    assert 0 <= report.temp_bytes <= report.temp_bytes_without_reuse, "Sharing memory doesn't need more of it."
    assert 0 < report.compile_seconds <= seconds, "compile_seconds are those of the whole compilation."
    assert report.stage_seconds, "stage_seconds has the seconds of each stage."
    assert all(0 <= s <= seconds for s in report.stage_seconds.values()), "A stage takes a part of the compilation."


@pytest.mark.promise("executable.artifacts", "executable.artifact-hlo", "executable.artifact-names")
@pytest.mark.parametrize("keep", [False, True], ids=["default", "keep_artifacts"])
def test_artifacts(client: Client, keep: bool) -> None:
    program = next(p for p in FAMILY if p.name == "temporaries")
    compiled(client, program)
    executable = client.compile(program.module, CompileOptions(keep_artifacts=keep))
    artifacts = executable.artifacts()
    assert artifacts.get("hlo") == executable.as_text(), 'The artifact "hlo" is always there: the optimized module.'
    for name, content in artifacts.items():
        assert name.partition(".")[0] in NAMES, f"An artifact has one of the contract's names, not {name!r}."
        assert isinstance(content, (str, bytes)), f"The artifact {name!r} is a text or bytes."
        assert content, f"The artifact {name!r} isn't empty."
        if name in TEXT:
            assert isinstance(content, str), f"The artifact {name!r} is a text."


@pytest.mark.promise(
    "executable.as-text", "executable.optimized-module", "compiler.flat-entry", "executable.flat-entry"
)
@pytest.mark.parametrize("program", FAMILY, ids=str)
def test_the_optimized_module_computes_the_same(
    client: Client, program: FamilyProgram, random: np.random.Generator
) -> None:
    executable = compiled(client, program)
    module = parse(executable.as_text())
    assert all(shape.is_array for shape in module.parameter_shapes), "The entry's parameters are arrays."
    result = module.result_shape
    flat = result.tuple_shapes if result.is_tuple else (result,)
    assert all(shape.is_array for shape in flat), "The entry's root is an array or a tuple of arrays."
    assert executable.executable.module.to_text() == executable.as_text(), "as_text() is the optimized module."
    values = program.arguments(random)
    program.require_results(
        "The optimized module, evaluated, gives the results of the program.",
        evaluate(module, *values),
        values,
        "executable.optimized-module",
    )


@pytest.mark.promise("executable.placement")
@pytest.mark.parametrize("program", FAMILY, ids=str)
def test_without_a_fallback_the_host_runs_nothing(client: Client, program: FamilyProgram) -> None:
    executable = compiled(client, program).executable
    require_placement(executable, client.platform.compiler.target_config)
    on_host = [placed.name for placed in executable.placement() if placed.on_host]
    assert not on_host, f"Without a fallback, these must run on the device: {on_host}"


@pytest.mark.promise("executable.parameter-shapes", "executable.result-shapes")
@pytest.mark.parametrize("program", FAMILY, ids=str)
def test_shapes(client: Client, program: FamilyProgram) -> None:
    executable = compiled(client, program).executable
    for shapes, given in (
        (executable.parameter_shapes, program.module.parameter_shapes),
        (executable.result_shapes, (program.module.result_shape,)),
    ):
        leaves = [leaf.without_layout() for shape in given for leaf in shape.array_leaves()]
        assert [s.without_layout() for s in shapes] == leaves, "The shapes are those of the arrays of the program."
        assert all(s.layout is not None for s in shapes), "The shapes have their layouts on the device."

"""Programs and ops as C (`xla aot --emit c`), built by the C compilers of several processors."""

from __future__ import annotations

import subprocess
import zlib
from pathlib import Path

import numpy as np
import pytest
from xla_conformance.ops.cases import OpCase, generate
from xla_conformance.ops.comparison import check
from xla_conformance.ops.domains import DOMAINS

import xla_core as xla
from tests.backends.cpu.ahead_of_time.emulators import skip_faulty
from tests.backends.cpu.ahead_of_time.machines import MACHINES, Machine
from tests.backends.cpu.ahead_of_time.test_files import SCALED, SORTED, files_of
from tests.programs import PROGRAMS, Program
from xla_core.errors import InvalidArgumentError, UnimplementedError

PROCESSORS = [machine for machine in MACHINES if machine.name in ("x86_64", "aarch64", "riscv64", "armv7", "s390x")]
HOST = PROCESSORS[0]
PORTABLE = Machine("portable", "gcc", (), {"triple": "x86_64-linux-gnu"})
"""This machine, and C for no processor in particular."""

UNDEFINED = ("-fsanitize=undefined", "-fno-sanitize-recover=all")
needs_host = pytest.mark.skipif(bool(HOST.missing), reason=f"not installed: {HOST.missing}")


def _options(machine: Machine) -> dict[str, object]:
    return {"emit": "c", **({"triple": ""} if machine is PORTABLE else {})}


def _chosen(machine: Machine, names: list[str], count: int) -> set[str]:
    """The tests of a machine that are not slow: others on each machine."""
    return set(sorted(names, key=lambda name: zlib.crc32(f"{machine}/{name}/c".encode()))[:count])


def _program_cases() -> list[object]:
    cases = []
    for machine in (PORTABLE, *PROCESSORS[1:]):
        chosen = _chosen(machine, [p.name for p in PROGRAMS], 3 if machine is PORTABLE else 1)
        for program in PROGRAMS:
            marks = [pytest.mark.skipif(bool(machine.missing), reason=f"not installed: {machine.missing}")]
            if program.name not in chosen:
                marks.append(pytest.mark.slow)
            cases.append(pytest.param(machine, program, id=f"{machine}-{program}", marks=marks))
    return cases


@pytest.mark.parametrize(("machine", "program"), _program_cases())
def test_programs_in_c_give_the_results_of_jax(machine: Machine, program: Program, tmp_path: Path) -> None:
    skip_faulty(machine, program.name)
    program.check(machine.results(xla.parse(program.text), program.inputs(), tmp_path, **_options(machine)))


def _op_cases() -> list[object]:
    """Every op on this machine, where undefined behaviour of C ends the program; and a case of another type elsewhere."""
    cases = []
    for machine in (PORTABLE, *PROCESSORS[1:]):
        chosen = _chosen(machine, [str(o) for o in DOMAINS], 4 if machine is PORTABLE else 1)
        for opcode in DOMAINS:
            marks = [pytest.mark.skipif(bool(machine.missing), reason=f"not installed: {machine.missing}")]
            if str(opcode) not in chosen:
                marks.append(pytest.mark.slow)
            cases.append(pytest.param(machine, opcode, id=f"{machine}-{opcode}", marks=marks))
    return cases


def _case(machine: Machine, opcode: str) -> OpCase | None:
    cases = [case for case in generate(opcodes=[opcode]) if not case.has_denormal_products]
    return min(cases, key=lambda case: zlib.crc32(f"{machine}/{case.name}/c".encode()), default=None)


@pytest.mark.parametrize(("machine", "opcode"), _op_cases())
def test_ops_in_c_are_within_the_bounds_of_the_evaluator(machine: Machine, opcode: str, tmp_path: Path) -> None:
    case = _case(machine, opcode)
    if case is None:
        pytest.skip("every case has denormal products")
    try:
        results = machine.results(
            case.module(),
            case.arguments(),
            tmp_path,
            flags=UNDEFINED if machine is PORTABLE else (),
            **_options(machine),
        )
    except UnimplementedError as error:
        pytest.skip(error.message)
    check(f"{case.name} on {machine}.", results, case.expected(), module=case.module(), arguments=case.arguments())


@needs_host
@pytest.mark.parametrize("level", [0, 1])
def test_c_without_extensions_gives_the_same_bits(tmp_path: Path, level: int) -> None:
    """A compiler that isn't GCC or Clang sees no vectors, no attributes and no builtins."""
    text = """HloModule mixed
ENTRY main {
  x = f32[30,40] parameter(0)
  y = f32[40,50] parameter(1)
  product = f32[30,50] dot(x, y), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  whole = s32[30,50] convert(product)
  bits = s32[30,50] popcnt(whole)
  ROOT both = (f32[30,50], s32[30,50]) tuple(product, bits)
}"""
    rng = np.random.default_rng(0)
    inputs = [rng.standard_normal((30, 40), np.float32), rng.standard_normal((40, 50), np.float32)]
    options = {"emit": "c", "triple": "", "compile_options": xla.CompileOptions(optimization_level=level)}
    plain = HOST.results(xla.parse(text), inputs, tmp_path, flags=["-DXLA_PLAIN_C", "-pedantic"], **options)
    vectors = HOST.results(xla.parse(text), inputs, tmp_path, **options)
    for one, other in zip(plain, vectors, strict=True):
        np.testing.assert_array_equal(one, other)


@needs_host
def test_threads_divide_kernels_in_c(tmp_path: Path) -> None:
    text = "HloModule wide\nENTRY main { x = f32[300,4000] parameter(0)\n ROOT y = f32[300,4000] tanh(x) }"
    x = np.random.default_rng(0).standard_normal((300, 4000), np.float32)
    (divided,) = HOST.results(xla.parse(text), [x], tmp_path, threads=4, emit="c")
    assert "xla_cpu_parallel_for(" in (tmp_path / "model.c").read_text()
    np.testing.assert_allclose(divided, np.tanh(x), rtol=1e-6)


@needs_host
def test_two_models_in_c_are_linked_into_one_program(tmp_path: Path) -> None:
    HOST.files(xla.parse(SCALED), tmp_path, "scaled", emit="c")
    HOST.files(xla.parse(SORTED), tmp_path, "sorted", emit="c")
    (tmp_path / "both.c").write_text("""#include "scaled.h"
#include "sorted.h"
int main(void) { return scaled_run(0, 0, 0) != XLA_AOT_WRONG_ARENA || sorted_run(0, 0, 0) != XLA_AOT_WRONG_ARENA; }
""")
    HOST.run(HOST.build(tmp_path, "both", ["both.c", "scaled.c", "sorted.c"], "-std=c11"))


@needs_host
def test_the_compiler_refuses_c_for_another_kind_of_processor(tmp_path: Path) -> None:
    for triple, said in (
        ("s390x-linux-gnu", "another order of bytes"),
        ("armv7-linux-gnueabihf", "xla_pointers_have_4"),
    ):
        HOST.files(xla.parse(SCALED), tmp_path, emit="c", triple=triple)
        done = subprocess.run(["gcc", "-c", "model.c"], cwd=tmp_path, capture_output=True, text=True)
        assert done.returncode != 0
        assert said in done.stderr


def test_c_says_what_it_is_for() -> None:
    files = files_of(SCALED, emit="c", triple="")
    assert set(files) == {"model.c", "model.h", "model_example.c", "xla_aot.h", "xla_aot.c", "CMakeLists.txt"}
    assert "addresses of 64 bits" in str(files["model.c"])
    assert "for s390x-unknown-linux-gnu" in str(files_of(SCALED, emit="c", triple="s390x-linux-gnu")["model.c"])


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"float_abi": "soft"}, "an option of the C compiler"),
        ({"triple": "", "cpu": "cortex-a53"}, "those of a triple"),
        ({"triple": "z80-unknown-none"}, "LLVM has no target.*leave out the triple"),
        ({"emit": "rust"}, "emit"),
    ],
)
def test_options_without_meaning_for_c_are_refused(options: dict[str, object], said: str) -> None:
    with pytest.raises(InvalidArgumentError, match=f"(?s){said}"):
        files_of(SCALED, **{"emit": "c", **options})


def test_processors_of_32_bits_need_no_integers_of_128() -> None:
    text = "HloModule m\n\nENTRY e {\n  x = f64[40] parameter(0)\n  ROOT t = (f64[3], s32[3]) topk(x), k=3, largest=true\n}\n"
    wide, narrow = (str(files_of(text, emit="c", triple=f"riscv{bits}-linux-gnu")["model.c"]) for bits in (64, 32))
    assert wide.count("xla_u128") > 1, "a heap of numbers beside their indices"
    assert narrow.count("xla_u128") == 1, "the type's definition alone"

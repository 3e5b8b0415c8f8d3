"""`xla conform --runner`: the suite's programs, compiled ahead of time, which a command runs."""

from __future__ import annotations

import dataclasses
import json
import platform
import shlex
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from xla_core.cli import main

needs_c = pytest.mark.skipif(shutil.which("cc") is None, reason="not installed: a C compiler")

CORRUPTING = """#!/bin/sh
"$@" || exit $?
[ ! -f model.result0 ] || printf '\\377' | dd of=model.result0 bs=1 seek=3 conv=notrunc status=none
"""
"""A command that runs a program, and then changes a byte of its first result."""


@dataclasses.dataclass(frozen=True)
class Done:
    """A command that ended."""

    returncode: int
    stdout: str
    stderr: str


Conform = Callable[..., Done]


@pytest.fixture
def conform(capfd: pytest.CaptureFixture[str]) -> Conform:
    """Runs `xla conform` in this process, which has imported the suite."""

    def run(*options: str) -> Done:
        code = main(["conform", *options])
        return Done(code, *capfd.readouterr())

    return run


@needs_c
def test_cases_pass_on_this_machine(conform: Conform) -> None:
    done = conform("--backend", "cpu", "--runner", "", "-k", "floor and f32")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "cpu passes (quick, ahead of time for" in done.stdout
    assert "left out: loading, transfers, streams" in done.stdout
    assert "numbers in the same byte order" in done.stdout


@needs_c
def test_a_machine_that_computes_wrong_results_is_found(conform: Conform, tmp_path: Path) -> None:
    runner = tmp_path / "corrupting"
    runner.write_text(CORRUPTING)
    runner.chmod(0o755)
    report = tmp_path / "report"
    run = ("--backend", "cpu", "--runner", str(runner), "--report", str(report))
    done = conform(*run, "-k", "floor and f32")
    assert done.returncode == 1, done.stdout + done.stderr
    assert "floor of f32 must be the reference evaluator's result" in done.stdout
    document = json.loads((report / "report.json").read_text())
    assert document["summary"]["FAIL"] == 1
    assert document["environment"]["runner"] == str(runner)
    (wrong,) = (result for result in document["results"] if result["state"] == "FAIL")
    assert sorted(path.name for path in (report / "failures").glob("*/*")) == sorted(wrong["failure"]["files"])
    program, *alone = shlex.split(wrong["command"])
    assert program == "xla"
    assert alone[0] == "conform"
    again = conform(*alone[1:])
    assert again.returncode == 1, again.stdout + again.stderr
    assert "1 of 1 test is wrong" in again.stdout


@needs_c
def test_whole_programs_run(conform: Conform) -> None:
    done = conform("--backend", "cpu", "--runner", "", "-k", "mlp_sgd_step or donated_and_swapped")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "2 tests pass" in done.stdout


@needs_c
@pytest.mark.parametrize("failing", ["false", "echo"])
def test_a_command_that_runs_nothing_is_refused(conform: Conform, failing: str) -> None:
    done = conform("--backend", "cpu", "--runner", failing, "-k", "floor and f32")
    assert done.returncode == 2
    assert f"makes no program that {failing} runs" in " ".join(done.stderr.split())


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ((), f"code for {platform.machine()}"),
        (("triple=s390x-linux-gnu",), "code for s390x-linux-gnu"),
        (("triple=riscv64-linux-gnu", "features=+v"), "ends by SIGILL, so the runner's processor lacks an instruction"),
    ],
    ids=["no triple", "another processor", "features that the machine lacks"],
)
@pytest.mark.skipif(
    not (shutil.which("qemu-riscv64") and shutil.which("riscv64-linux-gnu-gcc")),
    reason="not installed: qemu-riscv64 and riscv64-linux-gnu-gcc",
)
def test_code_for_another_processor_is_refused(conform: Conform, settings: tuple[str, ...], said: str) -> None:
    runner = "qemu-riscv64 -cpu rv64,v=false -L /usr/riscv64-linux-gnu"
    options = [word for setting in settings for word in ("--set", setting)]
    done = conform(
        "--backend", "cpu", "--runner", runner, "--cc", "riscv64-linux-gnu-gcc", *options, "-k", "floor and f32"
    )
    printed = " ".join(done.stderr.split())
    assert done.returncode == 2, printed
    assert said in printed
    assert "riscv64-linux-gnu-gcc compiles for riscv64-linux-gnu" in printed
    assert "--set triple=" in printed


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--backend", "cpu", "--runner", "qemu-z80"), "there is no command 'qemu-z80'"),
        (("--backend", "cpu", "--runner", "", "--cc", "z80-gcc"), "there is no command 'z80-gcc'"),
        (("--backend", "cpu", "--runner", "", "--coverage"), "exclude each other"),
        (("--backend", "cpu", "--runner", "", "--lf"), "--runner doesn't take --lf"),
        (("--runner", ""), "--runner needs --backend"),
        (("--backend", "cpu", "--runner", "", "-k", "no_such_op"), "matches no case"),
        (("--backend", "template", "--runner", "", "-k", "floor and f32"), "no C program can be built"),
    ],
)
@needs_c
def test_wrong_options_are_refused(conform: Conform, options: tuple[str, ...], said: str) -> None:
    done = conform(*options)
    assert done.returncode == 2, done.stdout + done.stderr
    assert said in " ".join(done.stderr.split())


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("qemu-s390x") is None, reason="not installed: qemu-s390x")
@pytest.mark.skipif(shutil.which("s390x-linux-gnu-gcc") is None, reason="not installed: s390x-linux-gnu-gcc")
def test_a_machine_of_another_byte_order_gives_the_same_results(conform: Conform) -> None:
    runner = ("--runner", "qemu-s390x -L /usr/s390x-linux-gnu", "--cc", "s390x-linux-gnu-gcc")
    done = conform("--backend", "cpu", *runner, "--set", "triple=s390x-linux-gnu", "-k", "reverse or transpose")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "numbers in another byte order" in done.stdout

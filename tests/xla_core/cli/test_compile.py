"""`xla compile` and `xla opt`: stages, artifacts, passes by name."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import xla_core
from xla_core.passes import HloPass


@pytest.fixture
def artifacts(toy: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """The toy makes "code" and "asm" only with `keep_artifacts`."""

    def made(executable: Any) -> dict[str, str | bytes]:
        return {"hlo": executable.as_text(), "asm": "nop", "code": b"\0\1"}

    def run_backend(compiler: Any, module: Any, options: Any, executor: Any = None) -> Any:
        executable = toy.ToyExecutable(module)
        if options.keep_artifacts:
            executable.artifacts = lambda: made(executable)
        return executable

    monkeypatch.setattr(toy.ToyCompiler, "run_backend", run_backend)


@pytest.mark.usefixtures("artifacts")
def test_lists_what_the_backend_offers(xla: Callable[..., Any], toy_backend: str, program: Path) -> None:
    result = xla("compile", program, "--backend", toy_backend)
    assert result.code == 0, result.err
    assert [line.split()[0] for line in result.out.splitlines()[1:]] == [
        "hlo-before",
        "hlo",
        "asm",
        "code",
        "serialized",
        "placement",
        "dot",
        "memory-map",
    ]


@pytest.mark.usefixtures("artifacts")
def test_draws_pictures(xla: Callable[..., Any], toy_backend: str, program: Path, tmp_path: Path) -> None:
    drawn = xla("compile", program, "--backend", toy_backend, "--emit", "dot")
    assert drawn.out.startswith("digraph")
    pytest.importorskip("matplotlib")
    out = tmp_path / "map.png"
    assert xla("compile", program, "--backend", toy_backend, "--emit", "memory-map", "-o", out).code == 0
    assert out.read_bytes().startswith(b"\x89PNG")


@pytest.mark.usefixtures("artifacts")
def test_writes_stages_and_artifacts(xla: Callable[..., Any], toy_backend: str, program: Path, tmp_path: Path) -> None:
    def emit(name: str, *more: object) -> Any:
        return xla("compile", program, "--backend", toy_backend, "--emit", name, *more)

    assert emit("asm").out == "nop\n"
    for stage in ("hlo-before", "hlo"):
        assert xla_core.parse(emit(stage).out).instruction_count == 4
    out = tmp_path / "code"
    assert emit("code", "-o", out).code == 0
    assert out.read_bytes() == b"\0\1"
    blob = tmp_path / "blob"
    assert emit("serialized", "-o", blob).code == 0
    with xla_core.Client(toy_backend) as client:
        assert client.deserialize(blob.read_bytes()).name == "softplus"
    wrong = emit("ptx")
    assert wrong.code == 2
    assert "there is no stage or artifact 'ptx'" in wrong.err
    assert "this backend offers hlo-before, hlo, asm, code, serialized" in wrong.err


def test_the_input_stage_needs_no_backend(xla: Callable[..., Any], program: Path) -> None:
    result = xla("compile", program, "--emit", "hlo-before")
    assert result.code == 0
    assert result.out.startswith("HloModule softplus")


@pytest.mark.usefixtures("artifacts")
def test_needs_no_device(
    xla: Callable[..., Any], install: Callable[..., None], toy: Any, program: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(toy.ToyPlatform, "visible_device_count", lambda self: 0)
    install("toy", "toy", "from toy_backend import xla_backend\n")
    assert xla("run", program, "--backend", "toy").code == 2
    result = xla("compile", program, "--backend", "toy", "--emit", "asm")
    assert (result.code, result.out) == (0, "nop\n")


def test_opt_lists_and_runs_passes(xla: Callable[..., Any], tmp_path: Path) -> None:
    listed = xla("opt")
    assert listed.code == 0
    assert "call-inliner" in listed.out
    assert "Inlines calls, simplifies to a fixed point" in " ".join(listed.out.split())
    path = tmp_path / "call.hlo"
    path.write_text(
        "HloModule m\n\nadd_one {\n  x = f32[] parameter(0)\n  one = f32[] constant(1)\n"
        "  ROOT sum = f32[] add(x, one)\n}\n\n"
        "ENTRY main {\n  p = f32[] parameter(0)\n  ROOT r = f32[] call(p), to_apply=add_one\n}\n"
    )
    result = xla("opt", path, "--passes", "call_inliner", "--timings")
    assert result.code == 0, result.err
    assert " call(" not in result.out
    assert xla_core.evaluate(xla_core.parse(result.out), np.float32(2))[0] == 3.0
    assert "call-inliner" in result.err


PASSES_OF_A_BACKEND = """
from xla_backend_template.compiler import TemplateCompiler
from xla_backend_template.executable import TemplateExecutable
from xla_backend_template.executor import TemplateExecutor
from xla_backend_template.platform import TemplatePlatform
from xla_core.backend import BackendSpec, hookimpl


class Compiler(TemplateCompiler):
    def hlo_stages(self, options):
        from xla_core.passes import PASSES, HloPass, register_pass

        class Negations(HloPass):
            \"\"\"Negates nothing.\"\"\"

            name = "acme-negations"

            def run(self, module):
                return False

        if "acme-negations" not in PASSES:
            register_pass("acme-negations", Negations)
        return super().hlo_stages(options)


class Platform(TemplatePlatform):
    def create_compiler(self):
        return Compiler()


@hookimpl
def xla_backend():
    return BackendSpec(version="1.0", contract_versions=((1, 0),), platform=Platform, compiler=Compiler,
                       executable=TemplateExecutable, stream_executor=TemplateExecutor)
"""


def test_opt_knows_the_passes_of_a_backend(
    xla: Callable[..., Any], program: Path, install: Callable[..., None]
) -> None:
    from xla_core.passes import PASSES

    install("xla-backend-acme", "acme", PASSES_OF_A_BACKEND)
    try:
        assert "acme-negations" in xla("opt", "--backend", "acme").out
        result = xla("opt", program, "--passes", "acme-negations", "--backend", "acme", "--timings")
        assert result.code == 0, result.err
        assert "acme-negations" in result.err
    finally:
        PASSES.pop("acme-negations", None)


def test_opt_refuses_unknown_passes(xla: Callable[..., Any], program: Path) -> None:
    result = xla("opt", program, "--passes", "call-inlinr")
    assert result.code == 2
    assert "did you mean call-inliner" in result.err
    result = xla("opt", program, "--passes", "zzz")
    assert result.code == 2
    assert "`xla opt` lists them all" in result.err
    assert len(result.err) < 200


def test_opt_prints_and_runs_the_pipeline(xla: Callable[..., Any], program: Path) -> None:
    printed = xla("opt", "--pipeline")
    assert printed.code == 0, printed.err
    stages = [line.strip() for line in printed.out.splitlines() if line.startswith("  ") and line[2] != " "]
    assert [s.split(":")[0] for s in stages][:2] == ["simplification", "target"]
    ran = xla("opt", program, "--pipeline")
    assert ran.code == 0, ran.err
    assert "is_scheduled=true" in ran.out
    assert xla("opt", program, "--pipeline", "--passes", "hlo-dce").code == 2


def test_opt_prints_a_backends_own_stages(
    xla: Callable[..., Any], toy: Any, toy_backend: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    class OwnPatterns(HloPass):
        name = "toy-patterns"

        def run(self, module: xla_core.HloModule) -> bool:
            return False

    monkeypatch.setattr(toy.ToyCompiler, "hlo_stages", lambda compiler, options: {"target": OwnPatterns()})
    printed = xla("opt", "--pipeline", "--backend", toy_backend)
    assert printed.code == 0, printed.err
    assert "toy-patterns" in [line.strip() for line in printed.out.splitlines()]
    assert "toy-patterns" not in xla("opt", "--pipeline").out

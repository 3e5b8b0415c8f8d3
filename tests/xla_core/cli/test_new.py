"""`xla new` makes complete packages from any installed scaffold."""

from __future__ import annotations

import importlib
import importlib.metadata
import py_compile
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import xla_core
from xla_core.backend import registry
from xla_core.codegen.llvm import KernelEmitter, compile_ir
from xla_core.hlo import is_custom_call_registered, register_custom_call

SCENARIOS = sorted({point.name for point in importlib.metadata.entry_points(group="xla_core.scaffolds")})

if not is_custom_call_registered("tests.twice"):
    register_custom_call("tests.twice")(lambda context, instruction, values: values[0] * 2)


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[Path], None]:
    """Puts a new package and its entry points on sys.path, as an editable installation does."""

    def put(root: Path) -> None:
        if (root / "hatch_build.py").exists():  # a driver in C
            if not shutil.which("cc"):
                pytest.skip("there is no C compiler (cc)")
            _build(root)
        project = tomllib.loads((root / "pyproject.toml").read_text())["project"]
        info = root / f"{project['name'].replace('-', '_')}-{project['version']}.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(
            f"Metadata-Version: 2.1\nName: {project['name']}\nVersion: {project['version']}\n"
        )
        lines = [f"{name} = {value}" for name, value in project["entry-points"]["xla_core.backends"].items()]
        (info / "entry_points.txt").write_text("[xla_core.backends]\n" + "\n".join(lines) + "\n")
        monkeypatch.syspath_prepend(str(root))
        registry.clear_cache()

    return put


def _build(root: Path) -> None:
    """Builds the package in its own folder, as `pip install -e` does."""
    command = [
        sys.executable,
        "-m",
        "pip",
        "wheel",
        "-q",
        "--no-deps",
        "--no-build-isolation",
        "-w",
        str(root / "dist"),
    ]
    subprocess.run([*command, str(root)], check=True)


@pytest.mark.parametrize("copy", [False, True], ids=["subclass", "copy"])
@pytest.mark.parametrize("scenario", SCENARIOS)
def test_a_new_package_works(
    xla: Callable[..., Any], installed: Callable[[Path], None], tmp_path: Path, scenario: str, copy: bool
) -> None:
    name = f"chip{scenario.replace('-', '_')}{'c' if copy else 's'}"
    number, *rest = scenario.split("-")
    chosen = ["--scenario", number, *(["--copy"] if copy else [])]
    chosen += ["--kind", "grid"] if "grid" in rest else []
    chosen += ["--driver", "c"] if "c" in rest else []
    made = xla("new", name, "--directory", tmp_path, *chosen)
    assert made.code == 0, made.err
    assert f"xla conform --backend {name}" in made.out
    root = tmp_path / f"xla-backend-{name.replace('_', '-')}"
    for path in root.rglob("*.py"):
        py_compile.compile(str(path), doraise=True)
    if not copy:
        own = (root / f"xla_backend_{name}").glob("*.py")
        assert sum(len(path.read_text().splitlines()) for path in own) <= 150
    readme = (root / "README.md").read_text()
    assert "$" not in readme
    project = tomllib.loads((root / "pyproject.toml").read_text())["project"]
    assert any(d.startswith("xla-backend-") for d in project["dependencies"]) is not copy
    installed(root)
    program = tmp_path / "p.hlo"
    program.write_text("HloModule m\nENTRY e {\n  x = f32[4] parameter(0)\n  ROOT r = f32[4] multiply(x, x)\n}\n")
    ran = xla("run", program, "--backend", name, "--check")
    assert ran.code == 0, ran.out + ran.err
    spec = registry.load_backend(name)
    assert spec.platform.__name__.startswith("".join(part.capitalize() for part in name.split("_")))
    assert spec.priority == 0
    assert f"the {name} " in spec.description
    emitted = xla("compile", program, "--backend", name, "--emit", "hlo")
    assert emitted.code == 0, emitted.err
    if number != "3":
        asm = xla("compile", program, "--backend", name, "--emit", "asm")
        assert asm.code == 0, asm.err
        assert "mul" in asm.out
        if number == "2":
            plan = xla("compile", program, "--backend", name, "--emit", "plan")
            assert plan.out.startswith("r: "), plan.out + plan.err
        assert ("grid" in rest) == ("amdhsa_system_sgpr_workgroup_id_x" in asm.out)
    if "grid" in rest:
        _reduces_on_two_gpus(name)
    if number == "2":
        _runs_in_part_on_the_host(name)
    with xla_core.Client(name) as client:
        assert client.platform.compiler.target_config.name == name
        count = len(client.devices)
        assert repr(client) == f"<Client {name}: {'1 device' if count == 1 else f'{count} devices'}>"
        stream = client.devices[0].executor.create_stream()
        stream.host_callback(lambda: 1 // 0)
        event = stream.finish()
        event.synchronize()
        assert f"work on {name}:0 failed" in str(event.error)
    for module in [m for m in sys.modules if m.startswith(f"xla_backend_{name}")]:
        del sys.modules[module]
    registry.clear_cache()


def _reduces_on_two_gpus(name: str) -> None:
    """A reduction whose threads share memory compiles for both instruction sets of the scaffold."""
    abi = importlib.import_module(f"xla_backend_{name}.abi")
    sums = xla_core.parse("""HloModule m

add {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT c = f32[] add(a, b)
}

ENTRY e {
  x = f32[64,4096] parameter(0)
  zero = f32[] constant(0)
  ROOT r = f32[64] reduce(x, zero), dimensions={1}, to_apply=add
}
""")
    device = next(kind for key, kind in vars(abi).items() if key.startswith("Chip"))
    for kind, words in (
        (device, ("s_barrier", "ds_bpermute", "ds_write")),
        (abi.NvptxAbi, ("bar.sync", "shfl.sync.bfly", ".shared")),
    ):
        emitter = KernelEmitter(kind())
        emitter.emit(sums.entry.root)
        assembly = compile_ir(emitter.module.to_text(), kind()).assembly()
        assert [word for word in words if word not in assembly] == []


def _runs_in_part_on_the_host(name: str) -> None:
    """The emitter has no code for a custom call, so the host runs it."""
    program = """
HloModule m

ENTRY e {
  x = f32[4] parameter(0)
  y = f32[4] negate(x)
  ROOT r = f32[4] custom-call(y), custom_call_target="tests.twice"
}
"""
    with xla_core.Client(name) as client:
        executable = client.compile(program, xla_core.CompileOptions(fallback="host", keep_artifacts=True))
        assert np.asarray(executable(np.arange(4, dtype=np.float32))[0]).tolist() == [0, -2, -4, -6]
        assert "HostCallbackThunk" in str(executable.artifacts()["thunks"])
        assert executable.report.kernels == 1


@pytest.mark.skipif("3" not in SCENARIOS, reason="no scaffold is installed")
def test_what_cannot_be_made(xla: Callable[..., Any], tmp_path: Path) -> None:
    for wrong in ("Acme", "9chip", "a-b", "chip!"):
        result = xla("new", wrong, "--directory", tmp_path)
        assert result.code == 2
        assert "is not a valid platform name" in result.err
    assert xla("new", "chip", "--directory", tmp_path).code == 0
    again = xla("new", "chip", "--directory", tmp_path)
    assert again.code == 2
    assert "already exists" in again.err


@pytest.mark.skipif("3" not in SCENARIOS, reason="no scaffold is installed")
def test_no_package_of_an_installed_backends_name(xla: Callable[..., Any], toy_backend: str, tmp_path: Path) -> None:
    result = xla("new", toy_backend, "--directory", tmp_path)
    assert result.code == 2
    assert "ALREADY_EXISTS: a backend named 'toy' is already installed" in result.err
    assert not list(tmp_path.glob("xla-backend-*"))


@pytest.mark.skipif("3" not in SCENARIOS, reason="no scaffold is installed")
def test_choices_that_a_scenario_does_not_have(xla: Callable[..., Any], tmp_path: Path) -> None:
    result = xla("new", "chip", "--scenario", "3", "--kind", "grid", "--directory", tmp_path)
    assert result.code == 2
    assert "scenario 3 has no kind of kernels to choose" in result.err
    assert "--kind goes with --scenario 2" in result.err
    result = xla("new", "chip", "--scenario", "1", "--driver", "c", "--directory", tmp_path)
    assert result.code == 2
    assert "scenario 1 has no driver to make" in result.err
    assert "--driver goes with --scenario 3" in result.err


def test_no_scaffold_installed(xla: Callable[..., Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from xla_core.cli import scaffold

    monkeypatch.setattr(scaffold.importlib.metadata, "entry_points", lambda group: [])
    result = xla("new", "chip", "--directory", tmp_path)
    assert result.code == 2
    assert "no installed distribution provides a scaffold for scenario 3" in result.err

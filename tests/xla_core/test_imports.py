"""Each step imports only what it uses, so that a command or a client starts quickly."""

from __future__ import annotations

import subprocess
import sys

HEAVY = {"llvmlite", "numpy", "rich", "typer", "pydantic", "jax", "ml_dtypes"}


def loaded_after(source: str) -> set[str]:
    """The modules that a process has imported after running `source`."""
    script = f"import atexit, sys\natexit.register(lambda: print(*sys.modules))\n{source}"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    return set(done.stdout.split())


def in_packages(modules: set[str], packages: set[str]) -> set[str]:
    return {m for m in modules if any(m == p or m.startswith(f"{p}.") for p in packages)}


def test_importing_xla_core_loads_no_library() -> None:
    modules = loaded_after("import xla_core")
    assert not HEAVY & modules
    own = {"xla_core", "xla_core.errors", "xla_core.interruptible", "xla_core.package_version"}
    assert in_packages(modules, {"xla_core"}) == own
    assert "xla_core.runtime" in loaded_after("import xla_core; xla_core.parse; xla_core.CompileOptions")


def test_a_client_loads_nothing_that_compiles() -> None:
    modules = loaded_after("import xla_core; xla_core.Client('cpu')")
    compiling = {
        f"xla_core.{name}" for name in ("passes", "codegen", "stablehlo", "analysis", "schedule", "elementary")
    }
    assert not in_packages(modules, compiling | {"xla_backend_cpu.codegen", "xla_backend_cpu.code_generation"})
    assert not in_packages(modules, {"scipy_openblas32", "scipy", "jax", "rich", "typer"})


def test_a_first_compilation_loads_what_the_program_needs() -> None:
    modules = loaded_after(
        "import xla_core\n"
        "xla_core.Client('cpu').compile('HloModule m ENTRY e { x = f32[4] parameter(0) ROOT y = f32[4] add(x, x) }')"
    )
    unused = {
        "xla_core.stablehlo",
        "xla_core.schedule",
        "xla_core.passes.dynamic_padder.pad_module",
        "scipy_openblas32",
    }
    assert not in_packages(modules, unused)
    decompositions = {f"xla_core.passes.legalization.{name}" for name in ("structured", "fourier", "sorting")}
    assert not in_packages(modules, {*decompositions, "xla_backend_cpu.host_calls"})


def test_help_loads_nothing_that_compiles() -> None:
    modules = loaded_after("from xla_core.cli import main; main(['--help'])")
    assert not in_packages(modules, {"xla_core.passes", "xla_core.codegen", "xla_core.runtime", "xla_backend_cpu"})


def test_a_client_that_opens_and_closes_loads_nothing_that_compiles() -> None:
    modules = loaded_after("from xla_core.cli import main; main(['backends'])")
    assert not in_packages(modules, {"xla_core.passes", "xla_core.codegen", "xla_core.stablehlo"})


def test_a_command_loads_no_other_command() -> None:
    modules = loaded_after("from xla_core.cli import main; main(['backends'])")
    package = "xla_core.cli.commands"
    assert in_packages(modules, {package}) == {package, f"{package}.backends"}
    assert not in_packages(modules, {"xla_conformance", "rich.markdown"})

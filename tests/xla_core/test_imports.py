"""What is imported when: each step loads what it uses, so that a command or a client starts soon."""

from __future__ import annotations

import subprocess
import sys

HEAVY = {"llvmlite", "numpy", "rich", "typer", "pydantic", "jax", "ml_dtypes"}


def loaded_after(source: str) -> set[str]:
    """The modules that a process has imported after running `source`."""
    script = f"import sys\n{source}\nprint(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    return set(done.stdout.split())


def in_packages(modules: set[str], packages: set[str]) -> set[str]:
    return {m for m in modules if any(m == p or m.startswith(f"{p}.") for p in packages)}


def test_importing_xla_core_loads_no_library() -> None:
    modules = loaded_after("import xla_core")
    assert not HEAVY & modules
    own = {"xla_core", "xla_core.errors", "xla_core.interruptible"}
    assert in_packages(modules, {"xla_core"}) == own
    assert "xla_core.runtime" in loaded_after("import xla_core; xla_core.parse; xla_core.CompileOptions")

"""The command line as a whole: help is quick, others' commands are guarded."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest


def test_help_names_every_command(xla: Callable[..., Any]) -> None:
    result = xla("--help")
    assert result.code == 0
    for name in ("run", "compile", "opt", "backends", "doctor", "new", "replay", "bench"):
        assert name in result.out
    assert xla("run", "-h").code == 0


def test_help_imports_nothing_heavy() -> None:
    """A clock would measure the machine; what is imported decides how long it takes."""
    code = (
        "import sys; from xla_core.cli import main; main(['--help']); "
        "print([m for m in ('numpy', 'pydantic', 'llvmlite', 'ml_dtypes') if m in sys.modules], file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=_environment())
    assert done.stderr.strip() == "[]"


def test_version_and_unknown_commands(xla: Callable[..., Any]) -> None:
    import xla_core

    assert xla("--version").out.strip() == f"xla-core {xla_core.__version__}"
    assert xla("frobnicate").code == 2
    assert xla("run").code == 2


@pytest.fixture
def contribute(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str, str], None]:
    site = tmp_path / "commands"
    site.mkdir()
    monkeypatch.syspath_prepend(str(site))

    def put(name: str, source: str) -> None:
        (site / f"command_{name}.py").write_text(source)
        info = site / f"command_{name}-1.0.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: command-{name}\nVersion: 1.0\n")
        (info / "entry_points.txt").write_text(f"[xla_core.commands]\n{name} = command_{name}:{name}\n")
        monkeypatch.delitem(sys.modules, f"command_{name}", raising=False)

    return put


def test_other_distributions_bring_commands(xla: Callable[..., Any], contribute: Callable[[str, str], None]) -> None:
    contribute("greet", 'def greet(name: str) -> None:\n    """Say hello."""\n    print("hello", name)\n')
    assert "Say hello" in xla("--help").out
    assert xla("greet", "chip").out == "hello chip\n"


def test_a_broken_command_breaks_no_other(xla: Callable[..., Any], contribute: Callable[[str, str], None]) -> None:
    contribute("burn", "raise RuntimeError('no fuel')\n")
    contribute("greet", "def greet() -> None:\n    print('hello')\n")
    help_text = xla("--help")
    assert help_text.code == 0
    assert "no fuel" in help_text.out
    assert xla("greet").out == "hello\n"
    result = xla("burn", "--now")
    assert result.code == 2
    assert "the command 'burn' of command-burn does not load: RuntimeError: no fuel" in result.err


def test_interruption_ends_quietly(tmp_path: Path) -> None:
    """Ctrl-C in a command gives exit code 130 and no traceback."""
    script = tmp_path / "wait.py"
    script.write_text(
        "import sys, time\nfrom xla_core.cli import app\n"
        "def wait() -> None:\n    print('ready', flush=True)\n    time.sleep(30)\n"
        "app.app.command('wait')(wait)\nsys.exit(app.run(['wait']))\n"
    )
    process = subprocess.Popen(
        [sys.executable, str(script)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=_environment()
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    time.sleep(0.05)
    process.send_signal(2)
    _, err = process.communicate(timeout=20)
    assert process.returncode == 130
    assert "Traceback" not in err


def _environment() -> dict[str, str]:
    root = str(Path(__file__).resolve().parents[3])
    return {**os.environ, "PYTHONPATH": os.pathsep.join([root, os.environ.get("PYTHONPATH", "")])}

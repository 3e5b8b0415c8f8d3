"""The command line: help is quick, and a broken command of another distribution is an error."""

from __future__ import annotations

import itertools
import os
import re
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from xla_core.cli import app


def test_help_names_every_command(xla: Callable[..., Any]) -> None:
    result = xla("--help")
    assert result.code == 0
    for name in ("run", "compile", "opt", "backends", "doctor", "new", "replay", "bench"):
        assert name in result.out
    assert xla("run", "-h").code == 0


def test_help_imports_nothing_heavy() -> None:
    """The imported modules determine the time, so the test checks them and no clock."""
    code = (
        "import sys; from xla_core.cli import main; main(['--help']); "
        "print([m for m in ('numpy', 'pydantic', 'llvmlite', 'ml_dtypes') if m in sys.modules], file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=_environment())
    assert done.stderr.strip() == "[]"


@pytest.mark.parametrize("name", ["doctor", "replay", "accuracy"])
@pytest.mark.parametrize("columns", ["50", "80", "110"])
def test_sentences_of_help_break_at_the_width(
    name: str, columns: str, xla: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", columns)
    monkeypatch.setattr("typer.rich_utils.MAX_WIDTH", None)  # read from the environment when it was imported
    described = re.split("─ (?:Arguments|Options)", xla(name, "--help").out)[0]
    lines = [line.strip() for line in described.splitlines()]
    for line, after in itertools.pairwise(lines):  # the next word had no place
        assert not (line and after) or after[0] in "╭│" or len(f"{line} {after.split()[0]}") > int(columns) - 3, line


def test_version_and_unknown_commands(xla: Callable[..., Any]) -> None:
    import xla_core

    assert xla("--version").out.strip() == f"xla-core {xla_core.__version__}"
    assert xla("frobnicate").code == 2
    assert xla("run").code == 2


@pytest.mark.parametrize("name", ["accuracy", "bisect", "conform"])
def test_commands_of_the_suite_say_what_to_install(
    xla: Callable[..., Any], monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    assert name in app._contributed()
    monkeypatch.setattr(app, "_contributed", dict)
    result = xla(name)
    assert result.code == 2
    assert "pip install xla-conformance" in result.err


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
    assert "Did you mean 'greet'?" in xla("gret").err


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


def test_a_crash_says_where_python_was() -> None:
    code = (
        "import os, sys; from xla_core.cli import main; sys.argv[1:] = ['--version']; main(); os.kill(os.getpid(), 11)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == -11
    assert "Segmentation fault" in done.stderr
    assert 'File "<string>", line 1' in done.stderr


def test_a_command_runs_without_standard_error() -> None:
    code = "import sys; sys.argv = ['xla', 'backends']; from xla_core.cli import main; sys.exit(main())"
    done = subprocess.run(
        ["sh", "-c", 'exec "$0" -c "$1" 2>&-', sys.executable, code],
        stdout=subprocess.PIPE,
        text=True,
        env=_environment(),
    )
    assert done.returncode == 0
    assert "cpu" in done.stdout


def test_interruption_ends_quietly(tmp_path: Path) -> None:
    """Ctrl-C in a command gives exit code 130 and no traceback."""
    script = tmp_path / "wait.py"
    script.write_text(
        "import sys, time\nfrom importlib.metadata import EntryPoint\nfrom xla_core.cli import app\n"
        "def wait() -> None:\n    print('ready', flush=True)\n    time.sleep(30)\n"
        "app.COMMANDS['wait'] = EntryPoint('wait', '__main__:wait', '')\nsys.exit(app.run(['wait']))\n"
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


FULL = Path("/dev/full")
on_linux = pytest.mark.skipif(not FULL.exists(), reason="there is no /dev/full")


@on_linux
@pytest.mark.parametrize("form", ["portable-artifact", "stablehlo", "hlo"])
@pytest.mark.parametrize("words", [(), ("-o", str(FULL))])
def test_a_full_disk(program: Path, form: str, words: tuple[str, ...]) -> None:
    done = _to_full_disk("translate", str(program), "--to", form, *words)
    place = FULL if words else "the output"
    said = f"RESOURCE_EXHAUSTED: cannot write {place}: No space left on device\n  hint: free some space"
    assert done.stderr.startswith(said), done.stderr
    assert done.stderr.count("No space left") == 1
    assert done.returncode == 2


@on_linux
@pytest.mark.parametrize("words", [("--version",), ("ops", "add"), ("opt", "PROGRAM", "--passes", "hlo-dce")])
def test_whatever_is_printed_to_a_full_disk(program: Path, words: tuple[str, ...]) -> None:
    done = _to_full_disk(*(str(program) if word == "PROGRAM" else word for word in words))
    assert done.stderr.startswith("RESOURCE_EXHAUSTED: "), done.stderr
    assert done.stderr.count("No space left on device") == 1
    assert done.returncode == 2


@on_linux
@pytest.mark.usefixtures("toy_backend")
def test_results_to_a_full_disk(xla: Callable[..., Any], program: Path, tmp_path: Path) -> None:
    (tmp_path / "result_0.npy").symlink_to(FULL)
    result = xla("run", program, "-b", "toy", "-o", tmp_path)
    assert result.code == 2
    assert f"RESOURCE_EXHAUSTED: cannot write {tmp_path}/result_0.npy: " in result.err.replace("\n", "")


@pytest.mark.parametrize(
    ("raised", "said"),
    [
        (
            "OSError(5, 'Input/output error')",
            "FAILED_PRECONDITION: cannot read or write a file or the output: Inp",
        ),
        ("OSError(28, 'No space left on device', 'x')", "RESOURCE_EXHAUSTED: x: No space left on device"),
        ("FileNotFoundError(2, 'No such file', 'x')", "NOT_FOUND: x: No such file"),
        ("PermissionError(13, 'Permission denied', 'x')", "FAILED_PRECONDITION: x: Permission denied"),
        ("MemoryError()", "RESOURCE_EXHAUSTED: out of memory"),
        ("OSError('lib.so: no such symbol')", "INTERNAL: OSError: lib.so: no such symbol"),
        ("ValueError('odd')", "INTERNAL: ValueError: odd"),
    ],
)
def test_errors_that_are_not_ours(
    xla: Callable[..., Any], contribute: Callable[[str, str], None], raised: str, said: str
) -> None:
    contribute("burn", f"def burn() -> None:\n    raise {raised}\n")
    result = xla("burn")
    assert result.code == 2
    assert said in result.err


def test_a_reader_that_leaves_is_no_error(program: Path) -> None:
    command = [sys.executable, "-m", "xla_core.cli", "translate", str(program), "--to", "portable-artifact"]
    reader, writer = os.pipe()
    os.close(reader)
    done = subprocess.run(command, stdout=writer, stderr=subprocess.PIPE, text=True, env=_environment())
    os.close(writer)
    assert (done.returncode, done.stderr) == (1, "")


def _to_full_disk(*words: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "xla_core.cli", *words]
    with FULL.open("w") as out:
        return subprocess.run(command, stdout=out, stderr=subprocess.PIPE, text=True, env=_environment())


def _environment() -> dict[str, str]:
    root = str(Path(__file__).resolve().parents[3])
    return {**os.environ, "PYTHONPATH": os.pathsep.join([root, os.environ.get("PYTHONPATH", "")])}

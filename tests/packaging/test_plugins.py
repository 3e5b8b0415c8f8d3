"""Backends are installed and removed by pip, and a broken one doesn't affect the others."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.packaging.conftest import build

if TYPE_CHECKING:
    from tests.packaging.conftest import Scratch

PROGRAM = "HloModule m\n\nENTRY e {\n  x = f32[4] parameter(0)\n  ROOT r = f32[4] negate(x)\n}\n"
PYPROJECT = """\
[build-system]
requires = ["hatchling"]
build-backend = "hatchling.build"

[project]
name = "{distribution}"
version = "1.0"

[project.entry-points."xla_core.backends"]
{name} = "{module}"

[tool.hatch.build.targets.wheel]
packages = ["{module}"]
"""


def make_plugin(directory: Path, wheels: Path, distribution: str, name: str, source: str) -> None:
    """Builds a wheel of a distribution with one backend."""
    module = distribution.replace("-", "_")
    root = directory / f"source_of_{module}"
    (root / module).mkdir(parents=True)
    (root / module / "__init__.py").write_text(source)
    text = PYPROJECT.format(distribution=distribution, name=name, module=module)
    (root / "pyproject.toml").write_text(text)
    build(wheels, str(root))


def digest(scratch: Scratch) -> str:
    """Computes a digest of all installed files of the core."""
    files = sorted(p for p in (scratch.site / "xla_core").rglob("*") if p.is_file() and p.suffix != ".pyc")
    return hashlib.sha256(b"".join(str(p).encode() + p.read_bytes() for p in files)).hexdigest()


def test_a_backend_appears_by_pip_install_and_vanishes_by_uninstall(wheels: Path, scratch: Scratch) -> None:
    (scratch.directory / "p.hlo").write_text(PROGRAM)
    scratch.install(wheels, "xla-core")
    before = digest(scratch)
    assert scratch.backends() == []
    alone = scratch.run("xla", "backends")
    assert (alone.returncode, "no backend is installed: pip install" in alone.stdout) == (1, True)
    refused = scratch.run("xla", "run", "p.hlo")
    assert refused.returncode == 2
    assert "NOT_FOUND: no backend is installed" in refused.stderr
    assert "hint: pip install a backend" in refused.stderr
    assert "Traceback" not in refused.stderr
    last = scratch.run("xla", "doctor").stdout.splitlines()[-1]
    assert last.startswith("No backend is installed: pip install")
    assert "│ conform " not in scratch.run("xla", "--help").stdout

    scratch.install(wheels, "xla-backend-template")
    assert scratch.backends() == ["template"]
    assert scratch.run("xla", "run", "p.hlo", "--check").returncode == 0
    scratch.install(wheels, "xla-conformance")
    assert "│ conform " in scratch.run("xla", "--help").stdout

    made = scratch.run("xla", "new", "acme")
    assert made.returncode == 0, made.stderr
    own = scratch.directory / "wheels"
    build(own, "./xla-backend-acme", cwd=scratch.directory)
    scratch.pip("install", "--no-index", "--no-deps", *map(str, own.glob("*.whl")))
    assert scratch.backends() == ["acme", "template"]
    ran = scratch.run("xla", "run", "p.hlo", "--backend", "acme", "--check")
    assert ran.returncode == 0, ran.stderr
    judged = scratch.run("xla", "conform", "--backend", "acme", "-k", "loading or streams or test_op[add")
    assert judged.returncode == 0, judged.stdout + judged.stderr
    assert "acme passes (quick, simulated, with fallback, of a selection" in judged.stdout

    scratch.uninstall("xla-backend-acme")
    assert scratch.backends() == ["template"]
    gone = scratch.run("xla", "run", "p.hlo", "--backend", "acme")
    assert gone.returncode == 2
    assert "there is no backend named 'acme'; installed: template" in gone.stderr
    scratch.uninstall("xla-backend-template", "xla-conformance")
    assert scratch.backends() == []
    assert digest(scratch) == before


@pytest.mark.slow
def test_a_broken_backend_breaks_nobody_else(wheels: Path, scratch: Scratch) -> None:
    (scratch.directory / "p.hlo").write_text(PROGRAM)
    own = scratch.directory / "wheels"
    broken = {
        "import": "def load():\n    raise OSError('libsmoke.so.3: cannot open shared object file')\n\nload()\n",
        "hookless": "x = 1\n",
        "future": (
            "import dataclasses\nimport xla_backend_template as t\nfrom xla_core.backend import hookimpl\n\n"
            "@hookimpl\ndef xla_backend():\n"
            "    return dataclasses.replace(t.xla_backend(), contract_versions=((9, 0),))\n"
        ),
        "lacking": (
            "import dataclasses\nimport xla_backend_template as t\n"
            "from xla_core.backend import StreamExecutor, hookimpl\n\n"
            "class Executor(StreamExecutor):\n    def allocate(self, size, memory_space=0):\n        return None\n\n"
            "@hookimpl\ndef xla_backend():\n"
            "    return dataclasses.replace(t.xla_backend(), stream_executor=Executor)\n"
        ),
    }
    for name, source in broken.items():
        make_plugin(scratch.directory, own, f"chip-{name}", name, source)
    scratch.install(wheels, "xla-core", "xla-backend-template")
    scratch.pip("install", "--no-index", "--no-deps", *map(str, own.glob("*.whl")))

    listed = scratch.run("xla", "backends")
    assert listed.returncode == 0, listed.stderr
    status = {line.split()[0]: line for line in listed.stdout.splitlines()[1:]}
    assert " available" in status["template"]
    assert all(" broken" in status[name] for name in broken)
    examined = scratch.run("xla", "doctor")
    assert examined.returncode == 1, "a backend is broken"
    out = examined.stdout
    assert "OSError: libsmoke.so.3: cannot open shared object file" in out
    assert "in load" in out, "the whole cause has its traceback"
    assert "implements no `xla_backend` hook" in out
    assert "speaks contract version 9.0, this xla-core speaks" in out
    assert "lacks create_stream, deallocate, description" in out
    last = out.splitlines()[-1]
    assert last.startswith("Programs run on 'template'")
    assert last.endswith("cannot be loaded: future, hookless, import, lacking.")
    assert scratch.run("xla", "run", "p.hlo", "--check").returncode == 0
    refused = scratch.run("xla", "run", "p.hlo", "--backend", "import")
    assert refused.returncode == 2
    assert "libsmoke.so.3" in refused.stderr


@pytest.mark.slow
def test_two_distributions_of_one_name(wheels: Path, scratch: Scratch) -> None:
    own = scratch.directory / "wheels"
    for distribution in ("first-chip", "second-chip"):
        make_plugin(scratch.directory, own, distribution, "chip", "raise RuntimeError('never imported')\n")
    scratch.install(wheels, "xla-core", "xla-backend-template")
    scratch.pip("install", "--no-index", "--no-deps", *map(str, own.glob("*.whl")))
    examined = scratch.run("xla", "doctor")
    assert examined.returncode == 1, "a backend is broken"
    assert "first-chip 1.0 and second-chip 1.0 both bring a backend named 'chip'" in examined.stdout
    assert "never imported" not in examined.stdout

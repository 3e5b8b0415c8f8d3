"""The content of the wheels, and that they work without a clone."""

from __future__ import annotations

import zipfile
from email.parser import Parser
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.packaging.conftest import Scratch

DISTRIBUTIONS = {
    "xla_core": "xla_core",
    "xla_backend_cpu": "xla_backend_cpu",
    "xla_backend_gpu": "xla_backend_gpu",
    "xla_backend_template": "xla_backend_template",
    "xla_conformance": "xla_conformance",
}
DATA = {
    "xla_core": ["xla_core/py.typed", "xla_core/cli/scaffold_files/pyproject.toml.tmpl"],
    "xla_backend_template": [
        "xla_backend_template/scaffold/no_llvm/common/README.md.tmpl",
        "xla_backend_template/scaffold/with_llvm/subclass/package/compiler.py.tmpl",
    ],
    "xla_backend_cpu": ["xla_backend_cpu/scaffold/subclass/package/compiler.py.tmpl"],
    "xla_conformance": [
        "xla_conformance/levels.toml",
        "xla_conformance/programs/manifest.json",
        "xla_conformance/programs/mlp_sgd_step.mlir",
        "xla_conformance/report/page.html.j2",
        "xla_conformance/report/report.schema.json",
        "xla_conformance/suite/pytest.ini",
        "xla_conformance/suite/test_ops.py",
    ],
}
PROGRAM = "HloModule m\n\nENTRY e {\n  x = f32[64] parameter(0)\n  ROOT r = f32[64] tanh(x)\n}\n"


def wheel(wheels: Path, name: str) -> Path:
    found = list(wheels.glob(f"{name}-*.whl"))
    assert len(found) == 1
    return found[0]


@pytest.mark.parametrize("name", list(DISTRIBUTIONS))
def test_a_wheel_holds_its_package_alone(wheels: Path, name: str) -> None:
    with zipfile.ZipFile(wheel(wheels, name)) as archive:
        names = archive.namelist()
    tops = {n.split("/")[0] for n in names}
    assert {t for t in tops if not t.endswith(".dist-info")} == {DISTRIBUTIONS[name]}
    assert not [n for n in names if n.endswith((".pyc", ".so")) or "/.hypothesis/" in n]
    for path in DATA.get(name, []):
        assert path in names


@pytest.mark.parametrize("name", list(DISTRIBUTIONS))
def test_metadata(wheels: Path, name: str) -> None:
    with zipfile.ZipFile(wheel(wheels, name)) as archive:
        info = next(n for n in archive.namelist() if n.endswith(".dist-info/METADATA"))
        metadata = Parser().parsestr(archive.read(info).decode())
    assert metadata["Requires-Python"] == ">=3.11"
    assert metadata["License-Expression"] == "Apache-2.0"
    assert len(metadata["Summary"]) > 20
    assert len(metadata.get_payload()) > 100, "the README"
    requires = metadata.get_all("Requires-Dist") or []
    assert name == "xla_core" or any(r.startswith("xla-core") for r in requires)
    assert not [r for r in requires if "jax" in r and "extra" not in r], "JAX is never needed to run"


def test_all_five_together(wheels: Path, scratch: Scratch) -> None:
    scratch.install(wheels, *(n.replace("_", "-") for n in DISTRIBUTIONS))
    assert scratch.backends() == ["cpu", "gpu", "template"]
    listed = scratch.run("xla", "backends")
    assert listed.returncode == 0, listed.stderr
    status = {line.split()[0]: line for line in listed.stdout.splitlines()[1:]}
    assert " available" in status["cpu"]
    assert " available" in status["template"]
    (scratch.directory / "p.hlo").write_text(PROGRAM)
    for backend in ("cpu", "template"):
        ran = scratch.run("xla", "run", "p.hlo", "--backend", backend, "--check")
        assert ran.returncode == 0, ran.stdout + ran.stderr
    default = scratch.run("xla", "run", "p.hlo")
    assert "<Device cpu:0>" in default.stdout, default.stderr
    examined = scratch.run("xla", "doctor")
    assert examined.returncode == 0
    assert examined.stdout.splitlines()[-1].startswith("All is well: programs run on 'cpu'")
    judged = scratch.run("xla", "conform", "--backend", "template", "-k", "loading or test_op[tanh or mlp")
    assert judged.returncode == 0, judged.stdout + judged.stderr


def test_bench_says_that_it_needs_a_clone(wheels: Path, scratch: Scratch) -> None:
    scratch.install(wheels, "xla-core")
    done = scratch.run("xla", "bench")
    assert done.returncode == 2
    assert "clone the repository" in done.stderr

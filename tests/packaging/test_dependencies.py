"""A distribution depends on exactly the packages that it imports."""

from __future__ import annotations

import ast
import re
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = {
    "pyproject.toml": "xla_core",
    "backends/cpu/pyproject.toml": "backends/cpu/xla_backend_cpu",
    "backends/gpu/pyproject.toml": "backends/gpu/xla_backend_gpu",
    "backends/template/pyproject.toml": "backends/template/xla_backend_template",
    "conformance/pyproject.toml": "conformance/xla_conformance",
}
BY_NAME = {
    "cuda-bindings": "cuda",
    "python-flint": "flint",
    "pytest-timeout": "pytest_timeout",
    "pytest-xdist": "xdist.plugin",
}
"""Distributions whose modules have other names. Plugins of pytest are not imported; pytest is told their names."""


def imported(package: Path) -> Iterator[str]:
    for path in package.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Import):
                yield from (alias.name.partition(".")[0] for alias in node.names)
            elif isinstance(node, ast.ImportFrom) and not node.level:
                yield str(node.module).partition(".")[0]


def names(requirements: list[str]) -> set[str]:
    found = (re.match(r"[\w.-]+", requirement) for requirement in requirements)
    return {match[0].lower() for match in found if match}


@pytest.mark.parametrize("project", PACKAGES)
def test_dependencies_are_what_is_imported(project: str) -> None:
    package = ROOT / PACKAGES[project]
    described = tomllib.loads((ROOT / project).read_text())["project"]
    required = names(described["dependencies"])
    extras = names([r for extra in described.get("optional-dependencies", {}).values() for r in extra])
    used = set(imported(package)) - set(sys.stdlib_module_names) - {package.name}
    used = {name.removeprefix("_") for name in used}  # `_pytest` is pytest's
    modules = {name: BY_NAME.get(name, name.replace("-", "_")) for name in required | extras}
    assert used - {modules[name] for name in modules} == set(), "imported, and no dependency"
    text = "\n".join(path.read_text() for path in package.rglob("*.py"))
    unused = {name for name in required if modules[name] not in used and f'"{modules[name]}"' not in text}
    assert unused == set(), "a dependency, and not imported"

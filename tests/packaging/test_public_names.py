"""The other distributions use only public names of xla_core, as a vendor must."""

from __future__ import annotations

import ast
import importlib
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = (
    *("backends/cpu/xla_backend_cpu", "backends/gpu/xla_backend_gpu", "backends/template/xla_backend_template"),
    "conformance/xla_conformance",
)


def imports(package: Path) -> Iterator[tuple[str, str, str]]:
    """(place, module, name) of every import from xla_core, in sources and in the templates of new packages."""
    for path in sorted([*package.rglob("*.py"), *package.rglob("*.py.tmpl")]):
        text = path.read_text().replace("$base", "base").replace("$module", "module").replace("${class_name}", "Name")
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "xla_core":
                for alias in node.names:
                    yield f"{path.relative_to(ROOT)}:{node.lineno}", str(node.module), alias.name


@pytest.mark.parametrize("package", PACKAGES)
def test_public_names_alone(package: str) -> None:
    private = [
        f"{place}: {module}.{name}"
        for place, module, name in imports(ROOT / package)
        if not any(name in public_names(home) for home in homes(module))
    ]
    assert private == []


def homes(module: str) -> Iterator[str]:
    """The package that a module lies in, and those around it, below xla_core."""
    parts = module.split(".")
    for length in range(1, len(parts) + 1):
        home = ".".join(parts[:length])
        if length <= 2 or hasattr(importlib.import_module(home), "__path__"):
            yield home


def public_names(home: str) -> set[str]:
    modules = {"config", "errors", "profiler"} if home == "xla_core" else set()
    return {*importlib.import_module(home).__all__, *modules}

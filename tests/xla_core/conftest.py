"""Backends for tests, found through entry points like any other."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from xla_core.backend import registry


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., None]]:
    """`install(distribution, name, source)` puts a distribution with one backend on sys.path, as pip lays it out."""
    site = tmp_path / "site"
    site.mkdir()
    monkeypatch.syspath_prepend(str(site))
    modules: list[str] = []

    def put(
        distribution: str,
        name: str,
        source: str,
        version: str = "1.0",
        module: str | None = None,
        entry_point: str | None = None,
    ) -> None:
        module = module or f"plugin_{distribution.replace('-', '_')}"
        modules.append(module)
        (site / f"{module}.py").write_text(source)
        info = site / f"{distribution.replace('-', '_')}-{version}.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {distribution}\nVersion: {version}\n")
        (info / "entry_points.txt").write_text(
            f"[xla_core.backends]\n{name} = {module if entry_point is None else entry_point}\n"
        )
        registry.clear_cache()

    yield put
    registry.clear_cache()
    for module in modules:
        sys.modules.pop(module, None)


@pytest.fixture(scope="session")
def toy() -> Any:
    """The module toy_backend."""
    spec = importlib.util.spec_from_file_location("toy_backend", Path(__file__).with_name("toy_backend.py"))
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["toy_backend"] = module
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def client(install: Callable[..., None], toy: Any) -> Iterator[Any]:
    """A client of the toy backend, two devices."""
    from xla_core.runtime import Client

    install("toy", "toy", "from toy_backend import xla_backend\n")
    with Client("toy") as made:
        yield made

"""The queue device, installed for a test."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.conformance.queue_device.build import COMPILER, PACKAGE_FOLDER, build_driver
from xla_core.backend import registry


@pytest.fixture(scope="session")
def driver(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The driver's library."""
    if COMPILER is None:
        pytest.skip("there is no C compiler (cc)")
    return build_driver(tmp_path_factory.mktemp("queue_device"))


@pytest.fixture
def queue_device(driver: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """Installs the backend `queue_device`; returns its name."""
    info = tmp_path / "queue_device-0.1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: xla-backend-queue-device\nVersion: 0.1.0\n")
    (info / "entry_points.txt").write_text("[xla_core.backends]\nqueue_device = xla_backend_queue_device\n")
    for folder in (str(tmp_path), PACKAGE_FOLDER):
        monkeypatch.syspath_prepend(folder)
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(tmp_path), PACKAGE_FOLDER, os.environ.get("PYTHONPATH", "")]))
    monkeypatch.setenv("QUEUE_DEVICE_LIBRARY", str(driver))
    registry.clear_cache()
    return "queue_device"

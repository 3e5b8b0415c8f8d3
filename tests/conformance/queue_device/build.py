"""Builds the driver and makes the backend findable, as an installation would."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

HERE = Path(__file__).parent
PACKAGE_FOLDER = str(HERE)
COMPILER = shutil.which("cc")


def build_driver(folder: Path) -> Path:
    """Compiles the driver into a folder, and returns its path."""
    assert COMPILER is not None
    library = folder / "libqueue_device.so"
    command = [COMPILER, "-O2", "-ffp-contract=off", "-shared", "-fPIC", "-o", str(library)]
    subprocess.run([*command, str(HERE / "queue_device.c"), "-lm", "-lpthread"], check=True)
    return library

"""The five distributions, built, and environments to install them into."""

from __future__ import annotations

import os
import subprocess
import sys
import sysconfig
import venv
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PROJECTS = (".", "./backends/cpu", "./backends/gpu", "./backends/template", "./conformance")
PIP = (sys.executable, "-m", "pip", "--disable-pip-version-check", "--quiet")


def build(destination: Path, *projects: str, cwd: Path = ROOT) -> None:
    """Builds wheels as pip does, by the hatchling of this environment, so that no network is needed."""
    command = [*PIP, "wheel", "--no-deps", "--no-build-isolation", "--wheel-dir", str(destination), *projects]
    done = subprocess.run(command, cwd=cwd, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


@pytest.fixture(scope="session")
def wheels(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A directory with a wheel of each of the five."""
    pytest.importorskip("hatchling")
    directory = tmp_path_factory.mktemp("wheels")
    build(directory, *PROJECTS)
    return directory


class Scratch:
    """An environment with the dependencies of our distributions, but none of the distributions."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        venv.create(directory / "env", with_pip=False, symlinks=True)
        self.python = directory / "env" / "bin" / "python"
        self.site = next((directory / "env" / "lib").glob("python*/site-packages"))
        for item in Path(sysconfig.get_paths()["purelib"]).iterdir():
            if not item.name.startswith(("xla_", "_editable_impl", "__editable__", "__pycache__", "pip")):
                (self.site / item.name).symlink_to(item)

    def pip(self, *arguments: str) -> None:
        done = subprocess.run(
            [*PIP, "--python", str(self.python), *arguments], capture_output=True, text=True, cwd=self.directory
        )
        assert done.returncode == 0, done.stderr

    def install(self, wheels: Path, *names: str) -> None:
        """From `wheels` alone, dependencies included."""
        self.pip("install", "--no-index", "--find-links", str(wheels), *names)

    def uninstall(self, *names: str) -> None:
        self.pip("uninstall", "--yes", *names)

    def run(self, *command: str) -> subprocess.CompletedProcess[str]:
        """A command of this environment, away from the clone."""
        program, *arguments = command
        hidden = ("PYTHONPATH", "XLA_PLATFORM", "XLA_FLAGS", "XLA_CORE_FLAGS")
        environment = {k: v for k, v in os.environ.items() if k not in hidden}
        return subprocess.run(
            [str(self.python.parent / program), *arguments],
            capture_output=True,
            text=True,
            cwd=self.directory,
            env={**environment, "COLUMNS": "160"},
        )

    def backends(self) -> list[str]:
        done = self.run("python", "-c", "import xla_core; print(*xla_core.backends())")
        assert done.returncode == 0, done.stderr
        return done.stdout.split()


@pytest.fixture
def scratch(tmp_path: Path) -> Scratch:
    return Scratch(tmp_path)

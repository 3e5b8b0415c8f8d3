"""A plugin package is built, installed and uninstalled in a separate environment."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
import textwrap
import venv
from pathlib import Path

import xla_core

TESTS = Path(__file__).parent.parent

BUILD_BACKEND = '''
"""A PEP 517 build backend in one file, so that building needs no network."""
import base64, hashlib, zipfile
from pathlib import Path

def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    name = "xla_backend_acme-0.3-py3-none-any.whl"
    files = {
        "xla_backend_acme.py": Path("xla_backend_acme.py").read_text(),
        "xla_backend_acme-0.3.dist-info/METADATA": "Metadata-Version: 2.1\\nName: xla-backend-acme\\nVersion: 0.3\\n",
        "xla_backend_acme-0.3.dist-info/WHEEL": "Wheel-Version: 1.0\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n",
        "xla_backend_acme-0.3.dist-info/entry_points.txt": "[xla_core.backends]\\nacme = xla_backend_acme\\n",
    }
    def digest(text):
        return base64.urlsafe_b64encode(hashlib.sha256(text.encode()).digest()).rstrip(b"=").decode()
    record = "".join(f"{path},sha256={digest(text)},{len(text.encode())}\\n" for path, text in files.items())
    files["xla_backend_acme-0.3.dist-info/RECORD"] = record + "xla_backend_acme-0.3.dist-info/RECORD,,\\n"
    with zipfile.ZipFile(Path(wheel_directory) / name, "w") as wheel:
        for path, text in files.items():
            wheel.writestr(path, text)
    return name
'''

PYPROJECT = """
[build-system]
requires = []
build-backend = "build_acme"
backend-path = ["."]
"""

PROGRAM = """
import numpy as np, xla_core as xla
from xla_core.backend import inspect_backends
info = next(i for i in inspect_backends() if i.name == "acme")
with xla.Client("acme") as client:
    exe = client.compile("HloModule m\\n\\nENTRY e {\\n  p = f32[3] parameter(0)\\n  ROOT n = f32[3] negate(p)\\n}\\n")
    print(info.distributions, np.asarray(exe(np.arange(3, dtype=np.float32))[0]).tolist())
"""


def test_a_package_appears_runs_and_vanishes(tmp_path: Path) -> None:
    source = tmp_path / "acme"
    source.mkdir()
    (source / "xla_backend_acme.py").write_text((TESTS / "toy_backend.py").read_text())
    (source / "build_acme.py").write_text(BUILD_BACKEND)
    (source / "pyproject.toml").write_text(PYPROJECT)
    own_pip = importlib.util.find_spec("pip") is None  # ours installs into other environments, and spares making one
    venv.create(tmp_path / "env", with_pip=own_pip)
    python = str(tmp_path / "env" / "bin" / "python")

    def run(*command: str) -> str:
        result = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, timeout=120)
        assert result.returncode == 0, result.stderr
        return result.stdout.strip()

    def pip(command: str, *arguments: str) -> None:
        which = [python, "-m", "pip"] if own_pip else [sys.executable, "-m", "pip", "--python", python]
        run(*which, command, "--quiet", "--disable-pip-version-check", *arguments)

    (site,) = (tmp_path / "env" / "lib").glob("python*/site-packages")
    packages = [p for p in sys.path if Path(p).name == "site-packages"]
    core = [str(Path(xla_core.__file__).parent.parent), *packages]  # xla-core and what it needs, as they are here
    (site / "core.pth").write_text("\n".join(core))
    names = "import xla_core; print('acme' in xla_core.backends())"
    assert run(python, "-c", names) == "False"
    pip("install", "--no-deps", "--no-index", str(source))
    assert run(python, "-c", names) == "True"
    assert run(python, "-c", textwrap.dedent(PROGRAM)) == "('xla-backend-acme 0.3',) [-0.0, -1.0, -2.0]"
    pip("uninstall", "--yes", "xla-backend-acme")
    assert run(python, "-c", names) == "False"

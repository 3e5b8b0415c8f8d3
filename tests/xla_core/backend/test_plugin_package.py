"""A plugin package of our own, built, installed and uninstalled for real, in an environment of its own."""

from __future__ import annotations

import subprocess
import sys
import textwrap
import venv
from pathlib import Path

import pytest

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
        "xla_backend_acme-0.3.dist-info/WHEEL": "Wheel-Version: 1.0\\nGenerator: x\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n",
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


@pytest.mark.slow
def test_a_package_appears_runs_and_vanishes(tmp_path: Path) -> None:
    source = tmp_path / "acme"
    source.mkdir()
    (source / "xla_backend_acme.py").write_text((TESTS / "toy_backend.py").read_text())
    (source / "build_acme.py").write_text(BUILD_BACKEND)
    (source / "pyproject.toml").write_text(PYPROJECT)
    venv.create(tmp_path / "env", with_pip=True)
    python = tmp_path / "env" / "bin" / "python"

    def run(*arguments: str) -> str:
        result = subprocess.run([str(python), *arguments], capture_output=True, text=True, cwd=tmp_path, timeout=120)
        assert result.returncode == 0, result.stderr
        return result.stdout.strip()

    (site,) = (tmp_path / "env" / "lib").glob("python*/site-packages")
    (site / "core.pth").write_text("\n".join(p for p in sys.path if p and Path(p).is_dir()))  # xla-core, as it is here
    names = "import xla_core; print('acme' in xla_core.backends())"
    assert run("-c", names) == "False"
    run("-m", "pip", "install", "--quiet", "--no-deps", "--no-index", "--disable-pip-version-check", str(source))
    assert run("-c", names) == "True"
    assert run("-c", textwrap.dedent(PROGRAM)) == "('xla-backend-acme 0.3',) [-0.0, -1.0, -2.0]"
    run("-m", "pip", "uninstall", "--quiet", "--yes", "--disable-pip-version-check", "xla-backend-acme")
    assert run("-c", names) == "False"

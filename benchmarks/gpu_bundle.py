"""Collects the wheels that `benchmarks/gpu_report.py` needs on a machine with a GPU and without network.

    python -m benchmarks.gpu_bundle [--python 3.12] [--out dist/gpu-bundle] [--most-mib 48]

On that machine, from the repository's root:

    python3 -m venv --system-site-packages .gpu
    .gpu/bin/python -m pip install --no-index --find-links dist/gpu-bundle xla-backend-gpu xla-conformance
    .gpu/bin/python -m benchmarks.gpu_report

numpy, JAX and CUDA's libraries are expected there. Large files of wheels are compressed by LZMA, which pip reads too:
LLVM's library is most of the bundle.
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
OWN = (".", "./backends/gpu", "./conformance")
LEFT_OUT = ("numpy",)
"""Packages that the machine has. Its numpy must be the one that its JAX was built for."""

_LARGE = 1 << 20
_PLATFORMS = ("manylinux_2_28_x86_64", "manylinux_2_27_x86_64", "manylinux_2_17_x86_64", "manylinux2014_x86_64")


def main(arguments: Sequence[str] | None = None) -> int:
    """Returns 1 if the bundle is larger than allowed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--python", default="3.12", help="the version of Python there")
    parser.add_argument("--out", type=Path, default=ROOT / "dist" / "gpu-bundle")
    parser.add_argument("--most-mib", type=float, default=48.0, help="the most MiB")
    options = parser.parse_args(arguments)
    shutil.rmtree(options.out, ignore_errors=True)
    options.out.mkdir(parents=True)
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--quiet"]
    subprocess.run([*pip, "wheel", "--no-deps", "--wheel-dir", str(options.out), *OWN], cwd=ROOT, check=True)
    platforms = [part for name in _PLATFORMS for part in ("--platform", name)]
    download = [*pip, "download", "--only-binary=:all:", "--python-version", options.python, "--implementation", "cp"]
    own = [str(path) for path in sorted(options.out.glob("*.whl"))]
    subprocess.run([*download, *platforms, "--dest", str(options.out), *own], cwd=ROOT, check=True)
    for wheel in sorted(options.out.glob("*.whl")):
        if wheel.name.split("-")[0] in LEFT_OUT:
            wheel.unlink()
        elif wheel.stat().st_size > _LARGE:
            compress_again(wheel)
    size = sum(wheel.stat().st_size for wheel in options.out.glob("*.whl")) / (1 << 20)
    print(f"{options.out}: {len(list(options.out.glob('*.whl')))} wheels, {size:.1f} MiB")
    return int(size > options.most_mib)


def compress_again(wheel: Path) -> None:
    """Compresses the large files of a wheel by LZMA. Their names and contents stay the same."""
    smaller = wheel.with_suffix(".tmp")
    with zipfile.ZipFile(wheel) as source, zipfile.ZipFile(smaller, "w") as target:
        for item in source.infolist():
            info = zipfile.ZipInfo(item.filename, item.date_time)
            info.external_attr = item.external_attr
            info.compress_type = zipfile.ZIP_LZMA if item.file_size > _LARGE else zipfile.ZIP_DEFLATED
            with source.open(item) as content, target.open(info, "w") as out:
                shutil.copyfileobj(content, out, _LARGE)
    smaller.replace(wheel)


if __name__ == "__main__":
    sys.exit(main())

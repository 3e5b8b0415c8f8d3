"""Which of JAX's tests are run."""

from __future__ import annotations

import dataclasses
import os
import re
from pathlib import Path

VARIABLE = "JAX_TESTS"
REASON = f"JAX's tests are not here: set {VARIABLE} to the folder `tests` of JAX's repository at the installed version"

_SMALL = """
    aot api array checkify compilation_cache debugging_primitives export ffi fft layout lax_vmap multi_device nn pmap
    profiler python_callback random random_lax shard_map
"""
_LARGE = """
    lax lax_autodiff lax_control_flow lax_numpy lax_numpy_indexing lax_numpy_operators lax_numpy_reducers lax_scipy
    linalg
"""


@dataclasses.dataclass(frozen=True)
class Selection:
    """A part of a file's tests.

    Attributes:
        cases: how many cases JAX generates for a parameterized test.
        share: the share of the tests that are run, chosen by the seed.
    """

    cases: int = 10
    share: float = 1.0
    seed: int = 0


FILES: dict[str, Selection] = {
    **dict.fromkeys(_SMALL.split(), Selection()),
    **dict.fromkeys(_LARGE.split(), Selection(cases=3, share=0.25)),
}
"""file of JAX's tests, without `_test.py` -> what of it a run takes by default."""


def tests_folder() -> Path | None:
    """Returns the folder that JAX_TESTS names, or None."""
    folder = Path(os.environ.get(VARIABLE) or "/nonexistent")
    return folder.resolve() if (folder / "lax_test.py").is_file() else None


def file_of_tests(folder: Path, name: str) -> Path:
    return folder / f"{name.removesuffix('.py').removesuffix('_test')}_test.py"


def device_count(file: Path) -> int:
    """Returns the number of devices that a file of tests asks JAX for. It asks for JAX's CPU's only."""
    found = re.findall(r"request_cpu_devices\((\d+)\)", file.read_text())
    return max(map(int, found), default=1)

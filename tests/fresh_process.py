"""Runs a test in a Python process of its own.

A test that forks, or that ends its process, can't do so in pytest's: the threads of JAX and of other tests are in it, and
a child that misses them may crash or hang.
"""

from __future__ import annotations

import functools
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).parents[1]
SECONDS = 120


def in_fresh_process(test: Callable[[], None]) -> Callable[[], None]:
    """Makes a test without fixtures run in a new interpreter. It fails with the output of that process."""

    @functools.wraps(test)
    def run() -> None:
        code = f"from {test.__module__} import {test.__name__} as test; test.__wrapped__()"
        path = os.pathsep.join([str(ROOT), *filter(None, sys.path)])
        done = subprocess.run(
            [sys.executable, "-W", "ignore", "-c", code],
            env={**os.environ, "PYTHONPATH": path},
            capture_output=True,
            text=True,
            timeout=SECONDS,
            check=False,
        )
        assert done.returncode == 0, done.stdout + done.stderr

    return run

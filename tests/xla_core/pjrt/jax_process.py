"""Runs programs with JAX in processes of their own, because JAX opens platforms once."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap

_TIMEOUT = 300.0


def run_jax(
    program: str, platforms: str | None = "xla_cpu,cpu", *, timeout: float = _TIMEOUT, **environment: str
) -> str:
    """Runs a program in a new process, for at most `timeout` seconds, and returns what it prints."""
    variables = {**os.environ, **environment}
    variables.pop("JAX_PLATFORMS", None)
    if platforms is not None:
        variables["JAX_PLATFORMS"] = platforms
    head = "import jax, jax.numpy as jnp, numpy as np\n"
    done = subprocess.run(
        [sys.executable, "-c", head + textwrap.dedent(program)],
        env=variables,
        capture_output=True,
        text=True,
        timeout=timeout,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout

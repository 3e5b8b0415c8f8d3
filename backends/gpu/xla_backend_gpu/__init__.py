"""The GPU backend of xla-core: not written yet, and its hook says so."""

from __future__ import annotations

from xla_core.backend import BackendSpec, hookimpl
from xla_core.errors import UnimplementedError

__all__ = ["xla_backend"]

__version__ = "0.1.0"


@hookimpl
def xla_backend() -> BackendSpec:
    """Raises UnimplementedError: there is nothing to describe yet."""
    raise UnimplementedError(
        f"the GPU backend is not written yet; xla-backend-gpu {__version__} only holds its name",
        hint="use the backend cpu",
    )

"""What JAX must know of our platforms: that they take donated buffers, and the lowerings that it has for its own only.

JAX has no public interface for this, so that this module uses names of `jax._src`. A test runs what depends on them.
"""

from __future__ import annotations

import importlib
import types
from typing import Any

from xla_core.pjrt.jax_plugin import callbacks

_LINEAR_ALGEBRA = """
    eig eigh geqp3 geqrf hessenberg householder_product lu ormqr schur svd tridiagonal tridiagonal_solve
    csr_spmm csr_spmv spsolve
"""
"""Primitives whose lowering on JAX's CPU calls LAPACK or is made of other ops. The core gives LAPACK's calls a
meaning for every backend."""

_CALLBACKS = "check debug_callback debug_print"
"""Primitives whose lowering on JAX's CPU calls Python. Others have one lowering for all platforms."""


def register_platform(name: str) -> None:
    """Tells JAX about a platform of ours."""
    for module in ("jax._src.debugging", "jax._src.lax.linalg", "jax.experimental.sparse"):
        importlib.import_module(module)  # registers the lowerings of its primitives
    from jax._src.interpreters import mlir

    wanted = {*_LINEAR_ALGEBRA.split(), *_CALLBACKS.split()}
    if name not in mlir._platforms_with_donation:
        mlir._platforms_with_donation.append(name)
    for primitive, entry in list(mlir._platform_specific_lowerings["cpu"].items()):
        if primitive.name in wanted:
            mlir.register_lowering(primitive, entry.rule, platform=name, inline=entry.inline)
    if name not in _platforms:
        _platforms.add(name)
        _route_callbacks()
        _use_persistent_cache()


_platforms: set[str] = set()


def _route_callbacks() -> None:
    """Makes JAX's lowerings of callbacks emit our custom call on our platforms, in place of one that JAX's CPU runs."""
    import jax._src.callback
    import jax.interpreters.mlir

    emit_for_jax = jax._src.callback.emit_python_callback

    def emit_python_callback(
        ctx: Any, function: Any, token: Any, operands: Any, operand_avals: Any, result_avals: Any, **options: Any
    ) -> Any:
        emit = callbacks.emit if _platforms.intersection(ctx.module_context.platforms) else emit_for_jax
        return emit(ctx, function, token, operands, operand_avals, result_avals, **options)

    _replace(emit_python_callback, jax._src.callback, jax.interpreters.mlir)


def _use_persistent_cache() -> None:
    """Makes JAX keep our programs in its persistent cache, which it has for a list of platforms."""
    from jax._src import compilation_cache

    is_cache_used_by = compilation_cache.is_cache_used

    def is_cache_used(backend: Any) -> bool:
        """Asks with the name of a platform of the list; JAX reads nothing else of the client."""
        return is_cache_used_by(types.SimpleNamespace(platform="cpu") if backend.platform in _platforms else backend)

    _replace(is_cache_used, compilation_cache)


def _replace(function: Any, *modules: Any) -> None:
    """Replaces JAX's function of the same name, unless it was replaced before."""
    if getattr(modules[0], function.__name__).__module__ != __name__:
        for module in modules:
            setattr(module, function.__name__, function)

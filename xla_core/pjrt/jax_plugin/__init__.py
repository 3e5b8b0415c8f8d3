"""Registers every installed backend as a platform of JAX. JAX finds this module by the entry point `jax_plugins`.

JAX's own platforms keep their names and their priority: a backend is used where a program or JAX_PLATFORMS names it.
"""

from __future__ import annotations

import ctypes
import functools
import importlib.metadata
from typing import Any

_GROUP = "xla_core.backends"  # a copy: importing the registry would slow down JAX's start
JAX_PLATFORMS = frozenset(("cpu", "gpu", "cuda", "rocm", "tpu", "metal"))
"""The names of JAX's own platforms."""

_PRIORITY = -500  # below JAX's own CPU, which has 0


def platform_name(backend: str) -> str:
    """Returns a backend's name in JAX: its own, or `xla_` and its name where JAX has a platform of that name."""
    return f"xla_{backend}" if backend in JAX_PLATFORMS else backend


def initialize() -> None:
    """Registers the platforms. Their devices are opened when JAX first uses a device."""
    # jax.extend.backend has this function too, but importing it loads all of jax.extend, which takes 20 ms
    from jax._src.xla_bridge import register_backend_factory

    for backend in sorted({entry.name for entry in importlib.metadata.entry_points(group=_GROUP)}):
        register_backend_factory(
            platform_name(backend),
            functools.partial(_make_client, backend),
            priority=_PRIORITY,
            fail_quietly=True,
            experimental=False,
        )


def _make_client(backend: str) -> Any:
    import jax

    from xla_core.pjrt.jax_plugin.lazy_client import LazyClient

    name = platform_name(backend)
    config: Any = jax.config
    named = (config.jax_platforms or "").split(",")
    return _open_client(backend) if name in named else LazyClient(name, functools.partial(_open_client, backend))


def _open_client(backend: str) -> Any:
    from jaxlib import xla_client

    from xla_core.pjrt.api import capsule, make_api
    from xla_core.pjrt.jax_plugin.handlers import register_handlers
    from xla_core.pjrt.jax_plugin.platforms import register_platform
    from xla_core.pjrt.python_entries import at_exit_with_calls_left

    name = platform_name(backend)
    if not xla_client.pjrt_plugin_loaded(name):
        table = capsule(make_api(backend, name))
        xla_client.load_pjrt_plugin_with_c_api(name, table)
        xla_client.initialize_pjrt_plugin(name)
        register_platform(name)
        register_handlers(name)
        _register_profiler(table)
        at_exit_with_calls_left(functools.partial(_keep_client, name))
    return xla_client.make_c_api_client(name)


def _keep_client(platform: str) -> None:
    """Keeps JAX's client of a platform from being destroyed: it would wait for its threads, of which one has ended."""
    from jax._src import xla_bridge

    client = xla_bridge._backends.get(platform)
    if client is not None:
        ctypes.pythonapi.Py_IncRef(ctypes.py_object(client))


@functools.cache
def _profilers() -> list[Any]:
    """Returns the tables by which JAX profiles."""
    return []


def _register_profiler(table: Any) -> None:
    """Makes `jax.profiler` profile our devices. One platform's table profiles the devices of all."""
    from jax._src.lib import _profiler

    if not _profilers():
        _profiler.register_plugin_profiler(table)
        _profilers().append(table)

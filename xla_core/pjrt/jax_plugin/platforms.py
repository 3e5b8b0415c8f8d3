"""Tells JAX about our platforms: that they support donation, and lowerings that JAX has for its own platforms only.

JAX has no public interface for this, so that this module uses names of `jax._src`. A test covers each use.
"""

from __future__ import annotations

import atexit
import dataclasses
import functools
import importlib
import types
from typing import Any

import numpy as np

from xla_core.pjrt.event import errors_of_values
from xla_core.pjrt.jax_plugin import callbacks
from xla_core.pjrt.jax_plugin.dlpack import export_arrays

_REPLACED = """
    geqrf householder_product lu ormqr svd tridiagonal_solve csr_spmm csr_spmv spsolve
"""
"""Primitives whose lowering for JAX's CPU is taken although JAX has one for every platform. It calls LAPACK, to whose
custom calls the core gives a meaning for every backend."""


def register_platform(name: str) -> None:
    """Tells JAX about a platform of ours."""
    for module in ("jax._src.debugging", "jax._src.lax.linalg", "jax.experimental.sparse"):
        importlib.import_module(module)  # registers the lowerings of its primitives
    from jax._src import debugging
    from jax._src.export import _export as exports
    from jax._src.interpreters import mlir
    from jax._src.lax.control_flow import conditionals

    if name not in mlir._platforms_with_donation:
        mlir._platforms_with_donation.append(name)
    of_cpu = mlir._platform_specific_lowerings["cpu"]
    rules = _Lowerings(mlir._lowerings, of_cpu)
    rules.update({primitive: rule for primitive, rule in of_cpu.items() if primitive.name in _REPLACED.split()})
    rules.update(mlir._platform_specific_lowerings.get(name, {}))
    mlir._platform_specific_lowerings[name] = rules
    mlir.register_lowering(debugging.inspect_sharding_p, _inspect_sharding, platform=name)
    for primitive, parameter in (
        (conditionals.platform_index_p, "platforms"),
        (conditionals.cond_p, "branches_platforms"),
    ):
        entry = mlir._lowerings[primitive]
        rule = functools.partial(_lower_platform_choice, name, parameter, entry.rule)
        mlir.register_lowering(primitive, rule, platform=name, inline=entry.inline)
    run_export = functools.partial(_lower_exported, name, mlir._lowerings[exports.call_exported_p].rule)
    mlir.register_lowering(exports.call_exported_p, run_export, platform=name)
    if not _platforms:
        export_arrays(_platforms)
        atexit.register(_drop_known_errors)
    if name not in _platforms:
        _platforms.add(name)
        _route_callbacks()
        _use_persistent_cache()
        _show_programs()


class _Lowerings(dict[Any, Any]):
    """The lowerings of primitives on one platform.

    A primitive without a lowering for all platforms is lowered as for JAX's CPU, because many libraries register
    lowerings only for the platforms that JAX itself has.
    """

    def __init__(self, of_every_platform: dict[Any, Any], of_cpu: dict[Any, Any]) -> None:
        super().__init__()
        self._of_every_platform, self._of_cpu = of_every_platform, of_cpu

    def __contains__(self, primitive: object) -> bool:
        return super().__contains__(primitive) or (
            primitive not in self._of_every_platform and primitive in self._of_cpu
        )

    def __missing__(self, primitive: Any) -> Any:
        return self._of_cpu[primitive]


def _lower_platform_choice(name: str, parameter: str, lower: Any, ctx: Any, *args: Any, **parameters: Any) -> Any:
    """Lowers the ops of `jax.lax.platform_dependent`.

    If there is neither a branch for our platform nor a default, the branch for JAX's CPU runs.

    Args:
        parameter: the op's parameter that lists the platforms of each branch, or None for the default branch.
    """
    branches = parameters.get(parameter)
    if branches is not None and name not in {platform for branch in branches for platform in branch or (name,)}:
        branches = tuple((*branch, name) if "cpu" in branch else branch for branch in branches)
        parameters[parameter] = branches
    return lower(ctx, *args, **parameters)


def _lower_exported(name: str, lower: Any, ctx: Any, *args: Any, exported: Any) -> Any:
    """Lowers the call of an exported function. One that is not for our platform runs as it would on JAX's CPU."""
    if name not in exported.platforms:
        platforms = tuple(name if platform == "cpu" else platform for platform in exported.platforms)
        exported = dataclasses.replace(exported, platforms=platforms)
    return lower(ctx, *args, exported=exported)


def _inspect_sharding(ctx: Any, value: Any, *, callback: Any) -> Any:
    """Reports that a value is replicated, because every device computes everything outside of shard_map."""
    from jax._src import mesh, sharding_impls
    from jax.sharding import Mesh, NamedSharding, PartitionSpec

    context = ctx.module_context.axis_context
    found: Any = mesh.thread_resources.env.physical_mesh
    if isinstance(context, sharding_impls.SPMDAxisContext):
        found = context.mesh
        devices = found._flat_devices_tuple
    else:
        devices = context.device_assignment
        if context.abstract_mesh is not None:
            found = Mesh(np.array(devices).reshape(context.abstract_mesh.axis_sizes), context.abstract_mesh.axis_names)
    replicated = sharding_impls.GSPMDSharding.get_replicated(devices)
    nothing_split: Any = PartitionSpec
    callback(replicated if found.empty else NamedSharding(found, nothing_split()))
    return []


_platforms: set[str] = set()


def _drop_known_errors() -> None:
    """Waits for the programs with callbacks, and forgets those that failed and whose values the user has asked for.

    JAX keeps a token of each device's newest such program, and prints its error as the traceback of an exit function.
    """
    from jax._src.dispatch import runtime_tokens

    tokens: dict[Any, Any] = runtime_tokens.output_runtime_tokens
    for device, token in list(tokens.items()):
        try:
            token.block_until_ready()
        except Exception as error:
            if any(known and known in str(error) for known in errors_of_values):
                del tokens[device]


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
    """Makes JAX keep our programs in its persistent cache, which it uses only for listed platforms."""
    from jax._src import compilation_cache

    is_cache_used_by = compilation_cache.is_cache_used

    def is_cache_used(backend: Any) -> bool:
        """Calls JAX's function with the name of a listed platform; JAX reads nothing else of the client."""
        return is_cache_used_by(types.SimpleNamespace(platform="cpu") if backend.platform in _platforms else backend)

    _replace(is_cache_used, compilation_cache)


def _show_programs() -> None:
    """Makes `compiled.as_text()` show our optimized HLO."""
    from jax._src import stages

    from xla_core.pjrt.executable import program_text

    as_text_by_jax = stages.Executable.as_text

    def as_text(self: Any) -> str:
        executable = self.xla_extension_executable()
        text = program_text(executable.fingerprint) if executable.client.platform in _platforms else None
        return as_text_by_jax(self) if text is None else text

    _replace(as_text, stages.Executable)


def _replace(function: Any, *modules: Any) -> None:
    """Replaces JAX's function of the same name, unless it was replaced before."""
    if getattr(modules[0], function.__name__).__module__ != __name__:
        for module in modules:
            setattr(module, function.__name__, function)

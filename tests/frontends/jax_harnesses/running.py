"""A harness as a program: JAX's export, the flat arguments, and the results of JAX's CPU compiler."""

from __future__ import annotations

import dataclasses
import warnings
from typing import Any

import numpy as np


@dataclasses.dataclass(frozen=True)
class Exported:
    """An exported harness. `artifact` is None if JAX can't serialize a custom call in it."""

    text: str
    artifact: bytes | None
    arguments: list[np.ndarray]
    results: list[np.ndarray]


def flat_arrays(tree: Any) -> list[np.ndarray]:
    """Returns the leaves as arrays; a random key is its words."""
    import jax

    arrays = [jax.numpy.asarray(leaf) for leaf in jax.tree.leaves(tree)]
    keys = [jax.dtypes.issubdtype(a.dtype, jax.dtypes.prng_key) for a in arrays]
    return [np.asarray(jax.random.key_data(a) if key else a) for a, key in zip(arrays, keys, strict=True)]


def export(harness: Any) -> Exported:
    """Exports with 64-bit types. Each operation of JAX's results is rounded to its type."""
    import jax
    import jax.export

    with jax.enable_x64(True), warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        arguments = harness.dyn_args_maker(np.random.RandomState(0))
        jitted = jax.jit(harness.dyn_fun, keep_unused=True)
        lowered = jitted.lower(*arguments)
        results = flat_arrays(lowered.compile({"xla_allow_excess_precision": False})(*arguments))
        try:
            artifact = jax.export.export(jitted, platforms=["cpu"])(*arguments).mlir_module_serialized
        except ValueError as error:
            if "Cannot serialize" not in str(error):
                raise
            artifact = None
        return Exported(lowered.as_text(), artifact, flat_arrays(arguments), results)


def export_batches(harness: Any, sizes: tuple[int, ...]) -> list[Exported]:
    """Exports the function mapped over a first dimension of symbolic size, as one program for all sizes.

    Raises what JAX raises where it can't export that.
    """
    import jax
    import jax.export

    with jax.enable_x64(True), warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        calls = []
        for size in sizes:
            made = [harness.dyn_args_maker(np.random.RandomState(seed)) for seed in range(size)]
            calls.append([np.stack(flat_arrays(column)) for column in zip(*made, strict=True)])
        (batch,) = jax.export.symbolic_shape("b")
        specs = [jax.ShapeDtypeStruct((batch, *a.shape[1:]), a.dtype) for a in calls[0]]
        exported = jax.export.export(jax.jit(jax.vmap(harness.dyn_fun)), platforms=["cpu"])(*specs)
        text, artifact = exported.mlir_module(), exported.mlir_module_serialized
        return [Exported(text, artifact, call, flat_arrays(exported.call(*call))) for call in calls]

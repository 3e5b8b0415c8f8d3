"""Writes stored/: exported programs with arguments and JAX's results, for tests without JAX.

python -m tests.frontends.shape_polymorphism.export
"""

from __future__ import annotations

from pathlib import Path

import jax
import numpy as np
from jax import export

from tests.frontends.shape_polymorphism.programs import PROGRAMS, Program

STORED = ("causal_attention", "convolution", "loops", "layer_norm_gradient", "padding", "gathering", "odd_sizes")
DIRECTORY = Path(__file__).with_name("stored")


def write(program: Program) -> None:
    scope = export.SymbolicScope(program.constraints)
    shapes = [export.symbolic_shape(text, scope=scope) for text in program.shapes]
    arguments = [jax.ShapeDtypeStruct(s, d) for s, d in zip(shapes, program.dtypes, strict=True)]
    made = export.export(jax.jit(program.function), platforms=["cpu"])(*arguments)
    arrays = {"roundings": np.float64(program.roundings)}
    for call, sizes in enumerate(program.sizes):
        given = program.arguments(sizes)
        arrays |= {f"{call}/a{i}": array for i, array in enumerate(given)}
        arrays |= {f"{call}/r{i}": np.asarray(r) for i, r in enumerate(jax.tree.leaves(made.call(*given)))}
    (DIRECTORY / f"{program.name}.mlirbc").write_bytes(made.mlir_module_serialized)
    np.savez_compressed(DIRECTORY / f"{program.name}.npz", allow_pickle=False, **arrays)


if __name__ == "__main__":
    DIRECTORY.mkdir(exist_ok=True)
    jax.config.update("jax_traceback_in_locations_limit", 0)
    for program in PROGRAMS:
        if program.name in STORED:
            write(program)

"""The list of models, filled by the decorator `model`, and the short names of the programs' sources for arguments."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Sequence
from typing import Any

from tests.programs import Array, ArraySpec, check_arrays
from tests.programs.sources.registry import f32, i32, typed

__all__ = ["MODELS", "Model", "f32", "i32", "model", "typed"]

Function = Callable[..., Any]


@dataclasses.dataclass(frozen=True)
class Model:
    """A JAX function, its arguments, and the bounds of its floating-point results against JAX's.

    Integer and boolean results must be equal.
    """

    name: str
    function: Function
    arguments: tuple[ArraySpec, ...]
    rtol: float
    atol: float
    x64: bool

    def __str__(self) -> str:
        return self.name

    def check(self, outputs: Sequence[object]) -> None:
        """Asserts that `outputs` are JAX's results."""
        check_arrays(self.name, outputs, self.exported[1], self.rtol, self.atol)

    def inputs(self) -> list[Array]:
        return [spec.make(f"{self.name}/{number}") for number, spec in enumerate(self.arguments)]

    @functools.cached_property
    def exported(self) -> tuple[str, Sequence[Array]]:
        """The program as JAX writes it, and JAX's own results for `inputs()`."""
        import jax
        import numpy as np

        with jax.enable_x64(self.x64):
            shapes = [jax.ShapeDtypeStruct(spec.shape, np.dtype(spec.dtype)) for spec in self.arguments]
            traced = jax.jit(self.function, keep_unused=True).trace(*shapes)
            text = traced.lower(lowering_platforms=("cpu",)).as_text()
            with jax.default_device(jax.devices("cpu")[0]):
                results = jax.jit(self.function)(*self.inputs())
        return text, [np.asarray(leaf) for leaf in jax.tree.leaves(results)]


MODELS: list[Model] = []


def model(
    *arguments: ArraySpec, rtol: float = 1e-4, atol: float = 1e-5, x64: bool = False
) -> Callable[[Function], Function]:
    """Registers the decorated function, which takes arrays of `arguments` and returns a pytree."""

    def register(function: Function) -> Function:
        MODELS.append(Model(function.__name__, function, arguments, rtol, atol, x64))
        return function

    return register

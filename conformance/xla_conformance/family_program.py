"""A small program by name, whose results are exact for small integers, with its arguments and results."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from xla_conformance.bits import require_bits
from xla_core import HloModule, Shape, parse
from xla_core.hlo import Opcode, evaluate, evaluate_replicas

_LARGE = 1 << 16
"""Elements of an array whose loops may take long."""


@dataclasses.dataclass(frozen=True)
class FamilyProgram:
    """A program by name, as text."""

    name: str
    text: str

    def __str__(self) -> str:
        return self.name

    @functools.cached_property
    def module(self) -> HloModule:
        return parse(self.text, file=f"{self.name}.hlo")

    def arguments(self, random: np.random.Generator) -> list[np.ndarray]:
        """Small integers for each array of the parameters."""
        return small_integers(self.module.parameter_shapes, random)

    def results(self, arguments: Sequence[np.ndarray]) -> list[np.ndarray]:
        """The reference evaluator's results, an array each."""
        return [np.asarray(r) for r in evaluate(self.module, *arguments)]

    def require_results(
        self, sentence: str, results: Iterable[Any], arguments: Sequence[np.ndarray], promise: str = "executable.run"
    ) -> None:
        """Raises Failure unless the results of a run are the program's own for these arguments, bit for bit."""
        got = [np.asarray(r) for r in results]
        require_bits(sentence, got, self.results(arguments), promise=promise, module=self.text, arguments=arguments)

    @property
    def has_long_loop(self) -> bool:
        """Whether a loop of the program goes over a large array in each turn."""
        loops = (i for c in self.module.computations for i in c.instructions if i.opcode is Opcode.WHILE)
        return any(leaf.is_array and leaf.num_elements > _LARGE for loop in loops for leaf in loop.shape.leaves())

    @property
    def devices(self) -> int:
        """The number of devices of a run."""
        return self.module.num_replicas * self.module.num_partitions

    def rows(self, random: np.random.Generator) -> list[list[np.ndarray]]:
        """The arguments of each device."""
        return [self.arguments(random) for _ in range(self.devices)]

    def result_rows(self, rows: Sequence[Sequence[np.ndarray]]) -> list[list[np.ndarray]]:
        """The reference evaluator's results on each device."""
        if len(rows) == 1:
            return [self.results(rows[0])]
        return [[np.asarray(r) for r in row] for row in evaluate_replicas(self.module, rows)]


def small_integers(shapes: Sequence[Shape], random: np.random.Generator) -> list[np.ndarray]:
    """An array for each array in `shapes`, of integers that every element type holds."""
    arrays = []
    for leaf in (leaf for shape in shapes for leaf in shape.array_leaves()):
        low, high = (0, 2) if leaf.dtype.kind == "b" else (0, 4) if leaf.dtype.kind == "u" else (-4, 5)
        if leaf.element_type.bit_width <= 4:
            low, high = (0 if "u" in str(leaf.element_type) else -1), 2
        arrays.append(np.asarray(random.integers(low, high, leaf.dimensions)).astype(leaf.dtype))
    return arrays

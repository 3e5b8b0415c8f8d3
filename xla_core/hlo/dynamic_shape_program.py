"""DynamicShapeProgram: a program whose arguments have dynamic shapes."""

from __future__ import annotations

import abc
from collections.abc import Mapping, Sequence

import numpy as np

from xla_core.checks import wrong_argument
from xla_core.hlo.argument_checks import check_arguments
from xla_core.hlo.module import HloModule
from xla_core.hlo.shape import Shape

__all__ = ["DynamicShapeProgram"]


class DynamicShapeProgram(abc.ABC):
    """A verified program, to be lowered for the sizes of its arguments.

    Attributes:
        name: the module's.
        parameters, results: flat, as the entry declares them, tuples taken apart and tokens left out. A dynamic size is
            `Shape.UNBOUNDED` (`?`) or its bound (`<=n`).
        donated: numbers of the parameters that the program donates.
        num_replicas, num_partitions: what the module says.
    """

    name: str
    parameters: tuple[Shape, ...]
    results: tuple[Shape, ...]
    donated: tuple[int, ...]
    num_replicas: int
    num_partitions: int

    @abc.abstractmethod
    def lower(self, shapes: Sequence[Shape], values: Mapping[int, np.ndarray] | None = None) -> HloModule:
        """The HLO module for arguments of these shapes.

        Args:
            shapes: one for each parameter; its sizes are what counts.
            values: arguments, by number, whose values are known: sizes may follow from them. They stay parameters.

        Raises InvalidArgumentError where a shape doesn't fit, an assertion of the program on its shapes fails, or
        shapes within it contradict each other; UnimplementedError where a size follows from the value of an argument.
        """

    def check(self, shapes: Sequence[Shape]) -> None:
        """Raises InvalidArgumentError where shapes, one for each parameter, don't fit what the program declares."""
        if not isinstance(shapes, Sequence) or not all(isinstance(shape, Shape) for shape in shapes):
            raise wrong_argument("shapes", shapes, "a list of Shapes")
        check_arguments(self.name, self.parameters, shapes)

"""DynamicShapeProgram: a program whose arguments have dynamic shapes."""

from __future__ import annotations

import abc
from collections.abc import Mapping, Sequence

import numpy as np

from xla_core.checks import wrong_argument
from xla_core.hlo.evaluation.argument_checks import check_arguments
from xla_core.hlo.ir.module import HloModule
from xla_core.hlo.values.shape import Shape


class DynamicShapeProgram(abc.ABC):
    """A verified program that is lowered for the sizes of its arguments.

    Attributes:
        name: the module's name.
        parameters, results: the entry's declared shapes, with tuples flattened and tokens left out. A dynamic size is
            `Shape.UNBOUNDED` (`?`) or its bound (`<=n`).
        donated: numbers of the parameters that the program donates.
        num_replicas, num_partitions: the counts that the module declares.
    """

    name: str
    parameters: tuple[Shape, ...]
    results: tuple[Shape, ...]
    donated: tuple[int, ...]
    num_replicas: int
    num_partitions: int

    @abc.abstractmethod
    def lower(self, shapes: Sequence[Shape], values: Mapping[int, np.ndarray] | None = None) -> HloModule:
        """Lowers the program to an HLO module for arguments of these shapes.

        Args:
            shapes: one for each parameter; only the sizes matter.
            values: known values of arguments, by parameter number. Sizes may be computed from them. The parameters stay
                in the module.

        Raises:
            InvalidArgumentError: where a shape doesn't fit, an assertion of the program on its shapes fails, or shapes
                within the program contradict each other.
            UnimplementedError: where a size depends on the value of an argument.
        """

    def check(self, shapes: Sequence[Shape]) -> None:
        """Checks the shapes of arguments, one for each parameter, against the declared ones.

        Raises:
            InvalidArgumentError: where a shape doesn't fit.
        """
        if not isinstance(shapes, Sequence) or not all(isinstance(shape, Shape) for shape in shapes):
            raise wrong_argument("shapes", shapes, "a list of Shapes")
        check_arguments(self.name, self.parameters, shapes)

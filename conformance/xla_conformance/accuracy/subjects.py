"""What is measured: the reference evaluator, or a backend."""

from __future__ import annotations

import abc
import functools
from collections.abc import Sequence

import numpy as np

import xla_core as xla
from xla_core.errors import InternalError, UnimplementedError

__all__ = ["BackendSubject", "EvaluatorSubject", "Subject"]

_KEPT = 8  # programs; a check runs few, many times each


class Subject(abc.ABC):
    """Runs programs. `column` says which of the bounds are its."""

    name: str
    column: str

    @abc.abstractmethod
    def run(self, program: str, *arrays: np.ndarray) -> Sequence[np.ndarray]:
        """The results of a program, StableHLO or HLO text, on arguments of its types and shapes.

        Raises:
            UnimplementedError: where it can't run the program, and doesn't claim to.
        """


class EvaluatorSubject(Subject):
    """The reference evaluator."""

    name, column = "evaluator", "evaluator"

    def __init__(self) -> None:
        self._parsed = functools.lru_cache(_KEPT)(xla.parse)

    def run(self, program: str, *arrays: np.ndarray) -> Sequence[np.ndarray]:
        return xla.evaluate(self._parsed(program), *arrays)


class BackendSubject(Subject):
    """A backend. The last few programs stay compiled."""

    def __init__(self, client: xla.Client, column: str = "backend") -> None:
        self.client, self.column = client, column
        self.name = client.platform_name
        self._compiled = functools.lru_cache(_KEPT)(self._compile)

    def _compile(self, program: str) -> xla.LoadedExecutable:
        module = xla.parse(program)
        target = self.client.platform.compiler.target_config
        claimed = all(target.supports(i) for c in module.computations for i in c.instructions)
        try:
            return self.client.compile(module)
        except UnimplementedError as error:
            if claimed:
                raise InternalError(f"it claims every op of the program, but: {error.message}") from error
            raise

    def run(self, program: str, *arrays: np.ndarray) -> Sequence[np.ndarray]:
        return [np.asarray(result) for result in self._compiled(program)(*arrays)]

"""Subjects, which run programs to be measured: the reference evaluator, or a backend."""

from __future__ import annotations

import abc
import functools
import os
from collections import deque
from collections.abc import Sequence
from typing import Protocol

import numpy as np

import xla_core as xla
from xla_core.backend import load_backend
from xla_core.config import flag_variable
from xla_core.errors import InternalError, UnimplementedError, XlaError
from xla_core.hlo import Environment, HloModule, evaluate_replicas
from xla_core.target import TargetConfig

EVALUATOR = "evaluator"
"""The name of the reference evaluator in lists of platforms."""

_KEPT = 8  # how many programs to cache; a check runs few programs, many times each
_TIMEOUT = 20.0  # seconds for a collective


def set_device_count(backend: str, count: int) -> None:
    """Gives the backend's platform `count` devices in this process, unless the environment sets their number.

    It must be called before the first client. A backend whose machine determines the number is left as it is.
    """
    try:
        flag = load_backend(backend).platform.device_count_flag
    except XlaError:  # the first client reports it
        return
    variable = flag_variable(flag)
    text = os.environ.get(variable, "").strip()
    names_file = bool(text) and not text.startswith("-")
    if flag and f"--{flag}=" not in text and not names_file:
        os.environ[variable] = f"{text} --{flag}={count}".strip()


def claims(target: TargetConfig, module: HloModule) -> bool:
    """Whether the target claims to run every instruction of a module."""
    return all(target.supports(i) for c in module.computations for i in c.instructions)


class Subject(abc.ABC):
    """Runs programs. `column` is its column in the table of bounds."""

    name: str
    column: str

    @abc.abstractmethod
    def run(self, program: str, *arrays: np.ndarray) -> Sequence[np.ndarray]:
        """Runs a program, StableHLO or HLO text, on arguments of its types and shapes, and returns the results.

        Raises:
            UnimplementedError: the subject doesn't claim to support the program and can't run it.
        """


class ReplicaSubject(Protocol):
    """Runs programs on several devices."""

    def run_replicas(
        self,
        module: HloModule,
        rows: Sequence[Sequence[np.ndarray]],
        infeed: Sequence[tuple[np.ndarray, ...]] = (),
    ) -> list[list[np.ndarray]]:
        """Runs a module on a device per row of arguments. Returns a row of results for each device.

        `infeed` has the values that each device's infeed gives.
        """


class EvaluatorSubject(Subject):
    """The reference evaluator."""

    name = column = EVALUATOR

    def __init__(self) -> None:
        self._parsed = functools.lru_cache(_KEPT)(xla.parse)

    def run(self, program: str, *arrays: np.ndarray) -> Sequence[np.ndarray]:
        return xla.evaluate(self._parsed(program), *arrays)

    def run_replicas(
        self,
        module: HloModule,
        rows: Sequence[Sequence[np.ndarray]],
        infeed: Sequence[tuple[np.ndarray, ...]] = (),
    ) -> list[list[np.ndarray]]:
        if len(rows) == 1 and not infeed:
            return [list(xla.evaluate(module, *rows[0]))]
        surroundings = [Environment(infeed=deque(infeed)) for _ in rows]
        done = evaluate_replicas(module, rows, timeout=_TIMEOUT, environments=surroundings)
        return [list(row) for row in done]


class BackendSubject(Subject):
    """A backend. It caches the last few compiled programs."""

    def __init__(self, client: xla.Client, column: str = "backend") -> None:
        self.client, self.column = client, column
        self.name = client.platform_name
        self._compiled = functools.lru_cache(_KEPT)(self._compile)

    def _compile(self, program: str) -> xla.LoadedExecutable:
        module = xla.parse(program)
        claimed = claims(self.client.platform.compiler.target_config, module)
        try:
            return self.client.compile(module)
        except UnimplementedError as error:
            if claimed:
                raise InternalError(f"it claims every op of the program, but: {error.message}") from error
            raise

    def run(self, program: str, *arrays: np.ndarray) -> Sequence[np.ndarray]:
        return [np.asarray(result) for result in self._compiled(program)(*arrays)]

    def run_replicas(
        self,
        module: HloModule,
        rows: Sequence[Sequence[np.ndarray]],
        infeed: Sequence[tuple[np.ndarray, ...]] = (),
    ) -> list[list[np.ndarray]]:
        client = self.client
        if len(client.devices) < len(rows):
            raise UnimplementedError(f"the backend has {len(client.devices)} of {len(rows)} devices")
        executable = client.compile(module)
        for value in infeed:
            client.transfer_to_infeed(value)
        if len(rows) == 1:
            return [[np.asarray(r) for r in executable(*rows[0])]]
        placed = [
            [client.buffer_from_host(a, device=d) for a in row] for row, d in zip(rows, client.devices, strict=False)
        ]
        return [[np.asarray(r) for r in row] for row in executable.execute_sharded(placed)]

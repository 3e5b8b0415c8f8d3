"""A mutant: a backend with one fault, as data."""

from __future__ import annotations

import dataclasses
import importlib
import pkgutil
from collections.abc import Callable, Iterator
from functools import cache

from xla_core.backend import BackendSpec
from xla_core.hlo import HloInstruction

__all__ = ["CONTROL", "LEVELS", "VARIABLE", "Mutant", "all_mutants", "find_mutant"]

LEVELS = (
    *("loading", "transfers", "memory", "streams", "events", "executables", "collectives", "claims"),
    *("attributes", "sizes", "types", "values", "device"),
)
"""What mutants break, in the order of the table: parts of the contract, of kernels, and of the queue device."""

VARIABLE = "XLA_ZOO_MUTANT"
"""The environment variable that names the mutant that the backend `zoo` is."""


@dataclasses.dataclass(frozen=True, kw_only=True)
class Mutant:
    """A backend with one fault.

    Attributes:
        name: unique, "LEVEL/FAULT", or "LEVEL/OPCODE/FAULT".
        breaks: the promise's id in `promises.toml`, or for a kernel "OPCODE", "OPCODE.ATTRIBUTE" or "OPCODE:TYPE".
        fault: what is wrong with the backend, in one sentence.
        make: makes the backend. It is called in the process that runs the suite.
        select: which tests to run on it, as `xla conform -k` takes it; "" for all.
        opcode: only the cases of this op; "" for all.
        applies: for a kernel, whether the fault may show in an instruction; only cases with such a one are run.
        profile: the smallest profile that has to find it.
        on_import: called when the backend's module is imported, for faults of loading.
        seconds: how long the run may take before the mutant counts as hanging.
    """

    name: str
    breaks: str
    fault: str
    make: Callable[[], BackendSpec]
    select: str = ""
    opcode: str = ""
    applies: Callable[[HloInstruction], bool] | None = None
    profile: str = "quick"
    on_import: Callable[[], None] | None = None
    seconds: float = 90.0

    @property
    def level(self) -> str:
        return self.name.partition("/")[0]


def _found() -> Iterator[Mutant]:
    package = importlib.import_module("tests.conformance.zoo.mutants")
    for module in pkgutil.iter_modules(package.__path__, package.__name__ + "."):
        yield from importlib.import_module(module.name).MUTANTS


@cache
def all_mutants() -> dict[str, Mutant]:
    """Every mutant by name, in the order of the levels. Raises ValueError for two of one name."""
    mutants: dict[str, Mutant] = {}
    for mutant in sorted(_found(), key=lambda m: LEVELS.index(m.level)):
        if mutants.setdefault(mutant.name, mutant) is not mutant:
            raise ValueError(f"two mutants are named {mutant.name}")
    return mutants


def find_mutant(name: str) -> Mutant:
    return CONTROL if name == CONTROL.name else all_mutants()[name]


def _control() -> BackendSpec:
    from tests.conformance.zoo.parts import template  # which makes mutants

    return template()


CONTROL = Mutant(
    name="control/template",
    breaks="",
    fault="None: the suite must pass it.",
    make=_control,
    select="not ops and not programs",
)

"""A mutant: a backend with one fault, as data."""

from __future__ import annotations

import dataclasses
import importlib
import pkgutil
from collections.abc import Callable
from functools import cache

from xla_conformance.results import GROUPS

from xla_core.backend import BackendSpec
from xla_core.hlo import HloInstruction

LEVELS = (
    *("loading", "transfers", "memory", "streams", "events", "executables", "collectives", "claims"),
    *("attributes", "sizes", "types", "pairs", "values", "device", "code"),
)
"""The groups of mutants, in the order of the table: parts of the contract, of kernels, the queue device, native code.
"""

VARIABLE = "XLA_ZOO_MUTANT"
"""The environment variable with the address of the mutant that the backend `zoo` is."""


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
        prepare: called before the tests in their process, for what would count as an effect of loading.
        seconds: how long the run may take; a mutant on which no test failed by then is missed.
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
    prepare: Callable[[], None] | None = None
    seconds: float = 240.0

    @property
    def level(self) -> str:
        return self.name.partition("/")[0]


@cache
def _modules() -> dict[str, list[Mutant]]:
    """The mutants of each module."""
    package = importlib.import_module("tests.conformance.zoo.mutants")
    names = [module.name for module in pkgutil.iter_modules(package.__path__, package.__name__ + ".")]
    return {name: importlib.import_module(name).MUTANTS for name in names}


@cache
def all_mutants() -> dict[str, Mutant]:
    """Every mutant by name, in the order of the levels. Raises ValueError for two of one name."""
    mutants: dict[str, Mutant] = {}
    found = [mutant for module in _modules().values() for mutant in module]
    for mutant in sorted(found, key=lambda m: LEVELS.index(m.level)):
        if mutants.setdefault(mutant.name, mutant) is not mutant:
            raise ValueError(f"two mutants are named {mutant.name}")
    return mutants


def address_of(mutant: Mutant) -> str:
    """What `at_address` takes: the mutant's module and name. It imports no other module, as a backend's import is timed."""
    modules = [name for name, mutants in _modules().items() if mutant in mutants]
    return f"{modules[0] if modules else __name__}:{mutant.name}"


def at_address(address: str) -> Mutant:
    module, _, name = address.partition(":")
    return next(mutant for mutant in importlib.import_module(module).MUTANTS if mutant.name == name)


def _control() -> BackendSpec:
    from tests.conformance.zoo.parts import template  # which makes mutants

    return template()


def _broken() -> BackendSpec:
    from tests.conformance.zoo.parts import Stream, template

    class Misspelt(Stream):
        def fill(self, destination, value):
            super().fil(destination, value)

    return template(stream=Misspelt)


BROKEN = Mutant(
    name="control/broken",
    breaks="stream.memset",
    fault="Its own Python has a mistake: the zoo must refuse it, though each test of `memset` fails.",
    make=_broken,
    select="test_a_stream_may_run_inline",
)


def _native_control() -> BackendSpec:
    from tests.conformance.zoo.native_code import native_mutant  # which makes mutants

    return native_mutant("control", "None.", str).make()


def _device_control() -> BackendSpec:
    from tests.conformance.zoo.mutants.queue_device import make_device  # which makes mutants

    return make_device()


def _prepare_device() -> None:
    from tests.conformance.zoo.mutants.queue_device import prepare_device

    prepare_device("")


_BASES: dict[str, tuple[Callable[[], BackendSpec], tuple[str, ...]]] = {
    "template": (_control, GROUPS),
    "code": (_native_control, ("ops",)),
    "device": (_device_control, ("loading", "transfers", "memory", "streams", "events", "ops")),
}
"""The backends that mutants change, and the groups in which these are tried."""

CONTROLS = [
    Mutant(
        name=f"control/{base}/{group}",
        breaks="",
        fault="None: the suite must pass it.",
        make=make,
        select=f"test_{group}",
        seconds=7200.0,
        prepare=_prepare_device if base == "device" else None,
    )
    for base, (make, groups) in _BASES.items()
    for group in groups
]
"""Each base without a fault. A test that fails here finds no fault where it fails on a mutant."""

MUTANTS = [*CONTROLS, BROKEN]

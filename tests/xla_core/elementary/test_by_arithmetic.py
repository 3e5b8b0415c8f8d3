"""The formulas on devices with few ops: the evaluator runs each legalized function."""

from __future__ import annotations

import functools
from collections.abc import Sequence

import numpy as np
import pytest
from xla_conformance.accuracy.frame import Check
from xla_conformance.accuracy.suite import all_checks, measure
from xla_conformance.subjects import Subject

import xla_core as xla
from tests.xla_core.passes.legalization.devices import DEVICES, WITH_FUNCTIONS
from xla_core.hlo.verifier import verify
from xla_core.passes.legalization import legalize, unsupported_instructions
from xla_core.target import Capabilities

pytest.importorskip("mpmath")
pytest.importorskip("scipy")


class LegalizedSubject(Subject):
    """The evaluator, which runs programs after legalization for a device."""

    name, column = "legalized", "backend"

    def __init__(self, capabilities: Capabilities) -> None:
        self.capabilities = capabilities
        self._legal = functools.lru_cache(4)(self._legalized)

    def _legalized(self, program: str) -> xla.HloModule:
        module = xla.parse(program)
        legalize(module, self.capabilities.check)
        verify(module)
        assert not unsupported_instructions(module, self.capabilities.check)
        return module

    def run(self, program: str, *arrays: np.ndarray) -> Sequence[np.ndarray]:
        with np.errstate(all="ignore"):
            return xla.evaluate(self._legal(program), *arrays)


LARGE = ("zeta", "polygamma")  # thousands of instructions each
IN_NARROW_BITS = ("next_after", "reduce-precision")  # on the bits of a narrow float, which need integers as narrow
OF_LIMITED_RANGE = {("power", "c64"), ("atan2", "c64")}
"""Their intermediate results overflow, or vanish, where those of complex64 in f64 don't: tested apart."""


def _checks(devices: dict[str, Capabilities]) -> list[Check]:
    return [
        c
        for c in all_checks()
        if c.group in ("real", "complex")
        and c.element_type in devices
        and (c.function, c.element_type) not in OF_LIMITED_RANGE
        and not (c.function in IN_NARROW_BITS and c.element_type in ("bf16", "f16"))
    ]


def _parameters(devices: dict[str, Capabilities]) -> list[object]:
    """The checks; slow are those whose oracle is (of 64 bits), who take all values there are, and large programs."""
    fast = [c for c in _checks(devices) if c.element_type in ("f32", "c64") and c.function not in LARGE]
    return [
        pytest.param(c, id=c.name.replace(" ", "-"), marks=[] if c in fast else [pytest.mark.slow])
        for c in _checks(devices)
    ]


def _holds(check: Check, capabilities: Capabilities, points: int) -> None:
    (row,) = measure(LegalizedSubject(capabilities), [check], points)
    assert row.measured is not None, row.problem
    assert row.measured.wrong == 0, str(row.measured.first_wrong)
    assert row.holds, f"{row.measured.error} {row.unit}, allowed {row.bound}: {row.measured.worst}"


@pytest.mark.parametrize("check", _parameters(DEVICES))
def test_every_function_by_arithmetic(check: Check) -> None:
    _holds(check, DEVICES[check.element_type], 2_000)


@pytest.mark.parametrize("check", _parameters(WITH_FUNCTIONS))
def test_every_function_by_the_functions_that_a_device_has(check: Check) -> None:
    _holds(check, WITH_FUNCTIONS[check.element_type], 1_000)


@pytest.mark.parametrize("opcode", ["power", "atan2"])
def test_complex_functions_of_two_operands(opcode: str) -> None:
    rng = np.random.default_rng(0)
    x, y = ((rng.normal(size=500) + 1j * rng.normal(size=500)).astype(np.complex64) for _ in range(2))
    text = f"""HloModule m
ENTRY e {{
  x = c64[500] parameter(0)
  y = c64[500] parameter(1)
  ROOT z = c64[500] {opcode}(x, y)
}}
"""
    (got,) = LegalizedSubject(DEVICES["c64"]).run(text, x, y)
    (exact,) = xla.evaluate(xla.parse(text.replace("c64", "c128")), x.astype(complex), y.astype(complex))
    # the exponent of a power is off by a unit of its own last place
    exponent = np.abs(y * np.log(x.astype(complex))) if opcode == "power" else 0
    assert np.all(np.abs(got - exact) <= (4 + exponent) * np.finfo(np.float32).eps * np.abs(exact))


@pytest.mark.slow
@pytest.mark.parametrize("check", _parameters(DEVICES))
def test_every_function_by_arithmetic_on_many_points(check: Check) -> None:
    _holds(check, DEVICES[check.element_type], 1_000_000 if check.element_type == "f32" else 100_000)

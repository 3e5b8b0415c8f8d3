"""Programs that older JAX versions serialized are read, and compute the stored results."""

from __future__ import annotations

from collections.abc import Callable

import ml_dtypes
import numpy as np
import pytest

import xla_core as xla
from tests.frontends import factorizations
from tests.frontends.jax_harnesses.stored import Stored, load_exported, load_stored
from xla_core.errors import InvalidArgumentError, UnimplementedError
from xla_core.hlo import Tolerance, compare_arrays, evaluate_replicas, is_custom_call_registered

Arrays = list[np.ndarray]

SCALED = 32
"""Epsilons of the largest element: LAPACK's own algorithms, on another machine."""

FACTORIZED = 10.0
"""Units of n * eps * (the largest element), of what a factorization satisfies."""

LAPACK = ("lapack_", "Qr", "ProductOfElementaryHouseholderReflectors")
"""Prefixes of the custom calls that are LAPACK's routines."""

GSPMD = {"SPMDFullToShardShape", "SPMDShardToFullShape"}

OPEN = {"tpu_stablehlo_dynamic_reduce_window.data_variadic_2023_06_17"}
"""Windows start with values that aren't neutral: how often such a value enters is left to the implementation, and the
stored results, which have it more than once, are a TPU's."""


def eig(stored: Stored, got: Arrays) -> list[float]:
    return factorizations.eigen(np.arange(16).reshape(4, 4).astype(stored.results[1].real.dtype), *got)


def eigh(stored: Stored, got: Arrays) -> list[float]:
    a = np.arange(64).reshape(8, 8).astype(stored.results[1].dtype)
    return factorizations.hermitian_eigen((a + a.T) / 2, *got)


def svd(stored: Stored, got: Arrays) -> list[float]:
    u, s, vh = got
    return factorizations.singular_values(stored.arguments[0], s, u, vh)


def gees(stored: Stored, got: Arrays) -> list[float]:
    return factorizations.schur(stored.arguments[0], *got)


FACTORIZATIONS: dict[str, Callable[[Stored, Arrays], list[float]]] = {
    "cpu_eig_lapack_geev": eig,
    "cpu_eigh_lapack_syev": eigh,
    "cpu_schur_lapack_gees": gees,
    "cpu_svd_lapack_gesdd": svd,
    "tpu_Eigh": eigh,
}


@pytest.fixture(scope="module")
def stored() -> list[Stored]:
    return load_stored()


@pytest.fixture(scope="module")
def client():
    with xla.Client("cpu") as made:
        yield made


def runs_here(stored: Stored) -> bool:
    """Whether each custom call of the program can run here."""
    own = ("shape_assertion", "stablehlo.", "Sharding", "xla.sdy.", "annotate_device_placement")
    return all(t.startswith(own) or is_custom_call_registered(t) for t in stored.targets)


def check(stored: Stored, got: Arrays) -> None:
    assert [(a.dtype, a.shape) for a in got] == [(a.dtype, a.shape) for a in stored.results], stored
    module = stored.name.split(".")[0]
    if stored.name in OPEN:
        return
    if module in FACTORIZATIONS:
        errors = FACTORIZATIONS[module](stored, got)
        assert all(error <= FACTORIZED for error in errors), (stored.name, errors)
        return
    for mine, want in zip(got, stored.results, strict=True):
        exact = want.dtype.kind in "biu" or not any(t.startswith(LAPACK) for t in stored.targets)
        scaled = 0.0 if exact else SCALED * float(ml_dtypes.finfo(want.real.dtype).eps)
        difference = compare_arrays(mine, want, Tolerance(scaled=scaled))
        assert difference.equal, f"{stored}: {difference}"


def test_programs_for_one_device(stored: list[Stored], client: xla.Client) -> None:
    """The evaluator runs the text, the CPU backend the artifact."""
    chosen = [s for s in stored if s.devices == 1 and runs_here(s)]
    assert {s.name.split(".")[0] for s in chosen} > set(FACTORIZATIONS)
    for program in chosen:
        check(program, [np.asarray(r) for r in xla.evaluate(program.text, *program.arguments)])
        check(program, [np.asarray(r) for r in client.compile(program.artifact)(*program.arguments)])


def test_programs_for_several_devices(stored: list[Stored]) -> None:
    """Each device takes the whole arrays, computes its shard, and returns the whole result."""
    chosen = [s for s in stored if s.devices == 2 and not GSPMD & set(s.targets)]
    assert chosen
    for program in chosen:
        for form in (program.text, program.artifact):
            for row in evaluate_replicas(xla.parse(form), [program.arguments] * program.devices):
                check(program, [np.asarray(result) for result in row])


def test_gspmds_form_for_several_devices(stored: list[Stored]) -> None:
    """The stored programs leave the number of partitions to the compiler's options; the lowering reads the program's."""
    chosen = [s for s in stored if GSPMD & set(s.targets)]
    assert chosen
    for program in chosen:
        with pytest.raises(InvalidArgumentError, match="a mesh of 2 devices in a program for 1 partitions"):
            xla.parse(program.artifact)


def test_programs_of_other_devices_read(stored: list[Stored]) -> None:
    """Both forms have the same instructions; running one names the custom call that has no meaning here."""
    for program in (s for s in stored if not runs_here(s)):
        text, artifact = xla.parse(program.text), xla.parse(program.artifact)
        opcodes = [[i.opcode for c in m.computations for i in c.instructions] for m in (text, artifact)]
        assert opcodes[0] == opcodes[1], program
        with pytest.raises(UnimplementedError, match="is not registered"):
            xla.evaluate(text, *program.arguments)


def test_exported_artifacts_read(stored: list[Stored]) -> None:
    found = load_exported()
    assert len(found) > 10
    for artifact in found.values():
        assert xla.parse(artifact).instruction_count

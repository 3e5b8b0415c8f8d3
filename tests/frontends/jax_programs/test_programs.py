"""Every program of the table: what JAX exports, on the reference evaluator and the CPU backend, agrees with JAX."""

from __future__ import annotations

import contextlib
import importlib
import random
import warnings

import ml_dtypes
import numpy as np
import pytest

import xla_core as xla

jax = pytest.importorskip("jax")

from tests.frontends.jax_programs.table import KINDS, Program

MODULES = ("transformations", "control", "arrays", "linear_algebra", "numerics", "randomness", "models")
for _module in MODULES:
    importlib.import_module(f"tests.frontends.jax_programs.{_module}")

PROGRAMS = [p for programs in KINDS.values() for p in programs]
SAMPLE = set(map(str, random.Random(3).sample(PROGRAMS, min(24, len(PROGRAMS)))))
ALL = pytest.mark.parametrize(
    "program", [pytest.param(p, id=str(p), marks=() if str(p) in SAMPLE else pytest.mark.slow) for p in PROGRAMS]
)


@pytest.fixture(scope="module")
def client():
    with xla.Client("cpu") as made:
        yield made


def export(program: Program):
    """The StableHLO text, the flat arguments, and JAX's flat results: each operation rounded as the program says."""
    with jax.enable_x64(True) if program.x64 else contextlib.nullcontext(), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        arguments = [spec.make(f"{program}/{i}") for i, spec in enumerate(program.arguments)]
        jitted = jax.jit(program.function, keep_unused=True, donate_argnums=program.donate)
        lowered = jitted.lower(*arguments)
        compiled = lowered.compile({"xla_allow_excess_precision": False})
        text = lowered.as_text()
        want = [np.asarray(leaf) for leaf in jax.tree.leaves(compiled(*(np.array(a) for a in arguments)))]
        return text, arguments, want


def compare(program: Program, got: list[np.ndarray], want: list[np.ndarray]) -> None:
    assert len(got) == len(want)
    for i, (g, w) in enumerate(zip(got, want, strict=True)):
        label = f"{program}, result {i}"
        assert g.dtype == w.dtype, label
        assert g.shape == w.shape, label
        kind = w.dtype.kind
        if program.exact or kind in "biu" or w.dtype.name.startswith(("int", "uint")):
            np.testing.assert_array_equal(g, w, err_msg=label)
            continue
        wide = np.complex128 if kind == "c" else np.float64
        g, w = g.astype(wide), w.astype(wide)
        finite = np.isfinite(w)
        np.testing.assert_array_equal(np.where(finite, 0, g), np.where(finite, 0, w), err_msg=label)
        scale = np.max(np.abs(w[finite]), initial=0.0)
        error = np.max(np.abs(g[finite] - w[finite]), initial=0.0)
        limit = program.roundings * float(ml_dtypes.finfo(want[i].dtype).eps) * scale
        assert error <= limit, f"{label}: differs by {error}, allowed {limit} ({error / max(limit, 1e-300) * program.roundings:.3g} roundings)"


@ALL
def test_agrees_with_jax(program: Program, client: xla.Client) -> None:
    text, arguments, want = export(program)
    module = xla.parse(text)
    with np.errstate(all="ignore"):
        compare(program, [np.asarray(r) for r in xla.evaluate(module, *arguments)], want)
    outs = client.compile(text)(*arguments)
    compare(program, [np.asarray(r) for r in outs], want)


def test_the_kinds() -> None:
    assert len(KINDS) >= 10

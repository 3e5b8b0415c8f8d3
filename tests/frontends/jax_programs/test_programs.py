"""Every program of the table: what JAX exports, on the reference evaluator and the CPU backend, agrees with JAX."""

from __future__ import annotations

import contextlib
import importlib
import random
import warnings
from pathlib import Path

import numpy as np
import pytest

import xla_core as xla
from tests.frontends.jax_programs.table import KINDS, Program
from tests.roundings import assert_within

jax = pytest.importorskip("jax")

MODULES = (
    "transformations",
    "control",
    "indexing",
    "arrays",
    "convolutions",
    "linear_algebra",
    "functions",
    "element_types",
    "randomness",
    "models",
)
for _module in MODULES:
    importlib.import_module(f"tests.frontends.jax_programs.{_module}")

PROGRAMS = [p for programs in KINDS.values() for p in programs]
PAGE = Path(__file__).resolve().parents[3] / "docs" / "jax-programs.md"


def seeded(count: int, seed: int) -> pytest.MarkDecorator:
    """All programs; those that a seed doesn't choose are slow."""
    chosen = {str(p) for p in random.Random(seed).sample(PROGRAMS, count)}
    marks = [() if str(p) in chosen else pytest.mark.slow for p in PROGRAMS]
    return pytest.mark.parametrize(
        "program", [pytest.param(p, id=str(p), marks=m) for p, m in zip(PROGRAMS, marks, strict=True)]
    )


@pytest.fixture(scope="module")
def client():
    with xla.Client("cpu") as made:
        yield made


@contextlib.contextmanager
def surroundings(program: Program):
    with jax.enable_x64(True) if program.x64 else contextlib.nullcontext(), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield jax.jit(program.function, keep_unused=True, donate_argnums=program.donate)


def arguments_of(program: Program) -> list[np.ndarray]:
    return [spec.make(f"{program}/{i}") for i, spec in enumerate(program.arguments)]


def export(program: Program):
    """The StableHLO text, the flat arguments, and JAX's flat results: each operation rounded as the program says."""
    arguments = arguments_of(program)
    with surroundings(program) as jitted:
        lowered = jitted.lower(*arguments)
        compiled = lowered.compile({"xla_allow_excess_precision": False})
        want = [np.asarray(leaf) for leaf in jax.tree.leaves(compiled(*(np.array(a) for a in arguments)))]
        return lowered.as_text(), arguments, want


def compare(program: Program, got: list[np.ndarray], want: list[np.ndarray]) -> None:
    assert len(got) == len(want)
    for i, (g, w) in enumerate(zip(got, want, strict=True)):
        assert_within(0 if program.exact else program.roundings, g, w, f"{program}, result {i}")


@seeded(16, seed=3)
def test_agrees_with_jax(program: Program, client: xla.Client) -> None:
    text, arguments, want = export(program)
    with np.errstate(all="ignore"):
        compare(program, [np.asarray(r) for r in xla.evaluate(xla.parse(text), *arguments)], want)
    compare(program, [np.asarray(r) for r in client.compile(text)(*arguments)], want)


@seeded(6, seed=4)
def test_an_artifact_of_export_is_the_same_program(program: Program, client: xla.Client) -> None:
    """The bytes of `jax.export` and its text become the same HLO, so their results are equal bit by bit."""
    arguments = arguments_of(program)
    with surroundings(program) as jitted:
        try:
            exported = jax.export.export(jitted)(*arguments)
        except ValueError as error:  # custom calls for which JAX promises no compatibility
            if "Cannot serialize" in str(error) or "does not guarantee" in str(error):
                pytest.skip(str(error).splitlines()[0])
            raise
    from_text = client.compile(exported.mlir_module())(*arguments)
    from_bytes = client.compile(exported.mlir_module_serialized)(*arguments)
    for a, b in zip(from_text, from_bytes, strict=True):
        assert np.asarray(a).tobytes() == np.asarray(b).tobytes()


def test_the_page_lists_every_kind() -> None:
    page = PAGE.read_text()
    for kind, programs in KINDS.items():
        assert f"| {kind} | {len(programs)} |" in page
    assert f"{len(PROGRAMS)} programs of {len(KINDS)} kinds" in page

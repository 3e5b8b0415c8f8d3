"""The HLO text that JAX prints of every program of the table, before and after XLA's compiler, is read and evaluated."""

from __future__ import annotations

import contextlib
import random
import warnings

import numpy as np
import pytest

import xla_core as xla
from tests.xla_core.hlo.structural_equality import structurally_equal
from xla_core.hlo import parse_hlo

jax = pytest.importorskip("jax")

from tests.frontends.jax_programs.table import Program
from tests.frontends.jax_programs.test_programs import PROGRAMS, compare

SAMPLE = set(map(str, random.Random(4).sample(PROGRAMS, min(12, len(PROGRAMS)))))
ALL = pytest.mark.parametrize(
    "program", [pytest.param(p, id=str(p), marks=() if str(p) in SAMPLE else pytest.mark.slow) for p in PROGRAMS]
)


@ALL
def test_printed_text_is_read_and_agrees(program: Program) -> None:
    with jax.enable_x64(True) if program.x64 else contextlib.nullcontext(), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        arguments = [spec.make(f"{program}/{i}") for i, spec in enumerate(program.arguments)]
        lowered = jax.jit(program.function, keep_unused=True).lower(*arguments)
        compiled = lowered.compile({"xla_allow_excess_precision": False})
        want = [np.asarray(leaf) for leaf in jax.tree.leaves(compiled(*arguments))]
        texts = {"before": lowered.as_text(dialect="hlo"), "after": compiled.as_text()}
    for when, text in texts.items():
        if "constant({...})" in text:
            with pytest.raises(xla.XlaError, match=r"value was left out.*\n.*\n.*\n.*print the module with large"):
                xla.parse(text)
            continue
        module = xla.parse(text)
        assert structurally_equal(module, parse_hlo(module.to_text())), when
        with np.errstate(all="ignore"):
            compare(program, [np.asarray(r) for r in xla.evaluate(module, *arguments)], want)

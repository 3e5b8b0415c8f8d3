"""Each instruction of the table, on both engines: they agree on every bit."""

from __future__ import annotations

import numpy as np
import pytest

from tests.backends.gpu.emulator.running import run
from tests.backends.gpu.emulator.variants import THREADS, definitions, text_of, values, variants

DEFINITIONS = definitions()


@pytest.mark.parametrize("syntax", DEFINITIONS)
def test_the_engines_agree(syntax: str) -> None:
    rng = np.random.default_rng(0)
    everything = list(variants(DEFINITIONS[syntax]))
    chosen = [everything[i] for i in sorted(rng.permutation(len(everything))[:32])]
    inputs = np.zeros((len(chosen), 4, THREADS), np.uint64)
    for number, variant in enumerate(chosen):
        for place, type_ in enumerate(variant.sources):
            inputs[number, place] = values(type_, rng)
    outputs = np.zeros((len(chosen), 2, THREADS), np.uint64)
    text = text_of(chosen)
    found = {e: run(text, [inputs, outputs], engine=e, block=THREADS)[0][1] for e in ("checked", "fast")}
    approximate = ".approx" in syntax
    for number, variant in enumerate(chosen):
        for place in range(len(variant.results)):
            checked, fast = (found[e][number, place] for e in ("checked", "fast"))
            apart = np.abs(checked.view(np.int64) - fast.view(np.int64)) > (1 if approximate else 0)
            if apart.any():
                first = int(np.flatnonzero(apart)[0])
                operands = [hex(int(v)) for v in inputs[number, : len(variant.sources), first]]
                pytest.fail(f"{variant.mnemonic} of {operands}: {checked[first]:#x} checked, {fast[first]:#x} fast")

"""Portable artifacts that JAX exported with symbolic shapes, on every installed backend, without JAX."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import xla_core as xla
from tests.roundings import assert_within

STORED = sorted(Path(__file__).with_name("stored").glob("*.mlirbc"))


@pytest.mark.parametrize("platform", ["evaluator", "cpu", "template"])
@pytest.mark.parametrize("path", STORED, ids=lambda p: p.stem)
def test_stored_programs(path: Path, platform: str) -> None:
    program = path.read_bytes()
    if platform == "evaluator":
        run(path, lambda *arguments: xla.evaluate(program, *arguments))
        return
    if platform not in xla.backends():
        pytest.skip(f"no backend named {platform} is installed")
    with xla.Client(platform) as client:
        exe = client.compile(program, file=path.name)
        calls = run(path, lambda *arguments: [np.asarray(r) for r in exe(*arguments)])
        assert len(exe.signatures()) == calls


def run(path: Path, call) -> int:
    with np.load(path.with_suffix(".npz")) as stored:
        arrays = dict(stored)
    count = 0
    while f"{count}/a0" in arrays:
        arguments, expected = (
            [arrays[f"{count}/{kind}{i}"] for i in range(len(arrays)) if f"{count}/{kind}{i}" in arrays]
            for kind in "ar"
        )
        results = call(*arguments)
        assert len(results) == len(expected)
        for got, want in zip(results, expected, strict=True):
            assert_within(float(arrays["roundings"]), got, want, f"{path.stem}, call {count}")
        count += 1
    assert count
    return count

"""`xla ops`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from xla_core import hlo, stablehlo


def test_it_lists_every_op(xla: Callable[..., Any]) -> None:
    done = xla("ops")
    assert done.code == 0
    words = set(done.out.split())
    assert words >= set(stablehlo.OPS)
    assert words >= set(hlo.OPS)


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("stablehlo.slice", ["start_indices", "negative start index", "becomes HLO `slice`", "func.func @main"]),
        ("slice", ["stablehlo.slice", "slice (HLO)"]),
        ("dynamic_slice", ["stablehlo.dynamic_slice", "dynamic-slice (HLO)", "dynamic_slice_sizes"]),
        ("top_k", ["chlo.top_k", "default true"]),
        ("all-reduce", ["all-reduce (HLO)", "1 or more", "traits: collective"]),
    ],
)
def test_it_says_what_an_op_takes(xla: Callable[..., Any], name: str, shown: list[str]) -> None:
    done = xla("ops", name)
    assert done.code == 0, done.err
    for text in shown:
        assert text in done.out


def test_an_unknown_op_is_an_error_that_names_the_nearest(xla: Callable[..., Any]) -> None:
    done = xla("ops", "stablehlo.slce")
    assert done.code == 2
    assert "slice" in done.err


def test_piped_tables_keep_their_rows(xla: Callable[..., Any], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("COLUMNS")
    line = next(line for line in xla("ops").out.splitlines() if "stablehlo.transpose" in line)
    assert "permutation[i]" in line

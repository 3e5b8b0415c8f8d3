"""StableHLO's own portable artifacts, from its oldest version to its newest: each reads as the text beside it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.xla_core.stablehlo.reading import stablehlo_tests, tree
from xla_core.stablehlo import parse_bytecode, parse_text
from xla_core.stablehlo.bytecode.sections import Sections


def pairs() -> list[Path]:
    try:
        folder = stablehlo_tests() / "vhlo"
    except pytest.skip.Exception:
        return []
    return sorted(path for path in folder.glob("*.mlir.bc") if path.with_suffix("").exists())


def test_there_are_artifacts_of_many_versions() -> None:
    stablehlo_tests()
    producers = {Sections(path.read_bytes(), path.name).producer for path in pairs()}
    assert len(producers) >= 17
    assert {"StableHLO_v0.10.0", "StableHLO_v1.20.0"} <= producers


@pytest.mark.parametrize("path", pairs(), ids=lambda path: path.name.split(".")[1])
def test_bytecode_and_text_are_the_same_module(path: Path) -> None:
    want = parse_text(path.with_suffix("").read_text(), path.name)
    got = parse_bytecode(path.read_bytes(), path.name)
    assert len(got.functions) > 150
    assert tree(got) == tree(want)

"""The picture of a buffer assignment."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

import xla_core as xla
from xla_core.analysis import AllocationKind, assign_buffers
from xla_core.analysis.memory_map import plot_memory_map
from xla_core.passes import run_hlo_passes
from xla_core.target import Capabilities, FusionPreferences, TargetConfig

TEXT = """
HloModule chain

ENTRY %main (x: f32[64,64]) -> f32[64,64] {
  %x = f32[64,64] parameter(0)
  %a = f32[64,64] dot(%x, %x), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  %b = f32[64,64] dot(%a, %x), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  ROOT %c = f32[64,64] dot(%b, %a), lhs_contracting_dims={1}, rhs_contracting_dims={0}
}
"""


@pytest.fixture
def assignment():
    target = TargetConfig(name="any", capabilities=Capabilities.all_of(), fusion=FusionPreferences(enabled=False))
    return assign_buffers(run_hlo_passes(xla.parse(TEXT), target))


def test_picture_names_the_values(assignment, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    path = tmp_path / "map.svg"
    import matplotlib as mpl

    with mpl.rc_context({"svg.fonttype": "none"}):
        plot_memory_map(assignment, path)
    text = path.read_text()
    assert f"chain: {assignment.temp_bytes} bytes of temporaries" in text
    assert ">a<" in text
    assert ">b<" in text
    assert ">x<" not in text


def test_other_kinds_and_formats(assignment, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    path = tmp_path / "map.png"
    plot_memory_map(assignment, path, kinds=tuple(AllocationKind))
    assert path.read_bytes().startswith(b"\x89PNG")


def test_without_temporaries(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    target = TargetConfig(name="any", capabilities=Capabilities.all_of())
    module = run_hlo_passes(
        xla.parse("HloModule m\nENTRY %e (x: f32[2]) -> f32[2] {\n  ROOT %x = f32[2] parameter(0)\n}\n"), target
    )
    plot_memory_map(assign_buffers(module), tmp_path / "empty.png")
    assert (tmp_path / "empty.png").stat().st_size > 0


def test_without_matplotlib(assignment, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(xla.XlaError, match="matplotlib") as caught:
        plot_memory_map(assignment, tmp_path / "map.png")
    assert "pip install" in str(caught.value.hint)

"""`xla run --infeed`: values for a program's infeed, and the values of its outfeed."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest

pytest.importorskip("xla_backend_cpu")

FEEDS = """\
module @feeds {
  func.func @main(%x: tensor<2xi32>) -> tensor<2xi32> {
    %t = stablehlo.create_token : !stablehlo.token
    %y:2 = "stablehlo.infeed"(%t) : (!stablehlo.token) -> (tensor<2xi32>, !stablehlo.token)
    %z:3 = "stablehlo.infeed"(%y#1) : (!stablehlo.token) -> (tensor<2xi32>, tensor<2xbf16>, !stablehlo.token)
    %s = stablehlo.add %y#0, %z#0 : tensor<2xi32>
    %u = "stablehlo.outfeed"(%s, %z#1, %z#2) : (tensor<2xi32>, tensor<2xbf16>, !stablehlo.token) -> !stablehlo.token
    %r = stablehlo.add %x, %s : tensor<2xi32>
    return %r : tensor<2xi32>
  }
}
"""
LOOP = """\
HloModule loop
condition { s = (s32[], s32[], token[]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  n = s32[] constant(3)
  ROOT less = pred[] compare(i, n), direction=LT }
body { s = (s32[], s32[], token[]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  x = s32[] get-tuple-element(s), index=1
  t = token[] get-tuple-element(s), index=2
  in = (s32[], token[]) infeed(t), metadata={source_file="loop.py" source_line=7}
  more = s32[] get-tuple-element(in), index=0
  t2 = token[] get-tuple-element(in), index=1
  sum = s32[] add(x, more)
  t3 = token[] outfeed(sum, t2), outfeed_shape=s32[]
  one = s32[] constant(1)
  j = s32[] add(i, one)
  ROOT r = (s32[], s32[], token[]) tuple(j, sum, t3) }
ENTRY main {
  zero = s32[] constant(0)
  t = token[] after-all()
  s = (s32[], s32[], token[]) tuple(zero, zero, t)
  w = (s32[], s32[], token[]) while(s), condition=condition, body=body
  ROOT y = s32[] get-tuple-element(w), index=1 }
"""


@pytest.fixture
def fed(tmp_path: Path) -> tuple[Path, list[object]]:
    """Returns a program and the options with its infeed values."""
    path = tmp_path / "feeds.mlir"
    path.write_text(FEEDS)
    np.save(tmp_path / "x.npy", np.array([1, 2], np.int32))
    np.save(tmp_path / "y.npy", np.array([10, 20], np.int32))
    brain = np.array([0.5, -3], ml_dtypes.bfloat16)
    np.savez(tmp_path / "z.npz", np.array([100, 200], np.int32), brain.view("V2"))
    return path, ["-b", "cpu", "-i", tmp_path / "x.npy", "--infeed", tmp_path / "y.npy", "--infeed", tmp_path / "z.npz"]


def test_values_go_in_and_come_out(xla: Callable[..., Any], fed: tuple[Path, list[object]], tmp_path: Path) -> None:
    path, options = fed
    result = xla("run", path, *options, "--check", "-o", tmp_path / "out")
    assert result.code == 0, result.err
    assert "bf16[2]" in result.out
    assert "outfeed 0.1" in result.out
    assert "agrees with the reference evaluator" in result.out
    assert np.load(tmp_path / "out" / "result_0.npy").tolist() == [111, 222]
    assert np.load(tmp_path / "out" / "outfeed_0.0.npy").tolist() == [110, 220]
    assert np.load(tmp_path / "out" / "outfeed_0.1.npy").view(ml_dtypes.bfloat16).tolist() == [0.5, -3]


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (
            0,
            [
                "feeds.mlir:4:",
                "reads (s32[2]) from its infeed, which was given no values",
                "--infeed",
                "transfer_to_infeed",
            ],
        ),
        (1, ["feeds.mlir:5:", "reads (s32[2], bf16[2]) from its infeed, which was given 1 value\n"]),
        (3, ["--infeed gives 3 values, but the program reads 2"]),
    ],
)
def test_too_few_or_too_many_values_are_an_error_before_the_run(
    xla: Callable[..., Any], fed: tuple[Path, list[object]], tmp_path: Path, given: int, said: list[str]
) -> None:
    values = [tmp_path / name for name in ("y.npy", "z.npz", "y.npy")[:given]]
    result = xla("run", fed[0], "-b", "cpu", *(word for value in values for word in ("--infeed", value)))
    assert result.code == 2
    for part in said:
        assert part in result.err


def test_a_program_without_infeed_takes_none(xla: Callable[..., Any], program: Path, tmp_path: Path) -> None:
    np.save(tmp_path / "y.npy", np.zeros(2, np.float32))
    result = xla("run", program, "-b", "cpu", "--infeed", tmp_path / "y.npy")
    assert result.code == 2
    assert "--infeed gives 1 value, but the program reads 0" in result.err


def test_a_loop_reads_until_nothing_is_left(xla: Callable[..., Any], tmp_path: Path) -> None:
    path = tmp_path / "loop.hlo"
    path.write_text(LOOP)
    for number in range(3):
        np.save(tmp_path / f"{number}.npy", np.int32(10**number))
    words = [word for number in range(3) for word in ("--infeed", tmp_path / f"{number}.npy")]
    result = xla("run", path, "-b", "cpu", *words, "--check")
    assert result.code == 0, result.err
    assert "outfeed 2" in result.out
    result = xla("run", path, "-b", "cpu", *words[:4])
    assert result.code == 2
    assert "loop.py:7: INVALID_ARGUMENT: the program reads more than the 2 values" in result.err
    assert "loop.py:7: " in xla("run", path, "-b", "cpu").err


def test_a_wrong_value_is_said_in_one_notation(
    xla: Callable[..., Any], fed: tuple[Path, list[object]], tmp_path: Path
) -> None:
    np.save(tmp_path / "y.npy", np.zeros(3, np.int32))
    result = xla("run", fed[0], *fed[1])
    assert result.code == 2
    assert "the infeed has s32[3]; expected s32[2]" in result.err


def test_runs_again_are_not_fed(xla: Callable[..., Any], fed: tuple[Path, list[object]]) -> None:
    result = xla("run", fed[0], *fed[1], "--repeat", 2)
    assert result.code == 2
    assert "--repeat and --infeed exclude each other" in result.err


def test_replay_does_not_wait_for_ever(xla: Callable[..., Any], fed: tuple[Path, list[object]], tmp_path: Path) -> None:
    assert xla("run", fed[0], *fed[1], "--dump", tmp_path / "dump").code == 0
    result = xla("replay", tmp_path / "dump", "-b", "cpu")
    assert result.code == 1
    assert "which was given no values" in result.err + result.out


def test_of_several_runs_the_last_ones_outfeed_is_shown_and_replayed(xla: Callable[..., Any], tmp_path: Path) -> None:
    path = tmp_path / "out.hlo"
    path.write_text(
        "HloModule out\nENTRY main {\n  x = f32[2] parameter(0)\n  t = token[] after-all()\n"
        "  o = token[] outfeed(x, t), outfeed_shape=f32[2]\n  ROOT r = f32[2] negate(x)\n}\n"
    )
    result = xla("run", path, "-b", "cpu", "--repeat", 3, "--check", "--dump", tmp_path / "dump", "-o", tmp_path)
    assert result.code == 0, result.err + result.out
    assert sorted(p.name for p in tmp_path.glob("*.npy")) == ["outfeed_0.npy", "result_0.npy"]
    replayed = xla("replay", tmp_path / "dump", "-b", "cpu")
    assert replayed.code == 0, replayed.err
    assert "outfeed 0" in replayed.out

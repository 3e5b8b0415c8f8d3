from __future__ import annotations

import ml_dtypes
import numpy as np

import xla_core as xla

PROGRAM = """HloModule m
add {
  a = bf16[] parameter(0)
  b = bf16[] parameter(1)
  ROOT s = bf16[] add(a, b)
}
ENTRY e {
  x = bf16[6,5,7] parameter(0)
  zero = bf16[] constant(0)
  ROOT r = bf16[6,5,7] reduce-window(x, zero), window={size=3x3x3 pad=1_1x1_1x1_1}, to_apply=add
}
"""


def test_sums_of_windows_of_bf16_are_rounded_once() -> None:
    """XLA's CPU compiler rounds each of the 27 additions, and is up to four times as far from the exact sums."""
    x = np.random.default_rng(0).standard_normal((6, 5, 7)).astype(ml_dtypes.bfloat16)
    padded = np.pad(x.astype(np.float64), 1)
    exact = np.lib.stride_tricks.sliding_window_view(padded, (3, 3, 3)).sum((3, 4, 5))
    (result,) = xla.Client("cpu").compile(PROGRAM)(x)
    assert np.asarray(result).tolist() == exact.astype(ml_dtypes.bfloat16).tolist()

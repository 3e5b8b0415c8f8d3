"""The emulated device, whose streams are threads."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("xla_backend_gpu", reason="xla-backend-gpu is not installed")

from xla_backend_gpu.counting import counted

BRANCHES = """HloModule branches

ENTRY e {
  x = f32[20000] parameter(0)
  y = f32[30000] parameter(1)
  a = f32[20000] negate(x)
  b = f32[30000] negate(y)
  ROOT t = (f32[20000], f32[30000]) tuple(a, b)
}
"""


def test_launches_on_two_streams_are_all_counted(client) -> None:
    executable = client.compile(BRANCHES)
    arguments = [client.buffer_from_host(np.ones(n, np.float32)) for n in (20000, 30000)]
    with counted(client) as count:
        for _ in range(300):
            executable(*arguments)
    assert count.counters.launches == 2 * 300

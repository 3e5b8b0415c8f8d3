"""Executions on a device that has too little memory at first."""

from __future__ import annotations

import gc

import numpy as np
import pytest

pytest.importorskip("xla_backend_template", reason="xla-backend-template is not installed")

import xla_core as xla


def test_arguments_are_copied_once_where_a_run_makes_room() -> None:
    """A run that finds too little memory is tried again, with the copies of its arguments that it made."""
    count = 1 << 20
    program = f"HloModule m\n\nENTRY e {{\n  p = f32[{count}] parameter(0)\n  ROOT n = f32[{count}] negate(p)\n}}\n"
    with xla.Client("template") as client:
        device = client.devices[0]
        executable = client.compile(program)
        argument = client.buffer_from_host(np.ones(count, np.float32)).copy_to_device(device.host_memory)
        argument.block_until_ready()
        gc.collect()
        device.allocator.trim()
        device.memory_limit = 21 << 19  # room for the copy and the result, but not beside 3 MiB in the pool
        client.buffer_from_host(np.ones(3 << 18, np.float32)).block_until_ready()
        gc.collect()
        assert device.memory_stats().bytes_pooled == 3 << 20
        (result,) = executable.execute([argument])
        np.testing.assert_array_equal(np.asarray(result), -np.ones(count, np.float32))

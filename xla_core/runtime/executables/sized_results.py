"""Slices results with dynamic dimensions, which a program computes at their bounds, to their sizes."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from xla_core.hlo.values.shape import Shape
from xla_core.runtime.buffers.buffer import Buffer
from xla_core.runtime.device import Device


def slice_results(
    made: tuple[Buffer, ...], count: int, dynamic: Mapping[int, Mapping[int, int]], device: Device
) -> tuple[Buffer, ...]:
    """Returns the first `count` results, sliced to their sizes. The other results are the sizes.

    The call waits for the sizes, because a Buffer has a fixed shape. `dynamic` says which results are sizes of which
    dimensions; see `xla_core.hlo.evaluation.dynamic_results`.
    """
    results = list(made[:count])
    for number, sizes in dynamic.items():
        whole = results[number]
        actual = {d: int(np.asarray(made[size])) for d, size in sizes.items()}
        if any(n != whole.dimensions[d] for d, n in actual.items()):
            parts = tuple(slice(actual.get(d)) for d in range(whole.ndim))
            array = np.asarray(whole)[parts]
            shape = device.platform.transfer_manager.device_shape(Shape.of(array))
            results[number] = Buffer.from_host(array, device, shape)
    return tuple(results)

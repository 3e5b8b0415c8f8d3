"""SizedProgram: slices results with dynamic dimensions, which are computed at their bounds, to their sizes."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

import numpy as np

from xla_core.backend.executable import RunOptions
from xla_core.hlo.shape import Shape
from xla_core.runtime.buffer import Buffer
from xla_core.runtime.device_program import DeviceProgram

__all__ = ["SizedProgram"]


class SizedProgram(DeviceProgram):
    """A program whose results have dynamic dimensions.

    The executable returns the results at their bounds, and their sizes as further results. An execution waits for the
    sizes, because a Buffer has a fixed shape.
    """

    __slots__ = ("_dynamic", "_kept")

    def with_sizes(self, count: int, dynamic: Mapping[int, Mapping[int, int]]) -> SizedProgram:
        """Sets the number of results for callers, and their dynamic dimensions (see `xla_core.hlo.dynamic_results`)."""
        self._kept, self._dynamic = count, dynamic
        return self

    def run(
        self,
        arguments: Sequence[Buffer],
        run_options: RunOptions | None = None,
        non_donatable: Collection[int] = (),
    ) -> tuple[Buffer, ...]:
        return self.sized(self.start(arguments, run_options, non_donatable))

    def sized(self, made: tuple[Buffer, ...]) -> tuple[Buffer, ...]:
        """Waits for the sizes and slices the results to them."""
        results = list(made[: self._kept])
        for number, sizes in self._dynamic.items():
            whole = results[number]
            actual = {d: int(np.asarray(made[size])) for d, size in sizes.items()}
            if any(n != whole.dimensions[d] for d, n in actual.items()):
                parts = tuple(slice(actual.get(d)) for d in range(whole.ndim))
                array = np.asarray(whole)[parts]
                shape = self.device.platform.transfer_manager.device_shape(Shape.of(array))
                results[number] = Buffer.from_host(array, self.device, shape)
        return tuple(results)

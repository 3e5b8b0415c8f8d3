"""Results whose sizes a run decides: what was computed at the bound, cut to its size."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

import numpy as np

from xla_core.backend.executable import RunOptions
from xla_core.hlo.shape import Shape
from xla_core.runtime.buffer import Buffer
from xla_core.runtime.device_program import DeviceProgram

__all__ = ["SizedProgram"]


class SizedProgram(DeviceProgram):
    """A program some of whose results come at their bound, with their sizes as further results.

    A run of it waits for the sizes: the shape of a Buffer is known when it is handed out.
    """

    __slots__ = ("_dynamic", "_kept")

    def with_sizes(self, count: int, dynamic: Mapping[int, Mapping[int, int]]) -> SizedProgram:
        """As `xla_core.hlo.dynamic_results` has them."""
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
        """Waits for the sizes, and cuts the results to them."""
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

"""dynamic_padder: replaces bounded dynamic arrays with padded static arrays (XLA: xla/service/dynamic_padder.h).

A value `f32[<=5]` becomes a value `f32[5]` and its size, an `s32[]`. Elements beyond the size have arbitrary values.
For an op whose result would depend on them, they are masked with a value that doesn't change the result.
"""

from __future__ import annotations

from xla_core.hlo.ir.module import HloModule
from xla_core.passes.pass_manager import HloPass


class DynamicPadder(HloPass):
    """Rewrites the entry so that no shape is dynamic.

    A dynamic result is returned padded to its bound, and its sizes are returned as further results, which
    `dynamic_results` records.

    Raises:
        UnimplementedError: a parameter is dynamic, or an op has no padded form (the error has its location).
    """

    def run(self, module: HloModule) -> bool:
        if not any(i.shape.is_dynamic for c in module.computations for i in c.instructions):
            return False
        from xla_core.passes.dynamic_padder.pad_module import pad_module  # imported only if needed

        pad_module(module)
        return True

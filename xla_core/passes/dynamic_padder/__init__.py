"""dynamic_padder: arrays of bounded sizes become arrays of their bounds. (XLA: xla/service/dynamic_padder.h.)

A value `f32[<=5]` becomes a value `f32[5]` and its size, an `s32[]`. What lies beyond the size is arbitrary; an op that
would look at it gets it masked by what changes nothing.
"""

from __future__ import annotations

from xla_core.hlo.module import HloModule
from xla_core.passes.pass_manager import HloPass

__all__ = ["DynamicPadder"]


class DynamicPadder(HloPass):
    """Rewrites the entry so that no shape is dynamic.

    A dynamic result is returned at its bound, and its sizes as further results; `dynamic_results` says which they are.
    Parameters must be static. Raises UnimplementedError, with the place, for an op that has no padded form.
    """

    name = "dynamic-padder"

    def run(self, module: HloModule) -> bool:
        if not any(i.shape.is_dynamic for c in module.computations for i in c.instructions):
            return False
        from xla_core.passes.dynamic_padder.pad_module import pad_module  # imported for dynamic shapes alone

        pad_module(module)
        return True

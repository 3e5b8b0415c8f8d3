"""How a device shares the work of one kernel among its threads."""

from __future__ import annotations

from pydantic import Field

from xla_core.checked_model import CheckedModel

__all__ = ["ParallelModel"]


class ParallelModel(CheckedModel):
    """When more than one thread is worth it, and into what a kernel's work is cut for them.

    Attributes:
        units: into how many units of work a large kernel is cut, at least. Passes and emitters use the same number, so
            that a result doesn't depend on how many threads there are.
        row_elements: elements of a row below which the row is not cut.
        grain_elements: the fewest elements that a thread takes at once.
        kernel_nanoseconds: how long a kernel takes on one thread before a second thread pays.
        chunk_nanoseconds: how much work a thread takes at once, so that the load stays balanced.
        split_reduction_elements: from how many elements on a reduction to few results is computed in two steps, the
            first of which has `units` independent parts.
    """

    units: int = Field(default=64, ge=1)
    row_elements: int = Field(default=1024, ge=1)
    grain_elements: int = Field(default=64, ge=1)
    kernel_nanoseconds: float = Field(default=12_000.0, ge=0)
    chunk_nanoseconds: float = Field(default=100_000.0, gt=0)
    split_reduction_elements: int = Field(default=1 << 16, ge=1)

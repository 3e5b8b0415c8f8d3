"""How a device divides the work of one kernel among its threads."""

from __future__ import annotations

from pydantic import Field

from xla_core.checked_model import CheckedModel


class ParallelModel(CheckedModel):
    """Decides when a kernel runs on more than one thread, and how its work is divided.

    Attributes:
        units: the least number of units into which a large kernel is divided. Passes and emitters use the same number,
            so that a result doesn't depend on the number of threads.
        row_elements: a row with fewer elements is not divided.
        grain_elements: the fewest elements that a thread takes at a time.
        kernel_nanoseconds: a kernel that takes less time runs on one thread.
        chunk_nanoseconds: the work that a thread takes at a time, so that the load stays balanced.
        split_reduction_elements: a reduction of at least so many elements to few results is computed in two steps, of
            which the first has `units` independent parts.
    """

    units: int = Field(default=64, ge=1)
    row_elements: int = Field(default=1024, ge=1)
    grain_elements: int = Field(default=64, ge=1)
    kernel_nanoseconds: float = Field(default=12_000.0, ge=0)
    chunk_nanoseconds: float = Field(default=100_000.0, gt=0)
    split_reduction_elements: int = Field(default=1 << 16, ge=1)

"""How a device divides the work of one kernel among its threads."""

from __future__ import annotations

from typing import Literal, Self

from pydantic import Field, model_validator

from xla_core.checked_model import CheckedModel
from xla_core.target.matrix_shape import MatrixShape


class ParallelModel(CheckedModel):
    """Decides when a kernel runs on more than one thread, and how its work is divided.

    Kernels of a processor are loops, which a pool of threads divides; a block has one thread then. Kernels of a grid
    are run by blocks of many threads, which share memory and wait for each other.

    Attributes:
        units: the least number of units into which a large kernel is divided. Passes and emitters use the same number,
            so that a result doesn't depend on the number of threads.
        row_elements: a row with fewer elements is not divided.
        grain_elements: the fewest elements that a thread takes at a time.
        kernel_nanoseconds: a kernel that takes less time runs on one thread.
        chunk_nanoseconds: the work that a thread takes at a time, so that the load stays balanced.
        split_reduction_elements: a reduction of at least so many elements to few results is computed in two steps, of
            which the first has `units` independent parts. With blocks, each result must combine so many elements.
        threads: the most threads of a block.
        lanes: how many neighbouring threads of a block exchange values without memory: a power of two
            that divides `threads`.
        vector_bytes: the most bytes that one thread loads or stores at once.
        transaction_bytes: memory is moved in blocks of so many bytes, at addresses that are multiples of it.
        shared_bytes: memory that the threads of a block share. A kernel may declare so much by itself.
        launch_shared_bytes: memory that the threads of a block share, all in all, where the launch asks for more than
            `shared_bytes`; 0 where it can't.
        matrix_shapes: the products of small matrices that the lanes of a group compute by one instruction, in the order
            of preference.
        matrix_loads: whether the lanes of a group load matrices of 8 rows of 16 bytes from shared memory together. Lane
            n gets 4 bytes of row n / 4, from byte 4 (n mod 4) on. A matrix of 16-bit elements may be transposed before.
        copy_bytes: the sizes, in bytes, of copies to shared memory that run while the thread goes on.
        registers: 32-bit values that a thread of a full block may keep, besides those that every kernel needs.
        resident_threads: threads that the device runs at once. A kernel whose threads work alone has no more: each
            thread takes several parts of the work. 0 sets no limit.
        atomic_bits: the widths of words that atomics replace, in ascending order. Smaller elements are replaced within
            the narrowest one.
        serial_updates: a thread combines so many updates of a scatter one after another, at most; more are sorted.
        index_bits: the width of index arithmetic whose values fit, 32 or 64. Where 64-bit integers are several
            instructions, 32 is faster.
    """

    units: int = Field(default=64, ge=1)
    row_elements: int = Field(default=1024, ge=1)
    grain_elements: int = Field(default=64, ge=1)
    kernel_nanoseconds: float = Field(default=12_000.0, ge=0)
    chunk_nanoseconds: float = Field(default=100_000.0, gt=0)
    split_reduction_elements: int = Field(default=1 << 16, ge=1)
    threads: int = Field(default=1, ge=1)
    lanes: int = Field(default=1, ge=1)
    vector_bytes: int = Field(default=16, ge=1)
    transaction_bytes: int = Field(default=64, ge=1)
    shared_bytes: int = Field(default=0, ge=0)
    launch_shared_bytes: int = Field(default=0, ge=0)
    matrix_shapes: tuple[MatrixShape, ...] = ()
    matrix_loads: bool = False
    copy_bytes: tuple[int, ...] = ()
    registers: int = Field(default=32, ge=1)
    resident_threads: int = Field(default=0, ge=0)
    atomic_bits: tuple[int, ...] = Field(default=(32, 64), min_length=1)
    serial_updates: int = Field(default=16, ge=0)
    index_bits: Literal[32, 64] = 64

    @model_validator(mode="after")
    def _check_lanes(self) -> Self:
        if self.lanes & (self.lanes - 1) or self.threads % self.lanes:
            raise ValueError(f"lanes must be a power of two that divides threads ({self.threads}), not {self.lanes}")
        return self

    @property
    def blocks_at_once(self) -> int:
        """How many blocks of a product keep the device busy: a unit is a quarter of the blocks that a processor runs at
        once.
        """
        return max(1, self.units // 4)

    @property
    def least_parts(self) -> int:
        """How many blocks, at least, must share rows one after another. With fewer, most processors would have none."""
        return max(1, self.blocks_at_once // 2)

    @property
    def kept_words(self) -> int:
        """How many 32-bit values the threads of a block keep in registers."""
        return self.threads * self.registers

    @property
    def block_elements(self) -> int:
        """How many 32-bit elements of a row a block keeps in registers, for a row that several stages need."""
        return self.kept_words // 2

    @property
    def most_shared_bytes(self) -> int:
        """The most memory that the threads of a block share, whether or not a launch must ask for it."""
        return max(self.shared_bytes, self.launch_shared_bytes)

    @property
    def has_blocks(self) -> bool:
        """Whether kernels are run by blocks of threads."""
        return self.threads > 1

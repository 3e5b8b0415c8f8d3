"""KernelResources: what a kernel's function needs of its launch, or of its caller."""

from __future__ import annotations

import dataclasses


@dataclasses.dataclass(slots=True)
class KernelResources:
    """The needs of one kernel's function. Its emission adds to them, so they are complete when the kernel is emitted.

    Attributes:
        block_threads: the threads that each block of a grid must have; 0 if there are no blocks.
        shared_bytes: the shared memory that the function declares.
        launch_shared_bytes: the shared memory that a launch must ask for, besides what the function declares. It is 0
            unless `ParallelModel.launch_shared_bytes` allows for more than a function may declare.
        launch_shared_array: the name of the variable, without a size, that is this memory; "" if there is none.
        thread_scratch_bytes: the scratch memory that each thread of a launch takes from memory of the caller, if the
            ABI's `allocate` does so. Other ABIs take it from the stack, or from an allocator.
        allocates: whether a run allocates memory, which may fail.
    """

    block_threads: int = 0
    shared_bytes: int = 0
    launch_shared_bytes: int = 0
    launch_shared_array: str = ""
    thread_scratch_bytes: int = 0
    allocates: bool = False

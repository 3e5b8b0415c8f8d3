"""The checked engine runs all threads of several blocks in lockstep. A register is a numpy array over the threads.

`engine` schedules groups of threads, `state` holds their registers, `accesses` checks every memory access. `races`
finds races in shared memory, `partial_races` those of kernels with barriers of a part of the block, and `global_races`
those between blocks. `undefined` follows values from uninitialized memory, `waiting` implements barriers, and
`counting` counts instructions and memory accesses.
"""

from xla_backend_gpu.emulator.checked.engine import run_checked

__all__ = ["run_checked"]

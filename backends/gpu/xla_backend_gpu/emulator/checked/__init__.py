"""The checked engine: all threads of several blocks in lockstep, as numpy arrays.

`engine` schedules groups of threads, `state` holds their registers, `accesses` checks every access of memory, `races`
finds races in shared memory, `undefined` follows values from uninitialized memory, `waiting` has the barriers, and
`counting` counts.
"""

from xla_backend_gpu.emulator.checked.engine import run_checked

__all__ = ["run_checked"]

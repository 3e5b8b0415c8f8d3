"""The functions of CUDA's driver that the backend calls, over emulated devices.

They check what the real driver checks: that a context is current, that handles are alive, that memory is allocated,
that a captured stream isn't waited for. What CUDA leaves undefined, such as unloading a module while its kernel runs,
ends the process with an error. A function that isn't here is one that the driver lacks, which cuda-bindings reports.
Statuses are those of CUresult.
"""

from __future__ import annotations

from tests.backends.gpu.cuda_stub import code, contexts, graphs, memory, streams
from tests.backends.gpu.cuda_stub.code import connect_cublas, cubins, images
from tests.backends.gpu.cuda_stub.state import (
    Graph,
    address_of,
    calls,
    devices,
    failing,
    functions,
    handles,
    host_memory,
    state,
    unreachable,
)

__all__ = [
    "Graph",
    "address_of",
    "calls",
    "code",
    "connect_cublas",
    "contexts",
    "cubins",
    "devices",
    "failing",
    "functions",
    "graphs",
    "handles",
    "host_memory",
    "images",
    "memory",
    "state",
    "streams",
    "unreachable",
]

"""Writes kernels in PTX, and runs them on the emulator's engines."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from xla_backend_gpu.emulator import Counters, Memory, Module
from xla_backend_gpu.ptxas import assemble, find_ptxas

HEADER = ".version 8.4\n.target sm_90\n.address_size 64\n"
ENGINES = ("checked", "fast")
REGISTERS = ".reg .pred %p<20>; .reg .b16 %h<20>; .reg .b32 %r<40>; .reg .b64 %rd<40>;"


def kernel(body: str, parameters: int = 1, before: str = "", declare: str = "") -> str:
    """A kernel `k` with pointers as parameters: in %rd1, %rd2, ...; %r1 is its thread, %r2 its place in the grid, and
    %rd20 its offset in arrays of 32-bit elements.
    """
    signature = ", ".join(f".param .u64 p{i}" for i in range(1, parameters + 1))
    loads = "\n".join(f"ld.param.u64 %rd{i}, [p{i}];" for i in range(1, parameters + 1))
    return f"""{HEADER}{before}
.visible .entry k({signature})
{{
{REGISTERS}
{declare}
{loads}
mov.u32 %r1, %tid.x;
mov.u32 %r38, %ctaid.x;
mov.u32 %r39, %ntid.x;
mad.lo.u32 %r2, %r38, %r39, %r1;
mul.wide.u32 %rd20, %r2, 4;
{body}
ret;
}}
"""


def accepted_by_ptxas(text: str) -> None:
    """Raises if ptxas, where there is one, refuses a text."""
    if find_ptxas() is not None:
        assemble(text, "sm_90")


def run(
    text: str,
    arrays: Sequence[np.ndarray | int],
    *,
    engine: str,
    grid: int = 1,
    block: int = 32,
    name: str = "k",
    **options: Any,
) -> tuple[list[np.ndarray], Counters]:
    """Runs a kernel on copies of arrays, and returns what they are afterwards. A number stands for that many bytes of
    memory that nothing was written to.
    """
    memory = Memory(1 << 22)
    addresses = []
    for array in arrays:
        size = array if isinstance(array, int) else array.nbytes
        address = memory.allocate(size)
        assert address is not None
        if not isinstance(array, int):
            memory.write(address, np.ascontiguousarray(array))
        addresses.append(address)
    counters = Module(text, engine=engine).launch(name, (grid,), (block,), addresses, memory, **options)
    after = [
        np.frombuffer(memory.read(a, array), np.uint8)
        if isinstance(array, int)
        else np.frombuffer(memory.read(a, array.nbytes), array.dtype).reshape(array.shape)
        for a, array in zip(addresses, arrays, strict=True)
    ]
    return after, counters

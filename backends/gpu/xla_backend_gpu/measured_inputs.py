"""Values for the operands of kernels that are measured.

The time of a gather, a scatter or a sort depends on them: zeros would be indices of one element, and sorted.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from xla_backend_gpu.kernel import GpuKernel
from xla_backend_gpu.matmul_thunk import MatmulThunk
from xla_core.analysis import BufferSlice
from xla_core.hlo import ElementType, HloInstruction, Opcode
from xla_core.schedule import KernelThunk

_MOST_BYTES = 1 << 20
_INDEXED = {Opcode.GATHER: "start_index_map", Opcode.SCATTER: "scatter_dims_to_operand_dims"}


def example_values(thunk: KernelThunk | MatmulThunk) -> Iterator[tuple[BufferSlice, np.ndarray]]:
    """Yields the operands of a step, with bytes for each, which are to be repeated where an operand has more."""
    if isinstance(thunk, MatmulThunk):
        matmul = thunk.matmul
        factors = (matmul.b, matmul.a) if matmul.swapped else (matmul.a, matmul.b)
        types = [factor.element_type for factor in factors]
        types += [matmul.d.element_type] * (len(thunk.operands) - 2)
        bound = 0
    elif isinstance(thunk.kernel, GpuKernel) and thunk.kernel.instruction is not None:
        instruction = thunk.kernel.instruction
        types, bound = [operand.shape.element_type for operand in instruction.operands], index_bound(instruction)
    else:
        return
    if len(types) == len(thunk.operands):
        for place, element_type in zip(thunk.operands, types, strict=True):
            if place.size:
                yield place, values(element_type, place.size, bound)


def index_bound(instruction: HloInstruction) -> int:
    """Returns the least size of a dimension that an instruction or fusion takes elements of by index, or 0."""
    inner = [i for c in instruction.called_computations for i in c.instructions]
    bounds = [
        each.operand(0).shape.dimensions[dimension]
        for each in (instruction, *inner)
        if each.opcode in _INDEXED
        for dimension in each.attribute(_INDEXED[each.opcode])
    ]
    return min(bounds, default=0)


def values(element_type: ElementType, size: int, bound: int) -> np.ndarray:
    """Returns at most `size` bytes of random values, the same ones each time.

    Integers are below `bound`, or of any size if it is 0.
    """
    random, dtype = np.random.default_rng(0), element_type.dtype
    size = min(size, _MOST_BYTES)
    count = max(1, size // dtype.itemsize)
    if element_type is ElementType.PRED:
        found = random.integers(0, 2, count).astype(dtype)
    elif dtype.kind in "iu":
        most = int(np.iinfo(dtype).max)
        found = random.integers(0, min(bound or most, most), count, dtype=dtype)
    elif dtype.kind in "fc":
        found = random.standard_normal(count).astype(dtype)
    else:  # the types of ml_dtypes
        found = random.standard_normal(count).astype(np.float32).astype(dtype)
    return np.ascontiguousarray(found).view(np.uint8).reshape(-1)[:size]

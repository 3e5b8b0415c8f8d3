"""Kernels: every op is one or more of the device's launches, which apply one scalar op over strided operands.

A broadcast has strides of 0, a transpose permutes strides, a reverse negates them, a reduce writes with strides of 0 in
the dimensions that it reduces, and a dot multiplies and adds over the dimensions that it contracts.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence

from xla_backend_queue_device.driver import OPERANDS, OPS, RANK, TYPES, Launch
from xla_backend_queue_device.stream import QueueStream, address
from xla_core.backend import DeviceMemory, Kernel, Stream
from xla_core.errors import InternalError, UnimplementedError
from xla_core.hlo import HloInstruction, Shape
from xla_core.schedule import LaunchDimensions

_NUMBERS, _FLOATS = ("f32", "s32"), ("f32",)
ELEMENTWISE: Mapping[str, tuple[str, ...]] = {
    **dict.fromkeys(("add", "subtract", "multiply", "divide", "remainder", "maximum", "minimum"), _NUMBERS),
    **dict.fromkeys(("negate", "abs"), _NUMBERS),
    **dict.fromkeys(("floor", "ceil", "sqrt", "exponential", "log", "tanh", "sine", "cosine", "power"), _FLOATS),
    **dict.fromkeys(("and", "or", "xor", "not"), ("s32", "pred")),
    **dict.fromkeys(("shift-left", "shift-right-logical", "shift-right-arithmetic"), ("s32",)),
    **dict.fromkeys(("compare", "select", "convert"), TYPES),
}
"""Elementwise ops, with the element types that the device computes them in."""

MOVEMENT = (
    "broadcast",
    "transpose",
    "reshape",
    "copy",
    "slice",
    "reverse",
    "pad",
    "concatenate",
    "iota",
    "bitcast-convert",
)
"""Ops that move elements, in any element type."""

_REDUCERS = ("add", "multiply", "maximum", "minimum")


def _of_rank_6(instruction: HloInstruction) -> str | None:
    shapes = [instruction.shape, *(operand.shape for operand in instruction.operands)]
    return "it has more than 6 dimensions" if any(s.is_array and s.rank > RANK for s in shapes) else None


def _one_width(instruction: HloInstruction) -> str | None:
    both = (instruction.shape.element_type, instruction.operand(0).shape.element_type)
    return None if both[0].byte_width == both[1].byte_width else "the device keeps the number of bytes"


def _plain_dot(dot: HloInstruction) -> str | None:
    rank = dot.shape.rank + len(dot.attribute("lhs_contracting_dims"))
    return "it runs over more than 6 dimensions" if rank > RANK else _same_type(dot)


def _same_type(instruction: HloInstruction) -> str | None:
    types = {s.element_type for s in (instruction.shape, *(o.shape for o in instruction.operands))}
    return "its operands and its result differ in type" if len(types) > 1 else None


def _plain_reduce(reduce: HloInstruction) -> str | None:
    if len(reduce.operands) != 2:
        return "the device reduces one array at a time"
    root = reduce.attribute("to_apply").root
    plain = root.opcode in _REDUCERS and all(o.opcode == "parameter" for o in root.operands)
    return None if plain and root.operand(0) is not root.operand(1) else f"the device has no reduction by {root.opcode}"


def _usual_order(compare: HloInstruction) -> str | None:
    return "the device compares by the usual order" if compare.attribute("type") == "TOTALORDER" else None


CONSTRAINTS: Mapping[str, Callable[[HloInstruction], str | None]] = {
    "*": _of_rank_6,
    "bitcast-convert": _one_width,
    "compare": _usual_order,
    "dot": _plain_dot,
    "reduce": _plain_reduce,
}


class QueueKernel(Kernel):
    """The launches of one instruction. Buffers are the operands, then the result."""

    def __init__(self, instruction: HloInstruction) -> None:
        self.name = instruction.name
        self._launches: list[tuple[Launch, tuple[int, ...]]] = []  # with the buffer of each operand of the launch
        self._begins_at_zero = False
        self._shapes = [*(o.shape for o in instruction.operands), instruction.shape]
        self._result = len(instruction.operands)
        plan = _PLANS.get(instruction.opcode, QueueKernel._elementwise)
        plan(self, instruction)

    def launch(self, stream: Stream, arguments: Sequence[DeviceMemory], dimensions: LaunchDimensions) -> None:
        if not isinstance(stream, QueueStream):
            raise InternalError(f"{self.name} runs on a QueueStream, not on a {type(stream).__name__}")
        if self._begins_at_zero:
            stream.memset(arguments[self._result], 0)
        for planned, buffers in self._launches:
            launch = Launch.from_buffer_copy(planned)
            for place, buffer in enumerate(buffers):
                launch.addresses[place] = address(arguments[buffer])
            stream.launch(launch)

    # -- plans -------------------------------------------------------------------------------------------------------

    def _add(
        self,
        op: str,
        extents: Sequence[int],
        *operands: tuple[int, Sequence[int], int],
    ) -> None:
        """Adds a launch. An operand is its buffer, its strides and its offset; the first is the destination."""
        if op not in OPS:
            raise UnimplementedError(f"the device has no {op}")
        launch = Launch(op=OPS.index(op), rank=len(extents))
        launch.extents[: len(extents)] = extents
        for place, (buffer, strides, offset) in enumerate(operands):
            launch.types[place] = TYPES.index(self._shapes[buffer].element_type.value)
            launch.strides[place][: len(strides)] = strides
            launch.offsets[place] = offset
        assert len(operands) <= OPERANDS
        self._launches.append((launch, tuple(buffer for buffer, _, _ in operands)))

    def _fill(self, source: int) -> None:
        """Sets every element of the result to a scalar."""
        shape = self._shapes[self._result]
        self._add("copy", shape.dimensions, self._whole(self._result), (source, (0,) * shape.rank, 0))

    def _whole(self, buffer: int) -> tuple[int, Sequence[int], int]:
        return buffer, _strides(self._shapes[buffer]), 0

    def _elementwise(self, instruction: HloInstruction) -> None:
        op = instruction.attribute("direction") if instruction.opcode == "compare" else str(instruction.opcode)
        rank = instruction.shape.rank
        operands = [self._whole(n) if o.shape.rank else (n, (0,) * rank, 0) for n, o in enumerate(instruction.operands)]
        self._add(op, instruction.shape.dimensions, self._whole(self._result), *operands)

    def _copy(self, instruction: HloInstruction) -> None:
        self._add("copy", instruction.shape.dimensions, self._whole(self._result), self._whole(0))

    def _bytes(self, instruction: HloInstruction) -> None:
        self._add("copy", (math.prod(instruction.shape.dimensions),), (self._result, (1,), 0), (0, (1,), 0))

    def _broadcast(self, instruction: HloInstruction) -> None:
        strides = [0] * instruction.shape.rank
        for dimension, stride in zip(instruction.attribute("dimensions"), _strides(self._shapes[0]), strict=True):
            strides[dimension] = stride
        self._add("copy", instruction.shape.dimensions, self._whole(self._result), (0, strides, 0))

    def _transpose(self, instruction: HloInstruction) -> None:
        strides = _strides(self._shapes[0])
        permuted = [strides[d] for d in instruction.attribute("dimensions")]
        self._add("copy", instruction.shape.dimensions, self._whole(self._result), (0, permuted, 0))

    def _slice(self, instruction: HloInstruction) -> None:
        strides, slices = _strides(self._shapes[0]), instruction.attribute("slice")
        steps = [n * s.stride for n, s in zip(strides, slices, strict=True)]
        offset = sum(n * s.start for n, s in zip(strides, slices, strict=True))
        self._add("copy", instruction.shape.dimensions, self._whole(self._result), (0, steps, offset))

    def _reverse(self, instruction: HloInstruction) -> None:
        shape, strides, offset = instruction.shape, list(_strides(instruction.shape)), 0
        for d in instruction.attribute("dimensions"):
            offset += strides[d] * (shape.dimensions[d] - 1)
            strides[d] = -strides[d]
        self._add("copy", shape.dimensions, self._whole(self._result), (0, strides, offset))

    def _pad(self, instruction: HloInstruction) -> None:
        self._fill(1)
        operand, result = self._shapes[0], self._shapes[self._result]
        extents, to, start, offset = [], [], 0, 0
        sizes = zip(operand.dimensions, result.dimensions, instruction.attribute("padding"), strict=True)
        for (size, limit, padding), stride, step in zip(sizes, _strides(operand), _strides(result), strict=True):
            every = padding.interior + 1
            first = max(0, -(padding.low // every))  # negative padding leaves elements out at both ends
            last = min(size, (limit - padding.low - 1) // every + 1)
            extents.append(max(0, last - first))
            to.append(step * every)
            start += step * (padding.low + first * every)
            offset += stride * first
        self._add("copy", extents, (self._result, to, start), (0, _strides(operand), offset))

    def _concatenate(self, instruction: HloInstruction) -> None:
        (dimension,), strides, start = instruction.attribute("dimensions"), _strides(instruction.shape), 0
        for number, operand in enumerate(instruction.operands):
            destination = (self._result, strides, start * strides[dimension])
            self._add("copy", operand.shape.dimensions, destination, self._whole(number))
            start += operand.shape.dimensions[dimension]

    def _iota(self, instruction: HloInstruction) -> None:
        strides = [int(d == instruction.attribute("iota_dimension")) for d in range(instruction.shape.rank)]
        destination = self._whole(self._result)  # the source is not read: its offset is the value
        self._add("iota", instruction.shape.dimensions, destination, (self._result, strides, 0))

    def _reduce(self, instruction: HloInstruction) -> None:
        self._fill(1)
        operand, kept = self._shapes[0], iter(_strides(instruction.shape))
        reduced = instruction.attribute("dimensions")
        to = [0 if d in reduced else next(kept) for d in range(operand.rank)]
        result = (self._result, to, 0)
        op = str(instruction.attribute("to_apply").root.opcode)
        self._add(op, operand.dimensions, result, result, self._whole(0))

    def _dot(self, instruction: HloInstruction) -> None:
        self._begins_at_zero = True
        lhs, rhs = self._shapes[0], self._shapes[1]
        left, right = _strides(lhs), _strides(rhs)
        batch = list(zip(instruction.attribute("lhs_batch_dims"), instruction.attribute("rhs_batch_dims"), strict=True))
        inner = (instruction.attribute("lhs_contracting_dims"), instruction.attribute("rhs_contracting_dims"))
        rows = [d for d in range(lhs.rank) if d not in inner[0] and d not in {b for b, _ in batch}]
        columns = [d for d in range(rhs.rank) if d not in inner[1] and d not in {b for _, b in batch}]
        axes = [(lhs.dimensions[a], left[a], right[b]) for a, b in batch]
        axes += [(lhs.dimensions[d], left[d], 0) for d in rows] + [(rhs.dimensions[d], 0, right[d]) for d in columns]
        to = _strides(instruction.shape)
        for a, b in zip(*inner, strict=True):
            axes.append((lhs.dimensions[a], left[a], right[b]))
            to = (*to, 0)
        result, extents = (self._result, to, 0), [size for size, _, _ in axes]
        self._add(
            "multiply-add", extents, result, (0, [n for _, n, _ in axes], 0), (1, [n for *_, n in axes], 0), result
        )


_PLANS: Mapping[str, Callable[[QueueKernel, HloInstruction], None]] = {
    "bitcast-convert": QueueKernel._bytes,
    "broadcast": QueueKernel._broadcast,
    "concatenate": QueueKernel._concatenate,
    "copy": QueueKernel._copy,
    "dot": QueueKernel._dot,
    "iota": QueueKernel._iota,
    "pad": QueueKernel._pad,
    "reduce": QueueKernel._reduce,
    "reshape": QueueKernel._bytes,
    "reverse": QueueKernel._reverse,
    "slice": QueueKernel._slice,
    "transpose": QueueKernel._transpose,
}


def _strides(shape: Shape) -> tuple[int, ...]:
    """The strides of a dense array in its layout, in elements."""
    strides, step = [0] * shape.rank, 1
    for dimension in shape.with_default_layout().layout.minor_to_major:
        strides[dimension] = step
        step *= shape.dimensions[dimension]
    return tuple(strides)

"""Kernels: every op is one or more of the device's launches, which apply one scalar op over strided operands.

An operand is a NumPy view that says where elements lie in a buffer; its own elements are never read. So a broadcast has
strides of 0, a reduce writes to a broadcast result, and a dot multiplies and adds over broadcast operands.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence

import numpy as np
from numpy.lib.stride_tricks import as_strided
from xla_backend_template.driver_stream import DriverStream

from xla_backend_queue_device.device import driver
from xla_core.backend import DeviceMemory, Kernel, Stream
from xla_core.hlo import HloInstruction, Shape
from xla_core.schedule import LaunchDimensions

_OPERANDS = 4  # of a launch, with the destination

Operand = tuple[int, np.ndarray]  # a buffer's number, and where the elements lie in it

ELEMENTWISE: Mapping[str, tuple[str, ...]] = {
    **dict.fromkeys(("add", "subtract", "multiply", "divide", "remainder", "maximum", "minimum"), ("f32", "s32")),
    **dict.fromkeys(("negate", "abs"), ("f32", "s32")),
    **dict.fromkeys(("floor", "ceil", "sqrt", "exponential", "log", "tanh", "sine", "cosine", "power"), ("f32",)),
    **dict.fromkeys(("and", "or", "xor", "not"), ("s32", "pred")),
    **dict.fromkeys(("shift-left", "shift-right-logical", "shift-right-arithmetic"), ("s32",)),
    **dict.fromkeys(("compare", "select", "convert"), ("f32", "s32", "pred")),
}
"""Elementwise ops, with the element types that the device computes them in."""

MOVEMENT = (
    "copy",
    "broadcast",
    "transpose",
    "reshape",
    "slice",
    "reverse",
    "pad",
    "concatenate",
    "iota",
    "bitcast-convert",
)
"""Ops that move elements of any type."""


def limits(instruction: HloInstruction) -> str | None:
    """Why the device does not run an instruction of these ops and types, or None."""
    types = {shape.element_type for shape in (instruction.shape, *(o.shape for o in instruction.operands))}
    match str(instruction.opcode):
        case "bitcast-convert" if len({t.byte_width for t in types}) > 1:
            return "the device keeps the number of bytes"
        case "compare" if instruction.attribute("type") == "TOTALORDER":
            return "the device compares by the usual order"
        case "dot" if len(types) > 1:
            return "its operands and its result differ in type"
        case "reduce" if len(instruction.operands) != 2:
            return "the device reduces one array at a time"
        case "reduce":
            root = instruction.attribute("to_apply").root
            numbers = {o.attribute("parameter_number") for o in root.operands if o.opcode == "parameter"}
            is_plain = root.opcode in ("add", "multiply", "maximum", "minimum") and numbers == {0, 1}
            return None if is_plain else f"the device has no reduction by {root.opcode}"
    return None


class QueueKernel(Kernel):
    """The launches of one instruction. Buffers are the operands, then the result."""

    def __init__(self, instruction: HloInstruction) -> None:
        self.name = instruction.name
        self._buffers = [_view(o.shape) for o in instruction.operands] + [_view(instruction.shape)]
        self._result = len(instruction.operands)
        self._begins_at_zero = instruction.opcode == "dot"
        self._launches: list[tuple[int, list[int], list[int]]] = []  # kernel, buffers of its operands, parameters
        _PLANS.get(instruction.opcode, QueueKernel._elementwise)(self, instruction)

    def launch(self, stream: Stream, arguments: Sequence[DeviceMemory], dimensions: LaunchDimensions) -> None:
        assert isinstance(stream, DriverStream)
        if self._begins_at_zero:
            stream.memset(arguments[self._result], 0)
        memories = [*arguments, DeviceMemory(0, 0)]  # and what an iota reads
        for kernel, buffers, parameters in self._launches:
            stream.launch(kernel, [memories[buffer] for buffer in buffers], parameters)

    # -- plans -------------------------------------------------------------------------------------------------------

    def _add(self, kernel: str, result: np.ndarray, *sources: Operand) -> None:
        """Adds a launch, for each index of `result`. Operands that the kernel hasn't are those that it has once more."""
        operands = [(self._result, result), *sources, *sources[-1:] * (_OPERANDS - 1 - len(sources))]
        offsets = [view.ctypes.data - self._buffers[buffer].ctypes.data for buffer, view in operands]
        dimensions = zip(result.shape or (1,), *(view.strides or (0,) for _, view in operands), strict=True)
        parameters = [*offsets, *itertools.chain.from_iterable(dimensions)]
        self._launches.append((driver.find_kernel(kernel), [buffer for buffer, _ in operands], parameters))

    def _copy(self, result: np.ndarray, source: np.ndarray, buffer: int = 0) -> None:
        """Adds a launch that copies the source, which is in `buffer`, to the result, as often as the result is larger."""
        self._add(f"copy_{source.itemsize}", result, (buffer, np.broadcast_to(source, result.shape)))

    def _elementwise(self, instruction: HloInstruction) -> None:
        *sources, result = self._buffers
        op = str(instruction.opcode).replace("-", "_")
        kernel = f"{op}_{_type(instruction.operand(0))}"
        if op == "compare":
            kernel = f"{instruction.attribute('direction')}_{_type(instruction.operand(0))}"
        elif op == "convert":
            kernel = f"{kernel}_{_type(instruction)}"
        elif op == "select":
            kernel = f"select_{result.itemsize}"
        self._add(kernel, result, *((n, np.broadcast_to(view, result.shape)) for n, view in enumerate(sources)))

    def _plain_copy(self, instruction: HloInstruction) -> None:
        self._copy(self._buffers[1], self._buffers[0])

    def _bytes(self, instruction: HloInstruction) -> None:
        source, result = (as_strided(view, (view.size,), (view.itemsize,)) for view in self._buffers)
        self._copy(result, source)

    def _broadcast(self, instruction: HloInstruction) -> None:
        source, result = self._buffers
        strides = [0] * result.ndim
        for dimension, stride in zip(instruction.attribute("dimensions"), source.strides, strict=True):
            strides[dimension] = stride
        self._copy(result, as_strided(source, result.shape, strides))

    def _transpose(self, instruction: HloInstruction) -> None:
        self._copy(self._buffers[1], self._buffers[0].transpose(instruction.attribute("dimensions")))

    def _slice(self, instruction: HloInstruction) -> None:
        slices = tuple(slice(s.start, s.limit, s.stride) for s in instruction.attribute("slice"))
        self._copy(self._buffers[1], self._buffers[0][slices])

    def _reverse(self, instruction: HloInstruction) -> None:
        self._copy(self._buffers[1], np.flip(self._buffers[0], instruction.attribute("dimensions")))

    def _pad(self, instruction: HloInstruction) -> None:
        source, value, result = self._buffers
        self._copy(result, value, buffer=1)
        taken, places = [], []
        sizes = zip(source.shape, result.shape, instruction.attribute("padding"), strict=True)
        for size, limit, padding in sizes:
            every = padding.interior + 1
            first = max(0, -(padding.low // every))  # negative padding leaves elements out at both ends
            last = max(first, min(size, (limit - padding.low - 1) // every + 1))
            taken.append(slice(first, last))
            places.append(slice(start := padding.low + first * every, start + (last - first) * every, every))
        self._copy(result[tuple(places)], source[tuple(taken)])

    def _concatenate(self, instruction: HloInstruction) -> None:
        *sources, result = self._buffers
        (dimension,) = instruction.attribute("dimensions")
        ends = itertools.accumulate(source.shape[dimension] for source in sources)
        for number, (source, part) in enumerate(zip(sources, np.split(result, [*ends][:-1], dimension), strict=True)):
            self._copy(part, source, number)

    def _iota(self, instruction: HloInstruction) -> None:
        (result,) = self._buffers
        index = np.empty(1, np.uint8)
        self._buffers.append(index)  # which begins at address 0, so that each address is an index
        strides = [int(d == instruction.attribute("iota_dimension")) for d in range(result.ndim)]
        self._add(f"iota_{_type(instruction)}", result, (1, as_strided(index, result.shape, strides)))

    def _reduce(self, instruction: HloInstruction) -> None:
        source, initial, result = self._buffers
        self._copy(result, initial, buffer=1)
        every = np.broadcast_to(np.expand_dims(result, instruction.attribute("dimensions")), source.shape)
        kernel = f"{instruction.attribute('to_apply').root.opcode}_{_type(instruction)}"
        self._add(kernel, every, (self._result, every), (0, source))

    def _dot(self, instruction: HloInstruction) -> None:
        """Multiplies and adds for each index of (batch, rows of lhs, columns of rhs, contracted)."""
        lhs, rhs, result = self._buffers
        sides = [(lhs, "lhs"), (rhs, "rhs")]
        batch, inner = (
            [instruction.attribute(f"{side}_{kind}_dims") for _, side in sides] for kind in ("batch", "contracting")
        )
        free = [[d for d in range(view.ndim) if d not in (*batch[n], *inner[n])] for n, (view, _) in enumerate(sides)]
        left, right = (view.transpose([*batch[n], *free[n], *inner[n]]) for n, (view, _) in enumerate(sides))
        first, rows, columns = len(batch[0]), len(free[0]), len(free[1])
        left = np.expand_dims(left, tuple(range(first + rows, first + rows + columns)))
        right = np.expand_dims(right, tuple(range(first, first + rows)))
        shape = np.broadcast_shapes(left.shape, right.shape)
        every = np.broadcast_to(np.expand_dims(result, tuple(range(result.ndim, len(shape)))), shape)
        sources = (0, np.broadcast_to(left, shape)), (1, np.broadcast_to(right, shape)), (self._result, every)
        self._add(f"multiply_add_{_type(instruction)}", every, *sources)


_PLANS: Mapping[str, Callable[[QueueKernel, HloInstruction], None]] = {
    "bitcast-convert": QueueKernel._bytes,
    "broadcast": QueueKernel._broadcast,
    "concatenate": QueueKernel._concatenate,
    "copy": QueueKernel._plain_copy,
    "dot": QueueKernel._dot,
    "iota": QueueKernel._iota,
    "pad": QueueKernel._pad,
    "reduce": QueueKernel._reduce,
    "reshape": QueueKernel._bytes,
    "reverse": QueueKernel._reverse,
    "slice": QueueKernel._slice,
    "transpose": QueueKernel._transpose,
}


def _type(instruction: HloInstruction) -> str:
    return str(instruction.shape.element_type.value)


def _view(shape: Shape) -> np.ndarray:
    """A dense array in its layout, of which only the address and the strides are used."""
    strides, step = [0] * shape.rank, shape.element_type.byte_width
    for dimension in shape.with_default_layout().layout.minor_to_major:
        strides[dimension] = step
        step *= shape.dimensions[dimension]
    return as_strided(np.empty(1, shape.element_type.dtype), shape.dimensions, strides)

"""The parts of the code of an fft: complex arithmetic, loops, scratch memory, constants, and rows in memory."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Protocol

import numpy as np

from xla_core.codegen.llvm.ir.builder import IrBuilder
from xla_core.codegen.llvm.ir.module import Value
from xla_core.sizes import round_up

TABLE = 1024  # entries; a longer table is computed from the products of two short ones
_PADDING = 16  # elements, so that planes begin on cache lines

Pair = tuple[Value, Value]
"""A complex value: real and imaginary part."""


class Source(Protocol):
    """A row of complex values to read, by element."""

    def load(self, index: Value) -> Pair: ...


class View(Source, Protocol):
    """A row of complex values in memory, by element."""

    def store(self, index: Value, value: Pair) -> None: ...


def padded(count: int) -> int:
    """Returns how many real numbers a plane of `count` takes."""
    return round_up(count, _PADDING)


class FftCode:
    """The code of one kernel under construction. All its numbers have one real type; `memory` is scratch memory."""

    def __init__(self, builder: IrBuilder, dtype: np.dtype, memory: Value, constant_address_space: int) -> None:
        self.builder = builder
        self._constant_address_space = constant_address_space
        self.dtype = dtype
        self.type = "float" if dtype == np.float32 else "double"
        group = builder.module.metadata("!{}", distinct=True)
        self._access = f", !llvm.access.group {group}"
        self._parallel = f'!{{!"llvm.loop.parallel_accesses", {group}}}'
        self._memory = memory
        self._used = 0
        self.most_used = 0

    # -- arithmetic ---------------------------------------------------------------------------------------------------

    def sum(self, x: Pair, y: Pair) -> Pair:
        return self.builder.fadd(x[0], y[0]), self.builder.fadd(x[1], y[1])

    def difference(self, x: Pair, y: Pair) -> Pair:
        return self.builder.fsub(x[0], y[0]), self.builder.fsub(x[1], y[1])

    def product(self, x: Pair, y: Pair) -> Pair:
        b = self.builder
        return (
            b.fsub(b.fmul(x[0], y[0]), b.fmul(x[1], y[1])),
            b.fadd(b.fmul(x[0], y[1]), b.fmul(x[1], y[0])),
        )

    def scaled(self, x: Pair, factor: float) -> Pair:
        if factor == 1.0:
            return x
        constant = self.builder.float_(float(self.dtype.type(factor)), self.type)
        return self.builder.fmul(x[0], constant), self.builder.fmul(x[1], constant)

    def turned(self, x: Pair, inverse: bool) -> Pair:
        """Multiplies by -i, or by i in the inverse transform."""
        return (self.builder.fneg(x[1]), x[0]) if inverse else (x[1], self.builder.fneg(x[0]))

    # -- loops and memory ---------------------------------------------------------------------------------------------

    def each(self, count: int, body: Callable[[Value], None]) -> None:
        """A loop whose iterations are independent. One iteration is written without a loop."""
        if count == 1:
            body(self.builder.int_(0))
            return
        loop, _ = self.builder.open_loop(self.builder.int_(0), self.builder.int_(count), name="fft")
        body(loop.index)
        loop.metadata.append(self._parallel)
        self.builder.close_loop(loop)

    def each_of(self, counts: Sequence[int], body: Callable[[Value], Any]) -> None:
        """Nested loops whose iterations are independent. The body of each loop but the innermost returns the next."""
        count, *inner = counts
        self.each(count, (lambda i: self.each_of(inner, body(i))) if inner else body)

    @contextmanager
    def once(self) -> Iterator[None]:
        """The loops inside compute values that all rows use."""
        yield

    def planes(self, count: int) -> Planes:
        """Scratch memory for complex values."""
        size = padded(count)
        start = self._allocate(2 * size)
        real = self.builder.gep(self.type, start, self.builder.int_(0))
        imag = self.builder.gep(self.type, start, self.builder.int_(size))
        return Planes(self, lambda: real, lambda: imag)

    def _allocate(self, size: int) -> Value:
        """Returns the address of new scratch memory for so many real numbers."""
        start = self.builder.gep(self.type, self._memory, self.builder.int_(self._used))
        self._used += size
        self.most_used = max(self.most_used, self._used)
        return start

    @contextmanager
    def temporary(self) -> Iterator[None]:
        """Frees at its end the planes that are allocated inside."""
        used = self._used
        yield
        self._used = used

    def table(self, values: np.ndarray) -> Planes:
        """Returns a constant table. The module has it if it is read."""

        def pointer(part: np.ndarray) -> Callable[[], Value]:
            data = np.ascontiguousarray(part, self.dtype)
            return lambda: self.builder.module.constant_array(data, 64, self._constant_address_space)

        return Planes(self, pointer(values.real), pointer(values.imag))

    def roots(self, angle: float, count: int) -> Source:
        """Returns exp(i angle k) for k < count, from a constant table or as products of the entries of two tables."""
        if count <= TABLE:
            return self.table(np.exp(1j * angle * np.arange(count)))
        near = self.table(np.exp(1j * angle * np.arange(TABLE)))
        return _Products(self, near, self.table(np.exp(1j * angle * np.arange(0, count, TABLE))))

    def load(self, pointer: Value, index: Value) -> Value:
        place = self.builder.gep(self.type, pointer, index)
        return self.builder.load(self.type, place, align=self.dtype.itemsize, metadata=self._access)

    def store(self, pointer: Value, index: Value, value: Value) -> None:
        place = self.builder.gep(self.type, pointer, index)
        self.builder.store(value, place, align=self.dtype.itemsize, metadata=self._access)


class _Products:
    """Multiplies entries of two tables: one has every `TABLE`-th value, the other the steps between those."""

    def __init__(self, code: FftCode, near: Source, far: Source) -> None:
        self._code, self._near, self._far = code, near, far

    def load(self, index: Value) -> Pair:
        b = self._code.builder
        high, low = b.udiv(index, b.int_(TABLE)), b.urem(index, b.int_(TABLE))
        return self._code.product(self._far.load(high), self._near.load(low))


class Planes:
    """A row whose real and imaginary parts lie in separate arrays."""

    def __init__(self, code: FftCode, real: Callable[[], Value], imag: Callable[[], Value]) -> None:
        self._code, self._real, self._imag = code, real, imag

    def load(self, index: Value) -> Pair:
        return self._code.load(self._real(), index), self._code.load(self._imag(), index)

    def store(self, index: Value, value: Pair) -> None:
        self._code.store(self._real(), index, value[0])
        self._code.store(self._imag(), index, value[1])


class Interleaved:
    """A row of complex numbers, as arrays of complex element types lie in memory."""

    def __init__(self, code: FftCode, pointer: Value) -> None:
        self._code, self._pointer = code, pointer

    def _places(self, index: Value) -> Pair:
        b = self._code.builder
        first = b.mul(index, b.int_(2))
        return first, b.add(first, b.int_(1))

    def load(self, index: Value) -> Pair:
        real, imag = self._places(index)
        return self._code.load(self._pointer, real), self._code.load(self._pointer, imag)

    def store(self, index: Value, value: Pair) -> None:
        real, imag = self._places(index)
        self._code.store(self._pointer, real, value[0])
        self._code.store(self._pointer, imag, value[1])


class Real:
    """A row of real numbers. Imaginary parts read as zero and are dropped when written."""

    def __init__(self, code: FftCode, pointer: Value) -> None:
        self._code, self._pointer = code, pointer

    def load(self, index: Value) -> Pair:
        return self._code.load(self._pointer, index), self._code.builder.float_(0.0, self._code.type)

    def store(self, index: Value, value: Pair) -> None:
        self._code.store(self._pointer, index, value[0])

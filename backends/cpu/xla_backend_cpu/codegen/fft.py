"""The Fourier transform along the last dimension: one row of the operand is a unit of the kernel.

Lengths whose prime factors are small go through Stockham's algorithm (radix 4, 2, 3, 5, 7, 11, 13), which needs no
reordering: stage by stage from one buffer to another. Other lengths become a circular convolution of a length that is
smooth (Bluestein). Real transforms of even length n are complex ones of length n/2. Twiddle factors are computed in
float64 and are constants of the code; of long transforms they are products of two, and what a convolution needs is
computed once a call.

(Stockham: Cochran et al., "What is the fast Fourier transform?", 1967; Bluestein: "A linear filtering approach to the
computation of discrete Fourier transform", 1970.)
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Protocol

import numpy as np

from xla_core.codegen.llvm import IrBuilder, KernelFrame, LoopAbi, Value
from xla_core.hlo import ElementType, HloInstruction

__all__ = ["FftKernel"]

_RADICES = (4, 2, 3, 5, 7, 11, 13)
_TABLE = 1024  # twiddle tables of more entries are products of two
_PADDING = 16  # elements; planes start on cache lines
_LONG = 1 << 15  # a convolution's tables of more entries are no constants

Pair = tuple[Value, Value]
"""A complex value: real and imaginary part."""


def factors_of(length: int) -> list[int] | None:
    """Radices whose product is `length`; None where a prime factor is too large."""
    found = []
    for radix in _RADICES:
        while length % radix == 0:
            found.append(radix)
            length //= radix
    return found if length == 1 else None


def convolution_length(least: int) -> int:
    """The smallest 2^a 3^b 5^c >= least with b, c <= 1."""
    return min(odd << max(math.ceil(math.log2(least / odd)), 0) for odd in (1, 3, 5, 15))


class _View(Protocol):
    """A row of complex values in memory, by element."""

    def load(self, index: Value) -> Pair: ...

    def store(self, index: Value, value: Pair) -> None: ...


class FftKernel:
    """Emits an fft instruction over one dimension, row-major. `rows` are the units of work."""

    def __init__(self, fft: HloInstruction, abi: LoopAbi) -> None:
        self.kind: str = fft.attribute("fft_type")
        self.length: int = fft.attribute("fft_length")[0]
        self.inverse = self.kind in ("IFFT", "IRFFT")
        self.real_type = "float" if fft.shape.element_type in (ElementType.F32, ElementType.C64) else "double"
        self.dtype = np.dtype(np.float32 if self.real_type == "float" else np.float64)
        self.rows: int = math.prod(fft.shape.dimensions[:-1])
        self._abi = abi

    @property
    def flops(self) -> float:
        """Roughly, of all rows."""
        return self.rows * 5.0 * self.length * max(math.log2(max(self.length, 2)), 1)

    def emit(self, frame: KernelFrame) -> None:
        """Writes the kernel's body; buffers are operand, result."""
        b = frame.builder
        b.fast_math = "contract"
        size = self._scratch_elements() * self.dtype.itemsize
        memory = self._abi.allocate(b, size) if size else Value("ptr", "null")
        n = self.length
        row_in = n if self.kind == "RFFT" else 2 * (n // 2 + 1) if self.kind == "IRFFT" else 2 * n
        row_out = n if self.kind == "IRFFT" else 2 * (n // 2 + 1) if self.kind == "RFFT" else 2 * n
        row = _Row(self, b, memory)
        row.prepare()
        loop, _ = b.open_loop(frame.begin, frame.end, name="row")
        source = b.gep(self.real_type, frame.buffers[0], b.mul(loop.index, b.int_(row_in)))
        target = b.gep(self.real_type, frame.buffers[1], b.mul(loop.index, b.int_(row_out)))
        row.emit(source, target)
        b.close_loop(loop)
        if size:
            self._abi.release(b, memory, size)

    def _scratch_elements(self) -> int:
        """Real numbers: of up to three rows, or four of a convolution and one more, and its tables."""
        n = self.complex_length
        if factors_of(n) is not None:
            return 3 * 2 * _padded(n)
        size = _padded(convolution_length(2 * n - 1))
        return 2 * (4 * size + _padded(n)) + (2 * (size + _padded(n)) if self.is_long_convolution else 0)

    @property
    def is_long_convolution(self) -> bool:
        """Whether the transform is a convolution whose tables are computed."""
        n = self.complex_length
        return factors_of(n) is None and convolution_length(2 * n - 1) > _LONG

    @property
    def complex_length(self) -> int:
        """Of the complex transform that does the work."""
        return self.length // 2 if self.kind in ("RFFT", "IRFFT") and self.length % 2 == 0 else self.length


def _padded(count: int) -> int:
    return -(-count // _PADDING) * _PADDING


class _Row:
    """The code for one row."""

    def __init__(self, kernel: FftKernel, builder: IrBuilder, memory: Value) -> None:
        self.b = builder
        self.type = kernel.real_type
        self.dtype = kernel.dtype
        self.kernel = kernel
        self.group = builder.module.metadata("!{}", distinct=True)
        self._memory = memory
        self._used = 0
        self._computed: tuple[_View, _View] | None = None

    def prepare(self) -> None:
        """Computes a long convolution's tables."""
        if self.kernel.is_long_convolution:
            self._computed = self._compute_tables(self.kernel.complex_length, self.kernel.inverse)

    def emit(self, source: Value, target: Value) -> None:
        kind, n = self.kernel.kind, self.kernel.length
        half = self.kernel.complex_length
        complex_in, complex_out = _Interleaved(self, source), _Interleaved(self, target)
        if kind in ("FFT", "IFFT"):
            self._transform(complex_in, complex_out, n, kind == "IFFT", 1.0 / n if kind == "IFFT" else 1.0)
        elif kind == "RFFT" and half != n:
            spectrum = self._planes(half)
            self._transform(complex_in, spectrum, half, False, 1.0)
            self._separate(spectrum, complex_out, half)
        elif kind == "RFFT":
            spectrum = self._planes(n)
            self._transform(_Real(self, source), spectrum, n, False, 1.0)
            with self._loop(n // 2 + 1) as k:
                complex_out.store(k, spectrum.load(k))
        elif half != n:
            spectrum = self._planes(half)
            self._join(complex_in, spectrum, half)
            self._transform(spectrum, complex_out, half, True, 1.0 / n)
        else:
            spectrum = self._planes(n)
            self._mirror(complex_in, spectrum, n)
            self._transform(spectrum, _Real(self, target), n, True, 1.0 / n)

    # -- real transforms -----------------------------------------------------------------------------------------------

    def _separate(self, packed: _View, out: _View, half: int) -> None:
        """The spectrum of x from that of z[k] = x[2k] + i x[2k+1]:
        X[k] = (Z[k] + conj Z[h-k]) / 2 - i w^k (Z[k] - conj Z[h-k]) / 2, with w = exp(-i pi / h).
        """
        b = self.b
        table = self._roots(-np.pi / half, half + 1)
        with self._loop(half + 1) as k:
            here = b.select(b.icmp("eq", k, b.int_(half)), b.int_(0), k)
            mirrored = b.select(b.icmp("eq", k, b.int_(0)), b.int_(0), b.sub(b.int_(half), k))
            z, (mr, mi) = packed.load(here), packed.load(mirrored)
            even = self._scaled(self._sum(z, (mr, b.fneg(mi))), 0.5)
            odd = self._scaled(self._difference(z, (mr, b.fneg(mi))), 0.5)
            turned = self.product(odd, table.load(k))
            out.store(k, self._sum(even, (turned[1], b.fneg(turned[0]))))

    def _join(self, spectrum: _View, packed: _View, half: int) -> None:
        """The inverse of `_separate`, twice as large. The ends' imaginary parts count for nothing."""
        b = self.b
        table = self._roots(np.pi / half, half)
        zero = b.float_(0.0, self.type)
        with self._loop(half) as k:
            (xr, xi), (mr, mi) = spectrum.load(k), spectrum.load(b.sub(b.int_(half), k))
            at_end = b.icmp("eq", k, b.int_(0))
            x = (xr, b.select(at_end, zero, xi))
            mirrored = (mr, b.select(at_end, zero, b.fneg(mi)))
            turned = self.product(self._difference(x, mirrored), table.load(k))
            packed.store(k, self._sum(self._sum(x, mirrored), (b.fneg(turned[1]), turned[0])))

    def _mirror(self, spectrum: _View, out: _View, n: int) -> None:
        """All of a spectrum of odd length from its first half."""
        b = self.b
        real, _ = spectrum.load(b.int_(0))
        out.store(b.int_(0), (real, b.float_(0.0, self.type)))
        with self._loop(n // 2) as i:
            k = b.add(i, b.int_(1))
            real, imag = spectrum.load(k)
            out.store(k, (real, imag))
            out.store(b.sub(b.int_(n), k), (real, b.fneg(imag)))

    # -- complex transforms --------------------------------------------------------------------------------------------

    def _transform(self, source: _View, target: _View, n: int, inverse: bool, scale: float) -> None:
        """`target` = scale times the transform of `source`, which share no memory."""
        factors = factors_of(n)
        if factors is not None:
            buffers = [self._planes(n) for _ in range(min(len(factors) - 1, 2))]
            self._stockham(source, target, factors, inverse, scale, buffers)
        else:
            self._bluestein(source, target, n, inverse, scale)

    def _stockham(
        self,
        source: _View,
        target: _View,
        factors: Sequence[int],
        inverse: bool,
        scale: float,
        buffers: Sequence[_View],
    ) -> None:
        n, stride = math.prod(factors), 1
        if not factors:
            with self._loop(1) as k:
                target.store(k, self._scaled(source.load(k), scale))
            return
        for number, radix in enumerate(factors):
            last = number == len(factors) - 1
            out = target if last else buffers[number % 2]
            self._stage(source, out, radix, n, stride, inverse, scale if last else 1.0)
            source, n, stride = out, n // radix, stride * radix

    def _stage(
        self, source: _View, target: _View, radix: int, n: int, stride: int, inverse: bool, scale: float
    ) -> None:
        """Transforms of `radix` points: `stride` interleaved sequences of length n each become radix of length n/radix.

        target[q + stride (radix p + k)] = w^(p k) sum_j source[q + stride (p + m j)] exp(-2 pi i j k / radix)
        """
        b, m = self.b, n // radix
        sign = 1 if inverse else -1

        def twiddles(p: np.ndarray) -> list[np.ndarray]:
            return [np.exp(sign * 2j * np.pi * (p * k % n) / n) for k in range(1, radix)]

        def butterflies(p: Value, factors: Sequence[Pair]) -> None:
            with self._loop(stride) as q:
                read = b.add(q, b.mul(p, b.int_(stride)))
                values = [source.load(b.add(read, b.int_(stride * m * j))) for j in range(radix)]
                results = self._butterfly(values, inverse)
                write = b.add(q, b.mul(p, b.int_(stride * radix)))
                for k, result in enumerate(results):
                    if k and factors:
                        result = self.product(result, factors[k - 1])
                    target.store(b.add(write, b.int_(stride * k)), self._scaled(result, scale))

        if m == 1:
            butterflies(b.int_(0), ())
            return
        low = m if m <= _TABLE else _divisor(m)
        near = [self._table(t) for t in twiddles(np.arange(low))]
        if low == m:
            with self._loop(m) as p:
                butterflies(p, [t.load(p) for t in near])
            return
        far = [self._table(t) for t in twiddles(np.arange(0, m, low))]
        with self._loop(m // low) as high:
            bases = [t.load(high) for t in far]
            with self._loop(low) as rest:
                factors = [self.product(f, t.load(rest)) for f, t in zip(bases, near, strict=True)]
                butterflies(b.add(b.mul(high, b.int_(low)), rest), factors)

    def _bluestein(self, source: _View, target: _View, n: int, inverse: bool, scale: float) -> None:
        """X[k] = c[k] sum_j (x[j] c[j]) conj c[k-j], with c[k] = exp(-i pi k^2 / n): a convolution of length M."""
        b, size = self.b, convolution_length(2 * n - 1)
        factors = factors_of(size)
        assert factors is not None
        turns, filters = self._computed or self._constant_tables(n, size, inverse)
        a, spectrum, *buffers = (self._planes(size) for _ in range(4))
        zero = b.float_(0.0, self.type)
        with self._loop(n) as i:
            a.store(i, self.product(source.load(i), turns.load(i)))
        with self._loop(size - n) as i:
            a.store(b.add(i, b.int_(n)), (zero, zero))
        self._stockham(a, spectrum, factors, False, 1.0, buffers)
        with self._loop(size) as i:
            a.store(i, self.product(spectrum.load(i), filters.load(i)))
        self._stockham(a, spectrum, factors, True, 1.0, buffers)
        with self._loop(n) as i:
            target.store(i, self._scaled(self.product(spectrum.load(i), turns.load(i)), scale))

    def _constant_tables(self, n: int, size: int, inverse: bool) -> tuple[_View, _View]:
        """c[k] = exp(-i pi k^2 / n), and the transform of their conjugates around 0, divided by its length."""
        k = np.arange(n, dtype=np.int64)
        chirp = np.exp((1j if inverse else -1j) * np.pi * (k * k % (2 * n)) / n)
        kernel = np.zeros(size, np.complex128)
        kernel[:n] = chirp.conj()
        kernel[size - n + 1 :] = chirp[1:][::-1].conj()
        return self._table(chirp), self._table(np.fft.fft(kernel) / size)

    def _compute_tables(self, n: int, inverse: bool) -> tuple[_View, _View]:
        """The same, by code."""
        b, size = self.b, convolution_length(2 * n - 1)
        factors = factors_of(size)
        assert factors is not None
        chirp, filters = self._planes(n), self._planes(size)
        used = self._used  # what follows is used again by every row
        kernel, *buffers = (self._planes(size) for _ in range(3))
        roots = self._roots((1 if inverse else -1) * math.pi / n, 2 * n)
        zero = b.float_(0.0, self.type)
        with self._loop(n) as k:
            chirp.store(k, roots.load(b.urem(b.mul(k, k), b.int_(2 * n))))
        with self._loop(size) as k:
            kernel.store(k, (zero, zero))
        with self._loop(n) as k:
            real, imag = chirp.load(k)
            kernel.store(k, (real, b.fneg(imag)))
            kernel.store(b.urem(b.sub(b.int_(size), k), b.int_(size)), (real, b.fneg(imag)))
        self._stockham(kernel, filters, factors, False, 1.0 / size, buffers)
        self._used = used
        return chirp, filters

    def _butterfly(self, values: Sequence[Pair], inverse: bool) -> list[Pair]:
        """The transform of a few values."""
        match len(values):
            case 2:
                return [self._sum(*values), self._difference(*values)]
            case 4:
                a, c, d, e = values
                even, odd = (self._sum(a, d), self._difference(a, d)), (self._sum(c, e), self._difference(c, e))
                turned = self._turned(odd[1], inverse)
                return [
                    self._sum(even[0], odd[0]),
                    self._sum(even[1], turned),
                    self._difference(even[0], odd[0]),
                    self._difference(even[1], turned),
                ]
        return self._odd_butterfly(values, inverse)

    def _odd_butterfly(self, values: Sequence[Pair], inverse: bool) -> list[Pair]:
        """Pairs j and r - j share sums and differences, so that products are real by complex."""
        radix, first = len(values), values[0]
        half = radix // 2
        sums = [self._sum(values[k], values[radix - k]) for k in range(1, half + 1)]
        differences = [self._difference(values[k], values[radix - k]) for k in range(1, half + 1)]
        total = first
        for each in sums:
            total = self._sum(total, each)
        results: list[Pair] = [total] * radix
        for j in range(1, half + 1):
            angles = [2 * math.pi * (j * k % radix) / radix for k in range(1, half + 1)]
            even, odd = first, self._scaled(differences[0], math.sin(angles[0]))
            for angle, each in zip(angles, sums, strict=True):
                even = self._sum(even, self._scaled(each, math.cos(angle)))
            for angle, each in zip(angles[1:], differences[1:], strict=True):
                odd = self._sum(odd, self._scaled(each, math.sin(angle)))
            turned = self._turned(odd, inverse)
            results[j], results[radix - j] = self._sum(even, turned), self._difference(even, turned)
        return results

    # -- arithmetic ----------------------------------------------------------------------------------------------------

    def _sum(self, x: Pair, y: Pair) -> Pair:
        return self.b.fadd(x[0], y[0]), self.b.fadd(x[1], y[1])

    def _difference(self, x: Pair, y: Pair) -> Pair:
        return self.b.fsub(x[0], y[0]), self.b.fsub(x[1], y[1])

    def product(self, x: Pair, y: Pair) -> Pair:
        b = self.b
        return (
            b.fsub(b.fmul(x[0], y[0]), b.fmul(x[1], y[1])),
            b.fadd(b.fmul(x[0], y[1]), b.fmul(x[1], y[0])),
        )

    def _scaled(self, x: Pair, factor: float) -> Pair:
        if factor == 1.0:
            return x
        constant = self.b.float_(float(self.dtype.type(factor)), self.type)
        return self.b.fmul(x[0], constant), self.b.fmul(x[1], constant)

    def _turned(self, x: Pair, inverse: bool) -> Pair:
        """Times -i, or i for the inverse."""
        return (self.b.fneg(x[1]), x[0]) if inverse else (x[1], self.b.fneg(x[0]))

    # -- memory --------------------------------------------------------------------------------------------------------

    @contextmanager
    def _loop(self, count: int) -> Iterator[Value]:
        """A loop whose iterations don't depend on each other; none where there is one iteration."""
        if count == 1:
            yield self.b.int_(0)
            return
        loop, _ = self.b.open_loop(self.b.int_(0), self.b.int_(count), name="fft")
        yield loop.index
        loop.metadata.append(f'!{{!"llvm.loop.parallel_accesses", {self.group}}}')
        self.b.close_loop(loop)

    def _planes(self, count: int) -> _Planes:
        """Scratch memory for complex values."""
        size = _padded(count)
        real = self.b.gep(self.type, self._memory, self.b.int_(self._used))
        imag = self.b.gep(self.type, self._memory, self.b.int_(self._used + size))
        self._used += 2 * size
        return _Planes(self, real, imag)

    def _table(self, values: np.ndarray) -> _Planes:
        """Constants."""
        parts = [np.ascontiguousarray(part, self.dtype).tobytes() for part in (values.real, values.imag)]
        real, imag = (self.b.module.constant_bytes(part, 64) for part in parts)
        return _Planes(self, real, imag)

    def _roots(self, angle: float, count: int) -> _View:
        """exp(i angle k), k < count: constants, or products of two."""
        if count <= _TABLE:
            return self._table(np.exp(1j * angle * np.arange(count)))
        near = self._table(np.exp(1j * angle * np.arange(_TABLE)))
        return _Products(self, near, self._table(np.exp(1j * angle * np.arange(0, count, _TABLE))))

    def load(self, pointer: Value, index: Value) -> Value:
        place = self.b.gep(self.type, pointer, index)
        return self.b.load(self.type, place, align=self.dtype.itemsize, metadata=f", !llvm.access.group {self.group}")

    def store(self, pointer: Value, index: Value, value: Value) -> None:
        place = self.b.gep(self.type, pointer, index)
        self.b.store(value, place, align=self.dtype.itemsize, metadata=f", !llvm.access.group {self.group}")


def _divisor(count: int) -> int:
    """The largest divisor that a table has room for."""
    return max(d for d in range(1, _TABLE + 1) if count % d == 0)


class _Products:
    """Of an entry of a table of every `_TABLE`-th value, and one of the steps between."""

    def __init__(self, row: _Row, near: _View, far: _View) -> None:
        self._row, self._near, self._far = row, near, far

    def load(self, index: Value) -> Pair:
        b = self._row.b
        high, low = b.udiv(index, b.int_(_TABLE)), b.urem(index, b.int_(_TABLE))
        return self._row.product(self._far.load(high), self._near.load(low))

    def store(self, index: Value, value: Pair) -> None:
        raise AssertionError("constants")


class _Planes:
    """Real and imaginary parts apart."""

    def __init__(self, row: _Row, real: Value, imag: Value) -> None:
        self._row, self._real, self._imag = row, real, imag

    def load(self, index: Value) -> Pair:
        return self._row.load(self._real, index), self._row.load(self._imag, index)

    def store(self, index: Value, value: Pair) -> None:
        self._row.store(self._real, index, value[0])
        self._row.store(self._imag, index, value[1])


class _Interleaved:
    """As arrays of complex numbers are."""

    def __init__(self, row: _Row, pointer: Value) -> None:
        self._row, self._pointer = row, pointer

    def _places(self, index: Value) -> Pair:
        b = self._row.b
        first = b.mul(index, b.int_(2))
        return first, b.add(first, b.int_(1))

    def load(self, index: Value) -> Pair:
        real, imag = self._places(index)
        return self._row.load(self._pointer, real), self._row.load(self._pointer, imag)

    def store(self, index: Value, value: Pair) -> None:
        real, imag = self._places(index)
        self._row.store(self._pointer, real, value[0])
        self._row.store(self._pointer, imag, value[1])


class _Real:
    """Real numbers; imaginary parts are zero when read, and not kept when written."""

    def __init__(self, row: _Row, pointer: Value) -> None:
        self._row, self._pointer = row, pointer

    def load(self, index: Value) -> Pair:
        return self._row.load(self._pointer, index), self._row.b.float_(0.0, self._row.type)

    def store(self, index: Value, value: Pair) -> None:
        self._row.store(self._pointer, index, value[0])

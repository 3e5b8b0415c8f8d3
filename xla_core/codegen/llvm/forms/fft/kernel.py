"""The form of an fft instruction over one dimension."""

from __future__ import annotations

import math

import numpy as np

from xla_core.codegen.llvm.forms.fft.bluestein import Tables, bluestein, compute_tables, convolution_length, is_long
from xla_core.codegen.llvm.forms.fft.complex_code import FftCode, Interleaved, Real, Source, View, padded
from xla_core.codegen.llvm.forms.fft.real import join, mirror, separate
from xla_core.codegen.llvm.forms.fft.stockham import factors_of, stockham
from xla_core.codegen.llvm.forms.kernel_form import KernelBody, KernelForm, KernelPlan
from xla_core.codegen.llvm.ir.module import Value
from xla_core.codegen.llvm.loops.context import EmissionContext
from xla_core.codegen.llvm.target_abi import KernelFrame, TargetAbi
from xla_core.hlo.ir.instruction import HloInstruction
from xla_core.hlo.table.opcode import Opcode
from xla_core.hlo.values.element_type import ElementType


def is_row_transform(body: KernelBody) -> bool:
    """Whether the kernel is an fft over one dimension, of rows that follow each other in memory."""
    fft = body.instruction
    if fft.opcode != Opcode.FFT or len(fft.attribute("fft_length")) != 1:
        return False
    return all(s.layout is None or s.layout.is_row_major for s in (fft.shape, fft.operand(0).shape))


def _plan(body: KernelBody) -> KernelPlan:
    return KernelPlan(math.prod(body.root.shape.dimensions[:-1]))


def _emit(body: KernelBody, plan: KernelPlan, frame: KernelFrame, context: EmissionContext) -> None:
    Transform(body.root).emit(frame, context.abi)


class Transform:
    """The code of one fft instruction."""

    def __init__(self, fft: HloInstruction) -> None:
        self.kind: str = fft.attribute("fft_type")
        self.length: int = fft.attribute("fft_length")[0]
        single = fft.shape.element_type in (ElementType.F32, ElementType.C64)
        self.dtype = np.dtype(np.float32 if single else np.float64)
        self.type = "float" if single else "double"

    @property
    def complex_length(self) -> int:
        """The length of the complex transform that does the work."""
        return self.length // 2 if self.kind in ("RFFT", "IRFFT") and self.length % 2 == 0 else self.length

    def emit(self, frame: KernelFrame, abi: TargetAbi) -> None:
        """Writes the kernel's body, as a loop over rows."""
        b = frame.builder
        b.fast_math = "contract"
        size = self._scratch_elements() * self.dtype.itemsize
        memory = abi.allocate(b, size) if size else Value("ptr", "null")
        code = FftCode(b, self.dtype, memory, abi.constant_address_space)
        tables = self.tables(code)
        loop, _ = b.open_loop(frame.begin, frame.end, frame.step, name="row")
        self.emit_row(code, frame, loop.index, tables)
        b.close_loop(loop)
        if size:
            abi.release(b, memory, size)

    def tables(self, code: FftCode) -> Tables | None:
        """Emits the computation of tables that all rows use, if they are too long to be constants."""
        inverse = self.kind in ("IFFT", "IRFFT")
        return compute_tables(code, self.complex_length, inverse) if self._computes_tables else None

    @property
    def _computes_tables(self) -> bool:
        return factors_of(self.complex_length) is None and is_long(self.complex_length)

    def _scratch_elements(self) -> int:
        """Returns how many real numbers of scratch memory a call needs.

        Stockham's algorithm takes three rows; Bluestein's takes four rows of the convolution, one row, and its tables
        unless they are constants.
        """
        n = self.complex_length
        if factors_of(n) is not None:
            return 3 * 2 * padded(n)
        size = padded(convolution_length(2 * n - 1))
        return 2 * (4 * size + padded(n)) + (2 * (size + padded(n)) if self._computes_tables else 0)

    def emit_row(self, code: FftCode, frame: KernelFrame, row: Value, tables: Tables | None) -> None:
        """Emits the transform of a row. The kernel's buffers are the operand and the result."""
        b, n, half = code.builder, self.length, self.complex_length
        row_in = n if self.kind == "RFFT" else 2 * (n // 2 + 1) if self.kind == "IRFFT" else 2 * n
        row_out = n if self.kind == "IRFFT" else 2 * (n // 2 + 1) if self.kind == "RFFT" else 2 * n
        source = b.gep(code.type, frame.buffers[0], b.mul(row, b.int_(row_in)))
        target = b.gep(code.type, frame.buffers[1], b.mul(row, b.int_(row_out)))
        complex_in, complex_out = Interleaved(code, source), Interleaved(code, target)

        def transform(given: Source, made: View, inverse: bool, scale: float) -> None:
            factors = factors_of(half)
            if factors is None:
                bluestein(code, given, made, half, inverse, scale, tables)
            else:
                buffers = [code.planes(half) for _ in range(min(len(factors) - 1, 2))]
                stockham(code, given, made, factors, inverse, scale, buffers)

        match self.kind:
            case "FFT":
                transform(complex_in, complex_out, False, 1.0)
            case "IFFT":
                transform(complex_in, complex_out, True, 1.0 / n)
            case "RFFT" if half != n:
                spectrum = code.planes(half)
                transform(complex_in, spectrum, False, 1.0)
                separate(code, spectrum, complex_out, half)
            case "RFFT":
                spectrum = code.planes(n)
                transform(Real(code, source), spectrum, False, 1.0)
                code.each(n // 2 + 1, lambda k: complex_out.store(k, spectrum.load(k)))
            case _ if half != n:
                spectrum = code.planes(half)
                join(code, complex_in, spectrum, half)
                transform(spectrum, complex_out, True, 1.0 / n)
            case _:
                spectrum = code.planes(n)
                mirror(code, complex_in, spectrum, n)
                transform(spectrum, Real(code, target), True, 1.0 / n)


FFT = KernelForm("fft", is_row_transform, _plan, _emit, (Opcode.FFT,))

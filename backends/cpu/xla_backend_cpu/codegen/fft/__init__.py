"""The Fourier transform along the last dimension: one row of the operand is a unit of the kernel.

Lengths whose prime factors are small go through Stockham's algorithm, other lengths become a circular convolution of a
length that is smooth (Bluestein). Real transforms of even length n are complex ones of length n/2.
"""

from __future__ import annotations

from xla_backend_cpu.codegen.fft.kernel import FftKernel

__all__ = ["FftKernel"]

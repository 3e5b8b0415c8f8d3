"""The fast Fourier transform along the last dimension. One row of the operand is one unit of the kernel's work.

Lengths with small prime factors are transformed by Stockham's algorithm (`stockham`). Other lengths become a circular
convolution, whose length is a product of small factors (`bluestein`). Real transforms of an even length n become
complex ones of length n/2 (`real`). `kernel` chooses between them; `complex_code` has the complex arithmetic, loops and
scratch memory that all of them write, and `blocks` shares the loops among the threads of a grid.
"""

from xla_core.codegen.llvm.forms.fft.blocks import FFT_BLOCKS
from xla_core.codegen.llvm.forms.fft.kernel import FFT

__all__ = ["FFT", "FFT_BLOCKS"]

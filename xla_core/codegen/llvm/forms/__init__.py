"""Kernel forms: how one instruction, or one fusion, becomes the loops of a kernel function.

A `KernelForm` says which kernels it is for, how their work is divided, and writes the body: the outer loops and the
stores to the results. `kernel_emitter.FORMS` is the list of them.
"""

"""Kernel forms: how one instruction, or one fusion, becomes the loops of a kernel function.

A `KernelForm` says which kernels it is for, plans them (loops, units of work), and writes the body as planned: the
outer loops and the stores to the results. `kernel_emitter.FORMS` is the list of them.
"""

"""Emits the LLVM IR that the shared emitter does not: products, convolutions, LAPACK calls, the whole module."""

"""Accuracy of linear algebra: Cholesky and triangular-solve, and the LAPACK custom calls that JAX emits on CPUs.

`cases` makes the checks. A problem (`problems`) is a program with the residuals that its results may have;
`factorizations`, `solutions` and `spectra` define the problems, and `matrices` makes their arguments.
"""

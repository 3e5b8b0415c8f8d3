"""Routines of linear algebra as HLO: loops over columns, for targets without LAPACK.

Matrices have one batch dimension, so that one loop computes all of them. `lapack_expander` calls the routines.
"""

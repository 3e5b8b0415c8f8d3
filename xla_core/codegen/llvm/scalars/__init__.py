"""Emits elementwise ops: one element of the result from one element of each operand.

`elemental` has the table `ELEMENTAL` by opcode; the emitters for integers, floats and complex numbers are in tables of
their own. Code here emits straight-line instructions: it opens no loop and touches no array.
"""

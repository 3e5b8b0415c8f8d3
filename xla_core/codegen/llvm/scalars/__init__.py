"""One element of an elementwise op from the elements of its operands.

`elemental` has the table `ELEMENTAL` by opcode; what an op means for integers, floats and complex numbers is in tables
of their own. Code here emits straight-line instructions: it opens no loop and touches no array.
"""

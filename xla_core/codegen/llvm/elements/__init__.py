"""The element of any instruction of a computation at any index.

`FusedIrEmitter` finds it by the tables `ELEMENTAL` and `GENERATORS`. A generator maps an index of the result to indices
of the operands. It opens loops where an element is computed from many (reductions, windows, products). Code here does
not store to a kernel's results.
"""

"""Emits the value of one element of any instruction of a computation, given the element's index.

`FusedIrEmitter` looks the opcode up in the tables `ELEMENTAL` and `GENERATORS`. A generator maps an index of the result
to indices of the operands. It emits a loop where an element depends on many (reductions, windows, products). Code here
does not store to a kernel's results.
"""

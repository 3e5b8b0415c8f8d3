"""Emits the value of one element of any instruction of a computation, given the element's index.

The access rules of `xla_core.analysis.indexing` map an index of the result to the indices of the operands.
`ElementEmitter` looks the opcode up in the tables `ELEMENTAL` and `GENERATORS`, and computes with the operands'
elements. `movement` has the entries of ops that move or make elements. Where an element depends on many (reductions,
windows, products), `accumulators` emits the planned loops. Code here does not store to a kernel's results, except by
`ElementEmitter.store`, for the forms.
"""

from xla_core.codegen.llvm.elements import accumulators, movement  # noqa: F401  (importing these fills GENERATORS)

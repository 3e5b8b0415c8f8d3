"""The loops of a kernel, and where an element lies in memory.

An `Index` gives the position of an array's element as expressions of loop variables. `EmissionContext` holds the loops
that are under construction, and the values already emitted in each. `Partition` divides a kernel's loops into units of
work. Code here emits loops, addresses, loads and stores; it knows shapes and layouts, and computes no HLO op.
"""

"""The loops of a kernel, and where an element lies in memory.

An `Index` says which element of an array is meant, in terms of loop variables. `EmissionContext` holds the open loops
and the values that are known in each. `Partition` divides a kernel's loops into units of work. Code here emits loops,
addresses, loads and stores; it knows shapes and layouts, and computes no HLO op.
"""

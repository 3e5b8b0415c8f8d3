"""The loops of a kernel, and where an element lies in memory.

`EmissionContext` holds the loops that are under construction, and the values already emitted in each. `IndexValues`
emits index expressions, each in the outermost loop that knows its variables. `PartitionedLoops` emits the loops over
the units of a `Partition`. Code here emits loops, addresses, loads and stores; it knows shapes and layouts, and
computes no HLO op.
"""

"""Writes StableHLO: from HLO, as MLIR text, as bytecode, for a release of StableHLO.

`xla translate` uses this room. No other room imports it, so compiling a program does not load it.
"""

"""Writes StableHLO: from HLO, as MLIR text, as bytecode, for a release of StableHLO.

`xla translate` drives this room. No other room imports it, so compiling a program never loads it.
"""

"""Raises HLO to StableHLO, and writes StableHLO as MLIR text or bytecode, for a given release of StableHLO.

`xla translate` uses this room. No other room imports it, so compiling a program does not load it.
"""

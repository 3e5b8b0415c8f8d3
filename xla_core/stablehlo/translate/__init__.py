"""Raises HLO to StableHLO, and writes StableHLO as MLIR text or bytecode, for a given release of StableHLO.

`xla translate` uses this package. No other package of `stablehlo` imports it, so compiling a program does not load it.
"""

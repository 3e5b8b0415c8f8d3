"""Writes portable artifacts: VHLO of a release as MLIR bytecode."""

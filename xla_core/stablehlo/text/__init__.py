"""Reads MLIR text, in pretty and generic form, into the op tree; VHLO's text too."""

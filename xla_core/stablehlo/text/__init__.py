"""Reads MLIR text, in the pretty and the generic form, into the op tree. VHLO as text is read here too."""

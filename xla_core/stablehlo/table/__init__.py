"""Definitions of the op table: entries, operands, attributes, type constraints, traits, assembly formats.

`xla_core.stablehlo.ops` fills the table when it is imported.
"""

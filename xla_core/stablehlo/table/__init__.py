"""What an entry of the op table consists of: operands, attributes, type constraints, traits, rules.

The entries are in `xla_core.stablehlo.ops`, which fills the table when it is imported.
"""

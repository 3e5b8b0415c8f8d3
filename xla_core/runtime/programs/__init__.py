"""Programs before compilation: `program` and `bounded_module` read HLO from them, `signature` has argument shapes."""

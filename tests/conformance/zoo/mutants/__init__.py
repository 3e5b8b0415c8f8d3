"""The mutants, by the part that they break. Each module has a list MUTANTS."""

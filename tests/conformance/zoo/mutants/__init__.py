"""The mutants, by what they break. Each module has a list MUTANTS."""

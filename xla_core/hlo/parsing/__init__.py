"""Reads the text of a module. The parts of the text that are printed too are in `xla_core.hlo.text`."""

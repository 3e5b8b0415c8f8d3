"""The parts of HLO text: a cursor over the text, and the reading and printing of each kind of value.

`xla_core.hlo.parser` and `xla_core.hlo.printer` use them.
"""

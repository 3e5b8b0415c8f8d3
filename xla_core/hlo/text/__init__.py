"""The parts of HLO text: a cursor over the text, and the reading and printing of each kind of value.

`xla_core.hlo.parsing.parser` and `xla_core.hlo.ir.printer` use them.
"""

"""The parts of HLO text: a cursor over the text, and the reading and printing of each kind of value.

`xla_core.hlo.parser` and `xla_core.hlo.printer` use them.
"""

from xla_core.hlo.text.attribute_text import ATTRIBUTE_TEXT, AttributeText
from xla_core.hlo.text.cursor import Cursor
from xla_core.hlo.text.literals import literal_to_text, read_literal
from xla_core.hlo.text.shapes import read_shape, shape_to_text

__all__ = [
    "ATTRIBUTE_TEXT",
    "AttributeText",
    "Cursor",
    "literal_to_text",
    "read_literal",
    "read_shape",
    "shape_to_text",
]

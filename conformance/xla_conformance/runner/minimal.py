"""The program of one wrong result, as HLO and as StableHLO."""

from __future__ import annotations

from xla_core.errors import XlaError
from xla_core.hlo import HloModule, Opcode, parse_hlo
from xla_core.passes import create_pass
from xla_core.stablehlo import from_hlo, write_text


def minimal_program(text: str, number: int) -> str:
    """Returns the instructions that a result of an HLO module depends on, as StableHLO text.

    All parameters stay, so that the module's arguments are the program's. The text is empty where StableHLO can't
    express an instruction.

    Args:
        text: the module.
        number: which of the entry's results is wrong. The whole program is returned if it has no such result.
    """
    try:
        return write_text(from_hlo(part_with_result(text, number)))
    except XlaError:
        return ""


def part_with_result(text: str, number: int) -> HloModule:
    """Returns the HLO module without its other results, and without what computes them and has no effect.

    Raises:
        XlaError: the text is no HLO.
    """
    module = parse_hlo(text)
    root = module.entry.root
    of_arrays = root.opcode == Opcode.TUPLE and all(o.shape.is_array for o in root.operands)
    if of_arrays and number < len(root.operands):
        module.entry.set_root(root.operands[number])
        module.input_output_aliases.clear()
        create_pass("hlo-dce").run(module)
    return module

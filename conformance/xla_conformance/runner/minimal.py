"""The program of one wrong result, as StableHLO."""

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
        module = parse_hlo(text)
        _keep_result(module, number)
        return write_text(from_hlo(module))
    except XlaError:
        return ""


def _keep_result(module: HloModule, number: int) -> None:
    """Removes the entry's other results, and what computes them without an effect."""
    root = module.entry.root
    if root.opcode != Opcode.TUPLE or not all(o.shape.is_array for o in root.operands) or number >= len(root.operands):
        return
    module.entry.set_root(root.operands[number])
    module.input_output_aliases.clear()
    create_pass("hlo-dce").run(module)

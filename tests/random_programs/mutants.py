"""Programs with one mistake, which a check must find."""

from __future__ import annotations

import random
from collections.abc import Iterator

from xla_core.errors import XlaError
from xla_core.hlo import HloInstruction, HloModule

_OTHERS = {
    "add": "subtract", "subtract": "add", "multiply": "add", "maximum": "minimum", "minimum": "maximum", "sine": "cosine",
    "cosine": "sine", "floor": "ceil", "ceil": "floor", "and": "or", "or": "and", "negate": "copy", "abs": "negate",
    "reverse": "copy", "tanh": "atan", "atan": "tanh", "asinh": "atan", "shift-left": "shift-right-logical",
    "exponential": "exponential-minus-one", "divide": "multiply", "sqrt": "rsqrt",
}  # fmt: skip


def mutants(module: HloModule, rng: random.Random, count: int) -> Iterator[HloModule]:
    """Yields copies of a module, each with one change in the entry that the shapes allow."""
    order = module.entry.post_order()
    for place in rng.sample(range(len(order)), len(order)):
        if not count:
            return
        copy = module.clone()
        if _change(copy, copy.entry.post_order()[place], rng):
            count -= 1
            yield copy


def _change(module: HloModule, instruction: HloInstruction, rng: random.Random) -> bool:
    computation, operands, shape = module.entry, instruction.operands, instruction.shape.without_layout()
    if not shape.is_array or instruction.opcode in ("parameter", "constant") or not instruction.user_count:
        return False
    try:
        if instruction.opcode in _OTHERS:
            kept = operands[:1] if _OTHERS[instruction.opcode] == "copy" else operands
            new = computation.add(_OTHERS[instruction.opcode], *kept, shape=shape)
        elif instruction.opcode == "transpose" and shape.rank > 1:
            order = instruction.attributes["dimensions"]
            new = computation.add("transpose", operands[0], dimensions=(order[1], order[0], *order[2:]))
            if new.shape.dimensions != shape.dimensions:
                return False
        elif instruction.opcode == "compare":
            other = {"EQ": "NE", "NE": "EQ", "LT": "LE", "LE": "LT", "GT": "GE", "GE": "GT"}
            new = computation.add("compare", *operands, direction=other[instruction.attributes["direction"]])
        elif instruction.opcode == "select":
            new = computation.add("select", operands[0], operands[2], operands[1])
        elif shape.rank and instruction.opcode in (
            "broadcast",
            "reshape",
            "gather",
            "dot",
            "convolution",
            "reduce",
            "fft",
        ):
            new = computation.add("reverse", instruction, dimensions=(0,))
            users = [u for u in instruction.users if u is not new]
            for user in users:
                for index, operand in enumerate(user.operands):
                    if operand is instruction:
                        user.replace_operand(index, new)
            return bool(users)
        else:
            return False
    except XlaError:
        return False
    computation.replace_with(instruction, new)
    return True

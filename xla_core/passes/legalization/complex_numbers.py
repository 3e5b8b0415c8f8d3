"""Decompositions of complex arithmetic into that of the parts: only real, imag and complex touch a pair."""

from __future__ import annotations

from xla_core.hlo.instruction import HloInstruction
from xla_core.passes.legalization.registry import decomposition, register_decomposition
from xla_core.passes.rewriter import Builder, Rule

__all__: list[str] = []

_Parts = tuple[HloInstruction, HloInstruction]


def _parts(x: HloInstruction, b: Builder) -> _Parts:
    return b.add("real", x), b.add("imag", x)


def _is_complex(i: HloInstruction) -> bool:
    return i.operand(0).shape.is_array and i.operand(0).shape.element_type.is_complex


@decomposition("add", "subtract", "negate")
def _linear(i: HloInstruction, b: Builder) -> HloInstruction | None:
    if not _is_complex(i):
        return None
    parts = [_parts(o, b) for o in i.operands]
    return b.add("complex", b.add(i.opcode, *(p[0] for p in parts)), b.add(i.opcode, *(p[1] for p in parts)))


@decomposition("multiply")
def _multiply(i: HloInstruction, b: Builder) -> HloInstruction | None:
    if not _is_complex(i):
        return None
    (x, y), (u, v) = (_parts(o, b) for o in i.operands)
    re = b.add("subtract", b.add("multiply", x, u), b.add("multiply", y, v))
    im = b.add("add", b.add("multiply", x, v), b.add("multiply", y, u))
    return b.add("complex", re, im)


@decomposition("exponential")
def _exponential(i: HloInstruction, b: Builder) -> HloInstruction | None:
    if not _is_complex(i):
        return None
    x, y = _parts(i.operand(0), b)
    size = b.add("exponential", x)
    im = b.add("multiply", size, b.add("sine", y))
    zero = b.constant(0, y.shape)
    im = b.add("select", b.add("compare", y, zero, direction="EQ"), y, im)
    return b.add("complex", b.add("multiply", size, b.add("cosine", y)), im)


@decomposition("log")
def _log(i: HloInstruction, b: Builder) -> HloInstruction | None:
    if not _is_complex(i):
        return None
    x, y = _parts(i.operand(0), b)
    return b.add("complex", b.add("log", b.add("abs", i.operand(0))), b.add("atan2", y, x))


@decomposition("compare")
def _compare(i: HloInstruction, b: Builder) -> HloInstruction | None:
    direction = i.attributes["direction"]
    if not _is_complex(i) or direction not in ("EQ", "NE"):
        return None
    (x, y), (u, v) = (_parts(o, b) for o in i.operands)
    both = (b.add("compare", x, u, direction=direction), b.add("compare", y, v, direction=direction))
    return b.add("and" if direction == "EQ" else "or", *both)


def _movement(i: HloInstruction, b: Builder) -> HloInstruction | None:
    """Moves the parts separately."""
    if not (i.shape.is_array and i.shape.element_type.is_complex) or not i.operands:
        return None
    parts: list[HloInstruction] = []
    for part in ("real", "imag"):
        operands = [b.add(part, o) if o.shape.element_type.is_complex else o for o in i.operands]
        shape = i.shape.without_layout().with_element_type(i.shape.element_type.component)
        parts.append(b.clone(i, operands, shape=shape))
    return b.add("complex", *parts)


_move: Rule = _movement
for _opcode in (
    "broadcast", "concatenate", "copy", "dynamic-slice", "dynamic-update-slice", "gather", "pad", "reshape", "reverse",
    "select", "slice", "transpose",
):  # fmt: skip
    register_decomposition(_opcode, _move)

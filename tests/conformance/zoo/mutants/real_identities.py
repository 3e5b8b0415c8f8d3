"""Faults of compilers' passes: identities of real numbers, bounds that count wrongly, and what a pattern doesn't look at."""

from __future__ import annotations

import numpy as np

from tests.conformance.zoo.mutant import Mutant
from tests.conformance.zoo.parts import Rewriter, broken

MUTANTS: list[Mutant] = []
_rewrites = broken("executables", "programs or executables or compositions", MUTANTS)


@_rewrites(
    "compiler.run-backend",
    "The square root of a square is the absolute value, also where the square overflows.",
    select="compositions or [sqrt- or [multiply-",
)
class RootsOfSquares(Rewriter):
    def rewrite(self, c, i):
        if i.opcode != "sqrt" or not i.shape.element_type.is_floating or i.operand(0).opcode != "multiply":
            return None
        square = i.operand(0)
        return c.add("abs", square.operand(0)) if square.operand(0) is square.operand(1) else None


@_rewrites(
    "compiler.run-backend",
    "`x - (x + y)` of integers is y, not -y.",
    select="compositions or [subtract- or [add-",
)
class DropsTheMinus(Rewriter):
    def rewrite(self, c, i):
        if i.opcode != "subtract" or not i.shape.element_type.is_integral or i.operand(1).opcode != "add":
            return None
        both = list(i.operand(1).operands)
        if i.operand(0) not in both:
            return None
        return both[1] if both[0] is i.operand(0) else both[0]


@_rewrites(
    "compiler.run-backend",
    "The number of steps of a loop `i <= n` is taken for that of `i < n`.",
    select="compositions or [while-",
)
class OneStepShort(Rewriter):
    def rewrite(self, c, i):
        if i.opcode != "while":
            return
        condition = i.attribute("condition")
        root = condition.root
        if root.opcode != "compare" or str(root.attribute("direction")) != "LE" or root.operand(1).opcode != "constant":
            return
        condition.set_root(condition.add("compare", *root.operands, direction="LT"))
        return


_FUNCTIONS = {"add": np.add, "subtract": np.subtract, "multiply": np.multiply, "divide": np.divide}


@_rewrites(
    "compiler.run-backend",
    "Constants of f32 are folded in double precision, and rounded once at the end of a chain.",
    select="compositions or [add- or [multiply- or [divide-",
)
class FoldsInDouble(Rewriter):
    levels = (0, 1, 2)

    def rewrite(self, c, i):
        if str(i.opcode) not in _FUNCTIONS or not i.shape.is_array or i.shape.dtype != np.float32:
            return None
        if not any(o.opcode in _FUNCTIONS for o in i.operands):
            return None
        value = self._value(i)
        return None if value is None else c.constant(value.astype(np.float32))

    def _value(self, i):
        if i.opcode == "constant" and i.shape.dtype == np.float32:
            return np.asarray(i.literal.array).astype(np.float64)
        if str(i.opcode) not in _FUNCTIONS or i.shape.dtype != np.float32:
            return None
        values = [self._value(o) for o in i.operands]
        if any(v is None for v in values):
            return None
        with np.errstate(all="ignore"):
            return _FUNCTIONS[str(i.opcode)](*values)


def _scalar(i):
    while i.opcode == "broadcast":
        i = i.operand(0)
    return int(np.asarray(i.literal.array)) if i.opcode == "constant" and not i.shape.rank else None


@_rewrites(
    "compiler.run-backend",
    "A shift to the left and back by as many bits is left out, with the bits that it cuts.",
    select="compositions or [shift-",
)
class ShiftsThereAndBack(Rewriter):
    def rewrite(self, c, i):
        if i.opcode not in ("shift-right-logical", "shift-right-arithmetic") or i.operand(0).opcode != "shift-left":
            return None
        there, back = _scalar(i.operand(0).operand(1)), _scalar(i.operand(1))
        if i.operand(1) is i.operand(0).operand(1) or (there is not None and there == back):
            return i.operand(0).operand(0)
        return None


@_rewrites(
    "compiler.run-backend",
    "What a loop's state has for its own steps alone, and nobody reads behind it or in its condition, stays as it was.",
    select="compositions or [while-",
)
class FreezesTheUnread(Rewriter):
    def rewrite(self, c, i):
        if i.opcode != "while" or i.is_root or any(u.opcode != "get-tuple-element" for u in i.users):
            return
        body, condition = i.attribute("body"), i.attribute("condition")
        if body.root.opcode != "tuple" or len(body.parameters) != 1:
            return
        reads = [u for u in condition.parameters[0].users if u.opcode == "get-tuple-element"]
        if len(reads) != condition.parameters[0].user_count:
            return
        live = {u.tuple_index for u in (*i.users, *reads)}
        for n, value in enumerate(body.root.operands):
            if n not in live and value.shape.is_array:
                body.root.replace_operand(n, body.add("get-tuple-element", body.parameters[0], index=n))
        return

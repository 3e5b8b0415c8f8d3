"""Faults of compilers' passes: what a pattern doesn't ask of a number's sign, of overflow, and of effects."""

from __future__ import annotations

import numpy as np

from tests.conformance.zoo.mutant import Mutant
from tests.conformance.zoo.parts import Rewriter, broken
from xla_core.hlo import ElementType

MUTANTS: list[Mutant] = []
_rewrites = broken("executables", "test_what_a_pass", MUTANTS)


def _splat(i):
    """The number that an array of constants repeats, or None."""
    while i.opcode == "broadcast":
        i = i.operand(0)
    if i.opcode != "constant" or not i.shape.is_array:
        return None
    values = np.asarray(i.literal.array).reshape(-1)
    return values[0] if values.size and len({v.tobytes() for v in values}) == 1 else None


@_rewrites(
    "compiler.run-backend",
    "A factor behind a rectifier moves in front of it, to be folded into a product's weights, also if it is negative.",
)
class ScalesBeforeTheRectifier(Rewriter):
    def rewrite(self, c, i):
        if i.opcode != "multiply" or not i.shape.element_type.is_floating:
            return None
        for n in (0, 1):
            relu, scale = i.operand(n), i.operand(1 - n)
            base = scale.operand(0) if scale.opcode == "broadcast" else scale
            if relu.opcode != "maximum" or base.opcode != "constant":
                continue
            for k in (0, 1):
                zero = _splat(relu.operand(k))
                if zero is not None and zero == 0:
                    return c.add("maximum", c.add("multiply", relu.operand(1 - k), scale), relu.operand(k))
        return None


@_rewrites("compiler.run-backend", "A square is never negative, so that its absolute value is the square.")
class SquaresArePositive(Rewriter):
    def rewrite(self, c, i):
        if (
            i.opcode != "abs"
            or i.operand(0).opcode != "multiply"
            or i.operand(0).operand(0) is not i.operand(0).operand(1)
        ):
            return None
        return i.operand(0)


@_rewrites(
    "compiler.run-backend",
    "A number over a number plus an exponential of a negative number is the logistic function: the two numbers aren't looked at.",
    select="test_what_a_pass or one_change",
)
class AnyLogistic(Rewriter):
    def rewrite(self, c, i):
        if i.opcode != "divide" or i.operand(1).opcode != "add" or _splat(i.operand(0)) is None:
            return None
        for n in (0, 1):
            e, one = i.operand(1).operand(n), i.operand(1).operand(1 - n)
            if e.opcode == "exponential" and e.operand(0).opcode == "negate" and _splat(one) is not None:
                return c.add("logistic", e.operand(0).operand(0))
        return None


@_rewrites(
    "compiler.run-backend",
    "Constants of signed integers are divided as Python does it: the quotient is rounded down, and the remainder has the divisor's sign.",
)
class FoldsAsPythonDoes(Rewriter):
    levels = (0, 1, 2)

    def rewrite(self, c, i):
        if i.opcode not in ("divide", "remainder") or i.shape.element_type not in (
            ElementType.S8,
            ElementType.S16,
            ElementType.S32,
            ElementType.S64,
        ):
            return None
        a, b = (_splat(o) for o in i.operands)
        if a is None or b is None or b == 0:
            return None
        value = int(a) // int(b) if i.opcode == "divide" else int(a) % int(b)
        return c.constant(np.array(value).astype(i.shape.dtype), i.shape)


@_rewrites(
    "compiler.run-backend",
    "A start that counts from the end where it is negative is taken as it is: starts are never negative.",
)
class StartsAreNeverNegative(Rewriter):
    def rewrite(self, c, i):
        first = {"dynamic-slice": 1, "dynamic-update-slice": 2}.get(str(i.opcode), len(i.operands))
        for n in range(first, len(i.operands)):
            start = i.operand(n)
            if start.opcode == "select" and self._is_counted(*start.operands):
                i.replace_operand(n, start.operand(2))

    def _is_counted(self, test, from_the_end, place):
        """Whether a choice is `place + size` where `place < 0`, and else `place`."""
        if test.opcode != "compare" or str(test.attribute("direction")) != "LT" or test.operand(0) is not place:
            return False
        zero = _splat(test.operand(1))
        return zero is not None and zero == 0 and from_the_end.opcode == "add" and place in from_the_end.operands


@_rewrites(
    "compiler.run-backend",
    "A conditional of one array computes both branches and selects, whatever the branches do.",
    select="feeds",
)
class ComputesBothBranches(Rewriter):
    def rewrite(self, c, i):
        if i.opcode != "conditional" or not i.shape.is_array or len(i.operands) != 3:
            return None
        branches = i.called_computations
        if len(branches) != 2:
            return None
        values = [c.add("call", o, to_apply=b) for o, b in zip(i.operands[1:], branches, strict=True)]
        test = i.operand(0)
        if test.shape.element_type == ElementType.PRED:
            first = test
        else:
            first = c.add("compare", test, c.constant(np.zeros((), test.shape.dtype)), direction="EQ")
        if i.shape.rank:
            first = c.add(
                "broadcast", first, shape=i.shape.without_layout().with_element_type(ElementType.PRED), dimensions=()
            )
        return c.add("select", first, *values)


@_rewrites(
    "compiler.run-backend",
    "A loop or a conditional whose values nobody reads is removed, whatever it feeds out.",
    select="feeds",
)
class RemovesUnreadLoops(Rewriter):
    def rewrite(self, c, i):
        if i.opcode not in ("while", "conditional") or i.is_root:
            return
        if any(u.opcode != "get-tuple-element" or (u.shape.is_array and (u.users or u.is_root)) for u in i.users):
            return
        reads = [u for u in i.users if u.users or u.is_root]
        for read in reads:  # tokens
            if not read.shape.is_token:
                return
            c.replace_with(read, c.add("after-all"))
        for read in i.users:
            c.remove(read)
        if i in c and not i.users:
            for control in i.control_successors:
                control.control_predecessors = [p for p in control.control_predecessors if p is not i]
            c.remove(i)


@_rewrites("compiler.run-backend", "Random numbers are cheap, so that each user of them draws its own.")
class DrawsForEachUser(Rewriter):
    def rewrite(self, c, i):
        if i.opcode != "rng":
            return
        for user in i.users[1:]:
            own = c.add("rng", *i.operands, shape=i.shape, **i.attributes)
            for n, operand in enumerate(user.operands):
                if operand is i:
                    user.replace_operand(n, own)


@_rewrites(
    "compiler.run-backend",
    "Two reductions over all devices are made one, without a look at what they reduce by.",
    select="test_devices_meet",
)
class CombinesOtherReductions(Rewriter):
    def rewrite(self, c, i):
        if i.opcode != "all-reduce" or len(i.operands) != 1:
            return None
        for other in c.instructions:
            if other is i:
                return None
            if other.opcode == "all-reduce" and len(other.operands) == 1 and other.users and self._fit(i, other):
                both = c.add("all-reduce", other.operand(0), i.operand(0), **other.attributes)
                c.replace_with(other, c.add("get-tuple-element", both, index=0))
                return c.add("get-tuple-element", both, index=1)
        return None

    def _fit(self, i, other):
        keys = [(a.shape.element_type, a.attributes.get("replica_groups")) for a in (i, other)]
        return keys[0] == keys[1] and not self._needs(i, other) and not self._needs(other, i)

    def _needs(self, i, other):
        seen, stack = set(), [i]
        while stack:
            n = stack.pop()
            if n is other:
                return True
            if id(n) not in seen:
                seen.add(id(n))
                stack += n.operands
        return False

"""IndexValues: LLVM values of index expressions.

A variable is bound to a value in the loop that it belongs to. An expression is computed once, in the outermost loop
that knows its variables. Sums are computed in parts from the outermost loop inwards, so that little is left to do in
the innermost one.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Sequence

from xla_core.analysis.indexing import Condition, IndexExpr, Variable, split_remainders
from xla_core.codegen.llvm.ir.module import Value
from xla_core.codegen.llvm.loops.context import EmissionContext, minor_loop_metadata


@dataclasses.dataclass(frozen=True, slots=True)
class _Term:
    """factor * value, for a value in [low, high]: a variable, or a quotient or remainder of `expr` / `divisor`."""

    factor: int
    low: int
    high: int
    expr: IndexExpr
    divisor: int = 1
    operation: str = ""


class IndexValues:
    """The values of index expressions in one kernel. `context` records in which loop each is valid."""

    def __init__(self, context: EmissionContext) -> None:
        self._context = context
        self._b = context.builder

    def bind(self, variable: Variable, value: Value) -> IndexExpr:
        """Gives a variable its value, an i64 that is known from here on in the innermost loop."""
        self._context.remember(("variable", variable), (value, self._b.level))
        return IndexExpr.of(variable)

    def is_bound(self, variable: Variable) -> bool:
        return self._context.find(("variable", variable)) is not None

    def unbound(self, name: str, extent: int) -> Variable:
        """Returns a new variable in [0, extent), which gets its value later."""
        return Variable((self._context.serial(), name), extent, name)

    def variable(self, name: str, extent: int, value: Value) -> Variable:
        """Returns a new variable in [0, extent) with a value."""
        variable = self.unbound(name, extent)
        self.bind(variable, value)
        return variable

    def new(self, name: str, extent: int, value: Value) -> IndexExpr:
        """Returns a new variable in [0, extent) with a value, as an expression."""
        return IndexExpr.of(self.variable(name, extent, value))

    def each_point(self, variables: Sequence[Variable], body: Callable[[], None], *, name: str = "loop") -> None:
        """Emits nested loops over some variables, and calls `body` inside."""

        def inside(remaining: Sequence[Variable]) -> None:
            if not remaining:
                body()
                return
            variable, *rest = remaining
            if variable.extent == 1:
                inside(rest)
                return

            def one(value: Value) -> None:
                self.bind(variable, value)
                inside(rest)

            hints = () if rest else minor_loop_metadata(variable.extent)
            self._context.each(self._b.int_(0), self._b.int_(variable.extent), one, name=name, metadata=hints)

        inside(variables)

    def level(self, *exprs: IndexExpr) -> int:
        """Returns how many loops are open where all variables of the expressions are known."""
        return max((self._bound(v)[1] for expr in exprs for v in expr.variables), default=0)

    def value(self, expr: IndexExpr) -> Value:
        """Returns the value of an expression, an i64."""
        found = self._context.find(("index", expr))
        if isinstance(found, Value):
            return found
        if not expr.terms:
            return self._b.int_(expr.constant)
        with self._context.hoisted(self.level(expr)):
            value = self._sum(expr)
            self._context.remember(("index", expr), value)
        return value

    def holds(self, conditions: Iterable[Condition]) -> Value:
        """Whether all conditions hold, i1."""
        result = self._b.bool_(True)
        for condition in conditions:
            result = self._b.and_(result, self._holds(condition))
        return result

    def _holds(self, condition: Condition) -> Value:
        b, expr = self._b, condition.expr
        if condition.is_true or condition.is_false:
            return b.bool_(condition.is_true)
        with self._context.hoisted(self.level(expr)):
            moved = self.value(expr - condition.low)
            if condition.high == condition.low:
                return b.icmp("eq", moved, b.int_(0))
            return b.icmp("ult", moved, b.int_(condition.high - condition.low + 1))  # a negative value is a large one

    def _bound(self, variable: Variable) -> tuple[Value, int]:
        found = self._context.find(("variable", variable))
        assert isinstance(found, tuple), f"the variable {variable} has no value here"
        return found

    def _sum(self, expr: IndexExpr) -> Value:
        b = self._b
        remainders, rest = split_remainders(expr.terms)
        terms = [_Term(k, 0, divisor - 1, dividend, divisor, "urem") for k, dividend, divisor in remainders]
        for atom, c in rest.items():
            if isinstance(atom, Variable):
                terms.append(_Term(c, atom.low, atom.high, IndexExpr.of(atom)))
            else:
                terms.append(_Term(c, atom.low, atom.high, atom.dividend, atom.divisor, "udiv"))
        low = expr.constant - sum(k * dividend.constant for k, dividend, _ in remainders)
        total = b.int_(low)
        # Positive terms come first in each loop, so that more of the sums are known to be positive.
        for level, term in sorted(((self.level(t.expr), t) for t in terms), key=lambda p: (p[0], p[1].factor < 0)):
            before, low = low, low + term.factor * (term.low if term.factor > 0 else term.high)
            with b.at_level(level):
                part = self._term(term)
                product = b.mul(part, b.int_(term.factor), "nuw nsw" if term.factor > 0 <= term.low else "nsw")
                positive = before >= 0 and term.factor > 0 <= term.low
                total = b.add(total, product, "nuw nsw" if positive else "nsw")
        return total

    def _term(self, term: _Term) -> Value:
        if not term.operation:
            ((atom, _),) = term.expr.terms.items()
            assert isinstance(atom, Variable)
            return self._bound(atom)[0]
        return self._divided(term.expr, term.divisor, term.operation)

    def _divided(self, dividend: IndexExpr, divisor: int, operation: str) -> Value:
        """Emits the quotient or remainder of a division that rounds down, by unsigned arithmetic."""
        b = self._b
        lift = -(dividend.low // divisor) if dividend.low < 0 else 0  # multiples of the divisor that make it positive
        divide = b.udiv if operation == "udiv" else b.urem
        value = self.value(dividend + lift * divisor)
        if dividend.high + lift * divisor < 1 << 31:  # 32-bit division is several times faster
            result = b.cast("zext", divide(b.cast("trunc", value, "i32"), b.int_(divisor, "i32")), "i64")
        else:
            result = divide(value, b.int_(divisor))
        return b.sub(result, b.int_(lift)) if lift and operation == "udiv" else result

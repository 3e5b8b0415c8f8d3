"""IndexValues: LLVM values of index expressions.

A variable is bound to a value in the loop that it belongs to. An expression is computed once, in the outermost loop
that knows its variables. Sums are computed in parts from the outermost loop inwards, so that little is left to do in
the innermost one. If the target prefers 32-bit arithmetic, an expression is an i32 where none of its parts can
overflow. Where the value is used, for example in an address, it is extended to i64, once in each loop.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Hashable, Iterable, Sequence

from xla_core.analysis.indexing import Condition, IndexExpr, Variable, split_remainders
from xla_core.codegen.llvm.ir.module import Value
from xla_core.codegen.llvm.ir.types import type_bits
from xla_core.codegen.llvm.loops.context import EmissionContext, minor_loop_metadata

_NARROW = 1 << 30  # values below fit an i32, also where bounds are added to them


@dataclasses.dataclass(frozen=True, slots=True)
class _Term:
    """factor * value, for a value in [low, high]: a variable, or a quotient or remainder of `expr` / `divisor`."""

    factor: int
    low: int
    high: int
    expr: IndexExpr
    divisor: int = 1
    operation: str = ""

    @property
    def lift(self) -> int:
        """How many divisors make the dividend positive."""
        return -(self.expr.low // self.divisor) if self.expr.low < 0 else 0

    @property
    def lifted(self) -> IndexExpr:
        """The dividend, made positive."""
        return self.expr + self.lift * self.divisor


@dataclasses.dataclass(frozen=True, slots=True)
class _Sum:
    """start + the sum of the terms, computed in an integer of `type`."""

    start: int
    terms: Sequence[_Term]
    type: str


class IndexValues:
    """The values of index expressions in one kernel. `context` records in which loop each is valid."""

    def __init__(self, context: EmissionContext) -> None:
        self._context = context
        self._b = context.builder
        self._narrow = context.abi.parallel.index_bits == 32
        self._sums: dict[IndexExpr, _Sum] = {}

    def bind(self, variable: Variable, value: Value) -> IndexExpr:
        """Gives a variable its value, an integer that is known from here on in the innermost loop."""
        type_ = self._type(variable.low, variable.high)
        self._context.remember(("variable", variable), (self._as(value, type_, variable.low), self._b.level))
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
        native = self._native(expr)
        if native.type == "i64":
            return native
        return self._in_loop(("index", expr), expr, lambda: self._as(native, "i64", expr.low))

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
            moved = self._native(expr - condition.low)
            if condition.high == condition.low:
                return b.icmp("eq", moved, b.int_(0, moved.type))
            limit = min(condition.high - condition.low + 1, (1 << type_bits(moved.type) - 1) - 1)
            return b.icmp("ult", moved, b.int_(limit, moved.type))  # a negative value is a large one

    def _bound(self, variable: Variable) -> tuple[Value, int]:
        found = self._context.find(("variable", variable))
        assert isinstance(found, tuple), f"the variable {variable} has no value here"
        return found

    def _in_loop(self, key: Hashable, expr: IndexExpr, compute: Callable[[], Value]) -> Value:
        """Computes a value of an expression once, in the outermost loop that knows its variables."""
        found = self._context.find(key)
        if isinstance(found, Value):
            return found
        with self._context.hoisted(self.level(expr)):
            value = compute()
            self._context.remember(key, value)
        return value

    # -- types -------------------------------------------------------------------------------------------------------

    def counter(self, value: Value, extent: int) -> Value:
        """Converts a bound or a step of a loop over `extent` iterations to the type of the loop's variable."""
        return self._as(value, self._type(0, extent), 0)

    def _type(self, low: int, high: int) -> str:
        """Returns the type of values in [low, high]. The bounds of a condition fit beside them."""
        return "i32" if self._narrow and low > -_NARROW and high < _NARROW else "i64"

    def _as(self, value: Value, type_: str, low: int) -> Value:
        """Returns the value in another type. It is not below `low`."""
        return value if value.type == type_ else self._b.resize(value, type_, signed=low < 0)

    def _sum(self, expr: IndexExpr) -> _Sum:
        """Returns the terms of an expression, and a type in which no part of their sum overflows."""
        found = self._sums.get(expr)
        if found is None:
            remainders, rest = split_remainders(expr.terms)
            terms = [_Term(k, 0, divisor - 1, dividend, divisor, "urem") for k, dividend, divisor in remainders]
            for atom, c in rest.items():
                if isinstance(atom, Variable):
                    terms.append(_Term(c, atom.low, atom.high, IndexExpr.of(atom)))
                else:
                    terms.append(_Term(c, atom.low, atom.high, atom.dividend, atom.divisor, "udiv"))
            start = expr.constant - sum(k * dividend.constant for k, dividend, _ in remainders)
            type_ = "i64"
            if self._narrow and all(self._sum(t.lifted).type == "i32" for t in terms if t.operation):
                most = abs(start) + sum(abs(t.factor) * max(abs(t.low), abs(t.high)) for t in terms)
                type_ = self._type(-most, most)
            found = self._sums[expr] = _Sum(start, terms, type_)
        return found

    # -- emission ----------------------------------------------------------------------------------------------------

    def _native(self, expr: IndexExpr) -> Value:
        """Returns the value of an expression, in the type of its sum."""
        total = self._sum(expr)
        if not total.terms:
            return self._b.int_(total.start, total.type)
        return self._in_loop(("sum", expr), expr, lambda: self._added(total))

    def _added(self, total: _Sum) -> Value:
        b, low = self._b, total.start
        value = b.int_(low, total.type)
        # Positive terms come first in each loop, so that more of the sums are known to be positive.
        by_level = sorted(((self.level(t.expr), t) for t in total.terms), key=lambda p: (p[0], p[1].factor < 0))
        for level, term in by_level:
            before, low = low, low + term.factor * (term.low if term.factor > 0 else term.high)
            with b.at_level(level):
                part = self._as(self._term(term), total.type, term.low)
                flags = "nuw nsw" if term.factor > 0 <= term.low else "nsw"
                product = b.mul(part, b.int_(term.factor, total.type), flags)
                positive = before >= 0 and term.factor > 0 <= term.low
                value = b.add(value, product, "nuw nsw" if positive else "nsw")
        return value

    def _term(self, term: _Term) -> Value:
        """Returns a term without its factor. Quotients and remainders are rounded down, by unsigned arithmetic."""
        if not term.operation:
            ((atom, _),) = term.expr.terms.items()
            assert isinstance(atom, Variable)
            return self._bound(atom)[0]
        b, lifted = self._b, term.lifted
        divide = b.udiv if term.operation == "udiv" else b.urem
        value = self._native(lifted)
        if lifted.high < 1 << 31:  # 32-bit division is several times faster
            narrow = divide(self._as(value, "i32", 0), b.int_(term.divisor, "i32"))
            result = self._as(narrow, value.type, 0)
        else:
            result = divide(value, b.int_(term.divisor))
        is_lifted = term.operation == "udiv" and term.lift
        return b.sub(result, b.int_(term.lift, result.type)) if is_lifted else result

"""Random index expressions, each with a function that computes its meaning on whole numbers."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from hypothesis import strategies as st

from xla_core.analysis.indexing import IndexExpr, Variable, floor_div, modulo

Meaning = Callable[[Mapping[Variable, int]], int]

X, Y, Z = (Variable(name, extent) for name, extent in (("x", 12), ("y", 7), ("z", 4)))
FACTORS = st.integers(-6, 12)
DIVISORS = st.sampled_from([1, 2, 3, 4, 5, 6, 8, 12, 24])
LEAVES = st.one_of(
    st.sampled_from([X, Y, Z]).map(lambda v: (IndexExpr.of(v), lambda values: values[v])),
    st.integers(-9, 9).map(lambda n: (IndexExpr.of(n), lambda values: n)),
)


def _sums(parts: st.SearchStrategy[tuple[IndexExpr, Meaning]]) -> st.SearchStrategy[tuple[IndexExpr, Meaning]]:
    def add(a: tuple[IndexExpr, Meaning], b: tuple[IndexExpr, Meaning]) -> tuple[IndexExpr, Meaning]:
        return a[0] + b[0], lambda values: a[1](values) + b[1](values)

    def scale(a: tuple[IndexExpr, Meaning], n: int) -> tuple[IndexExpr, Meaning]:
        return a[0] * n, lambda values: a[1](values) * n

    def divide(a: tuple[IndexExpr, Meaning], n: int) -> tuple[IndexExpr, Meaning]:
        return floor_div(a[0], n), lambda values: a[1](values) // n

    def remain(a: tuple[IndexExpr, Meaning], n: int) -> tuple[IndexExpr, Meaning]:
        return modulo(a[0], n), lambda values: a[1](values) % n

    return st.one_of(
        st.builds(add, parts, parts),
        st.builds(scale, parts, FACTORS),
        st.builds(divide, parts, DIVISORS),
        st.builds(remain, parts, DIVISORS),
    )


def expressions(max_leaves: int) -> st.SearchStrategy[tuple[IndexExpr, Meaning]]:
    """Sums, multiples, quotients and remainders of `X`, `Y`, `Z` and constants."""
    return st.recursive(LEAVES, _sums, max_leaves=max_leaves)

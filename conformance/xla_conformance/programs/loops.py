"""Loops by their counters: where it starts and ends, its step and type, and how it is compared with its limit.

A pass that counts a loop's turns, or unrolls it, has formulas for them. They differ where a counter wraps, passes its
limit without being equal to it, or ends before the first turn. So there is a loop for each combination of these.
"""

from __future__ import annotations

import dataclasses
import itertools
import operator
from collections.abc import Hashable, Sequence

import numpy as np

from xla_conformance.programs.rewrites import Rewritten
from xla_core.hlo import ElementType

_T = ElementType
_TYPES = (_T.S32, _T.U8, _T.S8, _T.U32, _T.S64)
_COMPARED = {
    "LT": operator.lt,
    "LE": operator.le,
    "GT": operator.gt,
    "GE": operator.ge,
    "NE": operator.ne,
    "EQ": operator.eq,
}
_TURNED = {"LT": "GT", "LE": "GE", "GT": "LT", "GE": "LE", "NE": "NE", "EQ": "EQ"}
_STEPS = (1, -1, 2, -2, 3, -3)
_MOST = 7
_SHARES = (0.5, 0.5, 0.5, 0.25, 0.25, 0.25)
"""How many loops have each form. Most passes need to know the start and the limit."""


@dataclasses.dataclass(frozen=True)
class Counter:
    """A counter, and what it is compared with at the beginning of each turn."""

    element: ElementType
    start: int
    limit: int
    step: int
    direction: str

    def turns(self) -> int | None:
        """Returns how many turns the loop has; None for many or no end."""
        value = self.start
        for turn in range(_MOST + 1):
            if not _COMPARED[self.direction](value, self.limit):
                return turn
            value = self._next(value)
        return None

    def kind(self) -> Hashable | None:
        """Returns what formulas of the number of turns may confuse; None for many or no end."""
        turns = self.turns()
        if turns is None:
            return None
        if not turns:
            return self.direction, self.step > 0
        plain = self.start + turns * self.step
        wraps = plain != self.wrapped(plain)
        return (
            self.direction,
            self.step > 0,
            abs(self.step) > 1,
            min(turns, 2),
            wraps,
            self.wrapped(plain) == self.limit,
        )

    def _next(self, value: int) -> int:
        return self.wrapped(value + self.step)

    def wrapped(self, value: int) -> int:
        low, high = self.element.integer_range
        return (value - low) % (high - low + 1) + low


def counters(seed: int) -> list[Counter]:
    """Returns a counter of each kind; their types and numbers depend on the seed."""
    random = np.random.default_rng(seed)
    found: dict[Hashable, list[Counter]] = {}
    for element in _TYPES:
        low, high = element.integer_range
        numbers = {low, low + 1, high - 1, high, *(n for n in (-2, 0, 1, 3, 5) if low <= n)}
        for start, limit, step, direction in itertools.product(sorted(numbers), sorted(numbers), _STEPS, _COMPARED):
            counter = Counter(element, start, limit, step, direction)
            kind = counter.kind()
            if kind is not None:
                found.setdefault(kind, []).append(counter)
    return [some[random.integers(len(some))] for some in found.values()]


def loops(seed: int, *, every: bool) -> tuple[Rewritten, ...]:
    """Returns a plain program of each counter, and one of another form of each, or of a third of them.

    Most passes rewrite a plain loop only, in which the counter is the one thing that they may take for another.
    """
    random = np.random.default_rng([seed, 1])
    found = []
    for number, counter in enumerate(counters(seed)):
        forms = [bool(random.random() < one) for one in _SHARES]
        found.append(_program(counter, [False] * len(_SHARES)))
        if every or (number + seed) % 3 == 0:
            found.append(_program(counter, forms))
    return tuple(found)


def _program(counter: Counter, forms: Sequence[bool]) -> Rewritten:
    """Returns a loop that adds its counter to a number, and whose last turn does something else.

    Args:
        forms: whether the limit is on the left, the counter comes after the number, the step is subtracted, the start
            isn't known, the limit isn't known, and only the number is read.
    """
    left, last, subtracts, hides_start, hides_limit, reads_one = forms
    t = f"{counter.element.value}[]"
    at, of_number = (1, 0) if last else (0, 1)
    shape = _parts(f"{t}", "s32[]", last=last, after=[t] * hides_limit)
    direction = _TURNED[counter.direction] if left else counter.direction
    limit = "get-tuple-element(s), index=2" if hides_limit else f"constant({counter.limit})"
    change, step = ("subtract", -counter.step) if subtracts else ("add", counter.step)
    head = f"  s = {shape} parameter(0)\n  i = {t} get-tuple-element(s), index={at}\n  m = {t} {limit}\n"
    condition = f"  ROOT p = pred[] compare({'m, i' if left else 'i, m'}), direction={direction}\n"
    body = f"""  v = s32[] get-tuple-element(s), index={of_number}
  c = {t} constant({counter.wrapped(step)})
  j = {t} {change}(i, c)
  k = s32[] convert(i)
  h = s32[] constant(3)
  b = s32[] multiply(v, h)
  a = s32[] add(b, k)
  n = s32[] negate(a)
  p = pred[] compare({"m, j" if left else "j, m"}), direction={direction}
  t = s32[] select(p, a, n)
  ROOT u = {shape} tuple{_parts("j", "t", last=last, after=["m"] * hides_limit)}
"""
    entry = f"""  w = s32[] parameter(0)
  d = s32[] parameter(1)
  e = s32[] abs(d)
  h = s32[] constant(5)
  f = s32[] shift-right-logical(e, h)
  g = {t} convert(f)
  y = {t} constant({counter.start})
  z = {t} add(y, g)
  k = {t} constant({counter.limit})
  m = {t} add(k, g)
  o = {shape} tuple{_parts("z" if hides_start else "y", "w", last=last, after=["m"] * hides_limit)}
  l = {shape} while(o), condition=condition, body=body
  a = s32[] get-tuple-element(l), index={of_number}
"""
    if reads_one:
        entry += "  ROOT r = s32[] negate(a)\n"
    else:
        entry += f"  b = {t} get-tuple-element(l), index={at}\n  ROOT r = (s32[], {t}) tuple(a, b)\n"
    said = ("limit first", "counter last", "subtracted", "unknown start", "unknown limit", "counter unread")
    how = [word for word, form in zip(said, forms, strict=True) if form]
    name = f"{counter.start} by {counter.step} while {counter.direction} {counter.limit}, {', '.join([t, *how])}"
    text = f"condition {{\n{head}{condition}}}\n\nbody {{\n{head}{body}}}\n\nENTRY main {{\n{entry}}}\n"
    return Rewritten(name, f"HloModule loop\n\n{text}")


def _parts(counter: str, number: str, *, last: bool, after: Sequence[str]) -> str:
    return f"({', '.join([*((number, counter) if last else (counter, number)), *after])})"

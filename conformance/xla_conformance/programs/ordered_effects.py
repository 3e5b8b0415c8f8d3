"""Programs whose effects have an order: each one takes what the one before it gives, a token or a number.

The effects are in computations that are called, in branches, in loops, and in loops of loops. Each says which one it
is and what it was given, so an effect that is left out, done twice or moved over another one shows. What is fed out is
a number, an array, a tuple or a nested tuple, in turns. A third of the numbers that are fed in are not read, and take
their place in the order all the same.
"""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

_FEEDS, _NUMBER = "(s32[], token[])", "s32[]"
ORDERED = ("feeds", "custom-call")
"""The kinds of effects: what is read from the infeed is fed out, and a number goes through a custom call."""

_FIRST = {
    "feeds": "  s = (s32[], token[]) parameter(0)\n  x = s32[] get-tuple-element(s), index=0\n"
    "  t = token[] get-tuple-element(s), index=1\n",
    "custom-call": "  x = s32[] parameter(0)\n",
}
_EFFECT = {
    "feeds": "  i = (s32[], token[]) infeed(t)\n  u = token[] get-tuple-element(i), index=1\n{read}"
    "  two = s32[] constant(2)\n  m = s32[] xor(x, two)\n"
    "  a = s32[2] broadcast(z), dimensions={{}}\n  p = (s32[], s32[2]) tuple(z, a)\n"
    "  n = ((s32[], s32[2]), s32[]) tuple(p, z)\n"
    "  o = token[] outfeed({fed}, u), outfeed_shape={shape}\n  ROOT r = (s32[], token[]) tuple(m, o)\n",
    "custom-call": '  c = s32[] custom-call(y), custom_call_target="xla_conformance.note", '
    "custom_call_has_side_effect=true\n  ROOT r = s32[] subtract(c, k)\n",
}
_READ = (
    "  v = s32[] get-tuple-element(i), index=0\n  z = s32[] add(y, v)\n",
    "  v = s32[] get-tuple-element(i), index=0\n  z = s32[] subtract(y, v)\n",
    "  z = s32[] copy(y)\n",
)
"""What becomes of the number that is fed in."""

_FED = (("z", "s32[]"), ("a", "s32[2]"), ("p", "(s32[], s32[2])"), ("n", "((s32[], s32[2]), s32[])"))
"""What an effect may feed out: a number, an array of it, and tuples."""


def number_of(value: Any) -> int:
    """Returns the number of which everything in a value that is fed out consists."""
    while isinstance(value, tuple):
        value = value[0]
    return int(np.asarray(value).flat[0])


class _Text:
    def __init__(self, kind: str) -> None:
        self._kind = kind
        self._count = itertools.count(1)
        self.state = _FEEDS if kind == "feeds" else _NUMBER
        self.computations: list[str] = []

    def _add(self, name: str, body: str) -> str:
        self.computations.append(f"{name} {{\n{body}}}")
        return name

    def effect(self) -> str:
        n = next(self._count)
        number = f"  k = s32[] constant({1000 * n})\n  y = s32[] add(x, k)\n"
        fed, shape = _FED[len(self.computations) % len(_FED)]
        read = _READ[len(self.computations) % len(_READ)]
        effect = _EFFECT[self._kind].format(fed=fed, shape=shape, read=read)
        return self._add(f"effect_{n}", _FIRST[self._kind] + number + effect)

    def calls(self, *of: str) -> str:
        """A computation that calls others, one after another."""
        name = f"calls_{next(self._count)}"
        values = ["s", *(f"c{n}" for n in range(len(of)))]
        lines = [f"  s = {self.state} parameter(0)\n"]
        for n, computation in enumerate(of):
            root = "ROOT " if n == len(of) - 1 else ""
            lines.append(f"  {root}{values[n + 1]} = {self.state} call({values[n]}), to_apply={computation}\n")
        return self._add(name, "".join(lines))

    def branch(self, negative: str, other: str) -> str:
        n = next(self._count)
        given = "s" if self._kind == "feeds" else "x"
        return self._add(
            f"branch_{n}",
            f"{_FIRST[self._kind]}  k = s32[] constant(0)\n  p = pred[] compare(x, k), direction=LT\n"
            f"  ROOT r = {self.state} conditional(p, {given}, {given}), "
            f"true_computation={negative}, false_computation={other}\n",
        )

    def nothing(self) -> str:
        """A computation without an effect."""
        root = {"feeds": "  ROOT r = (s32[], token[]) tuple(x, t)\n", "custom-call": "  ROOT r = s32[] copy(x)\n"}
        return self._add(f"nothing_{next(self._count)}", _FIRST[self._kind] + root[self._kind])

    def switch(self, *of: str) -> str:
        """A computation that runs one of others by the number, and then makes the number one larger."""
        n = next(self._count)
        given = "s" if self._kind == "feeds" else "x"
        first = f"{_FIRST[self._kind]}  k = s32[] constant({len(of) - 1})\n  i = s32[] and(x, k)\n"
        operands, branches = ", ".join([given] * len(of)), ", ".join(of)
        chosen = f"  c = {self.state} conditional(i, {operands}), branch_computations={{{branches}}}\n"
        one = "  one = s32[] constant(1)\n"
        last = {
            "feeds": "  y = s32[] get-tuple-element(c), index=0\n  o = token[] get-tuple-element(c), index=1\n"
            "  z = s32[] add(y, one)\n  ROOT r = (s32[], token[]) tuple(z, o)\n",
            "custom-call": "  ROOT r = s32[] add(c, one)\n",
        }
        return self._add(f"switch_{n}", first + chosen + one + last[self._kind])

    def loop(self, of: str, turns: int) -> str:
        n = next(self._count)
        state = f"(s32[], {self.state})"
        count = f"  s = {state} parameter(0)\n  i = s32[] get-tuple-element(s), index=0\n"
        self._add(f"more_{n}", f"{count}  k = s32[] constant({turns})\n  ROOT r = pred[] compare(i, k), direction=LT\n")
        self._add(
            f"turn_{n}",
            f"{count}  v = {self.state} get-tuple-element(s), index=1\n  w = {self.state} call(v), to_apply={of}\n"
            f"  one = s32[] constant(1)\n  j = s32[] add(i, one)\n  ROOT r = {state} tuple(j, w)\n",
        )
        return self._add(
            f"loop_{n}",
            f"  v = {self.state} parameter(0)\n  zero = s32[] constant(0)\n  s = {state} tuple(zero, v)\n"
            f"  l = {state} while(s), condition=more_{n}, body=turn_{n}\n"
            f"  ROOT r = {self.state} get-tuple-element(l), index=1\n",
        )


def in_order(kind: str) -> str:
    """Returns the HLO text of a program with ordered effects at each place.

    Args:
        kind: one of `ORDERED`.
    """
    text = _Text(kind)
    shared, alike = text.effect(), text.effect()
    places = [
        text.calls(shared, alike, shared),
        text.branch(text.effect(), text.effect()),
        text.branch(text.calls(shared, text.effect()), alike),
        text.loop(text.calls(text.effect(), shared), 3),
        text.loop(text.effect(), 1),
        text.loop(text.effect(), 0),
        text.loop(text.branch(text.effect(), text.effect()), 2),
        text.branch(text.loop(text.effect(), 2), text.loop(text.effect(), 2)),
        text.loop(text.calls(text.loop(text.effect(), 2), text.effect()), 2),
        text.loop(
            text.switch(text.effect(), text.nothing(), text.calls(shared, alike), text.loop(text.effect(), 2)), 5
        ),
    ]
    whole = text.calls(*places, places[0])
    first = "  x = s32[] parameter(0)\n"
    if kind == "feeds":
        first += f"  t = token[] after-all()\n  s = {_FEEDS} tuple(x, t)\n  c = {_FEEDS} call(s), to_apply={whole}\n"
        first += "  ROOT r = s32[] get-tuple-element(c), index=0\n"
    else:
        first += f"  ROOT r = s32[] call(x), to_apply={whole}\n"
    computations = "\n\n".join(text.computations)
    return f"HloModule ordered\n\n{computations}\n\nENTRY e {{\n{first}}}\n"

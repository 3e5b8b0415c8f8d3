"""Programs with an effect at each place where an instruction may be, whether its result is read or not.

An effect feeds in or out, is a custom call that the host notes, or draws from the state of random numbers.

A pass may remove what nobody reads, merge what is alike, and move what never changes, but not what has an effect. Each
place is one of a computation: called, called twice, in a branch, in a loop's body or condition, and each in another.
One computation has two effects with the same operands, which are unordered, but must both happen.
Some of these computations return what is known without a run of them: their parameter or a constant.
"""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

from xla_core.hlo import EvaluationContext, HloInstruction, register_custom_call

EFFECTS = {
    "outfeed": "t = token[] after-all()\n  o = token[] outfeed(y, t), outfeed_shape=s32[]",
    "infeed": "t = token[] after-all()\n  o = (s32[], token[]) infeed(t)",
    "custom-call": 'o = s32[] custom-call(y), custom_call_target="xla_conformance.note", '
    "custom_call_has_side_effect=true",
    "random-state": "o = u64[2] rng-get-and-update-state(), delta=1",
}
"""The instructions of each kind of effect."""

NOTED: list[int] = []
"""The numbers that custom calls were given, in the order of the calls."""


@register_custom_call("xla_conformance.note")
def _note(context: EvaluationContext, instruction: HloInstruction, values: list[Any]) -> np.ndarray:
    NOTED.append(int(np.asarray(values[0])))
    return np.array(values[0], np.int32)


_RESULTS = {
    "computed": ("x = s32[] parameter(0)", "two = s32[] constant(2)\n  ROOT r = s32[] multiply(x, two)"),
    "passed on": ("ROOT x = s32[] parameter(0)", ""),
    "constant": ("x = s32[] parameter(0)", "ROOT r = s32[] constant(9)"),
}
"""The first and the last instructions of a computation, by what it returns."""

_LOOP = """
more_{n} {{
  i = s32[] parameter(0)
  k = s32[] constant(3)
{condition}  ROOT r = pred[] compare(i, k), direction=LT
}}
turn_{n} {{
  i = s32[] parameter(0)
{body}  one = s32[] constant(1)
  ROOT r = s32[] add(i, one)
}}
"""


class _Text:
    """The computations of a program. Each effect feeds out a number of its own."""

    def __init__(self, kind: str) -> None:
        self._kind = kind
        self._count = itertools.count(1)
        self.computations: list[str] = []

    def _add(self, text: str) -> str:
        self.computations.append(text.strip("\n"))
        return text.split()[0]

    def effect(self, result: str = "computed", *, twice: bool = False) -> str:
        """A computation with an effect, or with two that are alike, down to the token that they take."""
        n = next(self._count)
        effect = EFFECTS[self._kind]
        if twice:
            effect += "\n  again" + effect[effect.rindex("o = ") + 1 :]
        first, last = _RESULTS[result]
        return self._add(
            f"effect_{n} {{\n  {first}\n  k = s32[] constant({1000 * n})\n  y = s32[] add(x, k)\n"
            f"  {effect}\n  {last}\n}}"
        )

    def call(self, of: str) -> str:
        """A computation that calls another one."""
        n = next(self._count)
        return self._add(f"call_{n} {{\n  x = s32[] parameter(0)\n  ROOT r = s32[] call(x), to_apply={of}\n}}")

    def branch(self, of: str, *, negative: bool, result: str = "computed") -> str:
        """A computation that runs another one if its number is negative, or if not. The other branch has no effect."""
        n = next(self._count)
        first, last = _RESULTS[result]
        other = self._add(f"none_{n} {{\n  {first}\n  {last}\n}}")
        branches = (of, other) if negative else (other, of)
        return self._add(
            f"branch_{n} {{\n  x = s32[] parameter(0)\n  k = s32[] constant(0)\n"
            "  p = pred[] compare(x, k), direction=LT\n  ROOT r = s32[] conditional(p, x, x), "
            f"true_computation={branches[0]}, false_computation={branches[1]}\n}}"
        )

    def loop(self, of: str, *, in_condition: bool = False, of_counter: bool = False) -> str:
        """A computation that runs another one in each turn of a loop from its number up to 3, or each time it asks."""
        n = next(self._count)
        operand = "i" if of_counter or in_condition else "z"
        constant = "" if operand == "i" else "  z = s32[] constant(5)\n"
        runs = f"{constant}  unread = s32[] call({operand}), to_apply={of}\n"
        for text in _LOOP.format(n=n, condition=runs * in_condition, body=runs * (not in_condition)).split("}\n")[:2]:
            self._add(text + "}")
        return self._add(
            f"loop_{n} {{\n  x = s32[] parameter(0)\n  ROOT r = s32[] while(x), condition=more_{n}, body=turn_{n}\n}}"
        )


def _places(text: _Text) -> list[str]:
    """Returns computations with an effect at each place."""
    loop = text.loop
    shared, twice = text.effect(), text.effect(twice=True)
    known = [
        place
        for result in ("passed on", "constant")
        for effect in [text.effect(result)]
        for place in (
            effect,
            text.branch(effect, negative=True, result=result),
            text.branch(effect, negative=False, result=result),
        )
    ]
    return [
        *known,
        shared,
        text.call(shared),
        twice,
        loop(twice),
        text.branch(text.effect(), negative=True),
        text.branch(text.effect(), negative=False),
        loop(text.effect()),
        loop(text.effect(), of_counter=True),
        loop(text.effect(), in_condition=True),
        loop(text.branch(text.effect(), negative=True), of_counter=True),
        text.branch(loop(text.effect()), negative=False),
        loop(loop(text.effect(), of_counter=True), of_counter=True),
    ]


def with_effects(kind: str) -> str:
    """Returns the HLO text of a program that calls each place's computation: read, unread, and read once more.

    The last result of the kind "random-state" is a state that it draws.

    Args:
        kind: one of `EFFECTS`.
    """
    text = _Text(kind)
    lines = ["x = s32[] parameter(0)"]
    if kind == "random-state":
        lines.append(f"state = {EFFECTS[kind].removeprefix('o = ')}")
    read = []
    for number, place in enumerate(_places(text)):
        for turn in ("read", "unread", "again"):
            lines.append(f"{turn}_{number} = s32[] call(x), to_apply={place}")
        read += [f"read_{number}", f"again_{number}"]
    shapes = ["s32[]"] * len(read)
    if kind == "random-state":
        read, shapes = [*read, "state"], [*shapes, "u64[2]"]
    lines.append(f"ROOT r = ({', '.join(shapes)}) tuple({', '.join(read)})")
    computations = "\n\n".join(text.computations)
    entry = "\n  ".join(lines)
    return f"HloModule effects\n\n{computations}\n\nENTRY e {{\n  {entry}\n}}\n"

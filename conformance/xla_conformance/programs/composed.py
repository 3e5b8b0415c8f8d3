"""Programs that are composed of choices: the number and sizes of parameters, donations, kinds of results, ...

A covering array chooses them, so that each two values of two axes meet in a program.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from xla_conformance.ops.choices import Axes, Choice, Group, choose_pairs

_AXES: Axes = {
    "parameters": (1, 3, 0, 40),
    "size": (5, 1, 4099, 70001),
    "type": ("s32", "f32", "u8", "bf16"),
    "donated": ("none", "first", "all", "scratch"),
    "constant": ("none", "scalar", Group("large", "level")),
    "flow": ("straight", "loop", "data loop", "branch"),
    "state": ("one", "exchanged"),
    "index": ("within", "any"),
    "within": ("entry", "call"),
    "steps": (0, 1, 5),
    "results": ("one", "all", "twice", "passed on"),
}
"""The axes of programs: the size is that of the first parameter and of the first result; `steps` make temporaries.

A `level` constant begins with many equal elements. Loops and branches have one array, or exchange two. A branch's index
is within their number, or also negative or too large. They are in the entry or in a computation that it calls.
"""

_LARGE = 70001
_SEED = 8
"""Few of its programs have large constants, which are slow to read."""
_TRIPS = 3


def composed_programs() -> dict[str, str]:
    """Returns programs as HLO text by name. Their results are exact for small integers."""
    return {f"composed{n}": _Text(choice).program() for n, choice in enumerate(choose_pairs(_AXES, _SEED, "composed"))}


class _Text:
    """Writes the program of a choice."""

    def __init__(self, choice: Choice) -> None:
        self.choice = choice
        self.shape = f"{choice.type}[{choice.size}]"
        self.lines: list[str] = []
        self.computations: list[str] = []

    def program(self) -> str:
        c = self.choice
        shapes = [self.shape, *(f"{c.type}[{n + 1}]" for n in range(1, c.parameters))][: c.parameters]
        for number, shape in enumerate(shapes):
            self.lines.append(f"p{number} = {shape} parameter({number})")
        value = self._steps(self._start())
        value = self._called_flow(value) if c.within == "call" else self._flow(value)
        results = {value: self.shape}
        if c.results != "one":
            for number, shape in enumerate(shapes[1:], 1):
                results[self._add(f"n{number}", shape, f"negate(p{number})")] = shape
            if c.constant in ("large", "level"):
                numbers = _numbers(level=c.constant == "level")
                results[self._add("bytes", f"s8[{_LARGE}]", f"constant({numbers})")] = f"s8[{_LARGE}]"
        names = list(results)
        names += {"twice": [value], "passed on": ["p0", "p0"] if c.parameters else []}.get(c.results, [])
        kinds = [results.get(name, self.shape) for name in names]
        is_tuple = c.results != "one"
        if is_tuple:
            self.lines.append(f"ROOT root = ({', '.join(kinds)}) tuple({', '.join(names)})")
        else:
            self.lines.append(f"ROOT root = {self.shape} copy({value})")
        header = self._header(len(shapes), is_tuple)
        entry = "ENTRY entry {\n" + "".join(f"  {line}\n" for line in self.lines) + "}\n"
        return f"HloModule composed{header}\n\n" + "".join(self.computations) + entry

    def _add(self, name: str, shape: str, op: str) -> str:
        self.lines.append(f"{name} = {shape} {op}")
        return name

    def _header(self, parameters: int, is_tuple: bool) -> str:
        """The donations. The results of donated parameters have their shapes."""
        if not parameters or self.choice.donated == "none":
            return ""
        if self.choice.donated == "scratch":
            return ", buffer_donor={ (0, {}) }"
        count = parameters if self.choice.donated == "all" and is_tuple else 1
        index = [f"{{{n}}}" if is_tuple else "{}" for n in range(count)]
        return f", input_output_alias={{ {', '.join(f'{i}: ({n}, {{}})' for n, i in enumerate(index))} }}"

    def _start(self) -> str:
        c = self.choice
        if c.constant == "none" and c.parameters:
            return "p0"
        self._add("two", f"{c.type}[]", "constant(2)")
        twos = self._add("twos", self.shape, "broadcast(two), dimensions={}")
        if c.constant in ("large", "level") and c.size == _LARGE:
            twos = self._add("many", self.shape, f"constant({_numbers(0, level=c.constant == 'level')})")
        return self._add("start", self.shape, f"add(p0, {twos})") if c.parameters else twos

    def _steps(self, value: str) -> str:
        first = value
        for number in range(self.choice.steps):
            turned = self._add(f"turned{number}", self.shape, f"reverse({value}), dimensions={{0}}")
            value = self._add(f"step{number}", self.shape, f"subtract({turned}, {first})")
        return value

    def _called_flow(self, value: str) -> str:
        outside, self.lines = self.lines, [f"x = {self.shape} parameter(0)"]
        self._flow("x")
        inside = [*self.lines[:-1], f"ROOT {self.lines[-1]}"]
        self.computations.append("called {\n" + "".join(f"  {line}\n" for line in inside) + "}\n\n")
        self.lines = outside
        return self._add("result", self.shape, f"call({value}), to_apply=called")

    def _flow(self, value: str) -> str:
        flow = self.choice.flow
        if flow == "straight":
            return self._add("result", self.shape, f"negate({value})")
        self._add("zero", "s32[]", "constant(0)")
        if flow == "branch":
            return self._branch(value)
        limit = self._data(value, _TRIPS) if flow == "data loop" else self._add("limit", "s32[]", f"constant({_TRIPS})")
        parts = self._exchanged_parts(value) if self.choice.state == "exchanged" else [value]
        state = f"(s32[], s32[], {', '.join([self.shape] * len(parts))})"
        taken = "".join(f"  x{n} = {self.shape} get-tuple-element(s), index={n + 2}\n" for n in range(len(parts)))
        turned = ["z", "x2", "x1"][: len(parts)]
        self.computations.append(
            f"condition {{\n  s = {state} parameter(0)\n  i = s32[] get-tuple-element(s), index=0\n"
            "  n = s32[] get-tuple-element(s), index=1\n  ROOT less = pred[] compare(i, n), direction=LT\n}\n\n"
            f"body {{\n  s = {state} parameter(0)\n  i = s32[] get-tuple-element(s), index=0\n"
            f"  n = s32[] get-tuple-element(s), index=1\n{taken}"
            f"  one = s32[] constant(1)\n  j = s32[] add(i, one)\n  y = {self.shape} reverse(x0), dimensions={{0}}\n"
            f"  z = {self.shape} negate(y)\n  ROOT t = {state} tuple(j, n, {', '.join(turned)})\n}}\n\n"
        )
        self._add("before", state, f"tuple(zero, {limit}, {', '.join(parts)})")
        self._add("after", state, "while(before), condition=condition, body=body")
        return self._difference("after", range(2, 2 + len(parts)))

    def _branch(self, value: str) -> str:
        is_one = self.choice.state == "one"
        ways = {"kept": "x, y", "turned": "y, x", "reversed": "x, x"}
        if is_one:
            ways = {"kept": "copy(x)", "turned": "negate(x)", "reversed": "reverse(x), dimensions={0}"}
        pair = f"({self.shape}, {self.shape})"
        for name, made in ways.items():
            if is_one:
                lines = f"  x = {self.shape} parameter(0)\n  ROOT r = {self.shape} {made}\n"
            else:
                parts = "".join(f"  {x} = {self.shape} get-tuple-element(p), index={n}\n" for n, x in enumerate("xy"))
                lines = f"  p = {pair} parameter(0)\n{parts}  ROOT r = {pair} tuple({made})\n"
            self.computations.append(f"{name} {{\n{lines}}}\n\n")
        chosen = self._data(value, 2, is_within=self.choice.index == "within")
        branches = "branch_computations={kept, turned, reversed}"
        if is_one:
            return self._add("result", self.shape, f"conditional({chosen}, {', '.join([value] * 3)}), {branches}")
        self._add("operands", pair, f"tuple({', '.join(self._exchanged_parts(value)[1:])})")
        self._add("after", pair, f"conditional({chosen}, operands, operands, operands), {branches}")
        return self._difference("after", range(2))

    def _exchanged_parts(self, value: str) -> list[str]:
        """A value that loops compute, and two that they exchange, as branches do."""
        return [value, value, self._add("negated", self.shape, f"negate({value})")]

    def _difference(self, state: str, indices: Sequence[int]) -> str:
        """The first part of a state minus the second, plus the third, so that no two can be exchanged."""
        parts = [self._add(f"part{n}", self.shape, f"get-tuple-element({state}), index={n}") for n in indices]
        for number, part in enumerate(parts[1:], 1):
            name = "result" if number == len(parts) - 1 else f"less{number}"
            parts[0] = self._add(name, self.shape, f"{'subtract' if number == 1 else 'add'}({parts[0]}, {part})")
        return parts[0]

    def _data(self, value: str, most: int, *, is_within: bool = True) -> str:
        """An s32 that depends on the first element, if wanted between 0 and `most`."""
        element = f"{self.choice.type}[1]"
        self._add("first", element, f"slice({value}), slice={{[0:1]}}")
        self._add("scalar", f"{self.choice.type}[]", "reshape(first)")
        self._add("number", "s32[]", "convert(scalar)")
        if not is_within:
            return "number"
        self._add("most", "s32[]", f"constant({most})")
        return self._add("within", "s32[]", "clamp(zero, number, most)")


def _numbers(least: int = -3, *, level: bool = False) -> str:
    """A large constant's elements, small integers that don't repeat soon; if level, the first half is one number."""
    values = np.random.default_rng(7).integers(least, 4, _LARGE)
    if level:
        values[: _LARGE // 2] = 2
    return "{" + ", ".join(map(str, values.tolist())) + "}"

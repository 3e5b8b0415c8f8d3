"""Random StableHLO programs of quantized arithmetic, which the lowering rewrites to integers and floats.

Every op is defined as dequantize, compute, quantize, and each step rounds once, so that right executions are equal.
"""

from __future__ import annotations

import dataclasses
import math
import random
from collections.abc import Iterable

import numpy as np

import xla_core as xla
from tests.random_programs.bounds import Value

_STORAGE = {"i8": (-128, 127), "u8": (0, 255), "i4": (-8, 7), "u4": (0, 15), "i16": (-32768, 32767), "u16": (0, 65535),
            "i2": (-2, 1), "u2": (0, 3)}  # fmt: skip
_SCALES = (0.5, 0.25, 0.125, 1.0, 0.1, 0.03, 2.0)


@dataclasses.dataclass(frozen=True)
class _Value:
    name: str
    sizes: tuple[int, ...]
    quantized: str  # the element type

    @property
    def type(self) -> str:
        return f"tensor<{''.join(f'{n}x' for n in self.sizes)}{self.quantized}>"


def _attributes(**numbers: Iterable[int]) -> str:
    """Formats an array of integers as an attribute."""
    return f" {{{', '.join(f'{name} = {_array(list(values))}' for name, values in numbers.items())}}}"


def _array(values: list[int]) -> str:
    return f"array<i64: {', '.join(map(str, values))}>" if values else "array<i64>"


class QuantizedProgram:
    """A program. It has the `module`, its `arguments()`, and the `results`, which are dequantized values."""

    strict = True

    def __init__(self, rng: random.Random, size: int) -> None:
        self.rng, self.lines, self.count = rng, list[str](), 0
        self.inputs = [tuple(rng.randint(1, 6) for _ in range(rng.randint(1, 3))) for _ in range(rng.randint(1, 3))]
        self.values: list[_Value] = []
        for number, sizes in enumerate(self.inputs):
            given = _Value(f"%arg{number}", sizes, "f32")
            self.values.append(self.quantize(given, self.per_axis(sizes) if rng.random() < 0.2 else self.per_tensor()))
        for _ in range(size):
            rng.choice(
                [
                    self.binary,
                    self.binary,
                    self.unary,
                    self.move,
                    self.move,
                    self.choose,
                    self.join,
                    self.requantize,
                    self.dot,
                ]
            )()
        results = [self.emit("uniform_dequantize", [v], v.sizes, "f32") for v in self.values[-4:]]
        parameters = ", ".join(f"{_Value(f'%arg{i}', s, 'f32').name}: {_Value('', s, 'f32').type}" for i, s in enumerate(self.inputs))  # fmt: skip
        types = ", ".join(r.type for r in results)
        body = "\n".join(f"  {line}" for line in self.lines)
        names = ", ".join(r.name for r in results)
        text = f"func.func @main({parameters}) -> ({types}) {{\n{body}\n  return {names} : {types}\n}}\n"
        self.module = xla.parse(text)
        root = self.module.entry.root
        instructions = root.operands if root.shape.is_tuple else [root]
        self.results = [Value(i, math.inf, grid=None) for i in instructions]

    def arguments(self, seed: int) -> list[np.ndarray]:
        generator = np.random.default_rng(seed)
        return [generator.uniform(-6, 6, sizes).astype(np.float32) for sizes in self.inputs]

    # -- types ---------------------------------------------------------------------------------------------------------

    def parameters(self) -> tuple[str, str]:
        """Chooses a storage type, a scale and a zero point."""
        storage = self.rng.choice(["i8"] * 6 + [*_STORAGE])
        low, high = _STORAGE[storage]
        zero = self.rng.choice([0, 0, 1, 3, -2, -5])
        return storage, f"{self.rng.choice(_SCALES)}:{min(max(zero, low), high)}"

    def per_tensor(self) -> str:
        storage, each = self.parameters()
        return f"!quant.uniform<{storage}:f32, {each}>"

    def per_axis(self, sizes: tuple[int, ...]) -> str:
        axis, (storage, _) = self.rng.randrange(len(sizes)), self.parameters()
        each = ", ".join(f"{self.rng.choice(_SCALES)}:0" for _ in range(sizes[axis]))
        return f"!quant.uniform<{storage}:f32:{axis}, {{{each}}}>"

    # -- ops -----------------------------------------------------------------------------------------------------------

    def emit(self, op: str, operands: list[_Value], sizes: tuple[int, ...], element_type: str, attributes: str = "") -> _Value:  # fmt: skip
        made = _Value(f"%{self.count}", sizes, element_type)
        self.count += 1
        names, types = ", ".join(o.name for o in operands), ", ".join(o.type for o in operands)
        self.lines.append(f'{made.name} = "stablehlo.{op}"({names}){attributes} : ({types}) -> {made.type}')
        return made

    def quantize(self, x: _Value, element_type: str) -> _Value:
        return self.emit("uniform_quantize", [x], x.sizes, element_type)

    def pick(self) -> _Value | None:
        """Picks a value that is quantized per tensor."""
        found = [v for v in self.values if "{" not in v.quantized]
        return self.rng.choice(found) if found else None

    def binary(self) -> None:
        x = self.pick()
        if x is None:
            return
        storage = x.quantized.split(":")[0]
        same = [
            v
            for v in self.values
            if v.sizes == x.sizes and "{" not in v.quantized and v.quantized.split(":")[0] == storage
        ]
        y = self.rng.choice(same)
        op = self.rng.choice(["add", "add", "subtract", "multiply", "multiply", "divide", "maximum", "minimum"])
        result = f"{storage}:f32, {self.rng.choice(_SCALES)}:{self.rng.choice([0, 1])}>"
        if self.rng.random() < 0.5:
            result = x.quantized
        self.values.append(self.emit(op, [x, y], x.sizes, result))

    def unary(self) -> None:
        x = self.pick()
        if x is not None:
            op = self.rng.choice(["abs", "negate", "ceil", "floor", "sign", "sqrt"])
            self.values.append(self.emit(op, [x], x.sizes, x.quantized))

    def move(self) -> None:
        """Adds a transpose, a reshape or a slice."""
        x = self.pick()
        if x is None:
            return
        rank, sizes, attributes = len(x.sizes), x.sizes, ""
        op = self.rng.choice(["transpose", "reshape", "reverse", "slice", "broadcast_in_dim"])
        if op == "transpose":
            order = self.rng.sample(range(rank), rank)
            sizes, attributes = tuple(x.sizes[d] for d in order), _attributes(permutation=order)
        elif op == "reshape":
            sizes = (math.prod(x.sizes),)
        elif op == "reverse":
            attributes = _attributes(dimensions=[d for d in range(rank) if self.rng.random() < 0.5])
        elif op == "slice":
            starts = [self.rng.randrange(n) for n in x.sizes]
            sizes = tuple(n - start for n, start in zip(x.sizes, starts, strict=True))
            attributes = _attributes(start_indices=starts, limit_indices=x.sizes, strides=[1] * rank)
        else:
            sizes = (self.rng.randint(1, 3), *x.sizes)
            attributes = _attributes(broadcast_dimensions=range(1, rank + 1))
        if math.prod(sizes) <= 1000:
            self.values.append(self.emit(op, [x], sizes, x.quantized, attributes))

    def like(self, x: _Value) -> _Value:
        """Picks a value of the same type, which may be x."""
        return self.rng.choice([v for v in self.values if v.type == x.type])

    def choose(self) -> None:
        """Adds a select by a comparison, or a clamp."""
        x = self.pick()
        if x is None:
            return
        y = self.like(x)
        if self.rng.random() < 0.5:
            direction = (
                f" {{comparison_direction = #stablehlo<comparison_direction {self.rng.choice(['LT', 'GE', 'EQ'])}>}}"
            )
            chosen = self.emit("compare", [x, y], x.sizes, "i1", direction)
            self.values.append(self.emit("select", [chosen, x, y], x.sizes, x.quantized))
        else:
            self.values.append(self.emit("clamp", [self.like(x), x, y], x.sizes, x.quantized))

    def join(self) -> None:
        x = self.pick()
        if x is not None and x.sizes[0] <= 100:
            y = self.like(x)
            sizes = (2 * x.sizes[0], *x.sizes[1:])
            self.values.append(self.emit("concatenate", [x, y], sizes, x.quantized, " {dimension = 0 : i64}"))

    def requantize(self) -> None:
        x = self.pick()
        if x is not None:
            self.values.append(self.quantize(x, self.per_tensor()))

    def dot(self) -> None:
        """Adds a product of x with itself, contracted over its first dimension."""
        x = self.pick()
        if x is None or not x.quantized.startswith("!quant.uniform<i8") or len(x.sizes) != 2:
            return
        if not x.quantized.endswith(":0>"):  # the right operand's zero point must be 0
            return
        sizes = (x.sizes[1], x.sizes[1])
        numbers = " {dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [0], rhs_contracting_dimensions = [0]>}"
        result = f"!quant.uniform<i32:f32, {self.rng.choice(_SCALES)}:0>"
        made = self.emit("dot_general", [x, x], sizes, result, numbers)
        self.values.append(self.quantize(made, self.per_tensor()))

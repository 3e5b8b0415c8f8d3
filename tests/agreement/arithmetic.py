"""Elementwise ops, reductions and products."""

from __future__ import annotations

import math

from tests.agreement.bounds import Value, epsilon, value_range
from tests.agreement.steps import Steps
from xla_core.hlo import ElementType, WindowDimension

__all__ = ["ArithmeticSteps"]

_GENTLE = ("tanh", "sine", "cosine", "logistic", "erf", "atan", "asinh")
_ROUND = ("floor", "ceil", "round-nearest-afz", "round-nearest-even", "sign")
_WHOLE_UNARY = ("negate", "abs", "not", "sign", "popcnt", "count-leading-zeros")
_WHOLE_BINARY = ("add", "subtract", "multiply", "divide", "remainder", "maximum", "minimum", "and", "or", "xor",
                 "shift-left", "shift-right-logical", "shift-right-arithmetic", "power")  # fmt: skip


class ArithmeticSteps(Steps):
    def kinds(self):
        return [*super().kinds(), self.unary, self.binary, self.binary, self.guarded, self.whole, self.logic, self.select,
                self.clamp, self.convert, self.reduce, self.reduce, self.arg_reduce, self.reduce_window, self.dot,
                self.convolution]  # fmt: skip

    def floating(self) -> Value | None:
        return self.pick(lambda v: v.type.is_floating and v.is_usual)

    def unary(self) -> None:
        x = self.pick(lambda v: v.type.is_floating)
        if x is None:
            return
        eps = epsilon(x.type)
        kind = self.rng.randint(0, 4)
        if kind == 0 or not x.is_usual:
            self.keep(self.c.add(self.rng.choice(["negate", "abs"]), x.instruction), x.bound, x.error, x.grid)
        elif kind == 1 and x.is_exact:
            self.keep(self.c.add(self.rng.choice(_ROUND), x.instruction), math.ceil(x.bound) + 1)
        elif kind == 2:
            if x.bound <= 8:
                top = math.exp(x.bound)
                opcode = self.rng.choice(["exponential", "exponential-minus-one"])
                self.keep(self.c.add(opcode, x.instruction), top, top * (math.expm1(min(x.error, 1)) + 8 * eps))
        else:
            bound = x.bound + 1 if (opcode := self.rng.choice(_GENTLE)) in ("asinh", "atan") else 1
            self.keep(self.c.add(opcode, x.instruction), bound, 1.2 * x.error + 8 * eps * bound)

    def binary(self) -> None:
        x = self.floating()
        if x is None:
            return
        y = self.partner(x)
        a, b, e = x.bound, y.bound, epsilon(x.type)
        opcode = self.rng.choice(["add", "subtract", "multiply", "multiply", "maximum", "minimum"])
        operands = (x.instruction, y.instruction) if self.rng.random() < 0.7 else (y.instruction, x.instruction)
        made = self.c.add(opcode, *operands)
        if opcode == "multiply":
            self.keep(made, a * b, a * y.error + b * x.error + x.error * y.error, x.grid + y.grid)
        elif opcode in ("maximum", "minimum"):
            self.keep(made, max(a, b), max(x.error, y.error), max(x.grid, y.grid))
        else:
            self.keep(
                made, a + b, x.error + y.error + (0 if x.is_exact and y.is_exact else e * (a + b)), max(x.grid, y.grid)
            )

    def guarded(self) -> None:
        """Functions that are steep somewhere, kept away from there: of |x| + 1."""
        x = self.floating()
        if x is None:
            return
        eps = epsilon(x.type)
        one = self.c.add("broadcast", self.scalar(1, x.type), shape=x.shape.without_layout(), dimensions=())
        safe = self.c.add("add", self.c.add("abs", x.instruction), one)
        error = x.error + eps * (x.bound + 1)
        opcode = self.rng.choice(["log", "sqrt", "rsqrt", "cbrt", "log-plus-one", "divide", "power", "atan2"])
        if opcode in ("divide", "atan2"):
            y = self.partner(x)
            made = self.c.add(opcode, y.instruction, safe)
            self.keep(made, y.bound + 1, y.error + (y.bound + 1) * error + 8 * eps * (y.bound + 1))
        elif opcode == "power":
            exponent = self.c.add("broadcast", self.scalar(self.rng.choice([-1, 0, 0.5, 1, 2]), x.type), shape=x.shape.without_layout(), dimensions=())  # fmt: skip
            bound = (x.bound + 1) ** 2
            self.keep(self.c.add("power", safe, exponent), bound, 2 * (x.bound + 1) * error + 8 * eps * bound)
        else:
            self.keep(self.c.add(opcode, safe), x.bound + 1, error + 8 * eps * (x.bound + 1))

    def whole(self) -> None:
        x = self.pick(lambda v: v.type.is_integral)
        if x is None:
            return
        top = value_range(x.type)
        if self.rng.random() < 0.3:
            names = [n for n in _WHOLE_UNARY if x.type.is_signed or n not in ("negate", "sign", "abs")]
            self.keep(self.c.add(self.rng.choice(names), x.instruction), top)
            return
        y = self.partner(x)
        opcode = self.rng.choice(_WHOLE_BINARY)
        made = self.c.add(opcode, x.instruction, y.instruction)
        bounds = {"add": x.bound + y.bound, "multiply": x.bound * y.bound, "remainder": max(x.bound, y.bound)}
        if x.type.is_signed:
            bounds["subtract"] = x.bound + y.bound
        small = bounds.get(opcode, max(x.bound, y.bound) if opcode in ("maximum", "minimum") else top)
        self.keep(made, small if small < top else top)

    def logic(self) -> None:
        if self.rng.random() < 0.6:
            x = self.pick(lambda v: v.is_exact)
            if x is None:
                return
            if not x.is_usual and self.rng.random() < 0.5:
                self.keep(self.c.add("is-finite", x.instruction), 1)
                return
            direction = self.rng.choice(["EQ", "NE", "LT", "LE", "GT", "GE"])
            y = self.partner(x, lambda v: v.is_exact)
            self.keep(self.c.add("compare", x.instruction, y.instruction, direction=direction), 1)
            return
        p = self.pick(lambda v: v.type is ElementType.PRED)
        if p is None:
            return
        if self.rng.random() < 0.3:
            self.keep(self.c.add("not", p.instruction), 1)
        else:
            opcode = self.rng.choice(["and", "or", "xor", "maximum", "add", "multiply"])
            self.keep(self.c.add(opcode, p.instruction, self.partner(p).instruction), 1)

    def select(self) -> None:
        x = self.pick()
        y = self.partner(x)
        p = self.pick(lambda v: v.type is ElementType.PRED and v.shape.dimensions in (x.shape.dimensions, ()))
        if p is None:
            p = self.constant(x.shape.without_layout().with_element_type(ElementType.PRED))
        made = self.c.add("select", p.instruction, x.instruction, y.instruction)
        self.keep(made, max(x.bound, y.bound), max(x.error, y.error), max(x.grid, y.grid))

    def clamp(self) -> None:
        x = self.pick(lambda v: v.is_usual and v.type is not ElementType.PRED)
        if x is None:
            return
        low, high = self.rng.choice([(0, 2), (0, 1), (1, 3)])
        if x.type.is_signed and self.rng.random() < 0.5:
            low = -high
        ends = [self.scalar(low, x.type), self.scalar(high, x.type)]
        made = self.c.add("clamp", ends[0], x.instruction, ends[1])
        self.keep(made, high, x.error, x.grid)

    def convert(self) -> None:
        x = self.pick(lambda v: v.is_usual)
        if x is None:
            return
        wanted = self.rng.choice([ElementType.F32, ElementType.F64, ElementType.BF16, ElementType.F16, ElementType.S32,
                                  ElementType.S8, ElementType.U8, ElementType.S64, ElementType.PRED])  # fmt: skip
        whole = not wanted.is_floating
        if x.type.is_floating and whole and (not x.is_exact or (wanted is not ElementType.PRED and (x.bound >= value_range(wanted) or not wanted.is_signed))):  # fmt: skip
            return
        made = self.same("convert", x.instruction, x.shape.without_layout().with_element_type(wanted))
        if wanted is ElementType.PRED:
            self.keep(made, 1)
        elif whole:
            self.keep(made, x.bound if x.bound < value_range(wanted) and wanted.is_signed else value_range(wanted))
        else:
            self.keep(made, x.bound, x.error, x.grid)

    # -- many elements into one ----------------------------------------------------------------------------------------

    def combined(self, x: Value, opcode: str, count: int) -> tuple[float, float, int]:
        """Bounds of `count` values like x and a start, added or compared."""
        if opcode != "add":
            return max(x.bound, 7), x.error, max(x.grid, 2) if x.type.is_floating else 0
        total = (count + 1) * max(x.bound, 7)
        grid = max(x.grid, 2)
        exact = (
            x.is_exact and total * 2.0**grid <= 2.0 ** (-math.log2(epsilon(x.type)) + 1) if x.type.is_floating else True
        )
        return total, 0.0 if exact else count * x.error + (count + 1) * epsilon(x.type) * total, grid

    def reducer(self, x: Value) -> str:
        if x.type is ElementType.PRED:
            return self.rng.choice(["and", "or", "maximum"])
        if not x.is_usual:
            return self.rng.choice(["maximum", "minimum"])
        if x.type.is_floating:
            return self.rng.choice(["add", "add", "maximum", "minimum"])
        return self.rng.choice(["add", "multiply", "maximum", "minimum", "and", "or", "xor"])

    def finish(self, made, x: Value, opcode: str, count: int) -> None:
        if x.type.is_floating:
            self.keep(made, *self.combined(x, opcode, count))
        else:
            small = {"add": (count + 1) * max(x.bound, 7), "maximum": max(x.bound, 7), "minimum": max(x.bound, 7)}
            self.keep(made, small.get(opcode, value_range(x.type)))

    def reduce(self) -> None:
        x = self.pick()
        dimensions = tuple(d for d in range(x.shape.rank) if self.rng.random() < 0.6)
        opcode = self.reducer(x)
        start = self.constant(x.shape.with_dimensions(())).instruction
        made = self.c.add("reduce", x.instruction, start, dimensions=dimensions, to_apply=self.body(opcode, x.type))
        self.finish(made, x, opcode, math.prod(x.shape.dimensions[d] for d in dimensions))

    def arg_reduce(self) -> None:
        """The largest element and where it is: a reduction of two operands, as argmax is."""
        from tests.agreement.computations import argmax

        x = self.pick(lambda v: v.is_exact and v.is_usual and v.shape.rank > 0 and v.type is not ElementType.PRED)
        if x is None:
            return
        d = self.rng.randrange(x.shape.rank)
        places = self.c.add("iota", shape=x.shape.without_layout().with_element_type(ElementType.S32), iota_dimension=d)
        starts = [self.scalar(-7 if x.type.is_signed else 0, x.type), self.scalar(0, ElementType.S32)]
        body = self.module.add_computation(argmax(x.type))
        made = self.c.add("reduce", x.instruction, places, *starts, dimensions=(d,), to_apply=body)
        for index, bound, grid in ((0, max(x.bound, 7), x.grid), (1, x.shape.dimensions[d], 0)):
            self.keep(self.c.add("get-tuple-element", made, index=index), bound, grid=grid)

    def window(self, sizes: tuple[int, ...]) -> tuple[WindowDimension, ...]:
        rng = self.rng
        window = []
        for n in sizes:
            size = rng.randint(1, max(1, min(3, n)))
            low, high = rng.choice([(0, 0), (0, 0), (1, 1), (0, 1), (size - 1, 0)])
            window.append(
                WindowDimension(size, rng.randint(1, 2), low, high, rng.choice([1, 1, 1, 2]), rng.choice([1, 1, 1, 2]))
            )
        return tuple(window)

    def reduce_window(self) -> None:
        x = self.pick(lambda v: 0 < v.shape.rank <= 3 and v.is_usual)
        if x is None:
            return
        opcode = self.reducer(x)
        window = self.window(x.shape.dimensions)
        start = self.constant(x.shape.with_dimensions(())).instruction
        made = self.c.add("reduce-window", x.instruction, start, window=window, to_apply=self.body(opcode, x.type))
        self.finish(made, x, opcode, math.prod(w.size for w in window))

    def product(self, made, x: Value, y: Value, count: int) -> None:
        total = count * x.bound * y.bound
        if not x.type.is_floating:
            self.keep(made, total)
            return
        error = count * (x.bound * y.error + y.bound * x.error + x.error * y.error)
        grid = x.grid + y.grid
        if error or total * 2.0**grid > 1 / epsilon(x.type):
            error += (count + 1) * epsilon(x.type) * total
        self.keep(made, total, error, grid)

    def dot(self) -> None:
        x = self.pick(lambda v: v.is_usual and v.type is not ElementType.PRED)
        if x is None:
            return
        y = self.pick(lambda v: v.is_usual and v.type is x.type)
        pairs = [(i, j) for i, n in enumerate(x.shape.dimensions) for j, m in enumerate(y.shape.dimensions) if n == m]
        self.rng.shuffle(pairs)
        chosen: list[tuple[int, int]] = []
        for i, j in pairs:
            if all(i != a and j != b for a, b in chosen) and self.rng.random() < 0.7:
                chosen.append((i, j))
        split = self.rng.randint(0, len(chosen)) if self.rng.random() < 0.4 else 0
        batch, contracted = chosen[:split], chosen[split:]
        made = self.c.add(
            "dot", x.instruction, y.instruction,
            lhs_batch_dims=tuple(i for i, _ in batch), rhs_batch_dims=tuple(j for _, j in batch),
            lhs_contracting_dims=tuple(i for i, _ in contracted), rhs_contracting_dims=tuple(j for _, j in contracted),
        )  # fmt: skip
        self.product(made, x, y, math.prod(x.shape.dimensions[i] for i, _ in contracted))

    def convolution(self) -> None:
        """Of an array taken as batch, space and features; the kernel is a constant."""
        from xla_core.hlo import ConvolutionDimensionNumbers, Shape

        x = self.pick(
            lambda v: v.is_usual and v.type.is_floating and v.shape.rank in (3, 4) and 0 not in v.shape.dimensions
        )
        if x is None:
            return
        spatial = tuple(range(1, x.shape.rank - 1))
        features = x.shape.dimensions[-1]
        groups = self.rng.choice([1, 1, features])
        outputs = groups * self.rng.randint(1, 2)
        window = self.window(tuple(x.shape.dimensions[d] for d in spatial))
        if features > 8 or outputs > 16:
            return
        kernel = self.constant(Shape.array(x.type, [*(w.size for w in window), features // groups, outputs]))
        n = len(spatial)
        order = ConvolutionDimensionNumbers(0, n + 1, spatial, n, n + 1, tuple(range(n)), 0, n + 1, spatial)
        made = self.c.add(
            "convolution",
            x.instruction,
            kernel.instruction,
            window=window,
            dim_labels=order,
            feature_group_count=groups,
        )
        self.product(made, x, kernel, math.prod(w.size for w in window) * features // groups)

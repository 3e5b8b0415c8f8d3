"""Steps that reduce: reductions, windows, scans, and the largest k elements."""

from __future__ import annotations

import math

from tests.random_programs.bounds import Value
from tests.random_programs.computations import argmax, selects
from tests.random_programs.steps import POWERS, Steps
from xla_core.hlo import ElementType, HloComputation, WindowDimension


class ReductionSteps(Steps):
    def kinds(self):
        return [*super().kinds(), self.reduce, self.reduce, self.reduce, self.arg_reduce, self.reduce_window,
                self.select_and_scatter, self.topk, self.cumulative]  # fmt: skip

    def reduce(self) -> None:
        """Adds a reduction of one to three operands, each with its own op."""
        x = self.any()
        values = [x]
        while len(values) < 3 and self.rng.random() < 0.25:
            values.append(self.pick(lambda v: v.shape.dimensions == x.shape.dimensions) or x)
        dimensions = tuple(d for d in range(x.shape.rank) if self.rng.random() < 0.6)
        opcodes = [self.monoid(v) for v in values]
        starts = [self.start(o, v) for o, v in zip(opcodes, values, strict=True)]
        made = self.c.add(
            "reduce", *(v.instruction for v in (*values, *starts)), dimensions=dimensions, to_apply=self.bodies(opcodes, values)
        )  # fmt: skip
        count = math.prod(x.shape.dimensions[d] for d in dimensions)
        for index, (value, start, opcode) in enumerate(zip(values, starts, opcodes, strict=True)):
            part = made if len(values) == 1 else self.c.add("get-tuple-element", made, index=index)
            self.combined(part, value, start, opcode, count)

    def arg_reduce(self) -> None:
        """Adds an argmax: a reduction of two operands to the largest element and its index."""
        x = self.pick(lambda v: v.is_exact and v.is_usual and v.shape.rank > 0 and not v.type.is_complex
                      and v.type not in (ElementType.PRED, POWERS))  # fmt: skip
        if x is None:
            return
        d = self.rng.randrange(x.shape.rank)
        if not self.strict and not x.shape.dimensions[d]:
            return
        places = self.c.add("iota", shape=x.shape.without_layout().with_element_type(ElementType.S32), iota_dimension=d)
        least = -1 if x.type.is_signed or x.type.is_floating else 0
        first = 0
        if not self.strict:
            least, first = self.neutral("maximum", x.type), 2**31 - 1
        starts = [self.scalar(least, x.type), self.scalar(first, ElementType.S32)]
        body = self.module.add_computation(argmax(x.type))
        made = self.c.add("reduce", x.instruction, places, *starts, dimensions=(d,), to_apply=body)
        for index, bound, grid in ((0, max(x.bound, 1), x.grid), (1, x.shape.dimensions[d], 0)):
            self.keep(self.c.add("get-tuple-element", made, index=index), bound, grid=grid)

    def window(self, sizes: tuple[int, ...], reversal: bool = False) -> tuple[WindowDimension, ...]:
        rng = self.rng
        window = []
        for n in sizes:
            size = rng.randint(1, max(1, min(rng.choice([1, 3, 3, 5]), n)))
            pads = [(0, 0), (0, 0), (1, 1), (0, 1), (size - 1, 0), (2, 3)]
            low, high = rng.choice([*pads, (-1, 1), (0, -1)] if self.strict else pads)
            dilations = rng.choice([1, 1, 1, 2]), rng.choice([1, 1, 1, 2])
            reverse = reversal and rng.random() < 0.2
            window.append(WindowDimension(size, rng.choice([1, 1, 2, 3]), low, high, *dilations, reverse))
        return tuple(window)

    def reduce_window(self) -> None:
        x = self.pick(lambda v: 0 < v.shape.rank <= 4)
        if x is None:
            return
        values = [x]
        if self.rng.random() < 0.2:
            values.append(self.pick(lambda v: v.shape.dimensions == x.shape.dimensions) or x)
        window = self.window(x.shape.dimensions)
        if self.rng.random() < 0.2 and x.shape.dimensions[-1] > 1:  # cumulative, over the last dimension
            n = x.shape.dimensions[-1]
            plain = (WindowDimension(),) * (x.shape.rank - 1)
            window = (*plain, WindowDimension(n, 1, *self.rng.choice([(n - 1, 0), (0, n - 1)])))
        opcodes = [self.monoid(v) for v in values]
        starts = [self.start(o, v) for o, v in zip(opcodes, values, strict=True)]
        made = self.c.add(
            "reduce-window", *(v.instruction for v in (*values, *starts)), window=window, to_apply=self.bodies(opcodes, values)
        )  # fmt: skip
        # Padding is made of starts too.
        count = math.prod(w.size for w in window)
        for index, (value, start, opcode) in enumerate(zip(values, starts, opcodes, strict=True)):
            part = made if len(values) == 1 else self.c.add("get-tuple-element", made, index=index)
            wide = Value(value.instruction, max(value.bound, start.bound), value.error, value.grid if value.grid is None else max(value.grid, 2))  # fmt: skip
            self.combined(part, wide, start, opcode, count)

    def select_and_scatter(self) -> None:
        x = self.pick(lambda v: v.is_exact and v.is_usual and 0 < v.shape.rank <= 4 and not v.type.is_complex
                      and v.type is not POWERS)  # fmt: skip
        if x is None:
            return
        window = []
        for n in x.shape.dimensions:
            size = self.rng.randint(1, max(1, min(3, n)))
            low, high = self.rng.choice([(0, 0), (0, 0), (size - 1, 0), (0, size - 1)])
            window.append(WindowDimension(size, self.rng.choice([1, size, size]), low, high))
        sizes = tuple(w.output_size(n) for w, n in zip(window, x.shape.dimensions, strict=True))
        source = self.partner(Value(self.filled(1, x.shape.with_dimensions(sizes)), 1))
        opcode = self.rng.choice(["add", self.monoid(x)])
        start = self.start(opcode, x)
        made = self.c.add(
            "select-and-scatter", x.instruction, source.instruction, start.instruction, window=tuple(window),
            select=self.module.add_computation(selects(x.type, self.rng.choice(["GE", "LE", "GT", "LT"]))),
            scatter=self.body(opcode, x.type),
        )  # fmt: skip
        self.combined(made, source, start, opcode, math.prod(w.size for w in window))

    def topk(self) -> None:
        x = self.pick(lambda v: v.is_exact and v.bits and v.shape.rank > 0 and not v.type.is_complex
                      and v.type not in (ElementType.PRED, POWERS))  # fmt: skip
        if x is None or self.rng.random() < 0.5:
            return
        last = x.shape.dimensions[-1]
        made = self.c.add(
            "topk", x.instruction, k=self.rng.randint(min(last, 1), last), largest=self.rng.random() < 0.7
        )
        self.keep_like(self.c.add("get-tuple-element", made, index=0), x)
        self.keep(self.c.add("get-tuple-element", made, index=1), max(last, 1))

    def cumulative(self) -> None:
        """Adds the op `scan`, whose results are the last carry and the carry at each step."""
        x = self.pick(lambda v: v.shape.rank > 0 and v.is_exact and v.is_usual and v.type is not POWERS)
        if x is None or self.rng.random() < 0.5:
            return
        d = self.rng.randrange(x.shape.rank)
        shape = x.shape.without_layout()
        slices = shape.with_dimensions(shape.dimensions[:d] + shape.dimensions[d + 1 :])
        opcode = self.monoid(x)
        start = self.constant(slices)
        body = HloComputation("step")
        element, carry = body.parameter(0, slices), body.parameter(1, slices)
        total = body.add(opcode, carry, element)
        body.set_root(body.add("tuple", total, total))
        made = self.c.add(
            "scan", x.instruction, start.instruction, dimensions=(d,), num_carries=1, is_reverse=self.rng.random() < 0.3,
            to_apply=self.module.add_computation(body),
        )  # fmt: skip
        for index in range(2):
            part = self.c.add("get-tuple-element", made, index=index)
            self.combined(part, x, start, opcode, shape.dimensions[d])

"""Random small programs that simplification has much to do with: neutral constants, movements, products, windows."""

from __future__ import annotations

import math

import numpy as np

from xla_core.hlo import (
    ElementType,
    HloComputation,
    HloModule,
    PaddingDimension,
    Shape,
    SliceDimension,
    WindowDimension,
)

UNARY = ("negate", "abs", "exponential", "floor", "sign", "tanh", "sqrt", "log", "cosine")
BINARY = ("add", "subtract", "multiply", "divide", "maximum", "minimum", "power", "remainder")
WHOLE_UNARY = ("negate", "abs", "not", "sign", "popcnt")
WHOLE_BINARY = (
    "add",
    "subtract",
    "multiply",
    "maximum",
    "minimum",
    "and",
    "or",
    "xor",
    "shift-left",
    "divide",
    "remainder",
)
CONSTANTS = (0.0, -0.0, 1.0, -1.0, 2.0, 0.5, 3.0, 4.0, math.inf)


class RandomProgram:
    """`RandomProgram(seed, size).module`."""

    def __init__(self, seed: int, size: int) -> None:
        self.random = np.random.default_rng(seed)
        self.module = HloModule("random")
        self.c = HloComputation("main")
        self.reducers = {}
        types = [ElementType.F32, ElementType.S32, ElementType.U8, ElementType.PRED]
        self.values = [
            self.c.parameter(n, Shape.array(types[int(self.random.integers(len(types)))] if n else ElementType.F32, self.sizes()))
            for n in range(3)
        ]  # fmt: skip
        for _ in range(size):
            made = self.step()
            if made is not None and made.shape.num_elements <= 400:
                self.values.append(made)
        results = [v for v in self.values[3:] if not v.user_count][-4:] or self.values[:1]
        self.c.set_root(self.c.add("tuple", *results))
        self.module.add_computation(self.c, entry=True)

    def sizes(self) -> list[int]:
        return [int(self.random.choice([1, 1, 2, 3, 4, 0], p=[0.25, 0.1, 0.25, 0.2, 0.18, 0.02])) for _ in range(self.random.integers(0, 4))]  # fmt: skip

    def pick(self, accept=lambda v: True):
        found = [v for v in self.values if accept(v)]
        if not found:
            return None
        # The newest more often: chains are where rules meet.
        return found[min(int(self.random.geometric(0.35)), len(found)) * -1]

    def constant(self, shape):
        value = self.random.choice(CONSTANTS)
        if not shape.element_type.is_floating:
            value = (
                int(self.random.choice([0, 1, 2, 3, 8]))
                if shape.element_type is not ElementType.PRED
                else int(self.random.integers(2))
            )
            if shape.element_type.is_signed and self.random.random() < 0.2:
                value = -1
        return self.c.constant(np.asarray(value).astype(shape.dtype), shape.without_layout())

    def partner(self, x):
        if self.random.random() < 0.4:
            return self.constant(x.shape)
        return self.pick(lambda v: v.shape == x.shape)

    def reducer(self, opcode, element_type):
        if (opcode, element_type) not in self.reducers:
            computation = HloComputation(f"{opcode}_{element_type}")
            a, b = (computation.parameter(n, Shape(element_type)) for n in range(2))
            computation.set_root(computation.add(opcode, a, b))
            self.reducers[opcode, element_type] = self.module.add_computation(computation)
        return self.reducers[opcode, element_type]

    def step(self):
        kinds = (self.elementwise, self.elementwise, self.logic, self.movement, self.movement, self.parts, self.reduce, self.product, self.convert)  # fmt: skip
        return kinds[int(self.random.integers(len(kinds)))]()

    def elementwise(self):
        x = self.pick(lambda v: v.shape.element_type is not ElementType.PRED)
        if x is None:
            return None
        is_float = x.shape.element_type.is_floating
        if self.random.random() < 0.3:
            names = [n for n in (UNARY if is_float else WHOLE_UNARY) if not (x.shape.element_type.is_unsigned and n in ("negate", "sign"))]  # fmt: skip
            return self.c.add(str(self.random.choice(names)), x)
        y = self.partner(x)
        if y is None:
            return None
        operands = (x, y) if self.random.random() < 0.7 else (y, x)
        return self.c.add(str(self.random.choice(BINARY if is_float else WHOLE_BINARY)), *operands)

    def logic(self):
        x = self.pick()
        y = self.partner(x)
        choice = self.random.integers(3)
        if choice == 0 and y is not None:
            return self.c.add("compare", x, y, direction=str(self.random.choice(["EQ", "NE", "LT", "LE", "GT", "GE"])))
        if choice == 1:
            p = self.pick(
                lambda v: v.shape.element_type is ElementType.PRED and v.shape.dimensions == x.shape.dimensions
            )
            return None if p is None or y is None else self.c.add("select", p, x, y)
        p = self.pick(lambda v: v.shape.element_type is ElementType.PRED)
        if p is None:
            return None
        if self.random.random() < 0.5:
            return self.c.add("not", p)
        q = self.partner(p)
        return None if q is None else self.c.add(str(self.random.choice(["and", "or", "xor"])), p, q)

    def movement(self):
        x = self.pick()
        rank, sizes = x.shape.rank, list(x.shape.dimensions)
        choice = self.random.integers(5)
        if choice == 0:
            target = [n for n in sizes if n != 1 or self.random.random() < 0.5]
            for _ in range(self.random.integers(0, 2)):
                target.insert(int(self.random.integers(len(target) + 1)), 1)
            if self.random.random() < 0.3:
                target = [x.shape.num_elements]
            return self.c.add("reshape", x, shape=x.shape.with_dimensions(target))
        if choice == 1:
            return self.c.add("transpose", x, dimensions=tuple(int(d) for d in self.random.permutation(rank)))
        if choice == 2:
            extra = [int(n) for n in self.random.integers(1, 4, self.random.integers(1, 3))]
            places = sorted(int(p) for p in self.random.choice(rank + len(extra), rank, replace=False))
            rest = iter(extra)
            target = [sizes[places.index(d)] if d in places else next(rest) for d in range(rank + len(extra))]
            return self.c.add("broadcast", x, shape=x.shape.with_dimensions(target), dimensions=tuple(places))
        if choice == 3 and rank:
            kept = tuple(d for d in range(rank) if self.random.random() < 0.5)
            return self.c.add("reverse", x, dimensions=kept) if kept else None
        if rank and x.shape.element_type is not ElementType.PRED:
            return self.c.add("iota", shape=x.shape.without_layout(), iota_dimension=int(self.random.integers(rank)))
        return None

    def parts(self):
        x = self.pick(lambda v: v.shape.rank > 0)
        if x is None:
            return None
        sizes = x.shape.dimensions
        choice = self.random.integers(5)
        if choice == 0:
            ranges = []
            for n in sizes:
                start = int(self.random.integers(0, n + 1))
                limit = int(self.random.integers(start, n + 1))
                ranges.append(SliceDimension(start, limit, int(self.random.integers(1, 3))))
            if any(s.start == s.limit for s in ranges) and self.random.random() < 0.8:
                ranges = [SliceDimension(0, n) for n in sizes]
            return self.c.add("slice", x, slice=tuple(ranges))
        if choice == 1:
            padding = []
            for n in sizes:
                low, high, inner = (int(v) for v in self.random.integers(-1, 3, 3))
                padding.append(PaddingDimension(max(low, 1 - n), high if n + low + high > 0 else 1, max(inner, 0) if self.random.random() < 0.3 else 0))  # fmt: skip
            value = self.constant(x.shape.with_dimensions(()))
            return self.c.add("pad", x, value, padding=tuple(padding))
        if choice == 2:
            d = int(self.random.integers(len(sizes)))
            others = [v for v in self.values if v.shape.element_type is x.shape.element_type and v.shape.rank == len(sizes) and all(a == b for k, (a, b) in enumerate(zip(v.shape.dimensions, sizes, strict=True)) if k != d)]  # fmt: skip
            parts = [others[int(self.random.integers(len(others)))] for _ in range(self.random.integers(1, 4))]
            return self.c.add("concatenate", *parts, dimensions=(d,))
        starts = [self.c.constant(int(self.random.integers(-1, 5)), Shape(ElementType.S32)) for _ in sizes]
        part = tuple(int(self.random.integers(min(1, n), n + 1)) for n in sizes)
        if choice == 3:
            return self.c.add("dynamic-slice", x, *starts, dynamic_slice_sizes=part)
        update = self.pick(lambda v: v.shape.element_type is x.shape.element_type and v.shape.rank == len(sizes) and all(a <= b for a, b in zip(v.shape.dimensions, sizes, strict=True)))  # fmt: skip
        return None if update is None else self.c.add("dynamic-update-slice", x, update, *starts)

    def reduce(self):
        x = self.pick(lambda v: v.shape.element_type in (ElementType.F32, ElementType.S32))
        if x is None:
            return None
        element_type = x.shape.element_type
        opcode = str(self.random.choice(["add", "maximum", "minimum", "multiply"]))
        reducer = self.reducer(opcode, element_type)
        initial = self.constant(Shape(element_type))
        if self.random.random() < 0.7 or not x.shape.rank:
            dimensions = tuple(d for d in range(x.shape.rank) if self.random.random() < 0.6)
            return self.c.add("reduce", x, initial, dimensions=dimensions, to_apply=reducer)
        window = tuple(WindowDimension(*(int(v) for v in (self.random.integers(1, 3), self.random.integers(1, 3), self.random.integers(0, 2), self.random.integers(0, 2)))) for _ in range(x.shape.rank))  # fmt: skip
        return self.c.add("reduce-window", x, initial, window=window, to_apply=reducer)

    def product(self):
        x = self.pick(lambda v: v.shape.element_type is ElementType.F32)
        y = self.pick(lambda v: v.shape.element_type is ElementType.F32)
        if x is None or y is None:
            return None
        pairs = [(i, j) for i, n in enumerate(x.shape.dimensions) for j, m in enumerate(y.shape.dimensions) if n == m]
        self.random.shuffle(pairs)
        chosen: list[tuple[int, int]] = []
        for i, j in pairs:
            if all(i != a and j != b for a, b in chosen) and self.random.random() < 0.6:
                chosen.append((int(i), int(j)))
        split = int(self.random.integers(len(chosen) + 1)) if self.random.random() < 0.4 else 0
        batch, contracted = chosen[:split], chosen[split:]
        return self.c.add(
            "dot",
            x,
            y,
            lhs_batch_dims=tuple(i for i, _ in batch),
            rhs_batch_dims=tuple(j for _, j in batch),
            lhs_contracting_dims=tuple(i for i, _ in contracted),
            rhs_contracting_dims=tuple(j for _, j in contracted),
        )

    def convert(self):
        x = self.pick()
        types = (ElementType.F32, ElementType.S32, ElementType.U8, ElementType.BF16, ElementType.PRED, ElementType.F64)
        target = types[int(self.random.integers(len(types)))]
        made = self.c.add("convert", x, shape=x.shape.without_layout().with_element_type(target))
        back = types[int(self.random.integers(3))]
        return self.c.add("convert", made, shape=x.shape.without_layout().with_element_type(back))

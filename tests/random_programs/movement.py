"""Ops that move elements and keep their bounds."""

from __future__ import annotations

from tests.random_programs.bounds import Value
from tests.random_programs.steps import POWERS, Steps
from xla_core.hlo import ElementType, HloInstruction, PaddingDimension, SliceDimension

INDEX_TYPES = (ElementType.S32,) * 4 + (
    ElementType.S64,
    ElementType.U32,
    ElementType.S8,
    ElementType.U8,
    ElementType.S16,
)


class MovementSteps(Steps):
    def kinds(self):
        return [*super().kinds(), self.reshape, self.reshape, self.transpose, self.transpose, self.broadcast, self.reverse,
                self.slice, self.pad, self.concatenate, self.dynamic_slice, self.dynamic_update_slice, self.iota,
                self.same_again, self.barrier, self.dimension_size]  # fmt: skip

    def ranked(self) -> Value | None:
        return self.pick(lambda v: v.shape.rank > 0)

    def reshape(self) -> None:
        x = self.any()
        target = [n for n in x.shape.dimensions if n != 1 or self.rng.random() < 0.5]
        for _ in range(self.rng.randint(0, 2)):
            target.insert(self.rng.randint(0, len(target)), 1)
        count = x.shape.num_elements
        if self.rng.random() < 0.3:
            target = [count]
        elif count and self.rng.random() < 0.4:
            fits = [n for n in (2, 3, 4, 5, 7, 8, 16) if count % n == 0]
            if fits:
                n = self.rng.choice(fits)
                target = self.rng.choice([[n, count // n], [count // n, n]])
        self.keep_like(self.c.add("reshape", x.instruction, shape=x.shape.without_layout().with_dimensions(target)), x)

    def transpose(self) -> None:
        x = self.ranked()
        if x is not None:
            order = list(range(x.shape.rank))
            self.rng.shuffle(order)
            self.keep_like(self.c.add("transpose", x.instruction, dimensions=tuple(order)), x)

    def broadcast(self) -> None:
        x = self.any()
        rank = x.shape.rank + self.rng.randint(0, 2)
        if rank > 6:
            return
        places = self.rng.sample(range(rank), x.shape.rank)
        if self.rng.random() < 0.8:
            places.sort()
        target = [x.shape.dimensions[places.index(d)] if d in places else self.rng.randint(1, 4) for d in range(rank)]
        shape = x.shape.without_layout().with_dimensions(target)
        self.keep_like(self.c.add("broadcast", x.instruction, shape=shape, dimensions=tuple(places)), x)

    def reverse(self) -> None:
        x = self.ranked()
        if x is not None:
            kept = tuple(d for d in range(x.shape.rank) if self.rng.random() < 0.5)
            self.keep_like(self.c.add("reverse", x.instruction, dimensions=kept), x)

    def slice(self) -> None:
        x = self.ranked()
        if x is None:
            return
        ranges = []
        for n in x.shape.dimensions:
            start = self.rng.randint(0, max(n - 1, 0)) if self.rng.random() < 0.6 else 0
            limit = self.rng.randint(min(start + 1, n), n) if self.rng.random() < 0.6 else n
            ranges.append(SliceDimension(start, limit, self.rng.choice([1, 1, 1, 2, 3])))
        self.keep_like(self.c.add("slice", x.instruction, slice=tuple(ranges)), x)

    def pad(self) -> None:
        x = self.ranked()
        if x is None:
            return
        padding = []
        for n in x.shape.dimensions:
            low, high = self.rng.randint(-1, 2), self.rng.randint(-1, 2)
            interior = self.rng.choice([0, 0, 0, 1, 2])
            inner = n + max(n - 1, 0) * interior
            if inner + low + high < 0 or inner + low < 0 or inner + high < 0:
                low = high = 0
            padding.append(PaddingDimension(low, high, interior))
        value = self.constant(x.shape.with_dimensions(()))
        self.keep_like(self.c.add("pad", x.instruction, value.instruction, padding=tuple(padding)), x, value)

    def concatenate(self) -> None:
        x = self.ranked()
        if x is None:
            return
        d = self.rng.randrange(x.shape.rank)

        def fits(v: Value) -> bool:
            a, b = list(v.shape.dimensions), list(x.shape.dimensions)
            return v.type is x.type and len(a) == len(b) and a[:d] + a[d + 1 :] == b[:d] + b[d + 1 :]

        parts = [x, *(self.pick(fits) or x for _ in range(self.rng.randint(0, 3)))]
        self.rng.shuffle(parts)
        self.keep_like(self.c.add("concatenate", *(p.instruction for p in parts), dimensions=(d,)), *parts)

    def starts(self, rank: int) -> list[HloInstruction]:
        """Makes start indices of one integer type, constant or computed. Some are out of bounds and are clamped."""
        kind = self.rng.choice(INDEX_TYPES)
        found = self.pick(lambda v: v.type is kind and v.shape.rank == 0)
        numbers = range(0 if kind.is_unsigned else -2, 7)
        return [
            found.instruction if found and self.rng.random() < 0.5 else self.scalar(self.rng.choice(numbers), kind)
            for _ in range(rank)
        ]

    def dynamic_slice(self) -> None:
        x = self.ranked()
        if x is not None:
            sizes = tuple(self.rng.choice([n, self.rng.randint(min(n, 1), n)]) for n in x.shape.dimensions)
            made = self.c.add("dynamic-slice", x.instruction, *self.starts(x.shape.rank), dynamic_slice_sizes=sizes)
            self.keep_like(made, x)

    def dynamic_update_slice(self) -> None:
        x = self.ranked()
        if x is None:
            return
        y = self.pick(
            lambda v: v.type is x.type and v.shape.rank == x.shape.rank
            and all(a <= b for a, b in zip(v.shape.dimensions, x.shape.dimensions, strict=True))
        ) or x  # fmt: skip
        made = self.c.add("dynamic-update-slice", x.instruction, y.instruction, *self.starts(x.shape.rank))
        self.keep_like(made, x, y)

    def iota(self) -> None:
        x = self.pick(lambda v: v.shape.rank > 0 and v.type not in (ElementType.PRED, POWERS))
        if x is not None:
            d = self.rng.randrange(x.shape.rank)
            shape, top = x.shape.without_layout(), max(x.shape.dimensions[d], 1)
            self.keep(self.c.add("iota", shape=shape, iota_dimension=d), top, bits=True)

    def same_again(self) -> None:
        """Adds a copy, or the value after a token."""
        x = self.any()
        if self.rng.random() < 0.5:
            self.keep_like(self.c.add("copy", x.instruction), x)
        else:
            self.keep_like(self.c.add("add-dependency", x.instruction, self.c.add("after-all")), x)

    def barrier(self) -> None:
        """Adds an optimization barrier of one or several values."""
        x = self.any()
        if self.rng.random() < 0.5:
            self.keep_like(self.c.add("opt-barrier", x.instruction), x)
            return
        values = [x, self.any()]
        made = self.c.add("opt-barrier", self.c.add("tuple", *(v.instruction for v in values)))
        for index, value in enumerate(values):
            self.keep_like(self.c.add("get-tuple-element", made, index=index), value)

    def dimension_size(self) -> None:
        x = self.ranked()
        if x is not None and self.rng.random() < 0.5:
            d = self.rng.randrange(x.shape.rank)
            self.keep(self.c.add("get-dimension-size", x.instruction, dimensions=(d,)), x.shape.dimensions[d])

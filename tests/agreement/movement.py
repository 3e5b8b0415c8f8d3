"""Ops that move elements: all keep what is known of them."""

from __future__ import annotations

from tests.agreement.bounds import Value
from tests.agreement.steps import Steps
from xla_core.hlo import ElementType, HloInstruction, PaddingDimension, Shape, SliceDimension, comparator

__all__ = ["MovementSteps"]


class MovementSteps(Steps):
    def kinds(self):
        return [*super().kinds(), self.reshape, self.transpose, self.broadcast, self.reverse, self.slice, self.pad,
                self.concatenate, self.dynamic_slice, self.dynamic_update_slice, self.gather, self.scatter, self.sort,
                self.iota]  # fmt: skip

    def moved(self, made: HloInstruction, *values: Value) -> None:
        self.keep(made, max(v.bound for v in values), max(v.error for v in values), max(v.grid for v in values))

    def ranked(self) -> Value | None:
        return self.pick(lambda v: v.shape.rank > 0)

    def reshape(self) -> None:
        x = self.pick()
        target = [n for n in x.shape.dimensions if n != 1 or self.rng.random() < 0.5]
        for _ in range(self.rng.randint(0, 2)):
            target.insert(self.rng.randint(0, len(target)), 1)
        if self.rng.random() < 0.3:
            target = [x.shape.num_elements]
        elif x.shape.num_elements and x.shape.num_elements % 2 == 0 and self.rng.random() < 0.3:
            target = [2, x.shape.num_elements // 2]
        self.moved(self.c.add("reshape", x.instruction, shape=x.shape.without_layout().with_dimensions(target)), x)

    def transpose(self) -> None:
        x = self.ranked()
        if x is not None:
            order = list(range(x.shape.rank))
            self.rng.shuffle(order)
            self.moved(self.c.add("transpose", x.instruction, dimensions=tuple(order)), x)

    def broadcast(self) -> None:
        x = self.pick()
        rank = x.shape.rank + self.rng.randint(1, 2)
        if rank > 5:
            return
        places = sorted(self.rng.sample(range(rank), x.shape.rank))
        target = [x.shape.dimensions[places.index(d)] if d in places else self.rng.randint(1, 4) for d in range(rank)]
        shape = x.shape.without_layout().with_dimensions(target)
        self.moved(self.c.add("broadcast", x.instruction, shape=shape, dimensions=tuple(places)), x)

    def reverse(self) -> None:
        x = self.ranked()
        if x is not None:
            kept = tuple(d for d in range(x.shape.rank) if self.rng.random() < 0.5)
            self.moved(self.c.add("reverse", x.instruction, dimensions=kept), x)

    def slice(self) -> None:
        x = self.ranked()
        if x is None:
            return
        ranges = []
        for n in x.shape.dimensions:
            start = self.rng.randint(0, max(n - 1, 0))
            ranges.append(SliceDimension(start, self.rng.randint(min(start + 1, n), n), self.rng.choice([1, 1, 2, 3])))
        self.moved(self.c.add("slice", x.instruction, slice=tuple(ranges)), x)

    def pad(self) -> None:
        x = self.ranked()
        if x is None:
            return
        padding = []
        for n in x.shape.dimensions:
            low, high = self.rng.randint(-1, 2), self.rng.randint(-1, 2)
            if n + low + high < 0 or n + low < 0 or n + high < 0:
                low = high = 0
            padding.append(PaddingDimension(low, high, self.rng.choice([0, 0, 0, 1])))
        value = self.constant(x.shape.with_dimensions(()))
        self.moved(self.c.add("pad", x.instruction, value.instruction, padding=tuple(padding)), x, value)

    def concatenate(self) -> None:
        x = self.ranked()
        if x is None:
            return
        d = self.rng.randrange(x.shape.rank)

        def fits(v: Value) -> bool:
            a, b = list(v.shape.dimensions), list(x.shape.dimensions)
            return v.type is x.type and len(a) == len(b) and a[:d] + a[d + 1 :] == b[:d] + b[d + 1 :]

        parts = [x, *(self.pick(fits) for _ in range(self.rng.randint(0, 2)))]
        self.rng.shuffle(parts)
        self.moved(self.c.add("concatenate", *(p.instruction for p in parts), dimensions=(d,)), *parts)

    def starts(self, rank: int) -> list[HloInstruction]:
        """Scalars of one integer type, constant or computed; they may lie outside, and are clamped."""
        found = self.pick(lambda v: v.type is ElementType.S32 and v.shape.rank == 0)
        return [
            found.instruction
            if found and self.rng.random() < 0.5
            else self.scalar(self.rng.randint(-2, 6), ElementType.S32)
            for _ in range(rank)
        ]

    def dynamic_slice(self) -> None:
        x = self.ranked()
        if x is not None:
            sizes = tuple(self.rng.randint(min(n, 1), n) for n in x.shape.dimensions)
            made = self.c.add("dynamic-slice", x.instruction, *self.starts(x.shape.rank), dynamic_slice_sizes=sizes)
            self.moved(made, x)

    def dynamic_update_slice(self) -> None:
        x = self.ranked()
        if x is None:
            return
        y = self.pick(
            lambda v: v.type is x.type and v.shape.rank == x.shape.rank
            and all(a <= b for a, b in zip(v.shape.dimensions, x.shape.dimensions, strict=True))
        )  # fmt: skip
        made = self.c.add("dynamic-update-slice", x.instruction, y.instruction, *self.starts(x.shape.rank))
        self.moved(made, x, y)

    def indices(self, dimensions: list[int]) -> Value:
        """s32 numbers of this shape, some outside of any array."""
        shape = Shape.array(ElementType.S32, dimensions)
        found = self.pick(lambda v: v.shape == shape) if self.rng.random() < 0.5 else None
        return found or self.constant(shape)

    def gather(self) -> None:
        """Rows of a dimension, as `x[indices]` takes them, or windows."""
        x = self.pick(lambda v: v.shape.rank > 0 and 0 not in v.shape.dimensions)
        if x is None:
            return
        rank = x.shape.rank
        d = self.rng.randrange(rank)
        sizes = [1 if k == d else self.rng.choice([n, n, max(1, n - 1)]) for k, n in enumerate(x.shape.dimensions)]
        batch = [self.rng.randint(1, 4) for _ in range(self.rng.randint(0, 2))]
        collapsed = self.rng.random() < 0.7
        window = rank - 1 if collapsed else rank
        offset = sorted(self.rng.sample(range(window + len(batch)), window))
        indices = self.indices(batch)
        made = self.c.add(
            "gather", x.instruction, indices.instruction,
            offset_dims=tuple(offset), collapsed_slice_dims=(d,) if collapsed else (), start_index_map=(d,),
            index_vector_dim=len(batch), slice_sizes=tuple(sizes),
        )  # fmt: skip
        self.moved(made, x)

    def scatter(self) -> None:
        """Rows written into, added to or compared with those of a dimension."""
        x = self.pick(
            lambda v: v.shape.rank > 0 and 0 not in v.shape.dimensions and v.is_usual and v.type is not ElementType.PRED
        )
        if x is None:
            return
        d = self.rng.randrange(x.shape.rank)
        count = self.rng.randint(1, 5)
        rows = [n for k, n in enumerate(x.shape.dimensions) if k != d]
        updates = self.partner(Value(self.constant(Shape.array(x.type, [count, *rows])).instruction, 7, grid=2))
        opcode = self.rng.choice(["add", "maximum", "minimum"])
        made = self.c.add(
            "scatter", x.instruction, self.indices([count]).instruction, updates.instruction,
            update_window_dims=tuple(range(1, len(rows) + 1)), inserted_window_dims=(d,), scatter_dims_to_operand_dims=(d,),
            index_vector_dim=1, to_apply=self.body(opcode, x.type),
        )  # fmt: skip
        if opcode == "add":
            bound = x.bound + count * updates.bound
            error = x.error + count * updates.error
            inexact = error or bound * 2.0 ** max(x.grid, updates.grid) > 100
            from tests.agreement.bounds import epsilon

            if x.type.is_floating and inexact:
                error += count * epsilon(x.type) * bound
            self.keep(made, bound, error, max(x.grid, updates.grid))
        else:
            self.moved(made, x, updates)

    def sort(self) -> None:
        x = self.pick(lambda v: v.shape.rank > 0 and v.is_exact and v.type is not ElementType.PRED)
        if x is None:
            return
        d = self.rng.randrange(x.shape.rank)
        direction = self.rng.choice(["LT", "GT"])
        total = "TOTALORDER" if not x.is_usual else None
        if self.rng.random() < 0.5:
            if not x.is_usual:
                return  # zeros of both signs are equal to everyone else
            order = self.module.add_computation(comparator(direction, x.type, type=total))
            self.moved(self.c.add("sort", x.instruction, dimensions=(d,), to_apply=order), x)
            return
        if not x.is_usual:
            return
        y = self.pick(lambda v: v.shape.dimensions == x.shape.dimensions)
        order = self.module.add_computation(comparator(direction, x.type, y.type))
        made = self.c.add("sort", x.instruction, y.instruction, dimensions=(d,), is_stable=True, to_apply=order)
        for index, value in enumerate((x, y)):
            self.moved(self.c.add("get-tuple-element", made, index=index), value)

    def iota(self) -> None:
        x = self.pick(lambda v: v.shape.rank > 0 and v.type is not ElementType.PRED)
        if x is not None:
            d = self.rng.randrange(x.shape.rank)
            shape = x.shape.without_layout()
            self.keep(self.c.add("iota", shape=shape, iota_dimension=d), max(shape.dimensions[d], 1))

"""Gather, scatter, sort."""

from __future__ import annotations

import math

import numpy as np

from tests.random_programs.bounds import Value, unit
from tests.random_programs.computations import order
from tests.random_programs.movement import INDEX_TYPES
from tests.random_programs.steps import Steps
from xla_core.hlo import ElementType, HloComputation, HloInstruction, Shape


class IndexingSteps(Steps):
    def kinds(self):
        return [*super().kinds(), self.gather, self.gather, self.scatter, self.scatter, self.scatter_rows, self.sort,
                self.sort]  # fmt: skip

    def indices(self, dimensions: list[int]) -> Value:
        """Makes indices of a shape, some of them out of bounds."""
        shape = Shape.array(self.rng.choice(INDEX_TYPES), dimensions)
        found = self.pick(lambda v: v.shape == shape) if self.rng.random() < 0.5 else None
        return found or self.constant(shape)

    def places(self, x: Value) -> tuple[list[int], list[int], list[int], list[int], list[int], int]:
        """Which dimensions of x are indexed, and which are batch dimensions; the index array's sizes, its batch
        dimensions, the batch sizes that remain of it, and where its vectors lie.
        """
        rng, rank = self.rng, x.shape.rank
        batching = [d for d in range(rank) if rng.random() < 0.2] if rng.random() < 0.4 else []
        others = [d for d in range(rank) if d not in batching]
        mapped = rng.sample(
            others, rng.randint(0 if rng.random() < 0.1 and self.strict else min(1, len(others)), min(2, len(others)))
        )
        sizes = [rng.randint(1, 4) for _ in range(rng.randint(0, 2))]
        where = []
        for d in batching:
            place = rng.randint(0, len(sizes))
            where = [w + (w >= place) for w in where]
            sizes.insert(place, x.shape.dimensions[d])
            where.append(place)
        batch = list(sizes)
        if len(mapped) == 1 and rng.random() < 0.5:
            vector = len(sizes)
        else:
            vector = rng.randint(0, len(sizes))
            sizes.insert(vector, len(mapped))
            where = [w + (w >= vector) for w in where]
        return mapped, batching, sizes, where, batch, vector

    def gather(self) -> None:
        """Adds a gather of rows, elements or windows."""
        x = self.pick(lambda v: 0 < v.shape.rank <= 5 and 0 not in v.shape.dimensions)
        if x is None:
            return
        rng = self.rng
        mapped, batching, sizes, where, batch, vector = self.places(x)
        slices = [
            1 if d in batching else rng.choice([n, n, max(1, n - 1), 1]) for d, n in enumerate(x.shape.dimensions)
        ]
        collapsed = [d for d in range(x.shape.rank) if slices[d] == 1 and d not in batching and rng.random() < 0.6]
        window = x.shape.rank - len(collapsed) - len(batching)
        offset = sorted(rng.sample(range(window + len(batch)), window))
        indices = self.indices(sizes)
        if math.prod(batch) * math.prod(slices) > self.max_elements:
            return
        made = self.c.add(
            "gather", x.instruction, indices.instruction, offset_dims=tuple(offset), collapsed_slice_dims=tuple(collapsed),
            start_index_map=tuple(mapped), operand_batching_dims=tuple(batching), start_indices_batching_dims=tuple(where),
            index_vector_dim=vector, slice_sizes=tuple(slices),
        )  # fmt: skip
        self.keep_like(made, x)

    def scatter(self) -> None:
        """Adds a scatter that combines windows into one or two arrays by commutative ops."""
        x = self.pick(lambda v: 0 < v.shape.rank <= 5 and 0 not in v.shape.dimensions)
        if x is None:
            return
        rng = self.rng
        operands = [x]
        if rng.random() < 0.2 and self.strict:  # XLA gives operands that are one array one buffer, and mixes them up
            operands.append(self.pick(lambda v: v.shape.dimensions == x.shape.dimensions) or x)
        mapped, batching, sizes, where, batch, vector = self.places(x)
        windows = [
            1 if d in batching else rng.choice([n, n, max(1, n - 1), 1]) for d, n in enumerate(x.shape.dimensions)
        ]
        inserted = [d for d in mapped if windows[d] == 1 and rng.random() < 0.7]
        inserted = sorted(inserted)
        kept = [windows[d] for d in range(x.shape.rank) if d not in inserted and d not in batching]
        rank = len(kept) + len(batch)
        window_dims = sorted(rng.sample(range(rank), len(kept)))
        rest, inner = iter(batch), iter(kept)
        update_sizes = [next(inner) if d in window_dims else next(rest) for d in range(rank)]
        if math.prod(update_sizes) > self.max_elements:
            return
        updates = [self.partner(Value(self.filled(1, v.shape.with_dimensions(update_sizes)), 1)) for v in operands]
        opcodes = [self.monoid(v) if v.type is not ElementType.PRED else "or" for v in operands]
        indices = self.indices(sizes)
        made = self.c.add(
            "scatter", *(v.instruction for v in operands), indices.instruction, *(u.instruction for u in updates),
            update_window_dims=tuple(window_dims), inserted_window_dims=tuple(inserted),
            scatter_dims_to_operand_dims=tuple(mapped), input_batching_dims=tuple(batching),
            scatter_indices_batching_dims=tuple(where), index_vector_dim=vector, to_apply=self.bodies(opcodes, operands),
        )  # fmt: skip
        count = math.prod(batch)
        for index, (value, update, opcode) in enumerate(zip(operands, updates, opcodes, strict=True)):
            part = made if len(operands) == 1 else self.c.add("get-tuple-element", made, index=index)
            self.scattered(part, value, update, opcode, count)

    def scattered(self, made: HloInstruction, x: Value, update: Value, opcode: str, count: int) -> None:
        if opcode == "add" and x.rounds:
            both = None if x.grid is None or update.grid is None else max(x.grid, update.grid)
            bound = x.bound + count * update.bound
            error = x.error + count * update.error
            if error or not x.fits(bound, both):
                error += (count + 1) * unit(x.type) * bound
                both = None
            self.keep(made, bound, error, both)
        elif x.rounds:
            grid = None if x.grid is None or update.grid is None else max(x.grid, update.grid)
            self.keep(made, max(x.bound, update.bound), max(x.error, update.error), grid)
        else:
            small = {"add": x.bound + count * update.bound, "maximum": max(x.bound, update.bound),
                     "minimum": max(x.bound, update.bound)}  # fmt: skip
            self.keep(made, small.get(opcode, math.inf))

    def scatter_rows(self) -> None:
        """Adds a scatter that replaces each row at most once, so that the order doesn't matter."""
        x = self.pick(lambda v: 0 < v.shape.rank <= 4 and 0 not in v.shape.dimensions)
        if x is None:
            return
        d = self.rng.randrange(x.shape.rank)
        n = x.shape.dimensions[d]
        numbers = self.rng.sample(range(n + 2), min(self.rng.randint(1, 4), n + 2))
        indices = self.c.constant(np.asarray(numbers, np.int32), Shape.array(ElementType.S32, [len(numbers)]))
        rows = [m for k, m in enumerate(x.shape.dimensions) if k != d]
        updates = self.partner(Value(self.filled(1, x.shape.with_dimensions([len(numbers), *rows])), 1))
        body = HloComputation("replace")
        body.parameter(0, Shape(x.type))
        body.set_root(body.parameter(1, Shape(x.type)))
        made = self.c.add(
            "scatter", x.instruction, indices, updates.instruction, update_window_dims=tuple(range(1, len(rows) + 1)),
            inserted_window_dims=(d,), scatter_dims_to_operand_dims=(d,), index_vector_dim=1,
            unique_indices=self.rng.random() < 0.5, to_apply=self.module.add_computation(body),
        )  # fmt: skip
        self.keep_like(made, x, updates)

    def sort(self) -> None:
        """Adds a sort of one to three operands by one or two of them. It is stable unless all operands are keys."""
        rng = self.rng
        x = self.pick(lambda v: v.shape.rank > 0 and v.is_exact and not v.type.is_complex)
        if x is None:
            return
        operands = [x]
        while len(operands) < 3 and rng.random() < 0.4:
            operands.append(self.pick(lambda v: v.shape.dimensions == x.shape.dimensions) or x)
        keys = [0]
        if len(operands) > 1 and rng.random() < 0.3 and operands[1].is_exact and not operands[1].type.is_complex:
            keys.append(1)
        # NaNs, and zeros of either sign, have places of their own in the total order alone.
        total = any(not operands[k].is_usual for k in keys)
        if total and not all(operands[k].bits for k in keys if operands[k].rounds):
            return
        total = total or (rng.random() < 0.2 and all(operands[k].bits for k in keys))
        comparator = self.module.add_computation(order(rng, [v.type for v in operands], keys, total))
        plain = all(i.opcode in ("parameter", "compare") for i in comparator.instructions)
        unstable = len(operands) == 1 and plain and (total or not x.rounds)
        attributes = {"is_stable": True} if not unstable or rng.random() < 0.5 else {}
        d = rng.randrange(x.shape.rank)
        made = self.c.add(
            "sort", *(v.instruction for v in operands), dimensions=(d,), to_apply=comparator, **attributes
        )
        for index, value in enumerate(operands):
            part = made if len(operands) == 1 else self.c.add("get-tuple-element", made, index=index)
            self.keep_like(part, value)

"""Random chains of ops on arrays of dynamic size: the reference evaluator gives the same before and after padding."""

from __future__ import annotations

import random

import numpy as np
import pytest

from xla_core.errors import UnimplementedError
from xla_core.hlo import ElementType, HloComputation, HloModule, Literal, Shape
from xla_core.hlo.evaluation.dynamic_results import dynamic_results
from xla_core.hlo.evaluator import evaluate
from xla_core.hlo.ir.builder import comparator, scalar_computation
from xla_core.hlo.table.attributes import PaddingDimension, SliceDimension, WindowDimension
from xla_core.passes import create_pass

F32 = ElementType.F32


class Program:
    """One random program: an array, two sizes, a chain of ops; its last values are its results."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.module = HloModule("random")
        self.entry = self.module.add_computation(HloComputation("main"), entry=True)
        rank = self.random.choice([1, 2, 3])
        self.dimensions = [self.random.choice([1, 2, 3, 5]) for _ in range(rank)]
        value = self.entry.parameter(0, Shape(F32, tuple(self.dimensions)))
        sizes = [self.entry.parameter(i, Shape(ElementType.S32)) for i in (1, 2)]
        dynamic = self.random.sample(range(rank), self.random.choice([1, min(2, rank)]))
        self.bounds = [self.dimensions[d] for d in dynamic]
        for size, d in zip(sizes, dynamic, strict=False):
            value = self.entry.add("set-dimension-size", value, size, dimensions=(d,))
        self.fill, self.lowest = (self.constant(v) for v in (2, -np.inf))
        self.add = scalar_computation("add", F32, module=self.module)
        self.maximum = scalar_computation("maximum", F32, module=self.module)
        values = [value]
        for _ in range(self.random.choice([2, 3, 5, 7])):
            made = self.step(self.random.choice(values[-2:]))
            if made is not None and made.shape.num_elements < 20_000:
                values.append(made)
        self.entry.set_root(self.entry.add("tuple", *values[-3:]))

    def constant(self, value: float):
        return self.entry.add("constant", literal=Literal(np.float32(value)))

    def arguments(self):
        array = np.random.default_rng(len(self.dimensions)).normal(size=self.dimensions).astype(np.float32)
        sizes = [self.random.randrange(bound + 1) for bound in self.bounds] + [0]
        return array, np.int32(sizes[0]), np.int32(sizes[1])

    def step(self, v):
        choose, rank = self.random.choice, v.shape.rank
        flags = v.shape.dynamic_dimensions or (False,) * rank
        op = choose(
            [
                "negate",
                "add",
                "transpose",
                "pad",
                "slice",
                "reverse",
                "reduce",
                "broadcast",
                "sort",
                "concatenate",
                "dot",
                "reduce-window",
                "reshape",
            ]
        )
        add = self.entry.add
        if op == "negate":
            return add(op, v)
        if op == "add":
            return add(op, v, v)
        if op == "transpose":
            return add(op, v, dimensions=tuple(self.random.sample(range(rank), rank)))
        if op == "pad":
            padding = tuple(PaddingDimension(choose([0, 1]), choose([0, 2]), choose([0, 0, 1])) for _ in range(rank))
            return add(op, v, self.fill, padding=padding)
        if op == "slice":
            return add(op, v, slice=tuple(map(self.part, v.shape.dimensions, flags)))
        if op == "reverse":
            return add(op, v, dimensions=tuple(self.random.sample(range(rank), self.random.randrange(rank + 1))))
        if op == "broadcast" and rank < 4:
            at = self.random.randrange(rank + 1)
            sizes, open_ = list(v.shape.dimensions), list(flags)
            sizes.insert(at, 2)
            open_.insert(at, False)
            shape = Shape(F32, tuple(sizes), None, tuple(open_) if any(open_) else ())
            return add(op, v, shape=shape, dimensions=tuple(d + (d >= at) for d in range(rank)))
        if op == "reduce" and rank:
            axes = tuple(sorted(self.random.sample(range(rank), choose([1, rank]))))
            return add(op, v, self.fill, dimensions=axes, to_apply=self.add)
        if op == "sort" and rank:
            return add(
                op, v, dimensions=(self.random.randrange(rank),), to_apply=comparator("LT", F32, module=self.module)
            )
        if op == "concatenate" and rank:
            return add(op, v, add("negate", v), v, dimensions=(self.random.randrange(rank),))
        if op == "dot" and rank in (1, 2):
            d = (self.random.randrange(rank),)
            return add(op, v, v, lhs_contracting_dims=d, rhs_contracting_dims=d)
        if op == "reduce-window" and rank and 0 not in v.shape.dimensions:
            window = tuple(
                WindowDimension(choose([1, 2]), choose([1, 2]), choose([0, 1]), choose([0, 1])) for _ in range(rank)
            )
            return add(op, v, self.lowest, to_apply=self.maximum, window=window)
        if op == "reshape" and rank > 1 and not any(flags[1:]):
            return add(op, v, shape=Shape(F32, (v.shape.num_elements,), None, flags[:1] if flags[0] else ()))
        return None

    def part(self, size: int, is_dynamic: bool) -> SliceDimension:
        """XLA calls a part of a dynamic dimension static, so only the whole of one is taken."""
        if is_dynamic or self.random.random() < 0.6:
            return SliceDimension(0, size)
        start = self.random.randrange(size + 1)
        return SliceDimension(start, self.random.randrange(start, size + 1), self.random.choice([1, 2]))


@pytest.mark.parametrize("first", [0, *(pytest.param(n, marks=pytest.mark.slow) for n in range(150, 1500, 150))])
def test_padding_keeps_the_meaning(first: int) -> None:
    compared = 0
    for seed in range(first, first + 150):
        program = Program(seed)
        padded = program.module.clone()
        try:
            create_pass("dynamic-padder").run(padded)
        except UnimplementedError:
            continue
        count, sizes = dynamic_results(padded)
        for _ in range(3):
            arguments = program.arguments()
            expected = evaluate(program.module, *arguments)
            made = evaluate(padded, *arguments)
            for number, want in enumerate(expected):
                each = sizes.get(number, {})
                whole = made[number]
                got = whole[tuple(slice(made[each[d]] if d in each else None) for d in range(whole.ndim))]
                assert got.shape == want.shape, seed
                np.testing.assert_allclose(got, want, rtol=1e-4, atol=1e-4, err_msg=f"seed {seed}")
            assert count == len(expected)
            compared += 1
    assert compared > 400

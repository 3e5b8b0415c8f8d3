"""Random chains of data movement, reductions and in-place updates, as the fusions that the pipeline makes of them."""

from __future__ import annotations

import math
import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import xla_core as xla
from xla_core.codegen import loop_plan
from xla_core.hlo import (
    ElementType,
    HloComputation,
    HloInstruction,
    HloModule,
    Literal,
    PaddingDimension,
    Shape,
    SliceDimension,
)

S32 = ElementType.S32
LARGEST = 1500  # elements of a value


class Chains:
    """Makes a module whose entry computes some chains from its parameters, sometimes in a loop."""

    def __init__(self, seed: int, length: int = 6, chains: int = 3) -> None:
        self.rng = rng = random.Random(seed)
        self.length = length
        self.module = HloModule("chains")
        self.reducers = {opcode: self.reducer(opcode) for opcode in ("add", "maximum")}
        entry = HloComputation("entry")
        values = [entry.parameter(n, self.shape()) for n in range(3)]
        results = []
        for _ in range(chains):
            if rng.random() < 0.3:
                results += self.loop(entry, rng.choice(values))
            else:
                results.append(self.chain(entry, rng.choice(values), values))
            values.append(results[-1])
        entry.set_root(entry.add("tuple", *results))
        self.module.add_computation(entry, entry=True)

    def shape(self) -> Shape:
        return Shape.array(S32, [self.rng.choice([1, 1, 2, 3, 4, 6, 8, 12]) for _ in range(self.rng.randint(0, 4))])

    def reducer(self, opcode: str) -> HloComputation:
        body = HloComputation(opcode)
        body.add(opcode, *(body.parameter(n, Shape.array(S32)) for n in range(2)))
        return self.module.add_computation(body)

    def scalar(self, c: HloComputation, value: int) -> HloInstruction:
        return c.add("constant", shape=Shape.array(S32), literal=Literal(np.int32(value)))

    def chain(self, c: HloComputation, x: HloInstruction, values: list[HloInstruction]) -> HloInstruction:
        for _ in range(self.rng.randint(1, self.length)):
            y = self.step(c, x, values)
            x = y if 0 < y.shape.num_elements <= LARGEST else x
        return x

    def loop(self, c: HloComputation, x: HloInstruction) -> list[HloInstruction]:
        """A loop that reads slices of its state at its counter, and writes what it computes over others."""
        rng = self.rng
        if not x.shape.rank:
            x = c.add("broadcast", x, shape=Shape.array(S32, (6,)), dimensions=())
        state = Shape.tuple([Shape.array(S32), x.shape, x.shape])
        condition, body = HloComputation("condition"), HloComputation("body")
        p = condition.parameter(0, state)
        counter = condition.add("get-tuple-element", p, index=0)
        condition.add("compare", counter, self.scalar(condition, rng.randint(1, 5)), direction="LT")
        p = body.parameter(0, state)
        counter, kept, old = (body.add("get-tuple-element", p, index=n) for n in range(3))
        starts = [
            rng.choice([counter, body.add("multiply", counter, self.scalar(body, 2)), self.scalar(body, 1)])
            for _ in x.shape.dimensions
        ]
        sizes = tuple(rng.randint(1, n) for n in x.shape.dimensions)
        window = body.add("dynamic-slice", rng.choice([kept, old]), *starts, dynamic_slice_sizes=sizes)
        value = self.resized(body, self.chain(body, window, [window]), sizes)
        if rng.random() < 0.5:
            value = body.add("add", value, window)
        new = body.add("dynamic-update-slice", old, value, *starts)
        following = body.add("add", counter, self.scalar(body, 1))
        kept = rng.choice([kept, body.add("subtract", new, kept), new])
        body.set_root(body.add("tuple", following, kept, new))
        for each in (condition, body):
            self.module.add_computation(each)
        init = c.add("tuple", self.scalar(c, 0), x, rng.choice([x, c.add("negate", x)]))
        result = c.add("while", init, shape=state, condition=condition, body=body)
        return [c.add("get-tuple-element", result, index=n) for n in (1, 2)]

    def resized(self, c: HloComputation, x: HloInstruction, dims: tuple[int, ...]) -> HloInstruction:
        """x with some dimensions, its elements repeated or cut."""
        size = math.prod(dims)
        flat = c.add("reshape", x, shape=Shape.array(S32, [x.shape.num_elements]))
        if flat.shape.num_elements < size:
            times = -(-size // flat.shape.num_elements)
            if times <= 4:
                flat = c.add("concatenate", *[flat] * times, dimensions=(0,))
            else:
                wide = Shape.array(S32, [flat.shape.num_elements, times])
                flat = c.add("broadcast", flat, shape=wide, dimensions=(0,))
                flat = c.add("reshape", flat, shape=Shape.array(S32, [wide.num_elements]))
        flat = c.add("slice", flat, slice=(SliceDimension(0, size, 1),))
        return c.add("reshape", flat, shape=Shape.array(S32, dims))

    def step(self, c: HloComputation, x: HloInstruction, values: list[HloInstruction]) -> HloInstruction:
        rng, dims, rank = self.rng, x.shape.dimensions, x.shape.rank
        match rng.choice(
            ["reshape", "reshape", "transpose", "transpose", "slice", "slice", "pad", "concatenate", "concatenate",
             "broadcast", "reverse", "negate", "add", "reduce", "reduce", "dynamic-slice", "update", "gather"]
        ):  # fmt: skip
            case "reshape":
                return c.add("reshape", x, shape=Shape.array(S32, self.regrouped(x.shape.num_elements)))
            case "transpose":
                return c.add("transpose", x, dimensions=tuple(rng.sample(range(rank), rank)))
            case "slice":
                ranges = []
                for n in dims:
                    low = rng.choice([0, rng.randrange(n)])
                    ranges.append(SliceDimension(low, rng.choice([n, rng.randint(low + 1, n)]), rng.choice([1, 1, 2])))
                return c.add("slice", x, slice=tuple(ranges))
            case "pad":
                edges = [
                    PaddingDimension(rng.randint(-1 if n > 2 else 0, 2), rng.randint(-1 if n > 2 else 0, 2),
                                     rng.choice([0, 0, 1])) if rng.random() < 0.5 else PaddingDimension(0, 0, 0)
                    for n in dims
                ]  # fmt: skip
                return c.add("pad", x, self.scalar(c, 7), padding=tuple(edges))
            case "concatenate" if rank:
                at = rng.randrange(rank)
                like = [v for v in values if v.shape.rank == rank and not v.shape.is_tuple
                        and all(a == b for d, (a, b) in enumerate(zip(v.shape.dimensions, dims, strict=True)) if d != at)]  # fmt: skip
                others = [rng.choice([x, c.add("negate", x), *like]) for _ in range(rng.randint(1, 3))]
                return c.add("concatenate", *rng.sample([x, *others], len(others) + 1), dimensions=(at,))
            case "broadcast" if rank < 5:
                at = rng.randint(0, rank)
                more = [*dims[:at], rng.choice([1, 2, 3, 8]), *dims[at:]]
                kept = tuple(d for d in range(rank + 1) if d != at)
                return c.add("broadcast", x, shape=Shape.array(S32, more), dimensions=kept)
            case "reverse" if rank:
                return c.add("reverse", x, dimensions=tuple(sorted(rng.sample(range(rank), rng.randint(1, rank)))))
            case "add":
                return c.add("add", x, self.resized(c, rng.choice(values), dims))
            case "reduce" if rank:
                axes = tuple(sorted(rng.sample(range(rank), rng.randint(1, rank))))
                opcode = rng.choice(["add", "maximum"])
                return c.add("reduce", x, self.scalar(c, 1), dimensions=axes, to_apply=self.reducers[opcode])
            case "dynamic-slice" if rank:
                sizes = tuple(rng.choice([n, rng.randint(1, n)]) for n in dims)
                return c.add("dynamic-slice", x, *self.starts(c, values, rank), dynamic_slice_sizes=sizes)
            case "update" if rank:
                sizes = tuple(rng.choice([n, rng.randint(1, n)]) for n in dims)
                update = self.resized(c, rng.choice([x, *values]), sizes)
                return c.add("dynamic-update-slice", x, update, *self.starts(c, values, rank))
            case _:
                return c.add("negate", x)

    def starts(self, c: HloComputation, values: list[HloInstruction], rank: int) -> list[HloInstruction]:
        source = self.rng.choice(values)
        read = c.add("reshape", self.resized(c, source, (1,)), shape=Shape.array(S32))
        return [self.rng.choice([read, self.scalar(c, self.rng.randint(0, 3))]) for _ in range(rank)]

    def regrouped(self, size: int) -> list[int]:
        factors, rest, p = [], size, 2
        while rest > 1:
            while rest % p == 0:
                factors.append(p)
                rest //= p
            p += 1
        self.rng.shuffle(factors)
        dims = [1] * self.rng.randint(1 if factors else 0, 4)
        for factor in factors:
            dims[self.rng.randrange(len(dims))] *= factor
        return dims


def _agrees(client: xla.Client, seed: int, length: int = 6, chains: int = 3) -> None:
    module = Chains(seed, length, chains).module
    rng = np.random.default_rng(seed)
    inputs = [rng.integers(-3, 9, p.shape.dimensions).astype(np.int32) for p in module.entry.parameters]
    text = module.to_text()
    expected = xla.evaluate(xla.parse(text), *inputs)
    results = client.compile(text, options=xla.CompileOptions(backend={"llvm_optimization_level": 1}))(*inputs)
    for result, wanted in zip(results, expected, strict=True):
        np.testing.assert_array_equal(np.asarray(result), wanted, err_msg=text)


@settings(max_examples=100, deadline=None)
@given(seed=st.integers(0, 1 << 32))
def test_chains_agree(client, seed):
    _agrees(client, seed)


@pytest.mark.slow
@settings(max_examples=3000, deadline=None)
@given(seed=st.integers(0, 1 << 32), length=st.integers(2, 14))
def test_many_chains_agree(client, seed, length):
    _agrees(client, seed, length)


@pytest.mark.parametrize("splits", [0, 1, 2])
def test_loops_that_are_not_split_divide(client, monkeypatch, splits):
    monkeypatch.setattr(loop_plan, "_MOST_SPLITS", splits)
    for seed in range(12):
        _agrees(client, seed)


def test_a_row_of_two_joined_columns(agree):
    text = """HloModule columns
ENTRY main {
  a = u32[2,1] parameter(0)
  b = u32[2,1] parameter(1)
  joined = u32[2,2] concatenate(a, b), dimensions={1}
  ROOT row = u32[1,2] slice(joined), slice={[0:1], [0:2]}
}"""
    agree(text, np.array([[1], [2]], np.uint32), np.array([[3], [4]], np.uint32))

"""Random graphs of fusible ops that the evaluator can run."""

from __future__ import annotations

import random

import numpy as np

from xla_core.hlo.ir.computation import HloComputation
from xla_core.hlo.ir.instruction import HloInstruction
from xla_core.hlo.ir.module import HloModule
from xla_core.hlo.table.attributes import PaddingDimension, SliceDimension
from xla_core.hlo.values.element_type import ElementType
from xla_core.hlo.values.literal import Literal
from xla_core.hlo.values.shape import Shape

F32, S32 = ElementType.F32, ElementType.S32


def random_graph(rng: random.Random, size: int = 15) -> HloModule:
    """A module of elementwise ops, data movement, reductions, in-place updates and a dot here and there."""
    module = HloModule("random")
    computation = HloComputation("entry")
    adder = HloComputation("adder")
    a, b = (adder.parameter(n, Shape.array(F32)) for n in range(2))
    adder.add("add", a, b)
    extents = [1, 2, 3, 4]
    values: list[HloInstruction] = []

    def shape() -> Shape:
        return Shape.array(F32, [rng.choice(extents) for _ in range(rng.randint(0, 3))])

    def scalar() -> HloInstruction:
        return computation.add("constant", shape=Shape.array(F32), literal=Literal(np.float32(rng.randint(-2, 2))))

    def start() -> HloInstruction:
        return computation.add("constant", shape=Shape.array(S32), literal=Literal(np.int32(rng.randint(0, 2))))

    def like(value: HloInstruction) -> HloInstruction:
        found = [v for v in values if v.shape == value.shape]
        return rng.choice(found)

    def step() -> HloInstruction:
        x = rng.choice(values[-6:] if rng.random() < 0.7 else values)
        dims, rank = x.shape.dimensions, x.shape.rank
        match rng.choice(
            ["unary", "unary", "binary", "binary", "binary", "select", "broadcast", "transpose", "reshape", "slice",
             "pad", "concatenate", "reverse", "reduce", "reduce", "dynamic-slice", "update", "iota", "dot", "bitcast"]
        ):  # fmt: skip
            case "unary":
                return computation.add(rng.choice(["negate", "tanh", "abs", "cosine", "copy"]), x)
            case "binary":
                return computation.add(rng.choice(["add", "multiply", "maximum", "subtract"]), x, like(x))
            case "select":
                return computation.add("select", computation.add("compare", x, like(x), direction="LT"), x, like(x))
            case "broadcast" if rank < 3:
                at = rng.randint(0, rank)
                more = [*dims[:at], rng.choice(extents), *dims[at:]]
                axes = tuple(d for d in range(rank + 1) if d != at)
                return computation.add("broadcast", x, shape=Shape.array(F32, more), dimensions=axes)
            case "transpose":
                order = list(range(rank))
                rng.shuffle(order)
                return computation.add("transpose", x, dimensions=tuple(order))
            case "reshape" | "bitcast" as opcode:
                return computation.add(opcode, x, shape=Shape.array(F32, [x.shape.num_elements]))
            case "slice":
                ranges = []
                for n in dims:
                    low = rng.randint(0, n - 1)
                    ranges.append(SliceDimension(low, rng.randint(low + 1, n), rng.randint(1, 2)))
                return computation.add("slice", x, slice=tuple(ranges))
            case "pad" if all(n < 6 for n in dims):
                edges = [PaddingDimension(rng.randint(0, 1), rng.randint(0, 1), rng.randint(0, 1)) for _ in dims]
                return computation.add("pad", x, scalar(), padding=tuple(edges))
            case "concatenate" if rank and max(dims) < 8:
                return computation.add("concatenate", x, like(x), dimensions=(rng.randrange(rank),))
            case "reverse" if rank:
                return computation.add("reverse", x, dimensions=(rng.randrange(rank),))
            case "reduce" if rank:
                axes = tuple(sorted(rng.sample(range(rank), rng.randint(1, rank))))
                return computation.add("reduce", x, scalar(), dimensions=axes, to_apply=adder)
            case "dynamic-slice" if rank:
                sizes = tuple(rng.randint(1, n) for n in dims)
                return computation.add("dynamic-slice", x, *[start() for _ in dims], dynamic_slice_sizes=sizes)
            case "update" if rank:
                starts = [start() for _ in dims]
                sizes = tuple(rng.randint(1, n) for n in dims)
                window = computation.add("dynamic-slice", x, *starts, dynamic_slice_sizes=sizes)
                changed = computation.add("add", window, window)
                return computation.add("dynamic-update-slice", x, changed, *starts)
            case "iota" if rank:
                return computation.add("iota", shape=x.shape, iota_dimension=rng.randrange(rank))
            case "dot" if rank == 2:
                other = computation.add("transpose", x, dimensions=(1, 0))
                return computation.add("dot", x, other, lhs_contracting_dims=(1,), rhs_contracting_dims=(0,))
            case _:
                return computation.add("negate", x)

    for n in range(rng.randint(1, 3)):
        values.append(computation.parameter(n, shape()))
    for _ in range(size):
        values.append(step())
    outputs = [rng.choice(values) for _ in range(rng.randint(1, 3))] + [values[-1]]
    computation.set_root(computation.add("tuple", *outputs))
    module.add_computation(adder)
    module.add_computation(computation, entry=True)
    return module


def random_arguments(module: HloModule, seed: int) -> list[np.ndarray]:
    rng = np.random.default_rng(seed)
    return [rng.integers(-3, 4, p.shape.dimensions).astype(p.shape.dtype) for p in module.entry.parameters]

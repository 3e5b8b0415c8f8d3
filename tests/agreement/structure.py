"""Loops, branches and calls, whose bodies are random steps too."""

from __future__ import annotations

import numpy as np

from tests.agreement.bounds import Value
from tests.agreement.steps import Steps
from xla_core.hlo import ElementType, HloComputation, HloInstruction, Shape

__all__ = ["StructureSteps"]

_LIMIT = 4.0


class StructureSteps(Steps):
    def kinds(self):
        return [*super().kinds(), *([self.loop, self.branches, self.call] if self.depth < 2 else [])]

    def inside(self, name: str, parameters: list[Value], shapes: list[Shape]) -> tuple[HloComputation, list[Value]]:
        """A computation of one tuple parameter, entered: the steps that follow go into it. `leave` ends it."""
        computation = HloComputation(name)
        given = computation.parameter(0, Shape.tuple(shapes))
        self.outer.append((self.c, self.values))
        self.c, self.depth = computation, self.depth + 1
        self.values = [
            Value(computation.add("get-tuple-element", given, index=i), v.bound, v.error, v.grid)
            for i, v in enumerate(parameters)
        ]
        return computation, list(self.values)

    @property
    def outer(self) -> list[tuple[HloComputation, list[Value]]]:
        return self.__dict__.setdefault("_outer", [])

    def leave(self, root: HloInstruction) -> HloComputation:
        computation = self.c
        computation.set_root(root)
        self.module.add_computation(computation)
        self.c, self.values = self.outer.pop()
        self.depth -= 1
        return computation

    def some(self, count: int, accept=lambda v: True) -> list[Value]:
        return [v for v in (self.pick(accept) for _ in range(count)) if v is not None]

    def newest(self, shape: Shape, accept=lambda v: True) -> Value:
        return next(v for v in reversed(self.values) if v.shape == shape and accept(v))

    def tamed(self, value: Value) -> HloInstruction:
        """Within what the loop promises of each turn's values: whole, and no larger than the limit."""
        if not value.type.is_floating:
            return value.instruction
        whole = self.c.add("floor", value.instruction)
        return self.c.add("clamp", self.scalar(-_LIMIT, value.type), whole, self.scalar(_LIMIT, value.type))

    def loop(self) -> None:
        carried = self.some(self.rng.randint(1, 3), lambda v: v.is_exact and v.is_usual)
        if not carried:
            return
        init = [self.scalar(0, ElementType.S32), *(self.tamed(v) for v in carried)]
        shapes = [i.shape.without_layout() for i in init]
        turns = self.rng.randint(0, 4)
        start = self.c.add("tuple", *init)

        condition = HloComputation("condition")
        given = condition.parameter(0, Shape.tuple(shapes))
        limit = condition.constant(np.int32(turns), Shape(ElementType.S32))
        condition.set_root(
            condition.add("compare", condition.add("get-tuple-element", given, index=0), limit, direction="LT")
        )
        self.module.add_computation(condition)

        top = [v.bound if not v.type.is_floating else _LIMIT for v in carried]
        wide = [
            Value(i, 2.0**63 if not v.type.is_floating else b) for i, v, b in zip(init[1:], carried, top, strict=True)
        ]
        wide = [w.settled() or w for w in wide]
        _, inner = self.inside("body", [Value(init[0], turns), *wide], shapes)
        self.steps(self.rng.randint(1, 4))
        results = []
        for parameter in inner[1:]:
            results.append(self.tamed(self.newest(parameter.shape, lambda v: v.is_exact and v.is_usual)))
        if len(results) > 1 and results[0].shape == results[1].shape and self.rng.random() < 0.3:
            results[0], results[1] = results[1], results[0]
        step = self.c.add("add", inner[0].instruction, self.scalar(1, ElementType.S32))
        body = self.leave(self.c.add("tuple", step, *results))

        made = self.c.add("while", start, condition=condition, body=body)
        for index, value in enumerate(wide):
            self.keep(self.c.add("get-tuple-element", made, index=index + 1), value.bound)

    def branch(self, name: str, given: list[Value], results: list[Shape]) -> tuple[HloComputation, list[Value]]:
        self.inside(name, given, [v.shape.without_layout() for v in given])
        self.steps(self.rng.randint(0, 3))
        chosen = [self.newest(shape) for shape in results]
        return self.leave(self.c.add("tuple", *(v.instruction for v in chosen))), chosen

    def one_of(self, made: HloInstruction, branches: list[list[Value]]) -> None:
        for index, values in enumerate(zip(*branches, strict=True)):
            element = self.c.add("get-tuple-element", made, index=index)
            self.keep(element, max(v.bound for v in values), max(v.error for v in values), max(v.grid for v in values))

    def branches(self) -> None:
        which = self.pick(lambda v: v.shape.rank == 0 and v.type in (ElementType.PRED, ElementType.S32))
        if which is None:
            which = self.constant(Shape(ElementType.S32))
        given = self.some(self.rng.randint(1, 3))
        shapes = [v.shape.without_layout() for v in given]
        pack = self.c.add("tuple", *(v.instruction for v in given))
        count = 2 if which.type is ElementType.PRED else self.rng.randint(1, 3)
        branches = [self.branch(f"branch{number}", given, shapes) for number in range(count)]
        computations = [computation for computation, _ in branches]
        if which.type is ElementType.PRED:
            names = {"true_computation": computations[0], "false_computation": computations[1]}
        else:
            names = {"branch_computations": tuple(computations)}
        made = self.c.add("conditional", which.instruction, *[pack] * count, **names)
        self.one_of(made, [chosen for _, chosen in branches])

    def call(self) -> None:
        given = self.some(self.rng.randint(1, 2))
        pack = self.c.add("tuple", *(v.instruction for v in given))
        called, chosen = self.branch("called", given, [v.shape.without_layout() for v in given])
        self.one_of(self.c.add("call", pack, to_apply=called), [chosen])

"""Loops, branches and calls, whose bodies are random steps too."""

from __future__ import annotations

from tests.random_programs.bounds import Value, largest
from tests.random_programs.steps import POWERS, Accept, Steps
from xla_core.hlo import ElementType, HloComputation, HloInstruction, Shape

_LIMIT = 4.0
_COUNTERS = (ElementType.S32, ElementType.S32, ElementType.S64, ElementType.U32, ElementType.U8)


class StructureSteps(Steps):
    outer: list[tuple[HloComputation, list[Value]]]

    def kinds(self):
        return [*super().kinds(), *([self.loop, self.branches, self.call, self.fusion] if self.depth < 2 else [])]

    def inside(self, name: str, parameters: list[Value], shapes: list[Shape], flat: bool = False) -> list[Value]:
        """Begins a computation with a tuple parameter or flat ones. The following steps add to it."""
        computation = HloComputation(name)
        if flat:
            parts = [computation.parameter(i, s) for i, s in enumerate(shapes)]
        else:
            given = computation.parameter(0, Shape.tuple(shapes))
            parts = [computation.add("get-tuple-element", given, index=i) for i in range(len(shapes))]
        self.outer.append((self.c, self.values))
        self.c, self.depth = computation, self.depth + 1
        self.values = [Value(p, v.bound, v.error, v.grid, v.bits) for p, v in zip(parts, parameters, strict=True)]
        return list(self.values)

    def leave(self, root: HloInstruction) -> HloComputation:
        """Ends the computation that `inside` began."""
        computation = self.c
        computation.set_root(root)
        self.module.add_computation(computation)
        self.c, self.values = self.outer.pop()
        self.depth -= 1
        return computation

    def some(self, count: int, accept: Accept = lambda v: True) -> list[Value]:
        return [v for v in (self.pick(accept) for _ in range(count)) if v is not None]

    def newest(self, shape: Shape, accept: Accept = lambda v: True) -> Value:
        return next(v for v in reversed(self.values) if v.shape.compatible(shape) and accept(v))

    # -- loops ---------------------------------------------------------------------------------------------------------

    def tamed(self, value: Value) -> HloInstruction:
        """Rounds and clamps values to whole numbers up to the limit, so that they satisfy the loop's bounds."""
        if value.type.is_complex:
            parts = [self.c.add(opcode, value.instruction) for opcode in ("real", "imag")]
            return self.c.add("complex", *(self.tamed(Value(p, value.bound)) for p in parts))
        if not value.type.is_floating:
            return value.instruction
        whole = self.c.add("floor", value.instruction)
        return self.c.add("clamp", self.scalar(-_LIMIT, value.type), whole, self.scalar(_LIMIT, value.type))

    def loop(self) -> None:
        rng = self.rng
        carried = self.some(rng.randint(1, 3), lambda v: v.is_exact and v.is_usual and v.type is not POWERS)
        if not carried:
            return
        counter, step = rng.choice(_COUNTERS), rng.choice([1, 1, 1, 2])
        start, turns = rng.choice([0, 0, 1]), rng.randint(0, 4)
        init = [self.scalar(start, counter), *(self.tamed(v) for v in carried)]
        shapes = [i.shape.without_layout() for i in init]
        state = self.c.add("tuple", *init)

        condition = HloComputation("condition")
        given = condition.parameter(0, Shape.tuple(shapes))
        count = condition.add("get-tuple-element", given, index=0)
        limit = condition.constant(init[0].literal.array.dtype.type(start + turns * step), Shape(counter))
        goes_on = condition.add("compare", count, limit, direction="LT")
        flags = [i for i, s in enumerate(shapes) if s == Shape(ElementType.PRED)]
        if flags and rng.random() < 0.5:  # the values decide too
            flag = condition.add("get-tuple-element", given, index=flags[0])
            goes_on = condition.add("and", goes_on, flag)
        condition.set_root(goes_on)
        self.module.add_computation(condition)

        wide = [Value(i, _LIMIT if v.rounds else float("inf")) for i, v in zip(init[1:], carried, strict=True)]
        wide = [w.settled(self.strict) or w for w in wide]
        inner = self.inside("body", [Value(init[0], start + (turns + 1) * step), *wide], shapes)
        self.steps(rng.randint(1, 5))
        results = [
            self.tamed(self.newest(p.shape, lambda v: v.is_exact and v.is_usual and v.type is not POWERS))
            for p in inner[1:]
        ]
        if len(results) > 1 and results[0].shape == results[1].shape and rng.random() < 0.3:
            results[0], results[1] = results[1], results[0]
        following = self.c.add("add", inner[0].instruction, self.scalar(step, counter))
        body = self.leave(self.c.add("tuple", following, *results))

        made = self.c.add("while", state, condition=condition, body=body)
        for index, value in enumerate(wide):
            self.keep(self.c.add("get-tuple-element", made, index=index + 1), value.bound)

    # -- branches and calls --------------------------------------------------------------------------------------------

    def branch(self, name: str, given: list[Value], results: list[Shape], flat: bool = False) -> tuple[HloComputation, list[Value]]:  # fmt: skip
        self.inside(name, given, [v.shape.without_layout() for v in given], flat)
        self.steps(self.rng.randint(0, 4))
        chosen = [self.newest(shape) for shape in results]
        return self.leave(self.c.add("tuple", *(v.instruction for v in chosen))), chosen

    def one_of(self, made: HloInstruction, branches: list[list[Value]]) -> None:
        for index, values in enumerate(zip(*branches, strict=True)):
            self.keep_like(self.c.add("get-tuple-element", made, index=index), *values)

    def branches(self) -> None:
        which = self.pick(lambda v: v.shape.rank == 0 and v.type in (ElementType.PRED, ElementType.S32))
        if which is None:
            which = self.constant(Shape(ElementType.S32))
        given = self.some(self.rng.randint(1, 3))
        shapes = [v.shape.without_layout() for v in given]
        pack = self.c.add("tuple", *(v.instruction for v in given))
        count = 2 if which.type is ElementType.PRED else self.rng.randint(1, 4)
        branches = [self.branch(f"branch{number}", given, shapes) for number in range(count)]
        computations = [computation for computation, _ in branches]
        if which.type is ElementType.PRED:
            names = {"true_computation": computations[0], "false_computation": computations[1]}
        else:
            names = {"branch_computations": tuple(computations)}
        made = self.c.add("conditional", which.instruction, *[pack] * count, **names)
        self.one_of(made, [chosen for _, chosen in branches])

    def call(self) -> None:
        """Adds a call, a call of a composite, or an asynchronous call; some computations have two callers."""
        given = self.some(self.rng.randint(1, 3))
        shapes = [v.shape.without_layout() for v in given]
        called, chosen = self.branch("called", given, shapes, flat=True)
        operands = [v.instruction for v in given]
        if self.rng.random() < 0.2:
            started = self.c.add("async-start", *operands, calls=called)
            self.one_of(self.c.add("async-done", started), [chosen])
            return
        attributes = {"is_composite": True, "frontend_attributes": (("composite.name", '"my.op"'),)}
        composite = self.rng.random() < 0.3
        made = self.c.add("call", *operands, to_apply=called, **(attributes if composite else {}))
        self.one_of(made, [chosen])

    def fusion(self) -> None:
        """Adds a fusion of elementwise ops on arrays of one shape."""
        x = self.pick(lambda v: v.is_exact and v.is_usual and v.type not in (POWERS, ElementType.PRED))
        if x is None or not self.strict or x.bound > (largest(x.type) if x.rounds else 2.0**62):
            return
        y = self.partner(x, lambda v: v.is_exact)
        inner = self.inside("fused", [x, y], [x.shape.without_layout()] * 2, flat=True)
        c = self.c
        a, b = (v.instruction for v in inner)
        # A product of complex numbers rounds more than once.
        opcode = self.rng.choice(["add", "subtract", "add" if x.type.is_complex else "multiply"])
        made = c.add("select", c.add("compare", a, b, direction="EQ"), c.add(opcode, a, b), b)
        fused = self.leave(made)
        made = self.c.add("fusion", x.instruction, y.instruction, kind="kLoop", calls=fused)
        bound = max(x.bound * y.bound, x.bound + y.bound) * 2
        self.keep(made, bound, 0.0, None) if x.rounds else self.keep(made, float("inf"))

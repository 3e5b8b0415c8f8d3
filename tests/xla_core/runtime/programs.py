"""Small programs for tests of the runtime."""

from __future__ import annotations

from xla_core.hlo import ElementType, HloComputation, HloModule, InputOutputAlias, Shape

F32 = Shape.array(ElementType.F32, (4,))


def entry(name: str = "program") -> tuple[HloModule, HloComputation]:
    module, computation = HloModule(name), HloComputation("main")
    module.add_computation(computation, entry=True)
    return module, computation


def add(shape: Shape = F32) -> HloModule:
    """(a, b) -> a + b"""
    module, e = entry("add")
    e.add("add", e.parameter(0, shape), e.parameter(1, shape))
    return module


def step(shape: Shape = F32, donate: bool = True) -> HloModule:
    """(state, x) -> (state + x, state * x), the state donated to the first result."""
    module, e = entry("step")
    state, x = e.parameter(0, shape), e.parameter(1, shape)
    e.add("tuple", e.add("add", state, x), e.add("multiply", state, x))
    if donate:
        module.input_output_aliases.append(InputOutputAlias((0,), 0))
    return module


def negate(shape: Shape = F32) -> HloModule:
    module, e = entry("negate")
    e.add("negate", e.parameter(0, shape))
    return module

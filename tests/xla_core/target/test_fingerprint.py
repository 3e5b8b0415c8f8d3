"""The fingerprint of a target covers every field that decides what compiled code means."""

from __future__ import annotations

import functools
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from typing import Any, cast

import pytest
from pydantic import BaseModel

from xla_core.hlo import ElementType, HloInstruction, Layout, Opcode, Shape
from xla_core.target import (
    CacheLevel,
    Capabilities,
    DeviceDescription,
    Fragment,
    FusionPreferences,
    HostCosts,
    LanePlace,
    LayoutRules,
    MatrixShape,
    MemorySpace,
    ParallelModel,
    TargetConfig,
)

LEFT_OUT = {
    "fusion": "what is fused decides how fast a program is, not what its arguments, results and memory are",
    "units": "a device of the same kind with more parts runs the code as well",
    "resident_threads": "a device that runs more threads at once runs the code as well",
    "host": "the costs of the host decide where a part runs; the executable says itself where",
}
"""The fields of `TargetConfig`, and of its `parallel`, that the fingerprint leaves out, and why."""


def _reject(instruction: HloInstruction) -> str | None:
    return None


def _columns(shape: Shape) -> Layout:
    return Layout(tuple(range(shape.rank)))


def _placed(instruction: HloInstruction) -> None:
    return None


PLACE = LanePlace(4, 8)
PART = Fragment(line=PLACE, term=PLACE, registers=((0, 0),), elements=1)
OTHERS: dict[tuple[type[BaseModel], str], Any] = {
    (TargetConfig, "memory_spaces"): (MemorySpace(number=0, name="device"), MemorySpace(number=1, name="fast")),
    (TargetConfig, "features"): ("fast",),
    (DeviceDescription, "caches"): (CacheLevel(size_bytes=1 << 15),),
    (DeviceDescription, "peak_flops"): {"f32": 1e12},
    (DeviceDescription, "attributes"): {"revision": "2"},
    (Capabilities, "ops"): {Opcode.ADD: frozenset({ElementType.F32})},
    (Capabilities, "index_types"): frozenset({ElementType.S64}),
    (Capabilities, "storage_types"): frozenset({ElementType.F32}),
    (Capabilities, "custom_calls"): frozenset({"call"}),
    (Capabilities, "dot_algorithms"): frozenset({"dot_tf32_tf32_f32"}),
    (Capabilities, "composites"): frozenset({"acme.norm"}),
    (Capabilities, "constraints"): {Opcode.ADD: (_reject,)},
    (Capabilities, "scalar_computations"): {Opcode.REDUCE: frozenset({Opcode.ADD})},
    (LayoutRules, "default"): _columns,
    (LayoutRules, "instruction"): _placed,
    (ParallelModel, "matrix_shapes"): (MatrixShape(16, 8, 8, ElementType.F32, ElementType.F32, PART, PART, PART),),
    (ParallelModel, "copy_bytes"): (16,),
    (ParallelModel, "atomic_bits"): (64,),
    (ParallelModel, "index_bits"): 32,
}
"""Another value of each field that isn't a number, a string or a flag."""


def _another(owner: BaseModel, name: str) -> Any:
    found = OTHERS.get((type(owner), name))
    value = getattr(owner, name)
    if found is not None:
        return found
    if isinstance(value, bool):
        return not value
    if isinstance(value, (int, float)):
        return value + 1
    if isinstance(value, str):
        return f"{value}x"
    raise AssertionError(f"name another value of {type(owner).__name__}.{name} in OTHERS")


def _changes(model: BaseModel, path: str = "") -> Iterator[tuple[str, BaseModel]]:
    """Yields copies of a model, each with one field changed, with the path of the field."""
    for name in type(model).model_fields:
        if name in LEFT_OUT:
            continue
        value = getattr(model, name)
        if isinstance(value, BaseModel):
            for inner, changed in _changes(value, f"{path}{name}."):
                yield inner, model.model_copy(update={name: changed})
        else:
            yield f"{path}{name}", model.model_copy(update={name: _another(model, name)})


PLAIN = TargetConfig(name="t")
CHANGES = dict(_changes(PLAIN))


@pytest.mark.parametrize("path", CHANGES)
def test_each_field_changes_the_fingerprint_or_is_left_out_with_a_reason(path: str) -> None:
    assert CHANGES[path].fingerprint() != PLAIN.fingerprint()
    assert CHANGES[path].fingerprint() == CHANGES[path].model_copy().fingerprint()


def test_what_changes_only_the_speed_is_left_out() -> None:
    parallel = {"units": 3, "resident_threads": 96}
    speed = {"fusion": FusionPreferences(enabled=False), "host": HostCosts(kernel_seconds=1.0)}
    assert {**speed, **parallel}.keys() == LEFT_OUT.keys()
    speed["parallel"] = PLAIN.parallel.model_copy(update=parallel)
    assert PLAIN.model_copy(update=speed).fingerprint() == PLAIN.fingerprint()


ROWS, COLUMNS = Layout((1, 0)), Layout((0, 1))


def _closes_over(layout: Layout) -> Callable[[Shape], Layout]:
    return lambda shape: layout


def _has_a_default(layout: Layout) -> Callable[[Shape], Layout]:
    return lambda shape, layout=layout: layout


def _names(layout: Layout) -> Callable[[Shape], Layout]:
    return (lambda shape: ROWS) if layout is ROWS else (lambda shape: COLUMNS)


def _looks_in_a_set(layout: Layout) -> Callable[[Shape], Layout]:
    layouts = {layout}
    return lambda shape: next(iter(layouts))


class _Rule:
    def __init__(self, layout: Layout) -> None:
        self.layout = layout
        self.calls: list[Shape] = []

    def __call__(self, shape: Shape) -> Layout:
        self.calls.append(shape)
        return self.layout

    def of(self, shape: Shape) -> Layout:
        return self(shape)


RULES: dict[str, Callable[[Layout], Callable[[Shape], Layout]]] = {
    "closes over": _closes_over,
    "looks in a set": _looks_in_a_set,
    "keeps its results": lambda layout: functools.cache(_closes_over(layout)),
    "is a method of a dictionary": lambda layout: cast(Any, {None: layout}.get),
    "has a default": _has_a_default,
    "names": _names,
    "partial": lambda layout: functools.partial(lambda layout, shape: layout, layout),
    "is an object": _Rule,
    "is a method": lambda layout: _Rule(layout).of,
}


@pytest.mark.parametrize("name", RULES)
def test_functions_that_compute_with_other_values_have_other_fingerprints(name: str) -> None:
    rules = [RULES[name](layout) for layout in (ROWS, COLUMNS, ROWS)]
    rules[2](Shape.array(ElementType.F32, (2, 3)))
    found = [TargetConfig(name="t", layouts=LayoutRules(default=rule)).fingerprint() for rule in rules]
    assert found[0] == found[2] != found[1]


def test_a_target_whose_rule_is_a_method_of_its_owner_has_a_fingerprint() -> None:
    class Owner:
        def __init__(self) -> None:
            self.target = TargetConfig(name="t", layouts=LayoutRules(default=self.columns))

        def columns(self, shape: Shape) -> Layout:
            return COLUMNS

    assert Owner().target.fingerprint() == Owner().target.fingerprint()


def test_a_fingerprint_is_the_same_in_every_process() -> None:
    code = (
        "import sys; sys.path.insert(0, '.')\n"
        "from tests.xla_core.target.test_fingerprint import CHANGES, RULES, ROWS, LayoutRules, TargetConfig\n"
        "rules = [TargetConfig(name='t', layouts=LayoutRules(default=make(ROWS))) for make in RULES.values()]\n"
        "print([target.fingerprint() for target in [*CHANGES.values(), *rules]])"
    )
    runs = [
        subprocess.run(
            [sys.executable, "-c", code],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        )
        for seed in ("1", "2")
    ]
    assert runs[0].stdout == runs[1].stdout

"""Programs whose entry has dynamic shapes: what they declare, what fits, tuples, tokens, donation."""

from __future__ import annotations

import numpy as np
import pytest

from xla_core.errors import InvalidArgumentError
from xla_core.hlo import ElementType, Shape
from xla_core.hlo.evaluator import evaluate
from xla_core.stablehlo import PolymorphicProgram, read
from xla_core.stablehlo.shapes.polymorphism import has_polymorphic_entry

NESTED = """
module @nested attributes {mhlo.num_replicas = 2 : i32, mhlo.num_partitions = 3 : i32} {
  func.func @main(%token: !stablehlo.token, %pair: tuple<tensor<?xf32>, tensor<2xi32>> {jax.buffer_donor = true},
      %c: tensor<?x?xf32, #stablehlo.bounds<?, 4>>, %n: tensor<i32>) -> tensor<?xf32> {
    %0 = stablehlo.get_tuple_element %pair[0] : (tuple<tensor<?xf32>, tensor<2xi32>>) -> tensor<?xf32>
    %1 = stablehlo.reshape %n : (tensor<i32>) -> tensor<1xi32>
    %2 = stablehlo.dynamic_iota %1, dim = 0 : (tensor<1xi32>) -> tensor<?xf32>
    %3 = stablehlo.add %0, %2 : tensor<?xf32>
    return %3 : tensor<?xf32>
  }
}
"""


def shapes(*dimensions: tuple[int, ...]) -> list[Shape]:
    types = (ElementType.F32, ElementType.S32, ElementType.F32, ElementType.S32)
    return [Shape.array(t, d) for t, d in zip(types, dimensions, strict=True)]


def test_what_a_program_declares() -> None:
    program = PolymorphicProgram(read(NESTED))
    assert [str(s) for s in program.parameters] == ["f32[?]", "s32[2]", "f32[?,<=4]", "s32[]"]
    assert [str(s) for s in program.results] == ["f32[?]"]
    assert (program.name, program.donated) == ("nested", (0, 1))
    assert (program.num_replicas, program.num_partitions) == (2, 3)
    static = "func.func @main(%a: tensor<2xf32>) -> tensor<2xf32> { return %a : tensor<2xf32> }"
    assert has_polymorphic_entry(read(NESTED))
    assert not has_polymorphic_entry(read(static))


def test_values_of_flat_parameters_reach_the_entry() -> None:
    program = PolymorphicProgram(read(NESTED))
    module = program.lower(shapes((3,), (2,), (5, 4), ()), {3: np.int32(3), 1: np.zeros(2, np.int32)})
    assert [str(s) for s in module.parameter_shapes] == ["f32[3]", "s32[2]", "f32[5,4]", "s32[]"]
    arrays = np.ones(3, np.float32), np.zeros(2, np.int32), np.zeros((5, 4), np.float32), np.int32(3)
    assert evaluate(module, *arrays)[0].tolist() == [1, 2, 3]
    with pytest.raises(InvalidArgumentError, match="Mismatched dimension sizes 3 and 4"):
        program.lower(shapes((3,), (2,), (5, 4), ()), {3: np.int32(4)})


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (shapes((3,), (3,), (1, 1), ()), r"argument 1 of nested must be s32\[2\], not s32\[3\]"),
        (
            shapes((3,), (2,), (1, 5), ()),
            r"must be f32\[\?,<=4\], not f32\[1,5\]: the size of dimension 1, 5, is over its",
        ),
        (shapes((3,), (2,), (5, 4, 1), ()), r"argument 2 of nested must be f32\[\?,<=4\], not f32\[5,4,1\]"),
        (shapes((3,), (2,), (5, 4), ())[:3], r"takes 4 arguments .*, not 3"),
        ([Shape.array(ElementType.F16, (3,)), *shapes((3,), (2,), (5, 4), ())[1:]], r"f32\[\?\], not f16\[3\]"),
    ],
)
def test_what_does_not_fit(given: list[Shape], message: str) -> None:
    with pytest.raises(InvalidArgumentError, match=message):
        PolymorphicProgram(read(NESTED)).check(given)

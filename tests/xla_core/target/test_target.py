from __future__ import annotations

import pydantic
import pytest

from xla_core.errors import InvalidArgumentError
from xla_core.hlo.parsing.parser import parse_hlo
from xla_core.hlo.values.element_type import ElementType
from xla_core.hlo.values.shape import Layout, Shape
from xla_core.target import (
    AlignmentRules,
    CacheLevel,
    Capabilities,
    DeviceDescription,
    LayoutRules,
    TargetConfig,
    Unsupported,
    array_size_bytes,
)

F32, S32, F64, PRED = ElementType.F32, ElementType.S32, ElementType.F64, ElementType.PRED

TEXT = """
HloModule m
sum {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT c = f32[] add(a, b)
}
ENTRY e {
  x = f32[8] parameter(0)
  i = s32[] parameter(1)
  d = f64[8] parameter(2)
  y = f32[8] add(x, x)
  z = pred[8] compare(x, y), direction=LT
  s = f32[8] select(z, x, y)
  v = f32[2] dynamic-slice(s, i), dynamic_slice_sizes={2}
  zero = f32[] constant(0)
  r = f32[] reduce(v, zero), dimensions={0}, to_apply=sum
  w = f64[8] add(d, d)
  k = f32[8] custom-call(x), custom_call_target="mine"
  ROOT t = (f32[], f64[8], f32[8]) tuple(r, w, k)
}
"""


def _named():
    return {i.name: i for c in parse_hlo(TEXT).computations for i in c.instructions}


def test_by_default_nothing_is_supported():
    named = _named()
    answer = Capabilities().check(named["y"])
    assert not answer
    assert isinstance(answer, Unsupported)
    assert Capabilities(ops={"negate": frozenset({F32})}).check(named["y"]) == Unsupported("there is no add")
    assert Capabilities(storage_types=frozenset({F32})).check(named["zero"])


def test_a_table_of_ops_by_types():
    named = _named()
    c = Capabilities().with_ops(("add", "compare", "select", "dynamic-slice", "reduce"), [F32])
    for name in ("x", "y", "z", "s", "v", "r", "zero"):
        assert c.check(named[name]), name
    assert c.check(named["w"]) == Unsupported("the device holds no f64")
    assert c.model_copy(update={"storage_types": frozenset({F32, F64})}).check(named["w"]) == Unsupported(
        "there is no add of f64"
    )
    assert not c.model_copy(update={"index_types": frozenset({ElementType.S64})}).check(named["v"])


def test_the_instructions_of_a_reducer_are_looked_up():
    named = _named()
    c = Capabilities().with_ops(["reduce"], [F32])
    answer = c.check(named["r"])
    assert isinstance(answer, Unsupported)
    assert "there is no add" in answer.reason
    c = c.with_ops(["add", "maximum"], [F32])
    assert c.check(named["r"])
    assert not c.model_copy(update={"scalar_computations": {"reduce": frozenset({"maximum"})}}).check(named["r"])


def test_custom_calls_and_constraints():
    named = _named()
    c = Capabilities.all_of(without=["custom-call"])
    assert not c.check(named["k"])
    assert c.model_copy(update={"custom_calls": frozenset({"mine"})}).check(named["k"])
    c = c.with_constraint("add", lambda i: "too long" if i.shape.num_elements > 4 else None)
    assert c.check(named["y"]) == Unsupported("too long")
    assert c.check(named["c"])
    assert not c.with_constraint("*", lambda i: "no").check(named["s"])


def test_an_unknown_op_is_refused_with_the_nearest_one():
    with pytest.raises(InvalidArgumentError, match="unknown HLO opcode 'ad'") as caught:
        Capabilities().with_ops(["ad"], [ElementType.F32])
    assert "add" in caught.value.hint


def test_a_constraint_that_gives_no_reason_is_named():
    def is_small(instruction):
        return True

    capabilities = Capabilities.all_of().with_constraint("add", is_small)
    with pytest.raises(InvalidArgumentError, match=r"the constraint .*is_small gave True for y"):
        capabilities.check(_named()["y"])


def test_sizes_and_layouts():
    target = TargetConfig(
        name="t",
        device=DeviceDescription(name="d", memory_bytes=1 << 30),
        layouts=LayoutRules(packed=True),
        alignment=AlignmentRules(size=8),
    )
    assert target.shape_size_bytes(Shape.array(F32, (3,))) == 16
    assert target.shape_size_bytes(Shape.array(ElementType.S4, (20,))) == 16
    assert target.shape_size_bytes(Shape.array(ElementType.PRED, (20,))) == 24
    assert target.shape_size_bytes(Shape.token()) == 0
    assert target.shape_size_bytes(Shape.tuple([Shape.array(F32), Shape.array(F64)])) == 16
    assert array_size_bytes(Shape.array(F32, (5, 9)).with_layout(Layout((1, 0), tiles=((8, 128),)))) == 8 * 128 * 4
    assert target.layouts.layout(Shape.array(ElementType.S4, (20,))).element_size_in_bits == 4


def test_configurations_are_frozen_and_have_a_fingerprint():
    a, b = TargetConfig(name="a"), TargetConfig(name="a", features=("x",))
    with pytest.raises(pydantic.ValidationError):
        a.name = "b"
    assert a.fingerprint() == TargetConfig(name="a").fingerprint() != b.fingerprint()


def test_copies_that_keep_the_layout_are_the_cores() -> None:
    """Copy insertion makes them in every type; a target's `copy` is asked for where the layout changes."""
    module = parse_hlo(
        """HloModule m
ENTRY e {
  x = u32[2,3]{1,0} parameter(0)
  a = u32[2,3]{1,0} copy(x)
  ROOT b = u32[2,3]{0,1} copy(a)
}"""
    )
    capabilities = Capabilities.all_of([ElementType.F32]).model_copy(
        update={"storage_types": frozenset({ElementType.U32})}
    )
    assert capabilities.check(module.entry.root.operand(0))
    assert not capabilities.check(module.entry.root)


def test_pieces_that_map_to_few_sets_fill_them() -> None:
    cache = CacheLevel(size_bytes=1 << 20, line_bytes=64, ways=16)  # 1024 sets
    assert cache.occupancy(1024, 64, 64) == 1 / 16
    assert cache.occupancy(1024, 64, 64 + 64 * 1024) == 1 / 16
    assert cache.occupancy(16, 64, 1 << 16) == 1
    assert cache.occupancy(16, 256, 1 << 16) == 1
    assert cache.occupancy(32, 64, 1 << 15) == 1
    assert cache.occupancy(1024, 16, 16) == 1 / 16  # four pieces share a line
    assert CacheLevel(size_bytes=1 << 20).occupancy(16, 64, 1 << 16) == 16 * 64 / (1 << 20)


def test_reshapes_are_the_cores_where_arrays_are_in_row_major_order():
    reshape = parse_hlo(
        "HloModule m\nENTRY e {\n  x = f32[8] parameter(0)\n  ROOT y = f32[2,4] reshape(x)\n}\n"
    ).entry.root
    capabilities = Capabilities().with_ops(["add"], [F32])
    assert TargetConfig(name="plain", capabilities=capabilities).supports(reshape)
    rules = LayoutRules(default=lambda s: Layout(Layout.row_major(s.rank).minor_to_major, tiles=((4,),)))
    tiled = TargetConfig(name="tiled", capabilities=capabilities, layouts=rules)
    assert "no reshape of arrays in tiles" in str(tiled.supports(reshape))
    assert tiled.model_copy(update={"capabilities": capabilities.with_ops(["reshape"], [F32])}).supports(reshape)


def test_names_and_types_that_do_not_exist_are_refused() -> None:
    few = Capabilities.all_of([ElementType.F32], opcodes=["add"])
    with pytest.raises(InvalidArgumentError, match="unknown HLO opcode 'dott'") as caught:
        few.with_constraint("dott", lambda i: "no")  # type: ignore[arg-type]
    assert caught.value.hint == "did you mean dot?"
    with pytest.raises(InvalidArgumentError, match="an element type must be an ElementType, not 'f32'"):
        few.with_ops(["add"], ["f32"])  # type: ignore[list-item]
    with pytest.raises(InvalidArgumentError, match=r"opcodes must be a list of opcodes, as in .*, not 'add'"):
        few.with_ops("add", [ElementType.F32])
    with pytest.raises(InvalidArgumentError, match="element_types must be element types, as in"):
        few.with_ops(["add"], ElementType.F32)  # type: ignore[arg-type]
    with pytest.raises(InvalidArgumentError) as caught:
        Capabilities(scalar_computations={"reduce": {"multipy"}})  # type: ignore[dict-item]
    assert "mapping of Opcodes to sets of Opcodes" in caught.value.message
    assert "because of 'multipy'" in caught.value.message
    assert caught.value.hint == "did you mean multiply?"
    with pytest.raises(InvalidArgumentError) as caught:
        Capabilities(scalar_computations={"reduce": "add"})  # type: ignore[dict-item]
    assert caught.value.hint == "write {'add'}"

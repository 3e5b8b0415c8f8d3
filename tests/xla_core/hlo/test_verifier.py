"""Each kind of invalid module is an error with a location."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from tests.xla_core.hlo.ops.ops_testing import F32, S32
from xla_core.errors import InvalidArgumentError
from xla_core.hlo import (
    HloComputation,
    HloInstruction,
    HloModule,
    InputOutputAlias,
    OpMetadata,
    Shape,
    scalar_computation,
    verify,
)
from xla_core.hlo.parsing.parser import parse_hlo
from xla_core.hlo.verifier import verify_structure

VECTOR = Shape.array(F32, (4,))


def module() -> HloModule:
    """(p0, p1) -> (p0 + p1, reduced), with a loop beside."""
    m = HloModule("m")
    c = m.add_computation(HloComputation("main"), entry=True)
    p, q = c.parameter(0, VECTOR), c.parameter(1, VECTOR)
    metadata = OpMetadata(source_file="model.py", source_line=3)
    added = c.add("add", p, q, name="added", metadata=metadata)
    zero = c.constant(np.float32(0), name="zero")
    total = c.add(
        "reduce", added, zero, dimensions=(0,), to_apply=m.add_computation(scalar_computation("add", F32)), name="total"
    )
    body, condition = (m.add_computation(HloComputation(n)) for n in ("body", "condition"))
    body.add("negate", body.parameter(0, Shape(F32)))
    condition.add("compare", condition.parameter(0, Shape(F32)), condition.constant(np.float32(0)), direction="LT")
    looped = c.add("while", total, condition=condition, body=body, name="looped")
    c.set_root(c.add("tuple", added, looped, name="result"))
    return m


def named(m: HloModule, name: str) -> HloInstruction:
    return next(i for c in m.computations for i in c.instructions if i.name == name)


def test_a_right_module() -> None:
    m = module()
    verify(m)
    verify(m.clone())
    m.input_output_aliases = [InputOutputAlias((0,), 1)]
    m.buffer_donors = [(0, ())]
    m.schedule = {m.entry: m.entry.post_order()}
    verify(m)


def wrong_shape(m: HloModule) -> None:
    named(m, "added").shape = Shape.array(F32, (5,))


def wrong_type(m: HloModule) -> None:
    named(m, "total").shape = Shape(S32)


def unknown_attribute(m: HloModule) -> None:
    named(m, "added").attributes["dimensions"] = (0,)


def missing_attribute(m: HloModule) -> None:
    del named(m, "total").attributes["dimensions"]


def wrong_kind(m: HloModule) -> None:
    named(m, "total").attributes["dimensions"] = 0


def bool_for_int(m: HloModule) -> None:
    p = named(m, "result")
    m.entry.set_root(m.entry.add("get-tuple-element", p, index=0))
    m.entry.root.attributes["index"] = True


def unknown_opcode(m: HloModule) -> None:
    named(m, "added").opcode = "ad"


def same_names(m: HloModule) -> None:
    named(m, "zero").name = "added"


def lost_user(m: HloModule) -> None:
    named(m, "added")._users.clear()


def foreign_operand(m: HloModule) -> None:
    named(m, "added").replace_operand(0, m.computations[1].parameters[0])


def wrong_arity(m: HloModule) -> None:
    named(m, "added")._operands.append(named(m, "added").operand(0))


def cycle(m: HloModule) -> None:
    added = named(m, "added")
    negated = m.entry.add("negate", added)
    added.replace_operand(0, negated)


def recursion(m: HloModule) -> None:
    body = named(m, "looped").attributes["body"]
    p = body.parameters[0]
    body.set_root(body.add("call", p, to_apply=body))


def foreign_callee(m: HloModule) -> None:
    named(m, "total").attributes["to_apply"] = scalar_computation("maximum", F32)


def wrong_body(m: HloModule) -> None:
    body = named(m, "looped").attributes["body"]
    body.set_root(body.constant(np.int32(1)))


def wrong_condition(m: HloModule) -> None:
    condition = named(m, "looped").attributes["condition"]
    condition.set_root(condition.parameters[0])


def wrong_reducer(m: HloModule) -> None:
    named(m, "total").attributes["to_apply"] = m.add_computation(scalar_computation("add", S32))


def two_parameters_of_a_number(m: HloModule) -> None:
    m.entry.parameters[1].attributes["parameter_number"] = 0


def parameter_number_too_large(m: HloModule) -> None:
    m.entry.parameters[1].attributes["parameter_number"] = 7


def alias_of_nothing(m: HloModule) -> None:
    m.input_output_aliases = [InputOutputAlias((0,), 5)]


def alias_outside_the_result(m: HloModule) -> None:
    m.input_output_aliases = [InputOutputAlias((4,), 0)]


def alias_of_another_size(m: HloModule) -> None:
    m.input_output_aliases = [InputOutputAlias((1,), 0)]


def alias_twice(m: HloModule) -> None:
    m.input_output_aliases = [InputOutputAlias((0,), 0), InputOutputAlias((0,), 1)]


def donor_and_alias(m: HloModule) -> None:
    m.input_output_aliases = [InputOutputAlias((0,), 0)]
    m.buffer_donors = [(0, ())]


def schedule_out_of_order(m: HloModule) -> None:
    m.schedule = {m.entry: m.entry.post_order()[::-1]}


def schedule_without_an_instruction(m: HloModule) -> None:
    m.schedule = {m.entry: m.entry.post_order()[:-1]}


def done_without_start(m: HloModule) -> None:
    m.entry.add("all-reduce-done", named(m, "added"))


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (wrong_shape, r"added: declared as f32\[5\], but add of f32\[4\], f32\[4\] is f32\[4\]"),
        (wrong_type, r"total: declared as s32\[\], but reduce of .* is f32\[\]"),
        (unknown_attribute, "add has no attribute dimensions"),
        (missing_attribute, "reduce needs attribute dimensions"),
        (wrong_kind, "attribute dimensions is 0; expected a value of kind ints"),
        (bool_for_int, "attribute index is True; expected a value of kind int"),
        (unknown_opcode, "unknown HLO opcode 'ad'"),
        (same_names, "its name is taken"),
        (lost_user, "does not have it as a user"),
        (foreign_operand, "is not in computation main"),
        (wrong_arity, "add takes 2 operands, not 3"),
        (cycle, "cycle"),
        (recursion, "calls itself"),
        (foreign_callee, "which is not in the module"),
        (wrong_body, r"body body returns s32\[\]; expected the state"),
        (wrong_condition, r"condition condition returns f32\[\]; expected pred\[\]"),
        (wrong_reducer, "does not fit f32"),
        (two_parameters_of_a_number, "have one number"),
        (parameter_number_too_large, "parameter number 7 is not within 0..1"),
        (alias_of_nothing, "aliased to parameter 5 of 2"),
        (alias_outside_the_result, r"output index \[4\] is not within"),
        (alias_of_another_size, "cannot take the buffer"),
        (alias_twice, "aliased twice"),
        (donor_and_alias, "is a donor and aliased"),
        (schedule_out_of_order, "scheduled before"),
        (schedule_without_an_instruction, "is not an order of its instructions"),
        (done_without_start, "expected all-reduce-start"),
    ],
)
def test_damage_is_found(damage: Callable[[HloModule], None], message: str) -> None:
    m = module()
    damage(m)
    with pytest.raises(InvalidArgumentError, match=message):
        verify(m)


def test_errors_have_the_place_in_the_users_program() -> None:
    m = module()
    wrong_shape(m)
    with pytest.raises(InvalidArgumentError) as caught:
        verify(m)
    assert caught.value.location is not None
    assert str(caught.value).startswith("model.py:3: INVALID_ARGUMENT: added: declared as")


def two_computations_of_a_name(m: HloModule) -> None:
    body, condition = (next(c for c in m.computations if c.name == name) for name in ("body", "condition"))
    body.name = condition.name


def for_no_replica(m: HloModule) -> None:
    m.num_replicas = 0


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (two_computations_of_a_name, "two computations are named condition"),
        (alias_twice, "aliased twice"),
        (for_no_replica, "m is for 0 replicas and 1 partitions"),
        (schedule_out_of_order, "scheduled before"),
    ],
)
def test_what_concerns_the_module_is_verified_apart_from_its_instructions(
    damage: Callable[[HloModule], None], message: str
) -> None:
    m = module()
    wrong_shape(m)
    verify_structure(m)
    m = module()
    damage(m)
    for verifier in (verify, verify_structure):
        with pytest.raises(InvalidArgumentError, match=message):
            verifier(m)


def test_no_entry() -> None:
    with pytest.raises(InvalidArgumentError, match="no entry"):
        verify(HloModule("empty"))


@pytest.mark.parametrize("bits", ["exponent_bits=0, mantissa_bits=2", "exponent_bits=5, mantissa_bits=-1"])
def test_reduce_precision_asks_for_a_format(bits):
    with pytest.raises(InvalidArgumentError, match=r"_bits must be at least [01]"):
        verify(
            parse_hlo(
                f"HloModule m\nENTRY e {{ p = f32[3] parameter(0)\n ROOT r = f32[3] reduce-precision(p), {bits} }}"
            )
        )


@pytest.mark.parametrize(
    ("value", "random", "result", "message"),
    [
        ("s32", "u32", "s8", "the operand has type s32"),
        ("c64", "u64", "s8", "the operand has type c64"),
        ("f32", "s32", "s8", "the random numbers have type s32"),
        ("f32", "u16", "s8", "unsigned integers of 32 bits"),
        ("f32", "f32", "s8", "the random numbers have type f32"),
        ("f32", "u32", "bf16", "the result has type bf16"),
        ("f32", "u32", "pred", "the result has type pred"),
    ],
)
def test_types_of_stochastic_convert(value: str, random: str, result: str, message: str) -> None:
    operands = f"x = {value}[3] parameter(0)\n r = {random}[3] parameter(1)\n"
    with pytest.raises(InvalidArgumentError, match=message):
        verify(parse_hlo(f"HloModule m\nENTRY e {{ {operands} ROOT y = {result}[3] stochastic-convert(x, r) }}"))


@pytest.mark.parametrize("count", [0, 3])
def test_a_gather_takes_an_element_of_each_collapsed_dimension(count: int) -> None:
    """Where the result is empty, there may be none to take."""
    m = parse_hlo(f"""HloModule m
    ENTRY e {{
      x = f32[0,4] parameter(0)
      i = s32[{count},1] parameter(1)
      ROOT y = f32[{count},4] gather(x, i), offset_dims={{1}}, collapsed_slice_dims={{0}}, start_index_map={{0}},
        index_vector_dim=1, slice_sizes={{0,4}}
    }}""")
    if count:
        with pytest.raises(InvalidArgumentError, match="a slice of size 0 in a collapsed dimension"):
            verify(m)
    else:
        verify(m)

"""Dimensions of more elements than s32 can count: ops that return sizes raise an error with their location."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

import xla_core as xla
from xla_core.errors import InvalidArgumentError

LONG = 1 << 33
STATIC = f"tensor<{LONG}x0xf32>"
BOUNDED = f"tensor<?x0xf32, #stablehlo.bounds<{LONG}, ?>>"
OPEN = "tensor<?x?xf32>"
EMPTY = np.zeros((LONG, 0), np.float32)


@pytest.fixture(scope="module")
def client() -> Any:
    with xla.Client("cpu") as made:
        yield made


def size_of(type: str) -> str:
    return (
        f"func.func @main(%x: {type}) -> tensor<i32> {{\n"
        f"  %0 = stablehlo.get_dimension_size %x, dim = 0 : ({type}) -> tensor<i32>\n  return %0 : tensor<i32>\n}}\n"
    )


@pytest.mark.parametrize("type", [STATIC, OPEN, BOUNDED])
def test_a_size_is_asked_for(client: xla.Client, type: str) -> None:
    message = f"i32, which does not hold {LONG}, the size of dimension 0 of {STATIC}"
    with pytest.raises(InvalidArgumentError, match=rf"^<input>:2:8: .*{re.escape(message)}"):
        client.compile(size_of(type))(EMPTY)


def test_a_size_is_asked_for_before_any_call(client: xla.Client) -> None:
    for size in (1 << 31, 1 << 40):
        with pytest.raises(InvalidArgumentError, match=rf"^<input>:2:8: .*does not hold {size}"):
            client.compile(size_of(OPEN)).specialize((size, 4))
    client.compile(size_of("tensor<?x0xf32>")).specialize(((1 << 31) - 1, 0))


def test_a_size_is_asked_for_by_the_evaluator() -> None:
    with pytest.raises(InvalidArgumentError, match=rf"^<input>:2:8: .*does not hold {LONG}"):
        xla.evaluate(xla.parse(size_of(STATIC)), EMPTY)
    with pytest.raises(InvalidArgumentError, match=rf"^<input>:2:8: .*dimension 0 of f32\[<={LONG},0\] has more"):
        xla.evaluate(xla.parse(size_of(BOUNDED)), EMPTY)


def test_a_size_is_set(client: xla.Client) -> None:
    """XLA: SetDimensionSize's input shape is f32[8589934592,0], the 0th dimension exceeds the INT_MAX limit."""
    text = (
        f"func.func @main(%x: {STATIC}, %n: tensor<i32>) -> {BOUNDED} {{\n"
        f"  %0 = stablehlo.set_dimension_size %x, %n, dim = 0 : ({STATIC}, tensor<i32>) -> {BOUNDED}\n"
        f"  return %0 : {BOUNDED}\n}}\n"
    )
    with pytest.raises(InvalidArgumentError, match=rf"^<input>:2:8: .*dimension 0 of f32\[{LONG},0\] has more"):
        client.compile(text)(EMPTY, np.int32(3))


def test_a_static_size_is_declared_of_a_bounded_one() -> None:
    text = (
        f"func.func @main(%x: {BOUNDED}) -> {STATIC} {{\n"
        f"  %0 = stablehlo.abs %x : ({BOUNDED}) -> {STATIC}\n  return %0 : {STATIC}\n}}\n"
    )
    with pytest.raises(InvalidArgumentError, match=rf"^<input>:2:8: .*dimension 0 of f32\[<={LONG},0\] has more"):
        xla.parse(text)


@pytest.mark.parametrize("op", ["get-dimension-size(p), dimensions={0}", "set-dimension-size(p, n), dimensions={0}"])
def test_hlo(op: str) -> None:
    shape = "s32[]" if op.startswith("get") else f"f32[<={LONG},0]"
    text = f"HloModule m\nENTRY e {{\n p = f32[{LONG},0] parameter(0)\n n = s32[] parameter(1)\n ROOT r = {shape} {op}\n}}\n"
    with pytest.raises(
        InvalidArgumentError, match=rf"^<input>:5:2: .*dimension 0 of f32\[{LONG},0\] has more elements"
    ):
        xla.parse(text)


def test_bounds_of_hlos_parameters(client: xla.Client) -> None:
    text = f"HloModule m\nENTRY e {{\n p = f32[<={LONG},0] parameter(0)\n ROOT r = f32[<={LONG},0] negate(p)\n}}\n"
    with pytest.raises(InvalidArgumentError, match=rf"^<input>:3:2: .*parameter p is f32\[<={LONG},0\]: its bound"):
        client.compile(text)
    assert xla.evaluate(xla.parse(text), EMPTY)[0].shape == EMPTY.shape


def test_a_static_size_beside_a_bound_of_hlos_parameters(client: xla.Client) -> None:
    text = f"HloModule m\nENTRY e {{\n p = f32[{LONG},<=4] parameter(0)\n ROOT r = f32[{LONG},<=4] negate(p)\n}}\n"
    assert str(client.compile(text).parameter_shapes[0]) == f"f32[{LONG},<=4]"  # 128 GiB at its bound

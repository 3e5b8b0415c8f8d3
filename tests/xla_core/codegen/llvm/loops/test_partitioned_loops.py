"""Loops that are split into segments at the edges of pads and the joints of concatenations."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.xla_core.codegen.llvm.kernels import Loaded, array, check, f32, fuse, host_abi, scalar
from xla_core.codegen.llvm import KernelEmitter
from xla_core.hlo.ir.computation import HloComputation
from xla_core.hlo.ir.instruction import HloInstruction
from xla_core.hlo.table.attributes import PaddingDimension, SliceDimension
from xla_core.hlo.values.element_type import ElementType as T


def pad(c: HloComputation, x: HloInstruction, *config: tuple[int, int, int]) -> HloInstruction:
    return c.add("pad", x, scalar(c, 7), padding=tuple(PaddingDimension(*d) for d in config))


def inner_comparisons(loaded: Loaded) -> int:
    """Choices inside the loops; the loops' own ends are not among them."""
    return len(re.findall(r"^(?:then|else)", loaded.text, re.MULTILINE))


@pytest.mark.parametrize("parts", [1, 3, 70])
@pytest.mark.parametrize("dims", [(100,), (70, 40), (3, 5000), (200, 6, 50)])
def test_edges_are_loops_of_their_own(dims: tuple[int, ...], parts: int) -> None:
    config = [(2, 3, 0)] * len(dims)
    loaded = check(lambda c, x: c.add("negate", pad(c, x, *config)), f32(*dims), tolerance=0, parts=parts)
    if len(dims) == 2:
        assert inner_comparisons(loaded) <= 2 * (dims[0] < 64)  # few rows are cut into chunks, and rows not cut


@pytest.mark.parametrize("parts", [1, 5])
def test_joints_are_loops_of_their_own(parts: int) -> None:
    def build(c: HloComputation, x: HloInstruction, y: HloInstruction) -> HloInstruction:
        joined = c.add("concatenate", x, y, x, dimensions=(1,))
        return c.add("exponential", joined)

    loaded = check(build, f32(100, 33), f32(100, 50), parts=parts)
    assert inner_comparisons(loaded) == 0


def test_strides_and_reversals_are_followed() -> None:
    def build(c: HloComputation, x: HloInstruction, y: HloInstruction) -> HloInstruction:
        joined = c.add("concatenate", x, y, dimensions=(1,))
        every_third = c.add("slice", joined, slice=(SliceDimension(0, 90), SliceDimension(2, 200, 3)))
        return pad(c, c.add("reverse", every_third, dimensions=(1,)), (0, 0, 0), (5, 1, 0))

    assert inner_comparisons(check(build, f32(90, 80), f32(90, 120), tolerance=0)) == 0


def test_short_loops_and_large_bodies_are_not_emitted_many_times() -> None:
    short = check(lambda c, x: c.add("negate", pad(c, x, (0, 0, 0), (1, 1, 0))), f32(100, 8), tolerance=0)
    assert inner_comparisons(short) > 0

    def long_body(c: HloComputation, x: HloInstruction) -> HloInstruction:
        value = pad(c, x, (0, 0, 0), (1, 1, 0))
        for _ in range(300):
            value = c.add("negate", value)
        return value

    assert inner_comparisons(check(long_body, f32(100, 80), tolerance=0)) > 0


def test_more_joints_than_segments() -> None:
    def build(c: HloComputation, *x: HloInstruction) -> HloInstruction:
        joined = c.add("concatenate", *x, *x, dimensions=(1,))
        return pad(c, c.add("negate", joined), (1, 1, 0), (0, 0, 0))

    loaded = check(build, *[f32(80, 3 + n) for n in range(20)], tolerance=0)
    assert loaded.text.count(" store ") <= 16


@settings(max_examples=25, deadline=None)
@given(st.data())
def test_chains_of_edges_and_joints(data: st.DataObject) -> None:
    """Random pads (of negative width and with gaps too), slices, reversals and concatenations of long rows."""
    dims = [data.draw(st.sampled_from([1, 3, 70])), data.draw(st.integers(32, 80))]
    element_type = data.draw(st.sampled_from([T.F32, T.S8, T.C64]))
    steps = data.draw(st.lists(st.sampled_from(["pad", "slice", "reverse", "concatenate"]), min_size=1, max_size=5))
    choices = [[data.draw(st.integers(0, 9)) for _ in range(6)] for _ in steps]

    def build(c: HloComputation, x: HloInstruction) -> HloInstruction:
        value = x
        for step, (a, b, d, e, stride, gap) in zip(steps, choices, strict=True):
            rows, columns = value.shape.dimensions
            if step == "pad":
                config = (PaddingDimension(a % 2, b % 3, 0), PaddingDimension(d - 4, e - 2, gap // 8))
                value = c.add("pad", value, scalar(c, 3, element_type), padding=config)
            elif step == "slice" and columns > 12:
                value = c.add(
                    "slice", value, slice=(SliceDimension(0, rows), SliceDimension(a, columns - b % 3, 1 + stride % 3))
                )
            elif step == "reverse":
                value = c.add("reverse", value, dimensions=(1,) if a < 7 else (0, 1))
            elif step == "concatenate":
                value = c.add("concatenate", value, c.add("reverse", value, dimensions=(1,)), dimensions=(1,))
        return c.add("negate", value) if element_type is not T.S8 else c.add("add", value, value)

    check(build, array(element_type, *dims), tolerance=0)


@pytest.mark.parametrize("dims", [(), (1,), (1, 1)])
def test_what_runs_once_has_no_loop(dims: tuple[int, ...]) -> None:
    emitter = KernelEmitter(host_abi())
    emitter.emit(fuse(lambda c, x: c.add("negate", x), f32(*dims)), "kernel", undivided=True)
    assert not re.search(r"^  br ", emitter.module.to_text(), re.MULTILINE)


def test_what_is_left_of_a_tile_becomes_no_vectors() -> None:
    """LLVM would need most of the time for the kernel to compile it."""
    loaded = check(lambda c, x: c.add("negate", c.add("transpose", x, dimensions=(1, 0))), f32(101, 103), tolerance=0)
    rests = re.findall(r"br label %edge\.\d+, !llvm\.loop (!\d+)\n", loaded.text)
    hint = re.search(r'^(!\d+) = !\{!"llvm\.loop\.vectorize\.enable", i1 false\}', loaded.text, re.MULTILINE)
    assert len(rests) == 2
    assert hint is not None
    assert all(re.search(rf"^{rest} = .*{hint[1]}\b", loaded.text, re.MULTILINE) for rest in rests)

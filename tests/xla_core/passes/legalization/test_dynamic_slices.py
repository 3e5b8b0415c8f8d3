"""Devices that move data at constant places only, by slices, joins and selects."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import xla_core as xla
from tests.programs import PROGRAMS
from tests.xla_core.passes.legalization.devices import PRIMITIVES
from xla_core.hlo import HloModule, evaluate, parse_hlo, verify
from xla_core.hlo.table.opcode import Opcode
from xla_core.hlo.values.element_type import ElementType as T
from xla_core.passes import PassContext, default_pipeline
from xla_core.passes.legalization import legalize, unsupported_instructions
from xla_core.target import Capabilities, TargetConfig

LEFT_OUT = {"dynamic-slice", "dynamic-update-slice", "pad", "shift-right-logical"}
OPS = [op for op in PRIMITIVES if op not in LEFT_OUT] + ["shift-right-arithmetic"]
RIGID = Capabilities().with_ops(OPS, [T.F32, T.S32, T.PRED])


def legalized(text: str, capabilities: Capabilities = RIGID) -> tuple[HloModule, HloModule]:
    module, legal = parse_hlo(text), parse_hlo(text)
    legalize(legal, capabilities.check)
    verify(legal)
    assert not unsupported_instructions(legal, capabilities.check)
    return module, legal


@pytest.mark.parametrize(
    ("whole", "part"),
    [((7,), (3,)), ((8,), (8,)), ((9, 4), (1, 2)), ((5, 16), (5, 1)), ((6, 3), (2, 0)), ((17, 2, 3), (4, 1, 3))],
)
def test_dynamic_slices_clamp_their_starts(whole: tuple[int, ...], part: tuple[int, ...]) -> None:
    sizes, rank = [",".join(map(str, s)) for s in (whole, part)], len(whole)
    names = ", ".join(f"i{n}" for n in range(rank))
    scalars = "".join(f" i{n} = s32[] parameter({n + 2})\n" for n in range(rank))
    text = (
        f"HloModule m\nENTRY e {{\n x = f32[{sizes[0]}] parameter(0)\n u = f32[{sizes[1]}] parameter(1)\n{scalars}"
        f" read = f32[{sizes[1]}] dynamic-slice(x, {names}), dynamic_slice_sizes={{{sizes[1]}}}\n"
        f" written = f32[{sizes[0]}] dynamic-update-slice(x, u, {names})\n"
        f" ROOT r = (f32[{sizes[1]}], f32[{sizes[0]}]) tuple(read, written)\n}}\n"
    )
    module, legal = legalized(text)
    rng = np.random.default_rng(0)
    x, update = rng.standard_normal(whole).astype(np.float32), rng.standard_normal(part).astype(np.float32)
    places = [(-(2**31), -1, *range(n + 1), 2**31 - 1) for n in whole]
    for starts in [s for n, s in enumerate(itertools.product(*places)) if n % 7 == 0 or rank == 1]:
        arguments = (x, update, *(np.asarray(start, np.int32) for start in starts))
        for expected, found in zip(evaluate(module, *arguments), evaluate(legal, *arguments), strict=True):
            np.testing.assert_array_equal(found, expected, err_msg=str(starts))


@pytest.mark.parametrize("kind", ["u32", "s8", "u8", "s64"])
def test_starts_of_other_types(kind: str) -> None:
    text = (
        f"HloModule m\nENTRY e {{\n x = f32[300] parameter(0)\n i = {kind}[] parameter(1)\n"
        f" ROOT r = f32[5] dynamic-slice(x, i), dynamic_slice_sizes={{5}}\n}}\n"
    )
    capabilities = Capabilities.all_of(without=[Opcode.DYNAMIC_SLICE, Opcode.DYNAMIC_UPDATE_SLICE])
    module, legal = legalized(text, capabilities)
    x, dtype = np.arange(300, dtype=np.float32), T(kind).dtype
    for start in (np.iinfo(dtype).min, 0, 77, np.iinfo(dtype).max):
        (expected,), (found,) = (evaluate(m, x, dtype.type(start)) for m in (module, legal))
        np.testing.assert_array_equal(found, expected, err_msg=str(start))


@pytest.mark.parametrize(
    ("size", "padding", "result"),
    [
        (4, "2_3", 9), (4, "-1_-2", 1), (4, "1_0_2", 11), (3, "-2_5_3", 12), (3, "-7_9", 5), (3, "9_-8", 4), (0, "2_1_1", 3),
        (1, "0_0_4", 1), (3, "-5_-1_2", 1), (2, "-1_-1", 0),
    ],
)  # fmt: skip
def test_pads(size: int, padding: str, result: int) -> None:
    text = (
        f"HloModule m\nENTRY e {{\n x = s32[2,{size}] parameter(0)\n v = s32[] parameter(1)\n"
        f" ROOT r = s32[4,{result}] pad(x, v), padding=0_1_1x{padding}\n}}\n"
    )
    module, legal = legalized(text)
    x = np.arange(1, 2 * size + 1, dtype=np.int32).reshape(2, size)
    (expected,), (found,) = (evaluate(m, x, np.int32(-7)) for m in (module, legal))
    np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("kind", ["s32", "u32", "s8", "u64"])
def test_a_logical_shift_by_an_arithmetic_one(kind: str) -> None:
    capabilities = Capabilities.all_of(without=[Opcode.SHIFT_RIGHT_LOGICAL])
    body = (
        f" x = {kind}[90] parameter(0)\n n = {kind}[90] parameter(1)\n ROOT r = {kind}[90] shift-right-logical(x, n)\n"
    )
    module, legal = legalized(f"HloModule m\nENTRY e {{\n{body}}}\n", capabilities)
    dtype = T(kind).dtype
    info = np.iinfo(dtype)
    x = np.repeat(np.array([info.min, info.max, 1, 0, info.max // 3, info.min // 5], dtype), 15)
    n = np.resize(np.array([0, 1, 7, 8, 9, 31, 32, 33, 63, 64, 65, 100, info.max, info.min, 5], dtype), 90)
    (expected,), (found,) = (evaluate(m, x, n) for m in (module, legal))
    np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("kind", ["s2", "u2", "s4", "u4"])
def test_a_logical_shift_of_few_bits(kind: str) -> None:
    """The type may be too narrow for the number of its bits."""
    low, high = T(kind).integer_range
    values = np.arange(low, high + 1)
    x, n = (v.astype(T(kind).dtype) for v in (np.repeat(values, len(values)), np.tile(values, len(values))))
    body = "".join(f" {v} = {kind}[{len(x)}] parameter({i})\n" for i, v in enumerate("xn"))
    text = f"HloModule m\nENTRY e {{\n{body} ROOT r = {kind}[{len(x)}] shift-right-logical(x, n)\n}}\n"
    module, legal = legalized(text, Capabilities.all_of(without=[Opcode.SHIFT_RIGHT_LOGICAL]))
    (expected,), (found,) = (evaluate(m, x, n) for m in (module, legal))
    np.testing.assert_array_equal(found.astype(np.int8), expected.astype(np.int8))


@pytest.mark.parametrize(
    "name", ["lstm_grad", "dynamic_slices", "scatter_forms", "random_integers_and_choices", "gather_forms", "sort_grad"]
)
def test_stored_programs_run(name: str) -> None:
    (program,) = (p for p in PROGRAMS if p.name == name)
    module = xla.parse(program.text)
    target = TargetConfig(name="rigid", capabilities=RIGID)
    PassContext(invariants=[verify]).run(default_pipeline(target), module, ())
    program.check(evaluate(module, *program.inputs()))

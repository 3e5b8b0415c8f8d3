"""Ranges of integers hold for every value that the evaluator computes."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

import xla_core as xla
from xla_core.analysis.integer_ranges import integer_ranges
from xla_core.hlo import HloModule, Opcode

KINDS = ["s8", "u8", "s32", "u32", "s64", "u64"]
BINARY = [
    *("add", "subtract", "multiply", "maximum", "minimum", "and", "or", "xor", "divide", "remainder"),
    *("shift-left", "shift-right-logical", "shift-right-arithmetic"),
]
INTERESTING = [0, 1, 2, 3, 5, 7, 8, 31, 32, 33, 63, 64, 127, 128, 255, 2**31 - 1, 2**31, 2**32 - 1, 2**32, 2**63 - 1]


def wrapped(value: int, kind: str) -> int:
    """The number of `kind` with the low bits of `value`."""
    return int(
        np.array(value & (2**64 - 1), np.uint64).astype(
            np.dtype({"s": "i", "u": "u"}[kind[0]] + str(int(kind[1:]) // 8))
        )
    )


@st.composite
def programs(draw: st.DrawFn) -> HloModule:
    kind = draw(st.sampled_from(KINDS))
    lines = ["  zero = s32[] constant(0)", f"  n = {kind}[6] iota(), iota_dimension=0"]
    names = ["n"]
    for number in range(draw(st.integers(1, 6))):
        name, x = f"v{number}", draw(st.sampled_from(names))
        what = draw(
            st.sampled_from([*BINARY, "constant", "constant", "clamp", "select", "slice", "reverse", "convert"])
        )
        if what == "constant":
            signs = st.sampled_from([1, -1])
            values = [wrapped(draw(signs) * draw(st.sampled_from(INTERESTING)), kind) for _ in range(6)]
            lines.append(f"  {name} = {kind}[6] constant({{{', '.join(map(str, values))}}})")
        elif what == "convert":
            between = draw(st.sampled_from(["s8", "u16", "s32", "u32", "u64", "pred"]))
            lines.append(f"  c{number} = {between}[6] convert({x})")
            lines.append(f"  {name} = {kind}[6] convert(c{number})")
        elif what == "slice":
            lines.append(f"  s{number} = {kind}[1] slice({x}), slice={{[2:3]}}")
            lines.append(f"  r{number} = {kind}[] reshape(s{number})")
            lines.append(f"  {name} = {kind}[6] broadcast(r{number}), dimensions={{}}")
        elif what == "reverse":
            lines.append(f"  {name} = {kind}[6] reverse({x}), dimensions={{0}}")
        else:
            y, z = draw(st.sampled_from(names)), draw(st.sampled_from(names))
            if what == "select":
                lines.append(f"  p{number} = pred[6] compare({x}, {y}), direction=LT")
                operands = f"p{number}, {y}, {z}"
            else:
                operands = f"{x}, {y}, {z}" if what == "clamp" else f"{x}, {y}"
            lines.append(f"  {name} = {kind}[6] {what}({operands})")
        names.append(name)
    text = "\n".join(lines)
    shapes = ", ".join(f"{kind}[6]" for _ in names)
    return xla.parse(f"HloModule m\n\nENTRY e {{\n{text}\n  ROOT t = ({shapes}) tuple({', '.join(names)})\n}}\n")


@settings(max_examples=300, deadline=None)
@given(module=programs())
def test_no_value_is_outside_its_range(module: HloModule) -> None:
    ranges = integer_ranges(module.entry)
    for instruction, values in zip(module.entry.root.operands, xla.evaluate(module), strict=True):
        low, high = ranges[instruction]
        assert low <= int(values.min()), instruction
        assert int(values.max()) <= high, instruction


def test_what_is_known_is_narrow() -> None:
    module = xla.parse(
        "HloModule m\n\nENTRY e {\n  i = u64[8,4] iota(), iota_dimension=0\n  c = u64[] constant(4)\n"
        "  f = u64[8,4] broadcast(c), dimensions={}\n  m = u64[8,4] multiply(i, f)\n"
        "  j = u64[8,4] iota(), iota_dimension=1\n  a = u64[8,4] add(m, j)\n  s = u64[] constant(2)\n"
        "  t = u64[8,4] broadcast(s), dimensions={}\n  ROOT r = u64[8,4] shift-right-logical(a, t)\n}\n"
    )
    ranges = {i.name: found for i, found in integer_ranges(module.entry).items()}
    assert ranges["m"] == (0, 28)
    assert ranges["a"] == (0, 31)
    assert ranges["r"] == (0, 7)
    assert module.entry.root.opcode is Opcode.SHIFT_RIGHT_LOGICAL

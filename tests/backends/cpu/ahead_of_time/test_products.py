"""Products of bytes, whose kernels pack several elements in a word, on processors of both byte orders."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import xla_core as xla
from tests.backends.cpu.ahead_of_time.machines import MACHINES, Machine

_SHAPES = [(6, 16, 24), (1, 64, 32), (5, 35, 23), (33, 2, 40)]
_TYPES = [("s8", "s8"), ("u8", "s8"), ("u8", "u8")]


def _program() -> tuple[str, list[np.ndarray]]:
    """The products of all shapes and types, with operands whose contracted dimension is the inner and the outer one."""
    rng = np.random.default_rng(0)
    lines, roots, types, inputs = [], [], [], []
    for rows, taps, columns in _SHAPES:
        for left, right in _TYPES:
            for inner in (0, 1):
                number = len(roots)
                for side, type_, shape in (
                    ("x", left, (rows, taps)),
                    ("y", right, (columns, taps) if inner else (taps, columns)),
                ):
                    lines.append(f"{side}{number} = {type_}{list(shape)} parameter({len(inputs)})")
                    info = np.iinfo(f"{'u' if type_ == 'u8' else ''}int8")
                    inputs.append(rng.integers(info.min, info.max + 1, shape).astype(info.dtype))
                dims = f"lhs_contracting_dims={{1}}, rhs_contracting_dims={{{inner}}}"
                lines.append(f"z{number} = s32[{rows},{columns}] dot(x{number}, y{number}), {dims}")
                roots.append(f"z{number}")
                types.append(f"s32[{rows},{columns}]")
    root = f"ROOT all = ({', '.join(types)}) tuple({', '.join(roots)})"
    return "HloModule products\nENTRY main {\n" + "\n".join([*lines, root]) + "\n}", inputs


@pytest.mark.parametrize(
    "machine",
    [pytest.param(m, id=m.name, marks=[] if m.name in ("s390x", "aarch64") else [pytest.mark.slow]) for m in MACHINES],
)
def test_products_of_bytes_are_exact(machine: Machine, tmp_path: Path) -> None:
    if machine.missing:
        pytest.skip(f"not installed: {machine.missing}")
    text, inputs = _program()
    wanted = xla.evaluate(xla.parse(text), *inputs)
    for got, exact in zip(machine.results(xla.parse(text), inputs, tmp_path), wanted, strict=True):
        np.testing.assert_array_equal(got, exact)

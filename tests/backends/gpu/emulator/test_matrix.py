"""Products of matrices in a warp's registers, on both engines, compared with numpy."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

pytest.importorskip("xla_backend_gpu", reason="xla-backend-gpu is not installed")

from tests.backends.gpu.emulator.running import ENGINES, accepted_by_ptxas, kernel, run

BF16 = ml_dtypes.bfloat16


def fragment(matrix: np.ndarray, each: int, *, blocks: bool) -> np.ndarray:
    """The registers of the lanes of an operand's lines x terms: PTX's manual gives them by lane and register.

    `blocks`: whether lines 8 to 15 are in registers of their own.
    """
    halves = matrix.shape[0] // 8 if blocks else 1
    count = matrix.shape[1] // (4 * each) * halves
    found = np.zeros((count, 32, each), matrix.dtype)
    for register in range(count):
        for lane in range(32):
            first = each * (lane % 4) + 4 * each * (register // halves)
            found[register, lane] = matrix[lane // 4 + 8 * (register % halves), first : first + each]
    return found.reshape(count, 32 * each)


def results(rows: int) -> list[tuple[np.ndarray, np.ndarray]]:
    lane = np.arange(32)
    return [(lane // 4 + 8 * (r // 2), 2 * (lane % 4) + r % 2) for r in range(rows // 4)]


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(
    ("rows", "terms", "name", "dtype", "total"),
    [
        (16, 8, "f16", np.float16, np.float32),
        (16, 16, "f16", np.float16, np.float32),
        (16, 16, "bf16", BF16, np.float32),
        (16, 8, "bf16", BF16, np.float32),
        (16, 4, "tf32", np.float32, np.float32),
        (16, 8, "tf32", np.float32, np.float32),
        (16, 32, "e4m3", ml_dtypes.float8_e4m3fn, np.float32),
        (16, 32, "e5m2", ml_dtypes.float8_e5m2, np.float32),
        (16, 16, "s8", np.int8, np.int32),
        (16, 32, "u8", np.uint8, np.int32),
        (8, 4, "f64", np.float64, np.float64),
    ],
)
def test_products_of_a_warp(rows: int, terms: int, name: str, dtype, total, engine: str) -> None:
    rng = np.random.default_rng(terms)
    low = 0 if name == "u8" else -9
    a, b = rng.integers(low, 9, (rows, terms)).astype(dtype), rng.integers(low, 9, (8, terms)).astype(dtype)
    c = rng.integers(-99, 99, (rows, 8)).astype(total)
    each = max(1, 4 // np.dtype(dtype).itemsize)
    left, right = fragment(a, each, blocks=True), fragment(b, each, blocks=False)
    wide = name == "f64"
    register, size = ("%fd", 8) if wide else ("%r1", 4)
    text = ["mul.wide.u32 %rd21, %r1, 8;" if wide else "mov.u64 %rd21, %rd20;"]
    out = "f64" if wide else "b32"

    def moves(op: str, pointer: int, names: list[str]) -> None:
        text.append(f"add.u64 %rd22, %rd{pointer}, %rd21;")
        for n, each_name in enumerate(names):
            place = f"[%rd22+{n * 32 * size}]"
            text.append(
                f"ld.global.{out} {each_name}, {place};" if op == "ld" else f"st.global.{out} {place}, {each_name};"
            )

    names = [
        [f"{register}{letter}{n}" for n in range(count)]
        for letter, count in zip("0123", (len(left), len(right), rows // 4, rows // 4), strict=True)
    ]
    for pointer, group in zip((1, 2, 3), names, strict=False):
        moves("ld", pointer, group)
    kind = {"s8": "s32", "u8": "s32"}.get(name, "f64" if wide else "f32")
    groups = ", ".join("{" + ", ".join(group) + "}" for group in (names[3], *names[:3]))
    text.append(f"mma.sync.aligned.m{rows}n8k{terms}.row.col.{kind}.{name}.{name}.{kind} {groups};")
    moves("st", 4, names[3])
    declared = ", ".join(n for group in names for n in group)
    body = kernel("\n".join(text), 4, declare=f".reg .{out} {declared};")
    accepted_by_ptxas(body)
    start = np.stack([c[place] for place in results(rows)])
    (*_, got), _ = run(body, [left, right, start, np.zeros_like(start)], engine=engine)
    wide_type = np.int64 if np.dtype(total).kind == "i" else np.float64
    expected = a.astype(wide_type) @ b.astype(wide_type).T + c
    for register_values, place in zip(got, results(rows), strict=True):
        np.testing.assert_array_equal(register_values, expected[place].astype(total))

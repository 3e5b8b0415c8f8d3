"""Arrays with more elements than f32 counts, and with more bytes than 31 or 32 bits address.

The expected results are formulas: the reference evaluator would take too long for so many elements.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence

import numpy as np
import pytest

from xla_conformance.bits import require_bits
from xla_conformance.device.memories import LEAST_MEMORY, require_memory
from xla_core import Client

COUNT = (1 << 24) + 3
"""f32 holds every whole number up to 2^24, and not the next one: an index or a count in f32 goes wrong here."""

_PLACES = np.array([0, 65_537, (1 << 24) - 1, 1 << 24, (1 << 24) + 1, (1 << 24) + 2], np.int32)
_SENTENCE = "Ops give every element of an array, also of more than 2^{} elements."


def _bytes(count: int) -> np.ndarray:
    """Elements that differ from those which a power of two is between."""
    return (np.arange(count, dtype=np.int64) * 37 % 251).astype(np.uint8)


@dataclasses.dataclass(frozen=True)
class _Case:
    """The entry of a program, its arguments, and the formula of its result."""

    entry: str
    arguments: Callable[[], Sequence[np.ndarray]]
    expected: Callable[..., np.ndarray]


def _program(entry: str) -> str:
    return (
        "HloModule large\n\n"
        "plus {\n  a = s32[] parameter(0)\n  b = s32[] parameter(1)\n  ROOT r = s32[] add(a, b)\n}\n\n"
        "second {\n  a = u8[] parameter(0)\n  ROOT b = u8[] parameter(1)\n}\n\n"
        "larger {\n  a = s32[] parameter(0)\n  b = s32[] parameter(1)\n  ROOT r = s32[] maximum(a, b)\n}\n\n"
        f"ENTRY main {{\n{entry}\n}}\n"
    )


def _one() -> list[np.ndarray]:
    return [_bytes(COUNT)]


def _updated(x: np.ndarray, start: int, values: np.ndarray) -> np.ndarray:
    return np.concatenate([x[:start], values, x[start + len(values) :]])


def _scattered(x: np.ndarray, places: np.ndarray, values: np.ndarray) -> np.ndarray:
    result = x.copy()
    result[places] = values
    return result


_X = f"x = u8[{COUNT}] parameter(0)"
_SUM = (
    "n = s32[{0}] convert(x)\nzero = s32[] constant(0)\nROOT r = s32[] reduce(n, zero), dimensions={{0}}, to_apply=plus"
)
_CASES = {
    "add": _Case(
        f"{_X}\ny = u8[{COUNT}] parameter(1)\nROOT r = u8[{COUNT}] add(x, y)",
        lambda: [_bytes(COUNT), _bytes(COUNT) // 2],
        lambda x, y: x + y,
    ),
    "iota": _Case(f"ROOT r = s32[{COUNT}] iota(), iota_dimension=0", list, lambda: np.arange(COUNT, dtype=np.int32)),
    "slice": _Case(
        f"{_X}\nROOT r = u8[6] slice(x), slice={{[{COUNT - 11}:{COUNT}:2]}}", _one, lambda x: x[COUNT - 11 :: 2]
    ),
    "dynamic-slice": _Case(
        f"{_X}\ni = s32[] parameter(1)\nROOT r = u8[2] dynamic-slice(x, i), dynamic_slice_sizes={{2}}",
        lambda: [_bytes(COUNT), np.array(COUNT - 2, np.int32)],
        lambda x, i: x[i : i + 2],
    ),
    "dynamic-update-slice": _Case(
        f"{_X}\ny = u8[2] parameter(1)\ni = s32[] parameter(2)\nROOT r = u8[{COUNT}] dynamic-update-slice(x, y, i)",
        lambda: [_bytes(COUNT), np.array([254, 253], np.uint8), np.array(COUNT - 2, np.int32)],
        lambda x, y, i: _updated(x, int(i), y),
    ),
    "gather": _Case(
        f"{_X}\ni = s32[6] parameter(1)\nROOT r = u8[6] gather(x, i), offset_dims={{}}, collapsed_slice_dims={{0}}, "
        "start_index_map={0}, index_vector_dim=1, slice_sizes={1}",
        lambda: [_bytes(COUNT), _PLACES],
        lambda x, i: x[i],
    ),
    "scatter": _Case(
        f"{_X}\ni = s32[6] parameter(1)\ny = u8[6] parameter(2)\nROOT r = u8[{COUNT}] scatter(x, i, y), "
        "update_window_dims={}, inserted_window_dims={0}, scatter_dims_to_operand_dims={0}, index_vector_dim=1, "
        "to_apply=second",
        lambda: [_bytes(COUNT), _PLACES, np.arange(249, 255, dtype=np.uint8)],
        _scattered,
    ),
    "reduce": _Case(f"{_X}\n{_SUM.format(COUNT)}", _one, lambda x: np.asarray(x.sum(), np.int32)),
    "reduce of places": _Case(
        f"n = s32[{COUNT}] iota(), iota_dimension=0\nzero = s32[] constant(0)\n"
        "ROOT r = s32[] reduce(n, zero), dimensions={0}, to_apply=larger",
        list,
        lambda: np.asarray(COUNT - 1, np.int32),
    ),
    "transpose": _Case(
        "x = u8[4096,4097] parameter(0)\nROOT r = u8[4097,4096] transpose(x), dimensions={1,0}",
        lambda: [_bytes(4096 * 4097).reshape(4096, 4097)],
        lambda x: x.T,
    ),
    "broadcast": _Case(
        "x = u8[4097] parameter(0)\nROOT r = u8[4096,4097] broadcast(x), dimensions={1}",
        lambda: [_bytes(4097)],
        lambda x: np.broadcast_to(x, (4096, 4097)),
    ),
    "reverse": _Case(f"{_X}\nROOT r = u8[{COUNT}] reverse(x), dimensions={{0}}", _one, lambda x: x[::-1]),
    "pad": _Case(
        f"{_X}\nz = u8[] constant(255)\nROOT r = u8[{COUNT + 3}] pad(x, z), padding=1_2",
        _one,
        lambda x: np.pad(x, (1, 2), constant_values=255),
    ),
    "concatenate": _Case(
        f"{_X}\ny = u8[5] parameter(1)\nROOT r = u8[{COUNT + 5}] concatenate(x, y), dimensions={{0}}",
        lambda: [_bytes(COUNT), _bytes(5)],
        lambda x, y: np.concatenate([x, y]),
    ),
}


@pytest.mark.profile("full")
@pytest.mark.parametrize("name", _CASES)
def test_more_elements_than_f32_counts(client: Client, name: str) -> None:
    require_memory(client.devices[0].executor, 8 * COUNT + LEAST_MEMORY)
    case = _CASES[name]
    program, arguments = _program(case.entry), case.arguments()
    (result,) = client.compile(program)(*arguments)
    expected = np.asarray(case.expected(*arguments), order="C")
    require_bits(
        _SENTENCE.format(24),
        [np.asarray(result)],
        [expected],
        module=program,
        arguments=arguments,
        promise="compiler.run-backend",
    )


@pytest.mark.profile("full")
@pytest.mark.parametrize("bits", [31, 32])
def test_more_bytes_than_a_word_addresses(client: Client, bits: int) -> None:
    """The array is made on the device and stays there: each program returns some bytes of it."""
    count = (1 << bits) + 11
    require_memory(client.devices[0].executor, 2 * count + LEAST_MEMORY)
    (large,) = client.compile(_program(f"ROOT r = u8[{count}] iota(), iota_dimension=0")).execute([])
    expected = (np.arange(count - 8, count) % 256).astype(np.uint8)
    x = f"x = u8[{count}] parameter(0)"
    start = client.buffer_from_host(np.uint64(count - 8))
    taken = {
        f"{x}\nROOT r = u8[8] slice(x), slice={{[{count - 8}:{count}]}}": [large],
        f"{x}\ni = u64[] parameter(1)\nROOT r = u8[8] dynamic-slice(x, i), dynamic_slice_sizes={{8}}": [large, start],
    }
    for entry, buffers in taken.items():
        program = _program(entry)
        (result,) = client.compile(program).execute(buffers)
        require_bits(
            _SENTENCE.format(bits), [np.asarray(result)], [expected], module=program, promise="compiler.run-backend"
        )

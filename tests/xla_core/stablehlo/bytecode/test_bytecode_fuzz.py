"""Mutated bytecode gives a module or an XlaError with a location, in bounded time and memory."""

from __future__ import annotations

import random
import resource
import time
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.xla_core.stablehlo.bytecode.bytecode_files import varint
from tests.xla_core.stablehlo.bytecode.test_bytecode import add_file
from tests.xla_core.stablehlo.reading import stablehlo_tests
from xla_core.errors import XlaError
from xla_core.stablehlo import lower, parse_bytecode, verify

FRAGMENTS = (varint((1 << 64) - 1), varint(1 << 60), b"\0" * 9, b"\x80" + b"\xff" * 7, b"\xcb" * 8, b"ML\xefR")


def files() -> list[bytes]:
    """Files by hand in every version of the format, and StableHLO's own where they are."""
    found = [add_file(version) for version in range(7)]
    try:
        folder = stablehlo_tests() / "vhlo"
    except pytest.skip.Exception:
        return found
    return found + [path.read_bytes() for path in sorted(folder.glob("*.bc"))]


def mutate(source: bytes, rng: random.Random) -> bytes:
    """Some flips of bits, or cuts, insertions and moves too."""
    data = bytearray(source)
    has_flips_alone = rng.random() < 0.6
    for _ in range(rng.choice((1, 1, 1, 2, 4, 8))):
        at = rng.randrange(len(data)) if data else 0
        to = at + rng.randrange(1, 30)
        kind = rng.randrange(3) if has_flips_alone else rng.randrange(8)
        if kind <= 1 and data:
            data[at] ^= 1 << rng.randrange(8)
        elif kind == 2 and data:
            data[at] = rng.randrange(256)
        elif kind == 3:
            del data[at:]
        elif kind == 4:
            data[at:at] = rng.choice(FRAGMENTS)
        elif kind == 5:
            del data[at:to]
        elif kind == 6 and data:
            place = rng.randrange(len(data))
            data[place:place] = data[at:to]
        else:
            data[at:to] = bytes(to - at)
    return bytes(data)


def check(data: bytes) -> str:
    """How far a program came: "refused", "read", "verified" or "lowered"."""
    start = time.thread_time()
    reached = "refused"
    try:
        module = parse_bytecode(data, "file.bc")
        reached = "read"
        assert all(op.location is not None for op in module.walk())
        verify(module)
        reached = "verified"
        if "main" in module.functions:
            lower(module)
            reached = "lowered"
    except XlaError as error:
        has_place = error.location is not None
    else:
        has_place = True
    assert has_place or reached != "refused", data
    assert time.thread_time() - start < 5, data
    return reached


def run(seed: int, count: int) -> None:
    rng = random.Random(seed)
    sources = files()
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    reached = Counter(check(mutate(rng.choice(sources), rng)) for _ in range(count))
    assert reached["refused"] > count // 10
    assert reached["read"] + reached["verified"] > count // 100
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 300_000  # kilobytes


def test_mutations() -> None:
    run(seed=0, count=700)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(1, 11))
def test_many_mutations(seed: int) -> None:
    run(seed, count=10_000)


def test_every_byte_of_a_small_file() -> None:
    for version in range(7):
        source = add_file(version)
        for at in range(len(source)):
            for byte in (0, 1, 255, source[at] ^ 1, source[at] ^ 128):
                check(source[:at] + bytes([byte]) + source[at + 1 :])


@given(st.binary(max_size=200))
def test_any_bytes(data: bytes) -> None:
    check(data)
    check(b"ML\xefR" + varint(6) + b"x\0" + data)

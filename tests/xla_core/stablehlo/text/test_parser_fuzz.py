"""Mutated programs give a module or an XlaError with a location, in little time."""

from __future__ import annotations

import random
import string
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.xla_core.stablehlo.reading import PROGRAM, stablehlo_tests
from xla_core.errors import XlaError
from xla_core.stablehlo import parse_text, split_modules

CHARACTERS = string.printable + "\x00\u00e9\ud800"
FRAGMENTS = """
tensor< dense< loc( %0 #stablehlo array<i64: -1 0x 99999999999999999999 ? -> { } ( ) " : < > 1e999 i32 // @f ...
!quant.uniform< complex<f32> stablehlo.add ^bb0 unit #loc1
"""
WORDS = FRAGMENTS.split()


def mutate(text: str, rng: random.Random) -> str:
    """Some cuts, flips, insertions and moves."""
    for _ in range(rng.choice((1, 1, 1, 2, 4))):
        at = rng.randrange(len(text) + 1)
        to = min(len(text), at + rng.randrange(1, 60))
        kind = rng.randrange(6)
        if kind == 0:
            text = text[:at]
        elif kind == 1:
            text = text[:at] + rng.choice(CHARACTERS) + text[at + 1 :]
        elif kind == 2:
            text = text[:at] + rng.choice(WORDS) + text[at:]
        elif kind == 3:
            text = text[:at] + text[to:]
        elif kind == 4:
            place = rng.randrange(len(text) + 1)
            text = text[:place] + text[at:to] + text[place:]
        else:
            lines = text.split("\n")
            a, b = rng.randrange(len(lines)), rng.randrange(len(lines))
            lines[a], lines[b] = lines[b], lines[a]
            text = "\n".join(lines)
    return text


def check(text: str) -> bool:
    """Whether it is a module; an error must be whole."""
    start = time.thread_time()
    try:
        module = parse_text(text)
    except XlaError as error:
        is_module, problem = False, error
    else:
        is_module = all(op.location is not None for op in module.walk())
        assert is_module, text
    if not is_module:
        assert problem.location is not None, text
        assert problem.location.line, text
        assert problem.snippet is not None, text
    assert time.thread_time() - start < 5, text
    return is_module


def programs() -> list[str]:
    found = [PROGRAM]
    try:
        folder = stablehlo_tests()
    except pytest.skip.Exception:
        return found
    for path in sorted(folder.rglob("*.mlir"))[::3]:
        found += [part.strip() + "\n" for part in split_modules(path.read_text()) if len(part) < 20_000]
    return found


def test_mutations_of_a_program() -> None:
    rng = random.Random(0)
    modules = sum(check(mutate(PROGRAM, rng)) for _ in range(700))
    assert 0 < modules < 700


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(4))
def test_many_mutations_of_real_programs(seed: int) -> None:
    rng = random.Random(seed)
    seeds = programs()
    modules = sum(check(mutate(rng.choice(seeds), rng)) for _ in range(10_000))
    assert modules > 0


@given(st.lists(st.sampled_from([*WORDS, " ", "\n", "module", "func.func", "=", ",", "%a", "i32", "1"]), max_size=30))
def test_any_words(words: list[str]) -> None:
    check(" ".join(words))


@given(st.text(st.characters(), max_size=60))
def test_any_text(text: str) -> None:
    check(text)

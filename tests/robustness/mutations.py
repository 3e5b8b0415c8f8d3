"""Seeded mutations of program texts: cuts, flipped bytes, moved tokens and lines, extreme numbers, other types and ops."""

from __future__ import annotations

import random
import re
from collections.abc import Callable

NUMBERS = ["0", "1", "-1", "2", "3", "7", "64", "255", "65536", "1048577", "2147483647", "2147483648", "-2147483649",
           "4294967296", "9223372036854775807", "9223372036854775808", "-9223372036854775809", "18446744073709551616",
           "1e999", "0x7FC00000", "?", "nan"]  # fmt: skip
TYPES = ["i1", "i2", "i4", "i8", "i16", "i32", "i64", "ui2", "ui4", "ui8", "ui16", "ui32", "ui64", "f4E2M1FN", "f8E4M3FN",
         "f8E5M2", "f8E8M0FNU", "f16", "bf16", "f32", "f64", "complex<f32>", "complex<f64>", "index", "none"]  # fmt: skip
HLO_TYPES = ["pred", "s2", "s4", "s8", "s16", "s32", "s64", "u2", "u4", "u8", "u16", "u32", "u64", "f4e2m1fn", "f8e4m3fn",
             "f8e5m2", "f8e8m0fnu", "f16", "bf16", "f32", "f64", "c64", "c128", "token", "opaque"]  # fmt: skip

NUMBER = re.compile(r"(?<![\w%#@.])-?\d[\d.]*(?:[eE][-+]?\d+)?(?![\w.])|(?<=[<x])\d+(?=x)")
TYPE = re.compile(r"(?<![\w.])(?:tensor<|(?<=x))?\b(u?i\d+|f\d+\w*|bf16)\b|(?<=x)(u?i\d+|f\d+\w*|bf16)(?=>)")
HLO_TYPE = re.compile(r"\b(pred|[suf]\d+\w*|bf16|c64|c128|token)(?=\[)")
OP = re.compile(r"\b(?:stablehlo|chlo)\.[a-z_]+")
HLO_OP = re.compile(r"(?<=[\])}] )[a-z][a-z-]+(?=\()")
TOKEN = re.compile(r"%?#?@?[\w.$-]+|->|\S")

Mutator = Callable[[str, random.Random], str]


def truncate(text: str, rng: random.Random) -> str:
    return text[: rng.randrange(len(text))]


def flip_byte(text: str, rng: random.Random) -> str:
    at = rng.randrange(len(text))
    return text[:at] + chr(ord(text[at]) ^ (1 << rng.randrange(8))) + text[at + 1 :]


def another_byte(text: str, rng: random.Random) -> str:
    at = rng.randrange(len(text))
    return text[:at] + chr(rng.choice([0, 10, 32, 34, 123, 125, rng.randrange(32, 127), 0xE9, 0x2028])) + text[at + 1 :]


def _replaced(text: str, match: re.Match[str], new: str, group: int = 0) -> str:
    return text[: match.start(group)] + new + text[match.end(group) :]


def _near(pattern: re.Pattern[str], text: str, rng: random.Random) -> re.Match[str] | None:
    """The first match after a random place."""
    return pattern.search(text, rng.randrange(len(text))) or pattern.search(text)


def drop_token(text: str, rng: random.Random) -> str:
    match = _near(TOKEN, text, rng)
    return _replaced(text, match, "") if match else text


def double_token(text: str, rng: random.Random) -> str:
    match = _near(TOKEN, text, rng)
    return _replaced(text, match, f"{match[0]} {match[0]}") if match else text


def swap_tokens(text: str, rng: random.Random) -> str:
    first, second = sorted((_near(TOKEN, text, rng) for _ in range(2)), key=lambda m: m.start() if m else -1)
    if first is None or second is None or first.end() > second.start():
        return text
    return text[: first.start()] + second[0] + text[first.end() : second.start()] + first[0] + text[second.end() :]


def copy_token(text: str, rng: random.Random) -> str:
    """Copies a token over another, which changes operands, or uses names twice or before their definition."""
    first, second = _near(TOKEN, text, rng), _near(TOKEN, text, rng)
    return _replaced(text, first, second[0]) if first and second else text


def swap_operands(text: str, rng: random.Random) -> str:
    names = re.compile(r"%[\w.-]+")
    first, second = _near(names, text, rng), _near(names, text, rng)
    return _replaced(text, first, second[0]) if first and second else text


def _lines(edit: Callable[[list[str], random.Random], None]) -> Mutator:
    def mutator(text: str, rng: random.Random) -> str:
        lines = text.split("\n")
        edit(lines, rng)
        return "\n".join(lines)

    mutator.__name__ = edit.__name__
    return mutator


def drop_line(lines: list[str], rng: random.Random) -> None:
    del lines[rng.randrange(len(lines))]


def double_line(lines: list[str], rng: random.Random) -> None:
    at = rng.randrange(len(lines))
    lines.insert(at, lines[at])


def swap_lines(lines: list[str], rng: random.Random) -> None:
    a, b = rng.randrange(len(lines)), rng.randrange(len(lines))
    lines[a], lines[b] = lines[b], lines[a]


def drop_lines(lines: list[str], rng: random.Random) -> None:
    at = rng.randrange(len(lines))
    del lines[at : at + rng.randrange(1, 20)]


def extreme_number(text: str, rng: random.Random) -> str:
    match = _near(NUMBER, text, rng)
    return _replaced(text, match, rng.choice(NUMBERS)) if match else text


def near_number(text: str, rng: random.Random) -> str:
    match = _near(re.compile(r"(?<![\w%#@.])\d{1,20}(?![\w.])"), text, rng)
    return _replaced(text, match, str(int(match[0]) + rng.choice((-1, 1)))) if match else text


def same_number(text: str, rng: random.Random) -> str:
    """Replaces a number everywhere, so that types still match if it is a size."""
    match = _near(NUMBER, text, rng)
    if match is None:
        return text
    new = rng.choice([*NUMBERS[:12], "5"])
    return re.sub(rf"(?<![\w%#@.]){re.escape(match[0])}(?![\w.])|(?<=[<x]){re.escape(match[0])}(?=x)", new, text)


def another_type(text: str, rng: random.Random) -> str:
    hlo = text.lstrip().startswith("HloModule")
    match = _near(HLO_TYPE if hlo else TYPE, text, rng)
    if match is None:
        return text
    group = 1 if match.lastindex is None or match[1] else 2
    return _replaced(text, match, rng.choice(HLO_TYPES if hlo else TYPES), group)


def same_type(text: str, rng: random.Random) -> str:
    """Replaces an element type everywhere, which often gives a valid program."""
    hlo = text.lstrip().startswith("HloModule")
    if hlo:
        match = _near(HLO_TYPE, text, rng)
        return re.sub(rf"\b{re.escape(match[1])}(?=\[)", rng.choice(HLO_TYPES), text) if match else text
    match = _near(re.compile(r"(?<=[<x])(i\d+|ui\d+|f\d+|bf16)(?=>)"), text, rng)
    return re.sub(rf"(?<=[<x]){re.escape(match[0])}(?=>)", rng.choice(TYPES), text) if match else text


def another_op(text: str, rng: random.Random) -> str:
    pattern = HLO_OP if text.lstrip().startswith("HloModule") else OP
    match = _near(pattern, text, rng)
    other = _near(pattern, text, rng)
    return _replaced(text, match, other[0]) if match and other else text


def splice(text: str, other: str, rng: random.Random) -> str:
    """Inserts some lines of another program."""
    lines, others = text.split("\n"), other.split("\n")
    at = rng.randrange(len(others))
    place = rng.randrange(len(lines))
    lines[place:place] = others[at : at + rng.randrange(1, 12)]
    return "\n".join(lines)


def nest(text: str, rng: random.Random) -> str:
    """A bracket that opens thousands of times."""
    at = rng.randrange(len(text))
    opening = rng.choice(
        ["(", "[", "{", "<", "tuple<", "tensor<", "dense<", "complex<", "({", "[[", "((", "/*", "-", "call("]
    )
    return text[:at] + opening * rng.choice((50, 1000, 20_000)) + text[at:]


def long_token(text: str, rng: random.Random) -> str:
    match = _near(TOKEN, text, rng)
    return _replaced(text, match, match[0] * (rng.choice((20_000, 500_000)) // len(match[0]) + 1)) if match else text


def strange_characters(text: str, rng: random.Random) -> str:
    at = rng.randrange(len(text))
    return (
        text[:at] + rng.choice(["\0", "\ufeff", "\ud800", "\U0001f600", "\x85", "\u2029", "\r", "\x1b[31m"]) + text[at:]
    )


MUTATORS: list[Mutator] = [
    truncate, flip_byte, another_byte, drop_token, double_token, swap_tokens, copy_token, swap_operands,
    _lines(drop_line), _lines(double_line), _lines(swap_lines), _lines(drop_lines), extreme_number, extreme_number,
    near_number, same_number, another_type, same_type, another_op, nest, long_token, strange_characters,
]  # fmt: skip


def mutate(text: str, rng: random.Random, other: str) -> str:
    """Applies one to three mutations, mostly one, because a mutated program is rarely still valid."""
    for _ in range(rng.choice((1, 1, 1, 1, 2, 3))):
        if rng.randrange(len(MUTATORS) + 1) == 0:
            text = splice(text, other, rng)
        else:
            text = rng.choice(MUTATORS)(text, rng) or " "
    return text

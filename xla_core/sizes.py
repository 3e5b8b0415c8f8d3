"""Arithmetic on sizes."""

from __future__ import annotations


def ceil_div(a: int, b: int) -> int:
    """Returns a / b, rounded up."""
    return -(-a // b)


def round_up(size: int, multiple: int) -> int:
    """Returns the least multiple of a number that is not below a size."""
    return -(-size // multiple) * multiple


def power_above(number: int) -> int:
    """Returns the least power of two that is not below a positive number."""
    return 1 << (number - 1).bit_length()


def power_below(number: int) -> int:
    """Returns the largest power of two that is not above a positive number."""
    return 1 << (number.bit_length() - 1)

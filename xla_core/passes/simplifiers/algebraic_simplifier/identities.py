"""Identities: the rules that are an equation between two formulas.

A line is `pattern -> replacement if conditions`. In a pattern

- a letter is an instruction, and the same letter again is the same instruction. `c` and `d` are constants or broadcasts
  of constants, `u` has one value in all elements, and `n` is not a constant;
- a number, `true`, `least`, `greatest` or `ones` (all bits set) is an array of that value, and zeros have its sign;
- `z:and(x, y)` is an op, which the replacement calls z; `and|or(x, y)` is one of several ops; `lt(x, y)` and the like
  are compares. Operands of commutative ops are tried in both orders.

In a replacement, `op` is the op of the whole pattern, with its attributes, and `-u` is the negated constant. Conditions
are about the element type of the pattern's last operand, or about the instructions that they name.
"""

from __future__ import annotations

from xla_core.passes.simplifiers.algebraic_simplifier.equations import register

_EXACT = """
    add(x, 0)                              -> x                        if exact
    add(x, -0.0)                           -> x                        if float
    add(x, negate(y))                      -> subtract(x, y)
    add(subtract(x, y), y)                 -> x                        if exact
    subtract(x, 0)                         -> x                        if real
    subtract(x, x)                         -> 0                        if exact
    subtract(0, x)                         -> negate(x)                if exact
    subtract(-0.0, x)                      -> negate(x)                if float
    subtract(x, negate(y))                 -> add(x, y)
    subtract(n, u)                         -> add(n, -u)               if number
    subtract(add(x, y), y)                 -> x                        if exact
    negate(negate(x))                      -> x
    negate(subtract(x, y))                 -> subtract(y, x)           if exact
    negate(z:multiply(x, u))               -> multiply(x, -u)          if float, one_use(z)

    multiply(x, 1)                         -> x                        if real
    multiply(x, -1)                        -> negate(x)                if signed
    multiply(x, z:0)                       -> z                        if exact
    multiply|divide(negate(x), negate(y))  -> op(x, y)                 if float
    multiply|divide(negate(x), u)          -> op(x, -u)                if float
    multiply(abs(x), abs(x))               -> multiply(x, x)           if real(x)
    divide(x, 1)                           -> x                        if real
    remainder(x, 1)                        -> 0                        if integral
    abs(x)                                 -> x                        if unsigned
    abs(negate(x))                         -> abs(x)

    power(x, 0)                            -> 1                        if real
    power(x, -0.0)                         -> 1                        if real
    power(x, 1)                            -> x                        if real
    power(x, 2)                            -> multiply(x, x)           if real
    power(x, 3)                            -> multiply(multiply(x, x), x) if real_and_wide
    power(x, -1)                           -> divide(1, x)             if float

    and(x, z:0)                            -> z
    and(x, ones)                           -> x
    and(x, not(x))                         -> 0
    or(x, 0)                               -> x
    or(x, z:ones)                          -> z
    or(x, not(x))                          -> not(0)
    and(x, or(x, y))                       -> x
    or(x, and(x, y))                       -> x
    and(x, z:and(x, y))                    -> z
    or(x, z:or(x, y))                      -> z
    xor(x, 0)                              -> x
    xor(x, x)                              -> 0
    xor(x, ones)                           -> not(x)
    xor(xor(x, y), y)                      -> x
    not(not(x))                            -> x
    shift_left|shift_right_logical|shift_right_arithmetic(x, 0)   -> x
    shift_left|shift_right_logical|shift_right_arithmetic(z:0, x) -> z

    eq|le|ge(x, x)                         -> true                     if ordered(op)
    ne|lt|gt(x, x)                         -> false                    if ordered(op)
    lt(x, 0)                               -> false                    if unsigned
    ge(x, 0)                               -> true                     if unsigned
    eq(x, true)                            -> x                        if pred
    eq(x, false)                           -> not(x)                   if pred
    ne(x, true)                            -> not(x)                   if pred
    ne(x, false)                           -> x                        if pred
    eq|ne(add(n, c), d)                    -> op(n, subtract(d, c))    if integral

    select(true, x, y)                     -> x
    select(false, x, y)                    -> y
    select(p, x, x)                        -> x
    select(not(p), x, y)                   -> select(p, y, x)
    select(p, true, false)                 -> p                        if pred, sized(p, op)
    select(p, true, y)                     -> or(p, y)                 if pred, sized(p, op)
    select(p, false, true)                 -> not(p)                   if pred, sized(p, op)
    select(p, x, false)                    -> and(p, x)                if pred, sized(p, op)
    select(p, select(p, x, y), z)          -> select(p, x, z)
    select(p, x, select(p, y, z))          -> select(p, x, z)
    select(p, c, d)                        -> c                        if equal(c, d)

    clamp(least, x, greatest)              -> x
    clamp(x, z:clamp(x, y, a), a)          -> z
    real(complex(x, y))                    -> x
    imag(complex(x, y))                    -> y
    complex(real(x), imag(x))              -> x
"""
"""Equations that hold for every value of the types that they match, including infinities, NaN and signed zeros."""

_FAST = """
    add(x, 0)                              -> x
    multiply(multiply(n, c), d)            -> multiply(n, multiply(c, d))
    multiply(exponential(x), exponential(y)) -> exponential(add(x, y))
    divide(x, sqrt(y))                     -> multiply(x, rsqrt(y))
    divide(x, rsqrt(y))                    -> multiply(x, sqrt(y))
    divide(x, exponential(y))              -> multiply(x, exponential(negate(y)))
    divide(divide(x, y), z)                -> divide(x, multiply(y, z)) if inexact
    divide(x, divide(y, z))                -> divide(multiply(x, z), y) if inexact
    power(x, 0.5)                          -> sqrt(x)                  if float
    power(x, -0.5)                         -> rsqrt(x)                 if float
    power(x, -2)                           -> divide(1, multiply(x, x)) if float
    log(exponential(x))                    -> x                        if real
    exponential(log(x))                    -> x                        if real
    log_plus_one(exponential_minus_one(x)) -> x                        if real
    exponential_minus_one(log_plus_one(x)) -> x                        if real
    sqrt(multiply(x, x))                   -> abs(x)                   if real
"""
"""Equations of real numbers, which may change rounding, NaN, infinities, overflow or the sign of zero."""

register(_EXACT)
register(_FAST, fast=True)

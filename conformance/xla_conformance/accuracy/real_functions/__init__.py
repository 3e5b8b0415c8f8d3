"""Accuracy of elementwise functions and conversions of real numbers.

`cases` and `conversions` make the checks, `functions` lists the functions and their programs, and `points` chooses
arguments. `oracles` (float64 and long double), `precise` (Arb) and `formats` (rounding to every element type) say
what is right; none of the three uses code of the evaluator or of a backend.
"""

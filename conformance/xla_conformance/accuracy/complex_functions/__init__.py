"""Accuracy of elementwise functions of complex numbers.

`cases` makes the checks and `points` chooses arguments. `oracle` computes exact values by Arb, and `specials` has what
C's Annex G says of infinities and NaN.
"""

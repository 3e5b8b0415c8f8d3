"""Accuracy of elementwise functions of complex numbers.

`cases` makes the checks and `points` chooses arguments. `oracle` computes exact values by Arb, and `specials` has the
values at infinities and NaN by C's Annex G.
"""

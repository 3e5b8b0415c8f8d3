"""Accuracy of elementwise functions of complex numbers.

`cases` makes the checks, `points` chooses arguments. Three modules say what is right: `oracle` (mpmath, any number of
digits), `enclosures` (a fast bound of the exact value, computed with the intervals of `balls`), and `specials` (what
C's Annex G says of infinities and NaN).
"""

"""Measures the errors of results: `xla accuracy`.

A check is one function in one element type. It runs the function on seeded points on a `Subject` (the reference
evaluator or a backend), and finds the largest error against an oracle that shares no code with either. `bounds.toml`
has the largest error that each check allows; the tests and the documentation read it too.

Groups of checks are modules with a function `checks()`, in the packages `real_functions`, `complex_functions`, `sums`
and `linear_algebra` and in `fourier`; `suite.GROUPS` lists them.
"""

"""Accuracy of ops that add many terms: dot, convolution, reductions, scans, batch normalization.

`cases` makes the checks of all ops in `contractions` and `reductions`; `trials` compares one result with the exact one.
"""

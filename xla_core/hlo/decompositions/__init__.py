"""Decompositions of ops into other ops, for passes and for dialects that lack the op."""

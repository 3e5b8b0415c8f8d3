"""Ops as other ops, each said once: for passes, and for dialects that lack the op."""
